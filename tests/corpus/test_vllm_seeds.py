# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DeepSeek-V3's and Kimi-K2.5's classes, release by release: what they are, and that the derived edits are right."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from corpus.decoders import MISTAKES, models_of, spoil, wrong
from corpus.mutate import mutant
from corpus.patching import Item, Patched, survey

import releases

DEEPSEEK = ("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM")
KIMI = "KimiK25ForConditionalGeneration"
SEEDS = [*DEEPSEEK, KIMI]
# As the checkpoint's own config.json has it, as far as it matters here.
KIMI_CONFIG = {
    "architectures": [KIMI],
    "model_type": "kimi_k25",
    "media_placeholder_token_id": 163605,
    "text_config": {"architectures": ["DeepseekV3ForCausalLM"], "model_type": "kimi_k2"},
}
# release: DeepSeek's state, Kimi's, and what asking for the last layer makes of both.
STATES = {
    "0.11.0": ("patchable", "absent", "patchable"),
    "0.13.0": ("patchable", "absent", "patchable"),
    "0.15.1": ("patchable", "by_hand", "patchable"),
    "0.16.0": ("patchable", "patchable", "patchable"),
    "0.17.1": ("patchable", "patchable", "patchable"),
    "0.18.0": ("native", "native", "patchable"),
    "0.20.0": ("native", "native", "patchable"),
    "0.21.0": ("native", "native", "patchable"),
    "0.24.0": ("native", "native", "patchable"),
    "0.28.0": ("native", "native", "native"),
    "0.30.0": ("native", "native", "native"),
    "0.33.0": ("native", "native", "native"),
}
PATCHED = [release for release, states in STATES.items() if states[0] == "patchable"]
LISTED = {"0.11.0", "0.13.0", "0.15.1", "0.16.0"}


def seeds(root: Path, **keys: Any) -> dict[str, Item]:
    return survey(root, SEEDS, model_config=None, **keys)


@pytest.mark.parametrize("release", STATES)
def test_states(release: str) -> None:
    deepseek, kimi, last = STATES[release]
    root = releases.tree("vllm", release)
    found = seeds(root)
    assert {name: item["state"] for name, item in found.items()} == {**dict.fromkeys(DEEPSEEK, deepseek), KIMI: kimi}
    for item in found.values():
        assert (item["edits"] != []) == (item["state"] == "patchable")
        assert bool(item["reason"]) == (item["state"] in ("by_hand", "absent"))
    asked = seeds(root, last_layer=True)
    for name, item in asked.items():
        if found[name]["state"] == "native":
            assert item["state"] == last
            assert item["shape"] == ("last_layer" if last == "patchable" else None)
            assert len(item["edits"]) == (1 if last == "patchable" else 0)
        else:
            assert item["edits"] == found[name]["edits"]


def test_a_bare_decoder_as_language_model_is_refused_with_the_reason() -> None:
    reason = seeds(releases.tree("vllm", "0.15.1"))[KIMI]["reason"]
    assert "bare decoder (self.language_model)" in reason
    assert ".model with the embedding" in reason


@pytest.mark.parametrize("release", [release for release, states in STATES.items() if "patchable" in states])
def test_patched_once_then_native_then_nothing(release: str) -> None:
    root = releases.tree("vllm", release)
    for last in (False, True):
        for name, item in seeds(root, last_layer=last).items():
            if item["state"] != "patchable":
                continue
            tree = Patched(root)
            assert tree.apply(item["edits"]) == sorted({edit["file"] for edit in item["edits"]})
            assert tree.apply(item["edits"]) == []
            with tree.view() as view:
                again = survey(view, [name], model_config=None, last_layer=True)[name]
                assert (again["state"], again["edits"]) == ("native", [])


@pytest.mark.parametrize("release", PATCHED)
def test_the_patched_decoder_captures_each_layer(release: str) -> None:
    root = releases.tree("vllm", release)
    name = DEEPSEEK[0]
    edits = survey(root, [name])[name]["edits"]
    model = models_of(root, [name])[name]
    tree = Patched(root)
    tree.apply(edits)
    with tree.view() as view:
        assert wrong(model, root, view) == []


@pytest.mark.parametrize("how", MISTAKES)
@pytest.mark.parametrize("release", PATCHED)
def test_a_patch_planted_wrong_is_caught(release: str, how: str) -> None:
    root = releases.tree("vllm", release)
    name = DEEPSEEK[0]
    model = models_of(root, [name])[name]
    edits = survey(root, [name])[name]["edits"]
    spoiled = spoil(model, edits, how)
    assert spoiled != edits
    tree = Patched(root)
    tree.apply(spoiled)
    with tree.view() as view:
        assert any("wanted" in mistake for mistake in wrong(model, root, view))


@pytest.mark.parametrize("release", [release for release, states in STATES.items() if states[:1] == ("native",)])
def test_the_last_layer_of_a_native_decoder(release: str) -> None:
    root = releases.tree("vllm", release)
    name = DEEPSEEK[0]
    item = survey(root, [name], last_layer=True)[name]
    if item["state"] == "native":
        assert item["edits"] == []
        return
    (edit,) = item["edits"]
    assert "self.end_layer in self.aux_hidden_state_layers" in edit["insert"]
    assert edit["before"].startswith("hidden_states, _ = self.norm(")
    tree = Patched(root)
    tree.apply(item["edits"])
    model = models_of(root, [name])[name]
    with tree.view() as view:
        assert wrong(model, root, view, lowest=1) == []
        assert wrong(model, view, root, lowest=1) != []


def test_the_wrapper_hands_on_to_the_language_model() -> None:
    for release in ("0.16.0", "0.17.1"):
        root = releases.tree("vllm", release)
        item = seeds(root)[KIMI]
        assert item["text_architectures"] == ["DeepseekV2ForCausalLM"]
        tree = Patched(root)
        tree.apply(item["edits"])
        node = next(
            node
            for node in ast.parse(tree.contents[item["file"]]).body
            if isinstance(node, ast.ClassDef) and node.name == KIMI
        )
        assert [ast.unparse(base) for base in node.bases][-1] == "SupportsEagle3"
        space: dict[str, Any] = {}
        methods: list[ast.stmt] = [
            one for one in node.body if isinstance(one, ast.FunctionDef) and "aux_hidden_state" in one.name
        ]
        assert len(methods) == 3
        holder = ast.ClassDef(name="Wrapper", bases=[], keywords=[], body=methods, decorator_list=[], type_params=[])
        exec(compile(ast.fix_missing_locations(ast.Module([holder], [])), "wrapper", "exec"), space)

        class Language:
            def __init__(self) -> None:
                self.asked: list[tuple[int, ...]] = []

            def set_aux_hidden_state_layers(self, layers: tuple[int, ...]) -> None:
                self.asked.append(layers)

            def get_eagle3_aux_hidden_state_layers(self) -> tuple[int, ...]:
                return (2, 30, 58)

        wrapper = space["Wrapper"]()
        wrapper.language_model = Language()
        wrapper.set_aux_hidden_state_layers((1, 2))
        assert wrapper.language_model.asked == [(1, 2)]
        assert wrapper.get_eagle3_aux_hidden_state_layers() == (2, 30, 58)
        assert wrapper.get_eagle3_default_aux_hidden_state_layers() == (2, 30, 58)


@pytest.mark.parametrize("release", ["0.16.0", "0.17.1"])
def test_the_engine_lets_the_model_type_and_the_image_token_through(release: str) -> None:
    root = releases.tree("vllm", release)
    item = survey(root, [KIMI], model_config=KIMI_CONFIG)[KIMI]
    listed = {edit["element"]["value"] for edit in item["edits"] if "element" in edit}
    assert listed == {'"deepseek_v2"', '"deepseek_v3"', '"kimi_k2"'}
    assert {edit["element"]["to"] for edit in item["edits"] if "element" in edit} == {
        "eagle3_target_supported" if release in LISTED else "aux_hidden_states_supported"
    }
    drafter = [edit for edit in item["edits"] if edit["file"].startswith("vllm/v1/spec_decode/")]
    assert len(drafter) == 1
    assert KIMI in drafter[0]["insert"]
    assert "target_model.config.media_placeholder_token_id" in drafter[0]["insert"]


@pytest.mark.parametrize("release", STATES)
def test_the_same_edits_under_other_names(release: str) -> None:
    root = releases.tree("vllm", release)
    found = seeds(root, last_layer=True)
    files = {edit["file"] for item in found.values() for edit in item["edits"]}
    files.update(item["file"] for item in found.values() if item["file"])
    with mutant(root, files) as other:
        names = {name: other.classes.get(name, name) for name in SEEDS}
        assert names[DEEPSEEK[0]] != DEEPSEEK[0]
        assert other.moved
        again = survey(other.root, list(names.values()), model_config=None, last_layer=True)
        for name, item in found.items():
            twin = again[names[name]]
            assert (twin["state"], bool(twin["reason"])) == (item["state"], bool(item["reason"]))
            assert [without_id(edit) for edit in twin["edits"]] == [
                without_id(other.edit(edit)) for edit in item["edits"]
            ]
            if item["edits"]:
                tree = Patched(other.root)
                assert tree.apply(twin["edits"])


def without_id(edit: Item) -> Item:
    return {key: value for key, value in edit.items() if key != "id"}
