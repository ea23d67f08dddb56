# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits and files that tests hand to a module."""

from __future__ import annotations

import json
import pathlib
import typing as t

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import METHOD


def large_edits() -> list[dict[str, t.Any]]:
    """More than 200 KiB, which is more than fits into a pipe that nobody reads."""
    body = "\n".join(f"    value_{line} = {'x' * 80!r}" for line in range(220))
    edits = [{**METHOD, "method": f"def added_{number}(self):\n{body}\n"} for number in range(10)]
    assert len(json.dumps(edits)) > 200 * 1024
    return edits


def write(folder: pathlib.Path, files: t.Mapping[str, bytes]) -> pathlib.Path:
    for path, data in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return folder
