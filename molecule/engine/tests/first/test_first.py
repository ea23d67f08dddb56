# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the first run and a second one, which molecule has seen change nothing."""

from __future__ import annotations

from typing import Any


def test_the_release_is_installed_and_in_use(engines: Any) -> None:
    assert engines.environments == ["current", "sglang-0.5.9"]
    assert engines.current == "sglang-0.5.9"
    assert engines.version("current") == "0.5.9"


def test_it_was_installed_by_uv(host: Any) -> None:
    assert (
        host.check_output("cat /opt/sglang/current/lib/python3.11/site-packages/sglang-*.dist-info/INSTALLER") == "uv"
    )


def test_it_is_patched(engines: Any) -> None:
    assert engines.patched("current")
