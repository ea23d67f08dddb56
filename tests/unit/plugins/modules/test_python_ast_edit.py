# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import subprocess
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.modules import python_ast_edit, python_ast_edit_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import (
    BASE,
    EDITS,
    FILES,
    IMPORT,
    METHOD,
    MODEL_FILE,
    REGISTRY_FILE,
    Venv,
    snapshot,
)
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Runner
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.other_pythons import other_pythons
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.payloads import large_edits, write


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


@pytest.fixture
def venv(tmp_path: pathlib.Path) -> Venv:
    made = Venv(tmp_path / "venv")
    made.install()
    return made


def options(venv: Venv, **more: t.Any) -> dict[str, t.Any]:
    given = {"name": "draft", "python": venv.python, "package": "engine", "edits": EDITS}
    given.update(more)
    return {key: value for key, value in given.items() if value is not None}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_present_twice_and_back(venv: Venv, run: Runner) -> None:
    before = venv.tree()

    first = run.parity(python_ast_edit, **options(venv))
    assert first["changed"] is True
    assert [edit["state"] for edit in first["edits"]] == ["applied"] * 3
    assert (first["distribution"], first["version"], first["restart_needed"]) == ("engine", "1.0", True)
    after = venv.tree()
    assert {path for path in before if before[path] != after[path]} == {MODEL_FILE, REGISTRY_FILE}
    told = {item["path"]: (item["before_sha256"], item["after_sha256"], item["changed"]) for item in first["files"]}
    assert told == {
        os.path.realpath(venv.site / path): (sha(before[path]), sha(after[path]), True)
        for path in (MODEL_FILE, REGISTRY_FILE)
    }
    shown = {entry["after_header"]: (entry["before"], entry["after"]) for entry in first["diff"]}
    assert sorted(shown.values()) == sorted(
        (before[path].decode(), after[path].decode()) for path in (MODEL_FILE, REGISTRY_FILE)
    )

    second = run.parity(python_ast_edit, **options(venv))
    assert (second["changed"], second["diff"]) == (False, [])
    assert [edit["state"] for edit in second["edits"]] == ["present"] * 3
    assert venv.tree() == after

    back = run.parity(python_ast_edit, **options(venv, state="absent", edits=None))
    assert back["changed"] is True
    assert [edit["state"] for edit in back["edits"]] == ["reverted"] * 3
    assert venv.tree() == before
    assert run.parity(python_ast_edit, **options(venv, state="absent", edits=None))["changed"] is False


def test_check_mode_writes_nothing(venv: Venv, run: Runner) -> None:
    before = snapshot(venv.root)
    assert run.run(python_ast_edit, check=True, **options(venv))["changed"] is True
    assert snapshot(venv.root) == before


def test_the_diff_comes_in_diff_mode_only(venv: Venv, run: Runner) -> None:
    assert "diff" not in run.run(python_ast_edit, diff=False, **options(venv))


def test_what_is_not_wanted_for_this_version_is_skipped(venv: Venv, run: Runner) -> None:
    before = venv.tree()
    result = run.parity(python_ast_edit, **options(venv, version=">=2"))
    assert (result["skipped"], result["changed"]) == (True, False)
    assert "engine 1.0" in result["skip_reason"]
    assert venv.tree() == before
    assert "skipped" not in run.run(python_ast_edit, check=True, **options(venv, version=">=1,<2"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"edits": [BASE, {**METHOD, "in": "Outter"}]}, ["Outter", "Outer"], id="scope-gone"),
        pytest.param({"edits": [IMPORT, {**BASE, "file": "engine/modell.py"}]}, ["engine/modell.py"], id="file-gone"),
        pytest.param(
            {"edits": [BASE, {"file": MODEL_FILE, "in": "Outer.forward", "replace": "return y", "with": "return 1"}]},
            ["return y", "return x"],
            id="no-match",
        ),
    ],
)
def test_drift_names_the_culprit_and_writes_nothing(
    venv: Venv, run: Runner, change: dict[str, t.Any], said: list[str]
) -> None:
    before = snapshot(venv.root)
    for check in (True, False):
        result = run.fails(python_ast_edit, check=check, **options(venv, **change))
        assert all(text in result["msg"] for text in [*said, "nothing was written"]), result["msg"]
        assert [edit["state"] for edit in result["edits"]] == ["pristine", "drifted"]
    assert snapshot(venv.root) == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"edits": [{**METHOD, "method": True}]}, "quote", id="boolean-source"),
        pytest.param(
            {"edits": [{"file": MODEL_FILE, "element": {"to": "X", "value": 2}}]}, "quote", id="number-source"
        ),
        pytest.param({"edits": [{**BASE, "bass": "X"}]}, "bass", id="unknown-key"),
        pytest.param({"edits": [{**BASE, "method": "def f(): ..."}]}, "exactly one", id="two-operations"),
        pytest.param({"edits": [{**METHOD, "method": "def f(:"}]}, "does not parse", id="source-does-not-parse"),
        pytest.param({"edits": None}, "edits", id="no-edits"),
        pytest.param({"package": "nothing"}, "no package 'nothing'", id="no-package"),
        pytest.param({"python": "/nowhere/python"}, "/nowhere/python", id="no-interpreter"),
        pytest.param({"path": "/srv/x.py"}, "mutually exclusive", id="package-and-path"),
        pytest.param({"package": None}, "one of the following is required: package, path", id="neither"),
        pytest.param({"version": "newest"}, "newest", id="version-is-no-specifier"),
        pytest.param({"edits": [{**BASE, "file": "../x.py"}]}, "..", id="outside"),
    ],
)
def test_bad_input_is_refused(venv: Venv, run: Runner, change: dict[str, t.Any], said: str) -> None:
    before = snapshot(venv.root)
    assert said in run.fails(python_ast_edit, **options(venv, **change))["msg"]
    assert snapshot(venv.root) == before


def test_a_file_that_does_not_parse(venv: Venv, run: Runner) -> None:
    venv.put({MODEL_FILE: b"class Outer:\n    x = 1\n  y = 2\n"})
    message = run.fails(python_ast_edit, **options(venv))["msg"]
    assert MODEL_FILE in message
    assert "line 3" in message


def test_one_file_by_its_path(tmp_path: pathlib.Path, run: Runner) -> None:
    path = tmp_path / "config.py"
    path.write_bytes(b"class Client:\r\n    def __init__(self):\r\n        self.timeout = 5  # seconds\r\n")
    given = {
        "name": "longer",
        "path": str(path),
        "ledger_dir": str(tmp_path / "ledger"),
        "edits": [{"in": "Client.__init__", "replace": "self.timeout = $OLD", "with": "self.timeout = 600"}],
    }
    before = path.read_bytes()
    assert run.parity(python_ast_edit, **given)["changed"] is True
    assert path.read_bytes() == before.replace(b"= 5", b"= 600")
    assert run.parity(python_ast_edit, **given)["changed"] is False
    assert run.parity(python_ast_edit, **given, state="absent")["changed"] is True
    assert path.read_bytes() == before


def test_info_tells_of_every_patch(venv: Venv, run: Runner) -> None:
    assert run.run(python_ast_edit_info, python=venv.python)["patches"] == []
    given = options(
        venv, edits=[BASE], reason="the release lacks it", upstream="https://example.org/1", drop_when=">=1"
    )
    run.run(python_ast_edit, **given)
    before = snapshot(venv.root)
    result = run.run(python_ast_edit_info, python=venv.python)
    (patch,) = result["patches"]
    assert (result["changed"], result["ledger"], result["ledger_state"]) == (False, str(venv.ledger), "ok")
    wanted = {
        "name": "draft",
        "state": "whole",
        "ours": True,
        "reason": "the release lacks it",
        "upstream": "https://example.org/1",
        "drop_when": ">=1",
        "drop_due": True,
        "version": {"then": "1.0", "now": "1.0"},
    }
    assert {key: patch[key] for key in wanted} == wanted
    assert snapshot(venv.root) == before
    venv.put(FILES)
    assert run.run(python_ast_edit_info, python=venv.python)["patches"][0]["state"] == "gone"


def test_info_without_an_interpreter(run: Runner) -> None:
    result = run.fails(python_ast_edit_info, python="/nowhere/bin/python")
    assert result["installed"] is False
    assert "/nowhere/bin/python" in result["msg"]


NEWER_SYNTAX = """
class Outer[T]:
    def forward[S](self, x: S) -> S:
        return f"{f"{x}"}"
"""


@pytest.mark.parametrize("python", other_pythons(), ids=lambda python: f"{python.version[0]}.{python.version[1]}")
def test_a_target_of_another_python_with_200_kib_of_edits(tmp_path: pathlib.Path, run: Runner, python: t.Any) -> None:
    """Also one that Ansible does not support, and one whose syntax this Python cannot parse."""
    root = tmp_path / "venv"
    subprocess.run([python.path, "-m", "venv", "--without-pip", str(root)], check=True)
    (site,) = root.glob("lib/python3*/site-packages")
    shutil.copytree(write(tmp_path / "source", FILES), site, dirs_exist_ok=True)
    model = site / MODEL_FILE
    if python.version >= (3, 12):
        model.write_text(NEWER_SYNTAX, encoding="utf-8")
    before = model.read_bytes()
    given = {"name": "many", "python": str(root / "bin/python"), "package": "engine", "edits": large_edits()}
    first = run.parity(python_ast_edit, **given)
    assert {edit["state"] for edit in first["edits"]} == {"applied"}
    assert model.read_bytes().startswith(before.rstrip(b"\n"))
    assert run.parity(python_ast_edit, **given)["changed"] is False
    assert run.parity(python_ast_edit, **given, state="absent")["changed"] is True
    assert model.read_bytes() == before
