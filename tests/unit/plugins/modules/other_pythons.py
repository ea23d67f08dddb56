# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Interpreters of other versions than the one that runs the tests."""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
import typing as t


class Python(t.NamedTuple):
    path: str
    version: t.Tuple[int, int]


@functools.lru_cache(maxsize=None)
def other_pythons() -> t.List[Python]:
    """One of each minor version from 3.8 on that PATH or pyenv has, this one's left out, the oldest first."""
    candidates = [shutil.which(f"python3.{minor}") for minor in range(8, 16)]
    versions = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv")) + "/versions/3.*/bin/python3"
    found: t.Dict[t.Tuple[int, int], Python] = {}
    for path in [*(path for path in candidates if path is not None), *sorted(glob.glob(versions))]:
        done = subprocess.run(
            [path, "-I", "-c", "import sys, venv; print(sys.version_info[0], sys.version_info[1])"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        numbers = done.stdout.split()
        if done.returncode == 0 and len(numbers) == 2:
            version = (int(numbers[0]), int(numbers[1]))
            if version >= (3, 8) and version != sys.version_info[:2]:
                found.setdefault(version, Python(path, version))
    return [found[version] for version in sorted(found)]


__all__ = ("Python", "other_pythons")
