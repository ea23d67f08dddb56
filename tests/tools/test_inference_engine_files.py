# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two scripts that the role inference_engine hands to a host's Python."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = Path(__file__).resolve().parents[2] / "roles" / "inference_engine" / "files"


def run(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """As the role does: the script by stdin, nothing of this process's own pip settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "XDG_"))}
    return subprocess.run(
        [sys.executable, "-I", "-", *arguments],
        input=(FILES / script).read_text(),
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """A user's settings, and a system's."""
    for name in ("user", "system"):
        (tmp_path / name / "pip").mkdir(parents=True)
    (tmp_path / "system" / "pip" / "pip.conf").write_text("[global]\nindex-url = https://a/simple\ncert = /ca\n")
    return {"XDG_CONFIG_HOME": str(tmp_path / "user"), "XDG_CONFIG_DIRS": str(tmp_path / "system"), "HOME": "/nobody"}


def test_a_users_settings_go_before_the_systems(places: dict[str, str]) -> None:
    text = "[global]\nindex-url = https://b/simple\nextra_index_url = https://u:p@c/simple\n  https://d/simple\n"
    (Path(places["XDG_CONFIG_HOME"]) / "pip" / "pip.conf").write_text(text + "[install]\nfind-links = /wheels\n")
    found = json.loads(run("pip_config.py", **places).stdout)
    assert found["index-url"] == ["https://b/simple"]
    assert found["extra-index-url"] == ["https://u:p@c/simple", "https://d/simple"]
    assert found["find-links"] == ["/wheels"]


def test_a_variable_goes_before_every_file(places: dict[str, str]) -> None:
    found = json.loads(run("pip_config.py", PIP_INDEX_URL="https://e/simple", **places).stdout)
    assert found["index-url"] == ["https://e/simple"]


def test_no_files_at_all_when_pip_is_told_so(places: dict[str, str]) -> None:
    assert json.loads(run("pip_config.py", PIP_CONFIG_FILE=os.devnull, **places).stdout) == {}


def test_settings_that_cannot_be_read_are_said(places: dict[str, str]) -> None:
    (Path(places["XDG_CONFIG_HOME"]) / "pip" / "pip.conf").write_text("no section\n")
    stopped = run("pip_config.py", **places)
    assert stopped.returncode == 1
    assert "cannot read" in stopped.stderr


@pytest.mark.parametrize(
    ("version", "package", "said"),
    [("", "pytest", None), ("", "", None), ("0.1", "", "is "), ("", "no_such_package", "ModuleNotFoundError")],
)
def test_an_engine_is_the_right_one_and_imports(version: str, package: str, said: str | None) -> None:
    wanted = version or importlib.metadata.version("pytest")
    ended = run("check_engine.py", "pytest", wanted, package)
    assert (ended.returncode == 0) is (said is None)
    assert (said or "") in ended.stderr
