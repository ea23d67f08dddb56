# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The edit engine on files that nobody wrote for it: standard libraries, each by its own Python, and two releases.

A sample within a minute; ``SPECDEC_CORPUS=full`` takes every file. ``roundtrip.py`` does the same by hand.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

import releases

WORKER = pathlib.Path(__file__).with_name("roundtrip.py")
FULL = os.environ.get("SPECDEC_CORPUS") == "full"
# Of a sample: one file in so many, and the seconds that each tree may take.
EVERY, SECONDS = 40, 6
WHERE = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_path('stdlib'), sep='\\n')"
OLDEST = (3, 9)


def interpreters() -> Iterator[str]:
    yield sys.executable
    for minor in range(OLDEST[1], 20):
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    root = pathlib.Path(os.environ.get("PYENV_ROOT") or pathlib.Path.home() / ".pyenv")
    yield from (str(path) for path in sorted(root.glob("versions/*/bin/python3")))


def standard_libraries() -> dict[str, tuple[str, str]]:
    """One per Python version: the interpreter and the folder."""
    found: dict[str, tuple[str, str]] = {}
    for python in interpreters():
        asked = subprocess.run([python, "-I", "-c", WHERE], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            major, minor, folder = asked.stdout.split("\n")[:3]
            if (int(major), int(minor)) >= OLDEST:
                found.setdefault(f"{major}.{minor}", (python, folder))
    return found


LIBRARIES = standard_libraries()


def run(python: str, folder: str) -> dict[str, object]:
    options = [] if FULL else ["--every", str(EVERY), "--seconds", str(SECONDS)]
    done = subprocess.run([python, "-I", str(WORKER), folder, *options], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("version", sorted(LIBRARIES, key=lambda text: int(text.split(".")[1])))
def test_standard_library(version: str) -> None:
    result = run(*LIBRARIES[version])
    print(result)
    assert result["failures"] == []
    assert int(str(result["files"])) >= (1000 if FULL else 5)


@pytest.mark.parametrize("name,version", [("vllm", "0.33.0"), ("sglang", "0.5.23")])
def test_release(name: str, version: str) -> None:
    result = run(sys.executable, str(releases.tree(name, version)))
    print(result)
    assert result["failures"] == []
    assert result["unparsable"] == 0
    assert int(str(result["files"])) >= (1000 if FULL else 5)
