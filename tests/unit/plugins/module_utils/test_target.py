# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import typing as t
import zipfile

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _eagle3_probe, _target
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Drift, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils import target_functions

LARGE = {"text": "x" * 1_500_000, "odd": "\ud800 \u00e9 \U0001f600", "none": None, "list": [1, 2.5, True]}


def here() -> Environment:
    return probe(sys.executable)


def as_if_other(python: str = sys.executable) -> Environment:
    """This interpreter, said to be of another version, so that the work goes to a child."""
    env = copy.copy(here())
    env.version = (2, 7, 18)
    env.python = python
    return env


def test_same_version_stays_in_this_process() -> None:
    assert _target.call(here(), target_functions.process, {})["pid"] == os.getpid()


def test_other_version_goes_to_a_child() -> None:
    answer = _target.call(as_if_other(), target_functions.process, {})
    assert answer["pid"] != os.getpid()
    assert answer["executable"] == sys.executable
    assert answer["isolated"] == 1
    assert "site" not in answer["modules"]


def test_large_payload_comes_back_whole() -> None:
    assert _target.call(as_if_other(), target_functions.same, LARGE) == LARGE


def test_nothing_stays_behind(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    _target.call(as_if_other(), target_functions.same, LARGE)
    with pytest.raises(SpecdecError):
        _target.call(as_if_other(), target_functions.dies, {})
    assert list(tmp_path.iterdir()) == []


def test_payload_is_private() -> None:
    answer = _target.call(as_if_other(), target_functions.modes, {})
    assert answer == {"request.json": "0o600", "folder": "0o700"}


def test_folder_and_user_code_of_the_caller_do_not_shadow(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert _target.call(as_if_other(), target_functions.same, {"a": 1}) == {"a": 1}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        pytest.param(target_functions.raises, "ZeroDivisionError", id="traceback"),
        pytest.param(target_functions.dies, "last words", id="exit"),
        pytest.param(target_functions.is_killed, "was ended by signal 9", id="signal"),
        pytest.param(target_functions.says_nothing, "gave no answer", id="silent-exit-0"),
    ],
)
def test_a_child_that_dies_is_reported(function: _target.Function, said: str) -> None:
    with pytest.raises(SpecdecError) as failure:
        _target.call(as_if_other(), function, {})
    assert said in failure.value.message
    assert sys.executable in failure.value.message
    assert function.__name__ in failure.value.message


def test_a_child_that_hangs_is_ended_with_its_children() -> None:
    began = time.monotonic()
    with pytest.raises(
        SpecdecError, match="did not finish .*hangs within 2 s and was ended: waiting, child "
    ) as failure:
        _target.call(as_if_other(), target_functions.hangs, {}, timeout=2)
    assert time.monotonic() - began < 20
    grandchild = int(failure.value.message.rpartition(" ")[2])
    deadline = time.monotonic() + 5
    while target_functions.alive(grandchild) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not target_functions.alive(grandchild)


@pytest.mark.parametrize("env", [here, as_if_other], ids=["in-process", "child"])
def test_an_error_for_the_user_is_the_same_on_either_side(env: t.Callable[[], Environment]) -> None:
    with pytest.raises(Drift) as failure:
        _target.call(env(), target_functions.drifts, {})
    assert failure.value.message == "nothing there"
    assert failure.value.details == {"candidates": [{"line": 3}]}


def test_an_interpreter_that_cannot_start(tmp_path: pathlib.Path) -> None:
    python = tmp_path / "python"
    python.write_text("not a program", encoding="utf-8")
    python.chmod(0o755)
    with pytest.raises(SpecdecError, match="cannot start .*python"):
        _target.call(as_if_other(str(python)), target_functions.same, {})


def archive(folder: pathlib.Path) -> pathlib.Path:
    """The collection's code as Ansible ships it to a host: one zip, with empty packages around it."""
    source = pathlib.Path(_target.__file__).parent
    path = folder / "payload.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for package in ("", "specdec/", "specdec/blackwell/", "specdec/blackwell/plugins/"):
            stream.writestr(f"ansible_collections/{package}__init__.py", "")
        for file in sorted(source.rglob("*.py")):
            inner = file.relative_to(source).as_posix()
            stream.write(file, f"ansible_collections/specdec/blackwell/plugins/module_utils/{inner}")
        if not (source / "__init__.py").exists():
            stream.writestr("ansible_collections/specdec/blackwell/plugins/module_utils/__init__.py", "")
    return path


FROM_ZIP = """
import json, sys
sys.path.insert(0, sys.argv[1])
from ansible_collections.specdec.blackwell.plugins.module_utils import _eagle3_probe, _interpreter, _target
assert _target.__file__.startswith(sys.argv[1])
env = _interpreter.probe(sys.executable)
env.version = (2, 7, 18)
path, empty = sys.argv[2], {"engine": "vllm", "targets": [], "contents": {}}
print(json.dumps(_target.call(env, _eagle3_probe.run_request, dict(empty, compile=[path]))))
"""


def test_from_the_zip_that_ansible_ships(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "fine.py"
    script.write_text("x = 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "-c", FROM_ZIP, str(archive(tmp_path)), str(script)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["compiled"] is True


def shared_interpreter() -> str:
    """A Python that every user can start."""
    for candidate in ("/usr/bin/python3", "/usr/local/bin/python3", sys.executable):
        path = pathlib.Path(candidate).resolve()
        if path.exists() and all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents)):
            return candidate
    pytest.skip("no interpreter here that every user can start")


def test_root_gives_the_child_to_the_owner_of_the_interpreter() -> None:
    """What lies in a venv is code; root does not run the code of another user as root."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        venv = pathlib.Path(folder) / "venv"
        subprocess.run([shared_interpreter(), "-m", "venv", "--without-pip", str(venv)], check=True)
        (packages,) = venv.glob("lib/python3*/site-packages")
        (packages / "who.py").write_text("import os\nraise RuntimeError('user %d' % os.geteuid())\n", encoding="utf-8")
        owner = 65534 if os.geteuid() == 0 else os.geteuid()
        if os.geteuid() == 0:
            for path in (venv, *venv.rglob("*")):
                os.chown(path, owner, owner, follow_symlinks=False)
        request = {"engine": "vllm", "targets": [{"module": "who", "name": None}], "compile": [], "contents": {}}
        answer = _target.run_child(probe(str(venv / "bin/python")), _eagle3_probe.run_request, request, timeout=60)
    assert answer["imported"] is False
    assert f"user {owner} " in answer["reason"]
