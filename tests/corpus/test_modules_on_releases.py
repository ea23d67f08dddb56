# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The modules on real releases in a venv: what gets patched comes back byte for byte, what is native stays as it is."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from corpus.patching import survey

import releases
from ansible_collections.specdec.blackwell.plugins.modules import eagle3_info, eagle3_patch, python_ast_edit_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Runner

KIMI, DEEPSEEK, WORKER = "KimiK25ForConditionalGeneration", "DeepseekV3ForCausalLM", "custom_worker"


class Case(NamedTuple):
    engine: str
    version: str
    architecture: str
    state: str
    last_layer: bool = False

    def __str__(self) -> str:
        return f"{self.engine}-{self.version}-{self.architecture}{'-last' if self.last_layer else ''}-{self.state}"


CASES = [
    Case("vllm", "0.13.0", DEEPSEEK, "patchable"),
    Case("vllm", "0.16.0", KIMI, "patchable"),
    Case("vllm", "0.17.1", KIMI, "patchable"),
    Case("vllm", "0.17.1", KIMI, "patchable", last_layer=True),
    Case("vllm", "0.18.0", KIMI, "native"),
    Case("vllm", "0.18.0", KIMI, "patchable", last_layer=True),
    Case("vllm", "0.24.0", KIMI, "patchable", last_layer=True),
    Case("vllm", "0.33.0", KIMI, "native"),
    Case("vllm", "0.15.1", KIMI, "by_hand"),
    Case("vllm", "0.13.0", KIMI, "absent"),
    Case("sglang", "0.5.9", KIMI, "patchable"),
    Case("sglang", "0.5.10", KIMI, "native"),
    Case("speculators", "0.3.0", WORKER, "patchable"),
    Case("speculators", "0.4.0", WORKER, "native"),
]


class Cell(NamedTuple):
    engine: str
    version: str
    shape: str
    architecture: str

    def __str__(self) -> str:
        return f"{self.engine}-{self.version}-{self.shape}-{self.architecture}"


# Drawn at random from the matrix, one for each shape of either engine.
SAMPLE = [
    Cell("vllm", "0.13.0", "L0", "ArceeForCausalLM"),
    Cell("vllm", "0.11.0", "L1", "MiMoForCausalLM"),
    Cell("vllm", "0.28.0", "L2", "PhiForCausalLM"),
    Cell("vllm", "0.16.0", "L3", "KimiLinearForCausalLM"),
    Cell("vllm", "0.24.0", "L4", "PanguProMoEV2ForCausalLM"),
    Cell("vllm", "0.11.0", "L6", "Mamba2ForCausalLM"),
    Cell("vllm", "0.20.0", "W1", "Lfm2VlForConditionalGeneration"),
    Cell("vllm", "0.30.0", "W2", "AriaForConditionalGeneration"),
    Cell("vllm", "0.17.1", "W3", "Gemma3ForConditionalGeneration"),
    Cell("vllm", "0.33.0", "W4", "Phi4MMForCausalLM"),
    Cell("sglang", "0.5.2", "classic", "PhiMoEForCausalLM"),
    Cell("sglang", "0.5.13", "delegate", "DotsOCRForCausalLM"),
    Cell("sglang", "0.5.4.post3", "delegate+", "InternVLChatModel"),
    Cell("sglang", "0.5.9", "methods", "Qwen2VLForConditionalGeneration"),
    Cell("sglang", "0.5.2", "single", "PersimmonForCausalLM"),
    Cell("sglang", "0.5.23", "stage", "XllmForCausalLM"),
]


class Installed:
    """A release in a venv, with the options that name it."""

    def __init__(self, root: Path, case: Case) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True)
        (self.site,) = root.glob("lib/python3*/site-packages")
        releases.copy_tree(case.engine, case.version, self.site)
        self.release = releases.tree(case.engine, case.version)
        self.python = str(root / "bin" / "python")
        self.options: dict[str, Any] = {"engine": case.engine, "python": self.python, "last_layer": case.last_layer}
        if case.architecture != WORKER:
            self.options["architectures"] = [case.architecture]

        self._copied = self._stamps()

    def _stamps(self) -> dict[str, tuple[int, int, int]]:
        found = {}
        for path in self.site.rglob("*"):
            status = path.lstat()
            if not stat.S_ISDIR(status.st_mode):
                found[path.relative_to(self.site).as_posix()] = (status.st_ino, status.st_mtime_ns, status.st_size)
        return found

    def changed(self) -> set[str]:
        """Paths whose bytes are not the release's, added and missing ones included."""
        now = self._stamps()
        touched = {path for path in {*now, *self._copied} if now.get(path) != self._copied.get(path)}
        return {path for path in touched if not self._is_release(path)}

    def _is_release(self, path: str) -> bool:
        now, was = self.site / path, self.release / path
        return now.is_file() and was.is_file() and now.read_bytes() == was.read_bytes()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_release(case: Case, tmp_path: Path, run: Runner) -> None:
    engine = Installed(tmp_path / "venv", case)
    info = run.run(eagle3_info, **engine.options)
    assert (info["version"], info["distribution"]) == (case.version, case.engine)
    assert info["architectures"][case.architecture]["state"] == case.state
    assert engine.changed() == set()

    if case.state in ("by_hand", "absent"):
        reason = info["architectures"][case.architecture]["reason"]
        assert reason and reason in run.fails(eagle3_patch, **engine.options)["msg"]
        assert engine.changed() == set()
        return

    first = run.parity(eagle3_patch, **engine.options)
    wanted = "patched" if case.state == "patchable" else "native"
    assert first["architectures"][case.architecture]["state"] == wanted
    assert first["changed"] is (wanted == "patched")
    assert engine.changed() == {str(Path(item["path"]).relative_to(engine.site)) for item in first["files"]}
    if wanted == "native":
        assert first["generated_edits"] == []
        return
    assert first["verified"]["compiled"] is True
    assert set(engine.changed()) == {edit["file"] for edit in first["generated_edits"]}

    remembered = run.parity(eagle3_patch, **engine.options)
    assert remembered["changed"] is False
    (Path(engine.python).parents[1] / ".specdec-blackwell" / "memory.json").unlink()
    assert run.parity(eagle3_patch, **engine.options) == remembered
    (patch,) = run.run(python_ast_edit_info, python=engine.python)["patches"]
    assert (patch["name"], patch["state"]) == (f"eagle3-{case.engine}-{case.architecture}", "whole")
    assert run.parity(eagle3_patch, **engine.options, state="absent")["changed"] is True
    assert engine.changed() == set()


@pytest.mark.parametrize("cell", SAMPLE, ids=str)
def test_sampled_cell(cell: Cell, tmp_path: Path, run: Runner) -> None:
    """What the matrix says of all architectures within a process, through the module and on disk."""
    engine = Installed(tmp_path / "venv", Case(cell.engine, cell.version, cell.architecture, "patchable"))
    first = run.run(eagle3_patch, **engine.options)
    item = first["architectures"][cell.architecture]
    assert (first["changed"], item["state"], item["shape"]) == (True, "patched", cell.shape)
    assert first["verified"]["compiled"] is True
    touched = engine.changed()
    assert touched == {edit["file"] for edit in first["generated_edits"]} and item["file"] in touched
    assert run.run(eagle3_patch, **engine.options)["changed"] is False
    assert engine.changed() == touched
    assert run.run(eagle3_patch, **engine.options, state="absent")["changed"] is True
    assert engine.changed() == set()


def test_a_bare_decoder_says_which_runner_takes_it() -> None:
    """And a wrapper whose text model the config chooses takes that one along."""
    found = survey(releases.tree("vllm", "0.30.0"), ["AriaForConditionalGeneration", "Glm4ForCausalLM"])
    told = {name: any("not on the V1 runner" in note for note in item["notes"]) for name, item in found.items()}
    assert told == {"AriaForConditionalGeneration": True, "Glm4ForCausalLM": False}
    for kind, text in (("glm4v", "Glm4ForCausalLM"), ("glm4v_moe", "Glm4MoeForCausalLM")):
        wrapper = "Glm4vForConditionalGeneration"
        item = survey(releases.tree("vllm", "0.30.0"), [wrapper], model_config={"model_type": kind})[wrapper]
        assert item["text_architectures"] == [text]


def test_two_engines_in_one_environment(tmp_path: Path, run: Runner) -> None:
    """Each is patched alone, and taking one back leaves the other."""
    engine = Installed(tmp_path / "venv", Case("vllm", "0.16.0", KIMI, "patchable"))
    releases.copy_tree("speculators", "0.3.0", engine.site)
    run.run(eagle3_patch, **engine.options)
    worker: dict[str, Any] = {"engine": "speculators", "python": engine.python}
    result = run.run(eagle3_patch, **worker)
    assert result["changed"] is True
    assert any("vllm" in note.lower() for note in result["architectures"][WORKER]["notes"])
    run.run(eagle3_patch, engine="vllm", python=engine.python, state="absent")
    states = {item["name"]: item["state"] for item in run.run(python_ast_edit_info, python=engine.python)["patches"]}
    assert states == {f"eagle3-speculators-{WORKER}": "whole"}
    assert run.run(eagle3_info, **worker)["architectures"][WORKER]["state"] == "patched"
