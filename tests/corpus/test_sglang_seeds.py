# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kimi-K2.5 on released SGLangs, what a draft's layer ids come to on each, and what is said of the rest."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_capture import captured
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan

KIMI = "KimiK25ForConditionalGeneration"
TEXT = "DeepseekV3ForCausalLM"


def survey(version: str, names: list[str] | None, **keys: Any) -> dict[str, dict[str, Any]]:
    root = releases.tree("sglang", version)
    response = derive.run_request({"engine": "sglang", "root": str(root), "architectures": names, **keys})
    assert response["error"] is None, response["error"]
    found: dict[str, dict[str, Any]] = response["architectures"]
    return found


METHODS = """\
def set_eagle3_layers_to_capture(self, layer_ids=None):
    self.language_model.set_eagle3_layers_to_capture(layer_ids)

def get_embed_and_head(self):
    return self.language_model.get_embed_and_head()

def set_embed_and_head(self, embed, head):
    self.language_model.set_embed_and_head(embed, head)
"""


def test_the_one_release_that_lacks_it_gets_three_methods_and_nothing_else() -> None:
    entry = survey("0.5.9", [KIMI])[KIMI]
    assert (entry["state"], entry["shape"], entry["reason"]) == ("patchable", "delegate", None)
    assert entry["text_architectures"] == [TEXT]
    assert [sorted(edit) for edit in entry["edits"]] == [["file", "id", "in", "method"]] * 3
    (name,) = {edit["file"] for edit in entry["edits"]}
    assert name == entry["file"] == "sglang/srt/models/kimi_k25.py"
    before = (releases.tree("sglang", "0.5.9") / name).read_bytes()
    result = plan(entry["edits"], {name: File(before, "sglang.srt.models.kimi_k25")})
    assert result["ok"]
    after: bytes = result["files"][name]["after"]
    added = after.replace(before[: before.rindex(b"\n\nEntryClass")].rstrip(b"\n"), b"", 1)
    assert len(after) > len(before)
    (owner,) = [node for node in ast.parse(after).body if isinstance(node, ast.ClassDef) and node.name == KIMI]
    methods = "\n\n".join(ast.unparse(node) for node in owner.body[-3:])
    assert methods == ast.unparse(ast.parse(METHODS)).replace("\n\n\n", "\n\n")
    assert added.rstrip().endswith(before[before.rindex(b"\nEntryClass") :].strip())
    owner.body = owner.body[:-3]
    rest = [owner if getattr(node, "name", None) == KIMI else node for node in ast.parse(after).body]
    assert ast.dump(ast.Module(rest, [])) == ast.dump(ast.parse(before))
    again = plan(entry["edits"], {name: File(after, "sglang.srt.models.kimi_k25")})
    assert [item["state"] for item in again["edits"]] == ["present"] * 3


@pytest.mark.parametrize("version", ["0.5.10", "0.5.13", "0.5.17", "0.5.20", "0.5.21", "0.5.23"])
def test_later_releases_are_native(version: str) -> None:
    entry = survey(version, [KIMI, TEXT])
    for name in (KIMI, TEXT):
        assert (entry[name]["state"], entry[name]["edits"]) == ("native", [])


@pytest.mark.parametrize("version", ["0.5.2", "0.5.4.post3"])
def test_before_it_is_absent(version: str) -> None:
    entry = survey(version, [KIMI])[KIMI]
    assert (entry["state"], entry["edits"]) == ("absent", [])
    assert entry["reason"] == f"this SGLang registers no {KIMI}"


def test_the_text_model_of_the_first_release_is_no_target_of_ours() -> None:
    entry = survey("0.5.2", [TEXT])[TEXT]
    assert entry["state"] == "by_hand" and "prepare_attn, which may scatter it" in entry["reason"]


# draft ids -> the layers whose input is captured, as in the engine's own code of each release
IDS = [
    ("0.5.9", [2, 30, 58], [3, 31, 59]),
    ("0.5.9", [1, 29, 57], [2, 30, 58]),
    ("0.5.10", [2, 30, 58], [3, 31, 59]),
    ("0.5.13", [2, 30, 58], [2, 30, 58]),
    ("0.5.13", [1, 29, 57], [2, 30, 58]),
    ("0.5.23", [2, 30, 58], [2, 30, 58]),
    ("0.5.23", [1, 29, 57], [2, 30, 58]),
]


@pytest.mark.parametrize("version, ids, wanted", IDS)
def test_what_a_drafts_layer_ids_come_to(version: str, ids: list[int], wanted: list[int]) -> None:
    for entry in survey(version, [KIMI, TEXT]).values():
        assert captured(entry["layer_ids"], ids) == wanted
        (said,) = [note for note in entry["notes"] if note.startswith("layer ids of a draft")]
        assert ("if layer_ids and layer_ids[0] == 1" in said) == (len(entry["layer_ids"]["rules"]) == 2)


def test_the_rules_are_what_the_setter_does() -> None:
    """The setters of a release, run on stubs, against what was read from them."""
    entries = survey("0.5.13", None)
    tried, unread = 0, []
    for name, entry in entries.items():
        if entry["state"] != "native" or entry["text_architectures"]:
            continue
        setter = setter_of(releases.tree("sglang", "0.5.13") / entry["file"], name)
        if setter is None or entry["layer_ids"] is None:
            unread += [] if setter is None else [name]
            continue
        for ids in ([2, 30, 58], [1, 29, 57]):
            stub = Stub()
            setter(stub, ids)
            (shifted,) = stub.given()
            base = entry["layer_ids"]["base"]
            assert captured(entry["layer_ids"], ids) == [item - base + 1 for item in shifted], name
        tried += 1
    assert tried >= 12
    assert unread == ["MindSporeForCausalLM", "Llama4ForConditionalGeneration"]


class Stub:
    """A model of which only the ids are looked at."""

    def __init__(self) -> None:
        self.__dict__["layers_to_capture"] = None

    def given(self) -> list[list[int]]:
        """What was set on it, or on any of its parts."""
        here = [self.layers_to_capture] if self.layers_to_capture is not None else []
        parts = [item for item in self.__dict__.values() if isinstance(item, Stub)]
        return here + [ids for item in parts for ids in item.given()]

    def __getattr__(self, name: str) -> Any:
        if name == "set_eagle3_layers_to_capture":
            return lambda ids: setattr(self, "layers_to_capture", ids)
        self.__dict__[name] = Stub()
        return self.__dict__[name]


def setter_of(path: Path, name: str) -> Any:
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == "set_eagle3_layers_to_capture":
                    space: dict[str, Any] = {"get_pp_group": Stub}
                    source = textwrap.dedent(ast.unparse(item))
                    exec("from __future__ import annotations\n" + source, space)
                    return space[item.name]
    return None


@pytest.mark.parametrize("version, said", [("0.5.9", True), ("0.5.10", True), ("0.5.13", False), ("0.5.23", False)])
def test_graphs_captured_with_other_layers_are_said(version: str, said: bool) -> None:
    notes = survey(version, [TEXT])[TEXT]["notes"]
    found = [note for note in notes if "captures CUDA graphs with the default layers" in note]
    assert len(found) == said
    if found:
        place, line = found[0].split(" ", 1)[0].rsplit(":", 1)
        source = (releases.tree("sglang", version) / place).read_text().splitlines()[int(line) - 1]
        assert "set_eagle3_layers_to_capture()" in source


# wrappers


def test_a_wrapper_of_several_models_asks_for_the_config_and_takes_it() -> None:
    name = "InternVLChatModel"
    alone = survey("0.5.9", [name])[name]
    assert alone["shape"] == "delegate+" and len(alone["text_architectures"]) == 5
    assert any("give `model`" in note for note in alone["notes"])
    assert {edit["in"] for edit in alone["edits"]} == {name}
    config = {"architectures": [name], "llm_config": {"architectures": ["InternLM2ForCausalLM"]}}
    told = survey("0.5.9", [name], model_config=config)[name]
    assert told["text_architectures"] == ["InternLM2ForCausalLM"]
    assert {edit["in"].split(".")[0] for edit in told["edits"]} == {name, "InternLM2ForCausalLM", "InternLM2Model"}
    native = {"llm_config": {"architectures": ["Qwen2ForCausalLM"]}}
    assert survey("0.5.9", [name], model_config=native)[name]["shape"] == "delegate"


def test_a_wrapper_told_by_a_config_only_says_so() -> None:
    name = "LlavaForConditionalGeneration"
    entry = survey("0.5.9", [name])[name]
    assert entry["state"] == "patchable" and entry["text_architectures"] == []
    assert any("in the model's config: give `model`" in note for note in entry["notes"])


# what is refused, and why

REFUSED = {
    "Step3VLForConditionalGeneration": "prepare_attn, which may scatter it or put off its all-reduce",
    "GraniteMoeHybridForCausalLM": "takes its input as alone, but the norm after the loop as sum",
    "IQuestLoopCoderForCausalLM": "its layers run several times in one forward",
    "Grok1ForCausalLM": "a layer gives 3 values",
    "SolarForCausalLM": "its logits processor is not given one head of the class",
    "Qwen3_5ForConditionalGeneration": "may scatter it",
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_the_source_does_not_tell_is_refused(name: str) -> None:
    entry = survey("0.5.9", [name])[name]
    assert (entry["state"], entry["shape"], entry["edits"]) == ("by_hand", None, [])
    assert REFUSED[name] in entry["reason"]


@pytest.mark.parametrize(
    "name, says",
    [
        ("LlamaForCausalLMEagle3", "a draft itself"),
        ("Qwen2ForRewardModel", "gives no logits"),
        ("Gone", "registers no Gone"),
    ],
)
def test_what_is_no_target_is_absent(name: str, says: str) -> None:
    entry = survey("0.5.9", [name])[name]
    assert entry["state"] == "absent" and says in entry["reason"]


def test_all_of_the_registry_comes_without_edits() -> None:
    entries = survey("0.5.9", None)
    assert len(entries) > 170
    assert all(entry["edits"] == [] for entry in entries.values())
    assert {entry["state"] for entry in entries.values()} == {"native", "patchable", "by_hand", "absent"}


def test_the_stream_is_the_sum_only_where_the_source_says_so() -> None:
    """Pairs of one look: in the first the addition is still to come, in the others it is done."""
    names = ["MixtralForCausalLM", "CohereForCausalLM", "Exaone4ForCausalLM", "PhiMoEForCausalLM"]
    found = {}
    for name, entry in survey("0.5.9", names).items():
        assert entry["shape"] == "classic"
        (capture,) = [edit["insert"] for edit in entry["edits"] if edit["id"].endswith("-capture")]
        found[name] = "hidden_states + residual" in capture
    assert found == {name: name == "MixtralForCausalLM" for name in names}


def test_a_getter_that_cannot_work_is_replaced() -> None:
    name = "DotsOCRForCausalLM"
    entry = survey("0.5.9", [name])[name]
    (edit,) = [edit for edit in entry["edits"] if edit.get("overwrite")]
    assert "def get_embed_and_head" in edit["method"]
    assert any("cannot work, self.model.embed_tokens is not there" in note for note in entry["notes"])


def test_no_sglang_there_is_an_error() -> None:
    response = derive.run_request({"engine": "sglang", "root": "/nowhere", "architectures": None})
    assert response["architectures"] == {} and "no folder /nowhere" in response["error"]["message"]
