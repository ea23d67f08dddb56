# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every architecture that is called patchable, release by release: patched, proved by running it, and then native."""

from __future__ import annotations

import functools
import gc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from corpus.decoders import MISTAKES, can_spoil, conflicts, models_of, place_of, spoil, wrong
from corpus.mutate import mutant
from corpus.patching import Item, Patched, merged, survey

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import vllm
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import Refusal
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_models import Model

RELEASES = ("0.11.0", "0.13.0", "0.16.0", "0.17.1", "0.20.0", "0.24.0", "0.28.0", "0.30.0", "0.33.0")
# (native, the rest) of unique classes in the text and the multimodal table, by another survey of the same releases.
NATIVE = {"0.16.0": (19, 11), "0.24.0": (34, 21), "0.33.0": (44, 38)}


@pytest.fixture(autouse=True)
def no_cycle_search() -> Iterator[None]:
    """Thousands of syntax trees come and go here; searching them for cycles would double the time."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@functools.cache
def patchable(root: Path) -> dict[str, Item]:
    names = [name for name, item in survey(root, None).items() if item["state"] == "patchable"]
    return survey(root, names)


@pytest.mark.parametrize("release", RELEASES)
def test_every_patchable_architecture(release: str, tally: Callable[[str, dict[str, int]], None]) -> None:
    root = releases.tree("vllm", release)
    everything = survey(root, None)
    tally(f"vllm {release}", Counter(item["state"] for item in everything.values()))
    for name, item in everything.items():
        assert bool(item["reason"]) == (item["state"] == "by_hand"), name
    found = patchable(root)
    assert found
    assert [name for name, item in found.items() if not item["edits"]] == []
    edits = merged(item["edits"] for item in found.values())
    tree = Patched(root)
    tree.apply(edits)
    assert tree.apply(edits) == []
    models = models_of(root, list(found))
    captured = {model.decoder: model for model in models.values() if model.capture is not None}
    with tree.view() as view:
        after = survey(view, None)
        assert {name: item["state"] for name, item in after.items() if name in found} == dict.fromkeys(found, "native")
        assert {name for name, item in after.items() if item["state"] == "native"}.issuperset(
            name for name, item in everything.items() if item["state"] == "native"
        )
        assert conflicts(view) == []
        mistakes = {model.ref.name: wrong(model, root, view) for model in captured.values()}
        assert {name: found for name, found in mistakes.items() if found} == {}


@pytest.mark.parametrize("release", RELEASES)
def test_wrong_patches_of_every_decoder_are_caught(release: str) -> None:
    root = releases.tree("vllm", release)
    found = patchable(root)
    models = models_of(root, list(found))
    missed = []
    for how in MISTAKES:
        done = {}
        edits = []
        for name, model in models.items():
            if model.capture is not None and can_spoil(model, how) and model.decoder not in done:
                done[model.decoder] = model
                file = model.capture.forward.owner.module.path
                own = [edit for edit in found[name]["edits"] if edit["file"] == file]
                edits.append(spoil(model, own, how))
        tree = Patched(root)
        tree.apply(merged(edits))
        with tree.view() as view:
            missed += [(how, model.ref.name) for model in done.values() if not wrong(model, root, view)]
    assert missed == []


@pytest.mark.parametrize("release", RELEASES)
def test_the_same_under_other_names(release: str) -> None:
    root = releases.tree("vllm", release)
    names = list(survey(root, None))
    found = survey(root, names)
    files = {edit["file"] for item in found.values() for edit in item["edits"]}
    with mutant(root, files) as other:
        twins = {name: other.classes.get(name, name) for name in names}
        again = survey(other.root, list(twins.values()))
    differing = {}
    for name, item in found.items():
        twin = again[twins[name]]
        wanted = [without_id(other.edit(edit)) for edit in item["edits"]]
        if twin["state"] != item["state"] or [without_id(edit) for edit in twin["edits"]] != wanted:
            differing[name] = (item["state"], twin["state"], twin["reason"])
    assert differing == {}


@pytest.mark.parametrize("release", NATIVE)
def test_native_classes_are_those_that_another_survey_counts(release: str) -> None:
    root = releases.tree("vllm", release)
    read = vllm.Survey({"engine": "vllm", "root": str(root), "architectures": None})
    counts = []
    for multimodal in (False, True):
        entries = {
            (entry.module, entry.class_name): read.registry.class_of(entry)
            for entry in read.registry.entries.values()
            if entry.multimodal is multimodal
        }
        counts.append(sum(ref is not None and read.models.read(ref).state == "native" for ref in entries.values()))
    assert tuple(counts) == NATIVE[release]


@pytest.mark.parametrize("release", ["0.11.0", "0.16.0", "0.20.0"])
def test_the_last_layer_of_every_native_decoder(release: str) -> None:
    root = releases.tree("vllm", release)
    names = [name for name, item in survey(root, None).items() if item["state"] == "native"]
    asked = survey(root, names, last_layer=True)
    assert {item["state"] for item in asked.values()} == {"native", "patchable"}
    found = {name: item for name, item in asked.items() if item["edits"]}
    assert {item["shape"] for item in found.values()} == {"last_layer"}
    tree = Patched(root)
    tree.apply(merged(item["edits"] for item in found.values()))
    with tree.view() as view:
        again = survey(view, list(found), last_layer=True)
        assert {name: item["state"] for name, item in again.items()} == dict.fromkeys(found, "native")
        decoders = {model.decoder: model for model in models_of(root, list(found)).values()}
        traced = [model for model in decoders.values() if has_trace(model, root)]
        mistakes = {model.ref.name: wrong(model, root, view, lowest=1) for model in traced}
    assert mistakes != {}
    assert {name: what for name, what in mistakes.items() if what} == {}


def has_trace(model: Model, root: Path) -> bool:
    """Its loop can be followed; one that hands on more than two states cannot."""
    try:
        place_of(model, root)
    except Refusal:
        return False
    return True


@pytest.mark.parametrize("release", ["0.30.0", "0.33.0"])
def test_a_last_state_that_may_be_a_part_is_refused(release: str) -> None:
    """Its layers leave the sum over ranks to the norm that follows."""
    name = "DeepseekV32ForCausalLM"
    root = releases.tree("vllm", release)
    assert survey(root, [name])[name]["state"] == "native"
    item = survey(root, [name], last_layer=True)[name]
    assert (item["state"], item["edits"]) == ("by_hand", [])
    assert "its last state may be a part" in item["reason"]


def without_id(edit: Item) -> Item:
    return {key: value for key, value in edit.items() if key != "id"}
