# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""EAGLE-3 targets of an installed vLLM: what each architecture is, and the edits that make it one."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._values import Registered, built_by
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_edits import Edit, Writer
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_gates import (
    TOKEN_FIELD,
    read_draft_types,
    read_reach,
    read_token_branch,
    read_whitelist,
    refuses_pipeline,
    serves_bare_decoders,
    token_field,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_interface import (
    OVER_PP,
    PROTOCOL,
    is_multimodal,
    read_interface,
    takes_last,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import Refusal
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_models import (
    ABSENT,
    BY_HAND,
    NATIVE,
    PATCHABLE,
    Model,
    Models,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_registry import (
    Entry,
    Registry,
    text_config,
)

LAST_LAYER = "last_layer"
LISTED = "whitelist"


class Survey:
    """One installed vLLM."""

    def __init__(self, request: Dict[str, Any]) -> None:
        self.index = Index(request["root"], ("vllm",))
        self.config: Optional[Dict[str, Any]] = request.get("model_config")
        self.last_layer = bool(request.get("last_layer"))
        self.whole = request.get("architectures") is None
        self.registry = Registry(self.index)
        self.interface = read_interface(self.index)
        self.models = Models(self.index, read_reach(self.index), serves_bare_decoders(self.index))
        self.writer = Writer(self.index, self.interface, self.models)
        self.whitelist = read_whitelist(self.index)
        self.tokens = read_token_branch(self.index)
        self.no_pipeline = refuses_pipeline(self.index)
        self.draft_types = read_draft_types(self.index) if self.registry.loads_latent_drafts() else None
        self.unreadable = set(self.index.met)

    def answer(self, name: str) -> Dict[str, Any]:
        """The response's item for one architecture; by hand when a file that it takes to tell does not parse."""
        self.index.met.clear()
        item = self._answer(name)
        broken = sorted(self.index.met | (self.unreadable if not self.whole else set()))
        if broken and item["state"] in (PATCHABLE, BY_HAND):
            reason = "; ".join(self.index.broken[path] for path in broken)
            return _item(BY_HAND, None, item["file"], reason + ". Mend that file or install the engine anew")
        return item

    def _answer(self, name: str) -> Dict[str, Any]:
        entry = self.registry.entries.get(name)
        if entry is None:
            return _item(ABSENT, reason=f"this release's registry has no {name}")
        ref = self.registry.class_of(entry)
        if ref is None:
            return _item(BY_HAND, reason=f"{entry.module} has no readable class {entry.class_name}")
        if self.interface.protocol is None:
            return _item(BY_HAND, file=ref.module.path, reason=f"this release has no {PROTOCOL}: it has no EAGLE-3")
        return self._classify(entry, ref)

    def _classify(self, entry: Entry, ref: ClassRef) -> Dict[str, Any]:
        model = self.models.read(ref)
        item = _item(model.state, model.shape, ref.module.path, model.reason)
        if model.state == BY_HAND:
            return item
        notes: List[str] = item["notes"]
        texts, known = self.texts(model)
        if model.wrapper and not texts:
            notes.append(self._unknown_text(model))
        item["text_architectures"] = known
        chain = [model] + texts
        for text, name in zip(texts, known):
            if text.state == BY_HAND:
                return _item(BY_HAND, text.shape, ref.module.path, f"its text model {name}: {text.reason}", known)
        changed = [one for one in chain if one.state == PATCHABLE]
        if changed:
            item["state"], item["shape"] = PATCHABLE, changed[0].shape
        try:
            edits = self._edits(entry, chain, changed, notes)
            edits += self._unlisted(entry, chain, item)
            edits += self._last(chain, item, notes)
        except Refusal as refusal:
            return _item(BY_HAND, refusal.kind, ref.module.path, refusal.reason, known)
        item["edits"] = [] if self.whole else _once(edits)
        if model.state == PATCHABLE and self._needs_next_runner(model):
            notes.append(
                f"not on the V1 runner: its drafter looks for .{self.models.reach.model} in the language model, which "
                f"is the bare decoder self.{model.path[0]} here, and fails at start-up; use the V2 runner"
            )
        self._say(chain[-1], notes)
        if self.draft_types is not None and self.config is not None and not changed:
            for kind in self.draft_types.missing(self._model_types(entry, chain)[:1]):
                notes.append(
                    f"a draft with latent attention whose config.json says model_type {kind} is not taken for one by "
                    "this release: its own model_type has to be one of " + ", ".join(self.draft_types.drafts)
                )
        return item

    # the text model of a wrapper

    def _unknown_text(self, model: Model) -> str:
        built = model.inner
        names = sorted({name for one in built.choices for name in one[2]}) if isinstance(built, Registered) else []
        listed = "; the source names {}".format(", ".join(names)) if names else ""
        if self.config is not None:
            return (
                f"neither the source nor this config.json tells which text model it builds{listed}; it must support "
                "EAGLE-3 too: name its architecture beside this one"
            )
        return (
            f"which text model it builds is known only with the model's config.json (model: its directory){listed}; "
            "it must support EAGLE-3 too"
        )

    def texts(self, model: Model) -> Tuple[List[Model], List[str]]:
        """The language model under a wrapper and what lies under that, with the architectures' names."""
        texts: List[Model] = []
        names: List[str] = []
        current = model
        while len(texts) < 4:
            inner = current.inner
            if isinstance(inner, ClassRef):
                ref, name = inner, self.registry.architecture_of(inner) or inner.name
            else:
                found = self._built(current, inner)
                if found is None:
                    break
                ref, name = found
            current = self.models.read(ref)
            texts.append(current)
            names.append(name)
        return texts, names

    def _built(self, model: Model, inner: Any) -> Optional[Tuple[ClassRef, str]]:
        """The registered class that a wrapper builds: named in the source, or in the model's config."""
        if not model.path:
            return None
        built = inner if isinstance(inner, Registered) else built_by(self.index, model.ref, model.path[0])
        wanted: List[str] = []
        if isinstance(built, Registered):
            wanted = list(built.architectures if self.config is None else built.chosen(self.config))
        elif isinstance(built, ClassRef) or model.decoder is not None:
            return None
        if not wanted and self.config is not None:
            part = text_config(self.config, built.config if isinstance(built, Registered) else ())
            wanted = list((part or {}).get("architectures") or [])
            if not wanted and part is not None:
                found = self.registry.text_architecture(part.get("model_type"))
                wanted = [found] if found is not None else []
        for name in wanted:
            entry = self.registry.entries.get(name)
            ref = None if entry is None else self.registry.class_of(entry)
            if ref is not None and ref != model.ref:
                return ref, name
        return None

    # edits

    def _edits(self, entry: Entry, chain: List[Model], changed: List[Model], notes: List[str]) -> List[Edit]:
        edits: List[Edit] = []
        for model in reversed(changed):
            if model.capture is not None:
                edits += self.writer.decoder(model.capture)
            edits += self.writer.outer(model) if model.decoder is not None else self.writer.wrapper(model)
        if changed and not self.whole:
            edits += self._whitelisted(entry, chain, notes)
            edits += self._token(chain[0], notes)
            if self.draft_types is not None:
                edits += self.draft_types.edits(self._model_types(entry, chain))
        return edits

    def _unlisted(self, entry: Entry, chain: List[Model], item: Dict[str, Any]) -> List[Edit]:
        """A class with support whose checkpoint the release's own list still refuses; told only by a config.json."""
        if self.whitelist is None or self.config is None or self.whole or item["state"] != NATIVE:
            return []
        edits = self.whitelist.edits(self._model_types(entry, chain)[:1])
        if edits:
            item["state"], item["shape"] = PATCHABLE, LISTED
        return edits

    def _whitelisted(self, entry: Entry, chain: List[Model], notes: List[str]) -> List[Edit]:
        if self.whitelist is None:
            return []
        kinds = self._model_types(entry, chain)
        if self.config is None:
            notes.append(
                "{} of this release lists model types; those read from the source are {}. A checkpoint whose "
                "config.json says another needs model: its directory".format(
                    self.whitelist.variable, ", ".join(kinds) or "none"
                )
            )
        return self.whitelist.edits(kinds)

    def _model_types(self, entry: Entry, chain: List[Model]) -> List[str]:
        kinds: List[str] = []
        text = chain[-1]
        known = not text.wrapper
        if self.config is not None:
            part = self.config if len(chain) == 1 and not entry.multimodal else text_config(self.config, ())
            kind = (part or self.config).get("model_type")
            if isinstance(kind, str):
                kinds.append(kind)
        name = entry.architecture if len(chain) == 1 else self.registry.architecture_of(text.ref)
        classes = [one for one in (text.ref, text.outer, text.decoder) if one is not None]
        unique = [one for place, one in enumerate(classes) if one.module not in [two.module for two in classes[:place]]]
        if known:
            kinds += [kind for kind in self.registry.model_types(name, unique) if kind not in kinds]
        return kinds

    def _token(self, model: Model, notes: List[str]) -> List[Edit]:
        if self.tokens is None or not is_multimodal(self.index, model.ref):
            return []
        if self.tokens.handled(model.ref.name) is not None:
            return []
        field = token_field(self.index, model.ref, self.config)
        if field == TOKEN_FIELD:
            return []
        if field is None:
            notes.append(
                f"the V1 runner's drafter reads config.{TOKEN_FIELD}, and the source does not tell under which name "
                "this model's config holds it: there it fails at start-up unless config.json has it"
            )
            return []
        return self.tokens.edits(model.ref.name, field)

    def _last(self, chain: List[Model], item: Dict[str, Any], notes: List[str]) -> List[Edit]:
        """The last layer's id, for a decoder that captures without it."""
        decoder = chain[-1].decoder
        if decoder is None or chain[-1].capture is not None:
            return []
        if takes_last(self.index, decoder) is not False:
            return []
        if not self.last_layer:
            notes.append(
                f"{decoder.name} cannot hand out the last layer's id (the number of layers), which training by "
                "speculators asks for: last_layer: true adds it"
            )
            return []
        try:
            edits = self.writer.last_layer(decoder)
        except Refusal as refusal:
            raise Refusal(
                LAST_LAYER, f"it supports EAGLE-3, but cannot hand out the last layer's id: {refusal.reason}"
            ) from None
        if item["state"] == NATIVE:
            item["state"], item["shape"] = PATCHABLE, LAST_LAYER
        return edits

    # what will not work

    def _needs_next_runner(self, model: Model) -> bool:
        if model.decoder is None or not is_multimodal(self.index, model.ref):
            return False
        reached = self.index.attribute(model.decoder, self.models.reach.model)
        return self.models.bare(model.ref, model.path[0]) and not reached

    def _say(self, text: Model, notes: List[str]) -> None:
        decoder = text.decoder
        if self.interface.pipeline:
            value = None if decoder is None else self.index.class_value(decoder, OVER_PP)
            if value is None or not (isinstance(value.node, ast.Constant) and value.node.value is True):
                notes.append(
                    "no pipeline parallelism with EAGLE-3: this decoder does not carry captured states between ranks, "
                    "and the V2 runner refuses it; use tensor parallelism"
                )
        elif self.no_pipeline:
            notes.append(
                "no pipeline parallelism with EAGLE-3: the V2 runner refuses it, and on the V1 runner states captured "
                "on earlier ranks are lost; use tensor parallelism"
            )
        else:
            notes.append(
                "no pipeline parallelism with EAGLE-3: this release does not check it, and states captured on earlier "
                "ranks are lost; use tensor parallelism"
            )
        if self.registry.drafts:
            drafts = ", ".join(entry.architecture for entry in self.registry.drafts)
            notes.append("drafts that this release loads: " + drafts)


def _once(edits: List[Edit]) -> List[Edit]:
    """Without those that two classes of one file both ask for."""
    return [edit for place, edit in enumerate(edits) if edit not in edits[:place]]


def _item(
    state: str,
    shape: Optional[str] = None,
    file: Optional[str] = None,
    reason: Optional[str] = None,
    texts: Optional[List[str]] = None,
) -> Dict[str, Any]:
    return {
        "state": state,
        "shape": shape,
        "file": file,
        "text_architectures": texts or [],
        "reason": reason,
        "notes": [],
        "edits": [],
    }


def derive(request: Dict[str, Any]) -> Dict[str, Any]:
    """Answers a request of ``derive.run_request`` for vLLM. A survey (``architectures`` null) carries no edits."""
    survey = Survey(request)
    if not survey.registry.found:
        broken = "; ".join(survey.index.broken.values())
        return {
            "architectures": {},
            "error": {"message": broken or "no vLLM model registry below {}".format(request["root"])},
        }
    names = request.get("architectures")
    wanted = list(survey.registry.entries) if names is None else list(names)
    return {"architectures": {name: survey.answer(name) for name in wanted}, "error": None}


__all__ = ("derive",)
