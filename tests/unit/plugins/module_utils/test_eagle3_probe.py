# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import pathlib
import subprocess
import sys
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _eagle3_probe, _target
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe

INTERFACES = """
from typing import ClassVar, Literal, Protocol, runtime_checkable

@runtime_checkable
class SupportsEagle3(Protocol):
    supports_eagle3: ClassVar[Literal[True]] = True
    def set_aux_hidden_state_layers(self, layers): ...

def supports_eagle3(model):
    return isinstance(model, SupportsEagle3)
"""
MODEL = """
from vllm.model_executor.models.interfaces import SupportsEagle3

class Capable(SupportsEagle3):
    def set_aux_hidden_state_layers(self, layers):
        self.layers = layers

class Plain:
    pass
"""

REGISTRY = """
class Lazy:
    def load_model_cls(self):
        from vllm.model_executor.models.model import Capable
        return Capable

class ModelRegistry:
    models = {"ArchitectureName": Lazy()}
"""


class Engine(t.NamedTuple):
    env: Environment
    model: pathlib.Path

    def ask(self, *names: str | None, contents: dict[str, str] | None = None) -> dict[str, t.Any]:
        targets = [{"module": "vllm.model_executor.models.model", "name": name} for name in names]
        others = {path: base64.b64encode(text.encode()).decode() for path, text in (contents or {}).items()}
        request = {"engine": "vllm", "compile": [str(self.model)], "targets": targets, "contents": others}
        return _target.run_child(self.env, _eagle3_probe.run_request, request, timeout=60)


@pytest.fixture
def engine(tmp_path: pathlib.Path) -> Engine:
    """A venv whose ``vllm`` has the interface as the real one spells it."""
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python3*/site-packages")
    models = packages / "vllm/model_executor/models"
    models.mkdir(parents=True)
    for folder in (models, *list(models.parents)[:2]):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    (models / "interfaces.py").write_text(INTERFACES, encoding="utf-8")
    (models / "model.py").write_text(MODEL, encoding="utf-8")
    return Engine(probe(str(venv / "bin/python")), models / "model.py")


def test_the_engine_itself_answers(engine: Engine) -> None:
    assert engine.ask("Capable") == {"compiled": True, "imported": True, "supports_eagle3": True, "reason": None}


def test_a_class_that_is_no_target(engine: Engine) -> None:
    answer = engine.ask("Capable", "Plain")
    assert answer["supports_eagle3"] is False
    assert answer["reason"] == "the engine does not take these as EAGLE-3 targets: Plain"


def test_a_class_that_is_not_there(engine: Engine) -> None:
    answer = engine.ask("Missing")
    assert (answer["imported"], answer["supports_eagle3"]) == (True, None)
    assert answer["reason"].startswith("ModuleNotFoundError: No module named 'vllm.model_executor.models.registry'")


def test_a_class_of_another_name_is_found_in_the_registry(engine: Engine) -> None:
    (engine.model.parent / "registry.py").write_text(REGISTRY, encoding="utf-8")
    assert engine.ask("ArchitectureName")["supports_eagle3"] is True


def test_a_module_without_a_class_to_ask_about(engine: Engine) -> None:
    assert engine.ask(None) == {"compiled": True, "imported": True, "supports_eagle3": None, "reason": None}


def test_a_file_that_does_not_compile(engine: Engine) -> None:
    engine.model.write_text("def f(:\n", encoding="utf-8")
    answer = engine.ask("Capable")
    assert answer["compiled"] is False
    assert str(engine.model) in answer["reason"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param("import torch_that_is_not_here", "ModuleNotFoundError: No module named", id="missing-dependency"),
        pytest.param("raise SystemExit('no device')", "SystemExit: no device", id="exit"),
    ],
)
def test_a_module_that_cannot_be_imported(engine: Engine, line: str, said: str) -> None:
    engine.model.write_text(line + "\n" + MODEL, encoding="utf-8")
    answer = engine.ask("Capable")
    assert (answer["compiled"], answer["imported"], answer["supports_eagle3"]) == (True, False, None)
    assert answer["reason"].startswith(said)
    assert f"{engine.model}:1" in answer["reason"]


def test_other_contents_stand_in_for_those_on_disk(engine: Engine) -> None:
    engine.model.write_text("raise RuntimeError('as it is on disk')\n", encoding="utf-8")
    assert engine.ask("Capable")["imported"] is False
    assert engine.ask("Capable", contents={str(engine.model): MODEL})["supports_eagle3"] is True


def test_nothing_is_written(engine: Engine) -> None:
    folder = engine.model.parents[2]
    before = sorted(folder.rglob("*"))
    engine.ask("Capable")
    assert sorted(folder.rglob("*")) == before
