# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What derive said is used again only where no file of the engine differs, and then it is what it would say again."""

from __future__ import annotations

import os
import pathlib
import shutil
import time
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _eagle3_patch, _memory
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules import small_vllm

PLAIN = "PlainForCausalLM"


def memory_of(home: Venv) -> pathlib.Path:
    return home.ledger / _memory.NAME


@pytest.fixture
def engine(tmp_path: pathlib.Path) -> Venv:
    found = Venv(tmp_path / "venv")
    found.install("vllm", "0.1", small_vllm.FILES)
    # As old as an installed engine is: what was changed just now is not relied upon.
    time.sleep(1.2)
    return found


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []
    inner = derive.run_request

    def run(request: dict[str, t.Any]) -> dict[str, t.Any]:
        asked.append(request["engine"])
        return inner(request)

    monkeypatch.setattr(derive, "run_request", run)
    return asked


def patch(home: Venv, *names: str, check_mode: bool = True, **keys: t.Any) -> dict[str, t.Any]:
    params = {"engine": "vllm", "python": home.python, "ledger_dir": None, "model": None, "last_layer": False}
    params.update(architectures=list(names) or [PLAIN], state="present", force=False, follow=True, **keys)
    return _eagle3_patch.patch(params, check_mode=check_mode)


@pytest.mark.parametrize("names", ((PLAIN,), (PLAIN, "ReadyForCausalLM"), ("SeeingForConditionalGeneration",)))
def test_an_unchanged_engine_is_not_read_again(engine: Venv, derived: list[str], names: tuple[str, ...]) -> None:
    first = patch(engine, *names, check_mode=False)
    assert first["changed"] and derived == ["vllm"]
    for check_mode in (True, False):
        del derived[:]
        remembered = patch(engine, *names, check_mode=check_mode)
        assert derived == []
        sound = memory_of(engine).read_bytes()
        memory_of(engine).unlink()
        assert patch(engine, *names, check_mode=check_mode) == remembered
        assert derived == ["vllm"]
        memory_of(engine).write_bytes(sound)


def elsewhere() -> dict[str, t.Callable[[pathlib.Path], t.Any]]:
    models = "vllm/model_executor/models/"

    def remove(site: pathlib.Path) -> None:
        next(path for path in sorted((site / models).glob("*.py")) if path.name != "plain.py").unlink()

    def grow(site: pathlib.Path) -> None:
        with (site / models / "interfaces.py").open("ab") as stream:
            stream.write(b"\n")

    def same_size(site: pathlib.Path) -> None:
        path = site / models / "interfaces.py"
        status = path.stat()
        data = path.read_bytes()
        path.write_bytes(data[:-1] + b" ")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def link(site: pathlib.Path) -> None:
        (site / "vllm" / "linked").symlink_to(site / models, target_is_directory=True)

    return {
        "a new file": lambda site: (site / models / "new.py").write_text(""),
        "a new folder": lambda site: shutil.copytree(site / models, site / "vllm" / "more"),
        "a file less": remove,
        "a longer file": grow,
        "other bytes under the same size and time": same_size,
        "a link to a folder": link,
        "a module in the package's place": lambda site: (site / "vllm.py").write_text(""),
    }


@pytest.mark.parametrize("change", elsewhere().values(), ids=elsewhere())
def test_an_engine_that_differs_anywhere_is_read_again(
    engine: Venv, derived: list[str], change: t.Callable[[pathlib.Path], t.Any]
) -> None:
    patch(engine, check_mode=False)
    del derived[:]
    patch(engine)
    assert derived == []
    change(engine.site)
    patch(engine)
    assert derived == ["vllm"]


def test_another_question_is_asked(engine: Venv, derived: list[str]) -> None:
    patch(engine, check_mode=False)
    del derived[:]
    patch(engine, PLAIN, "ReadyForCausalLM")
    assert derived == ["vllm"]


def test_an_engine_that_was_changed_just_now_is_not_remembered(engine: Venv, derived: list[str]) -> None:
    (engine.site / "vllm" / "late.py").write_text("")
    patch(engine, check_mode=False)
    del derived[:]
    patch(engine)
    assert derived == ["vllm"]
