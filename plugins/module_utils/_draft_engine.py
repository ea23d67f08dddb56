# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What an installed engine will make of a draft: its class, its fields, its layer ids."""

from __future__ import annotations

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._draft_facts import Draft, Target
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive, drafts
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_survey import (
    ABSENT,
    BY_HAND,
    PATCHABLE,
    Engine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._model_folder import (
    ERROR,
    WARNING,
    Finding,
    finding,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._target import call

# Fields of a draft that change what it computes; a server that does not know one loads the draft all the same.
FIELDS = ("norm_before_residual", "norm_before_fc", "norm_output", "fc_norm")
_SPECULATORS_CLASSES = {"llama": "Eagle3LlamaForCausalLM", "qwen3": "Eagle3Qwen3ForCausalLM"}
_RELEASE = "use a release that does, or train the draft without it"


class View:
    """An installed engine, as far as drafts and this target are concerned."""

    def __init__(self, engine: Engine, target: Target) -> None:
        self.engine = engine
        self.name = engine.name
        self.label = engine.label()
        request = {"engine": engine.name, "root": engine.package.root}
        self.facts = call(engine.env, drafts.run_request, request)
        self.items: dict[str, t.Any] = {}
        if target.architectures:
            answer = call(
                engine.env,
                derive.run_request,
                {
                    **request,
                    "architectures": target.architectures,
                    "model_config": target.config,
                    "last_layer": False,
                    "distribution": engine.package.distribution,
                    "version": engine.package.version,
                    "others": {},
                },
            )
            if answer.get("error"):
                raise SpecdecError(str(answer["error"]["message"]))
            self.items = answer["architectures"]

    @property
    def rules(self) -> dict[str, t.Any] | None:
        """How the target's class moves layer ids, where it does."""
        return next((item["layer_ids"] for item in self.items.values() if item.get("layer_ids")), None)

    def said(self) -> dict[str, t.Any]:
        return {
            "name": self.name,
            "distribution": self.engine.package.distribution,
            "version": self.engine.package.version,
            "drafts": sorted(self.facts["drafts"]),
            "layer_ids_read_from": self.facts["ids_from"],
        }


def check(draft: Draft, view: View, method: str | None) -> list[Finding]:
    found = [*_target(view), *_guess(draft, view, method)]
    if draft.generation != 3:
        return found
    if draft.speculators and view.facts["converted"] is None:
        text = "a config.json in the format of speculators, of which the server reads only the outer level"
        fix = "move transformer_layer_config to the outer level in a local copy, with the architecture that it knows"
        return [*found, finding("format", ERROR, text, f"one that {view.label} reads", fix)]
    architecture = _architecture(draft, view)
    known = view.facts["drafts"].get(architecture)
    if known is None or (draft.latent and not known["latent"]):
        return [*found, _no_class(draft, view, architecture)]
    names = set(known["names"])
    found += _fields(draft, view, names)
    if draft.latent and view.name == "vllm":
        found += _latent(draft, view)
    if draft.states not in (None, 3) and "num_aux_hidden_states" not in names:
        text = f"fc.weight joins {draft.states} states, and {view.label} has 3 written in"
        found.append(finding("aux_count_fixed", ERROR, text, "3 states", _RELEASE))
    return found


def _target(view: View) -> t.Iterator[Finding]:
    for name, item in view.items.items():
        if item["state"] == PATCHABLE:
            fix = "run the role eagle3_patch first"
            yield finding("target_unpatched", WARNING, f"{name} takes no EAGLE-3 draft", "a patch", fix)
        elif item["state"] in (ABSENT, BY_HAND):
            wanted = f"an engine that serves {name} with a draft"
            yield finding("target_unsupported", ERROR, item["reason"] or item["state"], wanted, "use another release")


def _guess(draft: Draft, view: View, method: str | None) -> t.Iterator[Finding]:
    """Without a method vLLM looks at the lower-case path of the draft, for ``eagle-`` first."""
    if method is not None or draft.speculators or draft.generation != 3 or not view.facts["names_method"]:
        return
    path = draft.folder.path.lower()
    if "eagle-" in path or "eagle3" not in path:
        guessed = "eagle" if "eagle-" in path else "not EAGLE at all"
        text = f"no method is given, and from the path {draft.folder.path} the server guesses {guessed}"
        yield finding("method_guessed", ERROR, text, "eagle3", "give the server the method eagle3")


def _architecture(draft: Draft, view: View) -> str | None:
    """The name that the server looks for."""
    name = draft.architecture
    if view.name != "vllm":
        return name
    if draft.speculators:
        mapped = _SPECULATORS_CLASSES.get(str(draft.model_type), _SPECULATORS_CLASSES["llama"])
        return mapped if mapped in view.facts["drafts"] else _SPECULATORS_CLASSES["llama"]
    if name is None or name.startswith("Eagle3") or name.endswith("Eagle3") or name in view.facts["drafts"]:
        return name
    return f"Eagle3{name}"


def _no_class(draft: Draft, view: View, architecture: str | None) -> Finding:
    known = view.facts["drafts"]
    wanted = f"one that {view.label} loads: {', '.join(sorted(known)) or 'none'}"
    if not draft.latent:
        text = f"a draft of the class {architecture}"
        return finding("architecture_absent", ERROR, text, wanted, "use a release that has it, or name one it has")
    latent = sorted(name for name, item in known.items() if item["latent"])
    if latent and not draft.speculators:
        text, fix = f"a draft with latent attention (MLA), of the class {architecture}", f"name {latent[0]} instead"
    else:
        text = "a draft with latent attention (MLA)" + (" in the format of speculators" if draft.speculators else "")
        fix = "use a release with a class for it, or a draft in the shape of Llama"
    return finding("mla_draft", ERROR, text, wanted, fix)


def _fields(draft: Draft, view: View, names: set[str]) -> t.Iterator[Finding]:
    converted = view.facts["converted"]
    nested = draft.config.get(drafts.NESTED)
    for field in FIELDS:
        inside = isinstance(nested, dict) and bool(nested.get(field))
        if not draft.config.get(field) and not inside:
            continue
        if field not in names or (draft.speculators and converted is not None and field not in converted):
            text = f"{field} is set, and {view.label} does not read it"
            wanted = "a server that reads it: else the draft computes something else, and accepts little"
            yield finding("field_ignored", ERROR, text, wanted, _RELEASE)


def _latent(draft: Draft, view: View) -> t.Iterator[Finding]:
    kind, types = str(draft.model_type), view.facts["latent_types"]
    if kind in view.facts["rewritten"]:
        text = f"model_type {kind}, which {view.label} takes for an MTP draft and renames"
        fix = "in a local copy of config.json set model_type to kimi_k2, as published drafts have it"
        yield finding("mla_renamed", ERROR, text, "a model_type that is left alone", fix)
    elif types is not None and kind not in types:
        text = f"model_type {kind}, which {view.label} does not list as latent inside a draft"
        fix = "watch the draft's attention backend in the log; if it is not an MLA one, add the name to is_deepseek_mla"
        yield finding("mla_model_type", WARNING, text, ", ".join(types), fix)


def note_graphs(view: View, used: t.Sequence[int], default: t.Sequence[int], seen: t.Sequence[int]) -> list[Finding]:
    """Where CUDA graphs capture the default layers, only ids that mean those are served right."""
    note = view.facts["graphs"]
    if note is None or list(seen) == list(default):
        return []
    text = f"{note}; for {list(used)} prefill captures {list(seen)}"
    wanted = f"the same layers in both: {list(default)}"
    return [finding("layer_ids_graphs", WARNING, text, wanted, "see the corrected layer ids")]


__all__ = ("FIELDS", "View", "check", "note_graphs")
