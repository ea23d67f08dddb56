# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the role ran: a draft is accepted, and nothing but that has changed."""

from __future__ import annotations

import ast
import difflib
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

# Where lines may differ from the release's, by definition; "" is the module itself.
TOUCHED = {
    "vllm/config/speculative.py": {"SpeculativeConfig._verify_args"},
    "vllm/model_executor/models/deepseek_v2.py": {
        "",
        "DeepseekV2ForCausalLM",
        "DeepseekV2ForCausalLM.get_eagle3_aux_hidden_state_layers",
        "DeepseekV2ForCausalLM.get_eagle3_default_aux_hidden_state_layers",
        "DeepseekV2ForCausalLM.set_aux_hidden_state_layers",
        "DeepseekV2Model",
        "DeepseekV2Model.forward",
    },
    "vllm/model_executor/models/kimi_k25.py": {
        "",
        "KimiK25ForConditionalGeneration",
        "KimiK25ForConditionalGeneration.get_eagle3_aux_hidden_state_layers",
        "KimiK25ForConditionalGeneration.get_eagle3_default_aux_hidden_state_layers",
        "KimiK25ForConditionalGeneration.set_aux_hidden_state_layers",
    },
    "vllm/v1/spec_decode/eagle.py": {"SpecDecodeBaseProposer.load_model"},
    "speculators/data_generation/custom_worker.py": {"HiddenStatesWorkerExtension._setup_hidden_states_capture"},
    "sglang/srt/models/kimi_k25.py": {
        "KimiK25ForConditionalGeneration.get_embed_and_head",
        "KimiK25ForConditionalGeneration.set_eagle3_layers_to_capture",
        "KimiK25ForConditionalGeneration.set_embed_and_head",
    },
}


def definitions(text: str) -> list[str]:
    """The innermost class or function that each line stands in, by line number."""
    found = [""] * (text.count("\n") + 2)

    def visit(node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = outer
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                name = f"{outer}.{child.name}".lstrip(".")
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                assert child.end_lineno is not None
                found[first : child.end_lineno + 1] = [name] * (child.end_lineno + 1 - first)
            visit(child, name)

    visit(ast.parse(text), "")
    return found


def touched(before: str, after: str) -> set[str]:
    """Definitions with lines that only one of the two has; blank lines do not count."""
    sides = [(text.split("\n"), definitions(text)) for text in (before, after)]
    found = set()
    matcher = difflib.SequenceMatcher(None, sides[0][0], sides[1][0], autojunk=False)
    for kind, *spans in matcher.get_opcodes():
        if kind == "equal":
            continue
        for (lines, names), (start, end) in zip(sides, (spans[:2], spans[2:]), strict=True):
            found |= {names[index + 1] for index in range(start, end) if lines[index].strip()}
    return found


@pytest.fixture(scope="module")
def patched(runs: Any) -> Any:
    """The first run that wrote."""
    return next(run for run in runs if not run.check and run.playbook == "converge.yml")


def test_the_module_is_the_working_tree_s(runs: Any) -> None:
    project = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"]).resolve()
    loaded = {Path(task["module"]).resolve() for run in runs for task in run.tasks}
    assert project / "plugins" / "modules" / "eagle3_patch.py" in loaded
    assert {path.parent for path in loaded} == {project / "plugins" / "modules"}


def test_check_mode_had_announced_the_same_diff(runs: Any, patched: Any) -> None:
    (announced,) = [run for run in runs if run.check]
    assert patched.changed
    assert announced.diffs == patched.diffs


def test_the_second_run_changed_nothing(runs: Any) -> None:
    first, second = (run for run in runs if not run.check and run.playbook == "converge.yml")
    assert first.changed
    assert not second.changed
    assert second.diffs == {}


def test_the_files_are_those_of_the_diff(files: Any, engines: Any, patched: Any) -> None:
    differ = {}
    for engine in engines:
        found = files(engine.site_packages)
        for path in engine.tree.rglob("*"):
            name = str(path.relative_to(engine.tree))
            if path.is_file() and found[name][0] != hashlib.sha256(path.read_bytes()).hexdigest():
                differ[f"{engine.site_packages}/{name}"] = (path.read_text(), found[name][0])
    assert set(differ) == set(patched.diffs)
    for path, (released, digest) in differ.items():
        before, after = patched.diffs[path]
        assert before == released
        assert hashlib.sha256(after.encode()).hexdigest() == digest


def test_all_lines_outside_the_edits_are_the_release_s(patched: Any) -> None:
    found = {path.split("/site-packages/")[1]: touched(*texts) for path, texts in patched.diffs.items()}
    assert found == TOUCHED


def test_no_file_was_added_to_the_environments(files: Any, engines: Any) -> None:
    for engine in engines:
        assert set(files(engine.site_packages)) == set(files(engine.twin))


def test_the_environment_that_shares_inodes_holds_the_release(files: Any, engine: Any) -> None:
    found = files(engine.twin)
    for path in engine.tree.rglob("*"):
        if path.is_file():
            name = str(path.relative_to(engine.tree))
            assert found[name][0] == hashlib.sha256(path.read_bytes()).hexdigest(), name


def test_only_links_of_patched_files_are_broken(files: Any, engines: Any, patched: Any) -> None:
    for engine in engines:
        found = files(engine.site_packages)
        alone = {f"{engine.site_packages}/{name}" for name, (_digest, links) in found.items() if links == 1}
        assert alone == {path for path in patched.diffs if path.startswith(engine.site_packages)}


def test_python_runs_the_new_source(inside: Any, engines: Any, patched: Any) -> None:
    assert inside("stale_bytecode.py", *sorted(patched.diffs)) == []


def test_vllm_takes_the_draft(inside: Any, engines: Any) -> None:
    found = inside("vllm_target.py", engines[0].site_packages)
    # The stand-in layers add 1000 each to an embedding of 5: the residual stream before layer k is 5 + 1000 k.
    assert found == {
        "text is an EAGLE-3 target": True,
        "wrapper is an EAGLE-3 target": True,
        "default layers": [2, 30, 58],
        "forward": [["final", 61005], [2005, 30005, 58005]],
        "model type is let through": True,
        "image token": 163605,
    }


def test_speculators_finds_the_decoder(inside: Any, engines: Any) -> None:
    assert inside("speculators_target.py", engines[1].site_packages) == {
        "decoder with the interface": ["model"],
        "wrapper with the interface": ["language_model.model"],
        "wrapper without the interface": ["language_model.model"],
        "wrapper around the layers": ["language_model"],
        "decoder without the interface": ["model"],
        "neither": "ValueError",
    }


def test_sglang_hands_the_draft_on(inside: Any, engines: Any) -> None:
    assert inside("sglang_target.py", engines[2].site_packages) == {
        "methods": ["get_embed_and_head", "set_eagle3_layers_to_capture", "set_embed_and_head"],
        "calls": [["set_eagle3_layers_to_capture", [1, 29, 57]], ["set_embed_and_head", "head", "embed"]],
    }


def test_the_ledger_is_outside_of_the_packages(host: Any, engines: Any) -> None:
    for venv in {engine.venv for engine in engines}:
        places = host.check_output("find %s -name ledger.json", venv).splitlines()
        assert len(places) == 1
        assert "/site-packages/" not in places[0]


def test_the_status_says_patched(runs: Any) -> None:
    (status,) = [run for run in runs if run.playbook == "status.yml"]
    states = {
        (task["result"]["engine"], name): architecture["state"]
        for task in status.tasks
        if task["action"] == "specdec.blackwell.eagle3_info"
        for name, architecture in task["result"]["architectures"].items()
    }
    assert states == {
        ("vllm", "KimiK25ForConditionalGeneration"): "patched",
        ("speculators", "custom_worker"): "patched",
        ("sglang", "KimiK25ForConditionalGeneration"): "patched",
    }
    assert not status.changed


def test_the_engine_was_restarted_once(host: Any) -> None:
    assert host.file("/var/lib/engine-starts").content_string == "started\n" * 2


def test_root_s_shell_is_zsh(host: Any) -> None:
    assert host.user("root").shell == "/bin/zsh"
