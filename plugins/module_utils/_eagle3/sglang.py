# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. EAGLE-3 for the architectures of an installed SGLang, read from its source.

The engine asks a registered class for ``set_eagle3_layers_to_capture`` and ``get_embed_and_head``; the states come
back from its inner model beside the hidden states, and go to the logits processor. What a class lacks is derived.
"""

from __future__ import annotations

import ast
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import _sglang_edits as edits
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_capture import (
    Rule,
    describe_ids,
    find_capture,
    id_rules,
    say_ids,
    setter_marks,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_outer import (
    Head,
    Unknown,
    Wrap,
    logits_calls,
    read_forward,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import (
    GETTER,
    MODELS,
    SET_EMBED,
    SETTER,
    Reader,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_shape import METHODS, Plan, plan_inner
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import called, self_path

NATIVE = "native"
PATCHABLE = "patchable"
BY_HAND = "by_hand"
ABSENT = "absent"
OUTPUT = "LogitsProcessorOutput"
DELEGATE = "delegate"
DELEGATE_MORE = "delegate+"


class Verdict(NamedTuple):
    """The answer for one class; ``text``: the language models it wraps."""

    state: str
    shape: Optional[str]
    reason: Optional[str]
    notes: List[str]
    edits: List[Dict[str, Any]]
    text: List[ClassRef]
    shift: int = 1


def _refusal(state: str, reason: str, text: Sequence[ClassRef] = ()) -> Verdict:
    return Verdict(state, None, reason, [], [], list(text))


class Survey:
    """Verdicts on the registered classes of one tree. ``whole``: all of the registry is asked for, without edits."""

    def __init__(self, root: str, model_config: Optional[Dict[str, Any]] = None, *, whole: bool = False) -> None:
        self.whole = whole
        self.reader = Reader(root)
        self.index = self.reader.index
        self.named = _named_architectures(model_config)
        self._verdicts: Dict[Tuple[str, str], Verdict] = {}
        self._running: List[Tuple[str, str]] = []

    def verdict(self, ref: ClassRef) -> Verdict:
        if ref.key not in self._verdicts:
            if ref.key in self._running:
                return _refusal(BY_HAND, f"{ref.name} wraps itself")
            self._running.append(ref.key)
            self._verdicts[ref.key] = self._verdict(ref)
            self._running.remove(ref.key)
        return self._verdicts[ref.key]

    def _verdict(self, ref: ClassRef) -> Verdict:
        if self._is_draft(ref):
            return _refusal(ABSENT, "a draft itself: it takes the hidden states of another model")
        found = read_forward(self.reader, ref)
        has_setter = self.index.method(ref, SETTER) is not None
        has_getter = self.index.method(ref, GETTER) is not None
        if not has_setter and not self._gives_logits(ref):
            return _refusal(ABSENT, "not a target: it gives no logits")
        if isinstance(found, Wrap):
            return self._wrap(ref, found)
        if isinstance(found, Unknown):
            if has_setter and has_getter:
                return Verdict(NATIVE, None, None, [f"its forward was not followed: {found.reason}"], [], [])
            return _refusal(BY_HAND, found.reason)
        hands_on = found.states is not None and any(item.passes for item in found.logits)
        if has_setter and not hands_on:
            return _refusal(
                BY_HAND,
                f"it inherits {SETTER}, but its own forward does not hand captured states to the logits processor",
            )
        shift = self._reached(ref, found) if has_setter and has_getter else None
        if shift is not None:
            return Verdict(NATIVE, None, None, [], [], [], shift)
        return self._head(ref, found, has_setter, has_getter)

    # classes that give logits themselves

    def _head(self, ref: ClassRef, head: Head, has_setter: bool, has_getter: bool) -> Verdict:
        self.reader.note_built(ref, head.inner)
        kinds = self.reader.path_types(ref, head.inner)
        if not kinds:
            return _refusal(BY_HAND, "the class of self.{} cannot be read".format(".".join(head.inner)))
        plans: List[Plan] = []
        for kind in kinds:
            plan = plan_inner(self.reader, kind, head.inner)
            if isinstance(plan, Unknown):
                return _refusal(BY_HAND, plan.reason)
            plans.append(plan)
        first = plans[0]
        has_setter = has_setter and all(self._sets(ref, kind, plan) for kind, plan in zip(kinds, plans))
        if any((item.path, item.ids, item.layers, item.embed, item.shift) != first[1:6] for item in plans):
            return _refusal(BY_HAND, "the models that self.{} may hold differ".format(".".join(head.inner)))
        flag, changed = edits.head_edits(self.reader, head)
        way = "self." + ".".join(first.path)
        result: List[Dict[str, Any]] = []
        for plan in plans:
            _join(result, plan.edits)
        _join(result, changed)
        if not has_setter:
            layers = f"{way}.{first.layers}"
            target = f"{way}.{first.ids if first.ids is not None else SETTER}"
            result.append(edits.setter_edit(ref, head.forward, flag, target, layers, first.ids is None, first.shift))
        if not has_getter:
            if first.embed is None:
                return _refusal(BY_HAND, "the embedding that a draft would share cannot be told")
            result.append(edits.getter_edit(ref, first.embed, head.head))
        shapes = {item.shape for item in plans} - {METHODS}
        shape = sorted(shapes)[0] if shapes else METHODS
        notes = sorted({note for item in plans for note in item.notes})
        return Verdict(PATCHABLE, shape, None, notes, result, [], first.shift)

    def _reached(self, ref: ClassRef, head: Head) -> Optional[int]:
        """The shift of a capture that the setter of a class reaches; None: its inner model does not look there."""
        self.reader.note_built(ref, head.inner)
        shift = 1
        for kind in self.reader.path_types(ref, head.inner):
            plan = plan_inner(self.reader, kind, head.inner)
            if isinstance(plan, Plan):
                if not (plan.shape == METHODS and self._sets(ref, kind, plan)):
                    return None
                shift = plan.shift
            else:
                forward = self.reader.running_forward(kind)
                if forward is not None and find_capture(self.reader, kind, forward).states is None:
                    return None
        return shift

    def _sets(self, ref: ClassRef, kind: ClassRef, plan: Plan) -> bool:
        setter = self.index.method(ref, SETTER)
        if setter is None:
            return False
        said = setter_marks(setter.node)
        if SETTER in said:
            return True
        if plan.ids is not None:
            return plan.ids in said
        own = self.index.method(kind, SETTER)
        return own is not None and setter_marks(own.node) <= said

    # wrappers

    def _wrap(self, ref: ClassRef, wrap: Wrap) -> Verdict:
        way = "self." + ".".join(wrap.inner)
        kinds = self.reader.path_types(ref, wrap.inner)
        chosen = [kind for kind in kinds if kind.name in self.named] or kinds
        notes: List[str] = []
        if len(chosen) > 1:
            notes.append(
                "{} is one of {}: give `model` to have it told".format(way, ", ".join(kind.name for kind in chosen))
            )
        if not chosen:
            notes.append(
                f"which class {way} holds is in the model's config: give `model`, and see that it is supported"
            )
        verdicts = [self.verdict(kind) for kind in chosen]
        usable = [kind for kind, item in zip(chosen, verdicts) if item.state in (NATIVE, PATCHABLE)]
        if chosen and not usable:
            reasons = [f"{kind.name}: {item.reason}" for kind, item in zip(chosen, verdicts)]
            return _refusal(BY_HAND, "the model in {} has to come first: {}".format(way, "; ".join(reasons)), chosen)
        for kind, item in zip(chosen, verdicts):
            if kind not in usable:
                notes.append(f"with {kind.name} it will not work: {item.reason}")
        result = list(verdicts[0].edits) if len(chosen) == 1 else []
        if len(chosen) == 1:
            notes.extend(verdicts[0].notes)
        elif any(item.state == PATCHABLE for item in verdicts):
            names = [kind.name for kind, item in zip(chosen, verdicts) if item.state == PATCHABLE]
            notes.append("to be patched too, when it is the one: {}".format(", ".join(names)))
        own = [name for name in (SETTER, GETTER) if self.index.method(ref, name) is None]
        if own and usable and all(self.index.method(kind, SET_EMBED) is not None for kind in usable):
            own += [SET_EMBED] if self.index.method(ref, SET_EMBED) is None else []
        result += edits.delegate_edits(ref, way, own)
        lost = self._lost(ref) if own else None
        if lost is not None:
            result += [{**edit, "overwrite": True} for edit in edits.delegate_edits(ref, way, [GETTER])]
            notes.append(f"its own {GETTER} cannot work, {lost} is not there: it is replaced")
        if not result:
            return Verdict(NATIVE, None, None, notes, [], usable, verdicts[0].shift if verdicts else 1)
        shape = DELEGATE if all(item.state == NATIVE for item in verdicts) else DELEGATE_MORE
        return Verdict(PATCHABLE, shape, None, notes, result, usable, verdicts[0].shift if verdicts else 1)

    def _lost(self, ref: ClassRef) -> Optional[str]:
        """An attribute that the getter of a wrapper names and that its model does not have; None: none is known."""
        getter = self.index.own_methods(ref).get(GETTER)
        for node in ast.walk(getter) if getter is not None else ():
            path = self_path(node)
            if path is None or len(path) != 2:
                continue
            kinds = self.reader.path_types(ref, path[:1])
            has = [self.index.attribute(kind, path[1]) or self.index.method(kind, path[1]) for kind in kinds]
            known = [
                kind for kind in kinds if kind.module.name.startswith(MODELS) and self.index.attribute(kind, "config")
            ]
            if kinds and len(known) == len(kinds) and not any(has):
                return "self." + ".".join(path)
        return None

    # what is no target

    def _parts(self, ref: ClassRef) -> List[ClassRef]:
        found = read_forward(self.reader, ref)
        if isinstance(found, (Head, Wrap)):
            return [ref] + self.reader.path_types(ref, found.inner)
        return [ref] + [
            kind
            for member in self.index.mro(ref)
            for name in self.index.own_attributes(member)
            for kind in self.reader.attribute_types(ref, name)
            if kind.module.name.startswith(MODELS)
        ]

    def _is_draft(self, ref: ClassRef) -> bool:
        """Whether a forward reads the hidden states that the speculative worker puts into the batch."""
        for part in self._parts(ref):
            forward = self.index.method(part, "forward")
            for node in ast.walk(forward.node) if forward is not None else ():
                if isinstance(node, ast.Attribute) and node.attr == "spec_info":
                    return True
        return False

    def _gives_logits(self, ref: ClassRef, depth: int = 0) -> bool:
        """Whether a class has a logits processor, itself or through a model it holds; True when that cannot be told."""
        forward = self.index.method(ref, "forward")
        if forward is None or depth > 3:
            return True
        if logits_calls(self.reader, ref, forward) or any(called(node) == OUTPUT for node in ast.walk(forward.node)):
            return True
        held = {name for member in self.index.mro(ref) for name in self.index.own_attributes(member)}
        for name in sorted(held):
            kinds = self.reader.attribute_types(ref, name)
            if any(self.reader.is_logits_processor(kind) for kind in kinds):
                return True
            for kind in kinds:
                other = kind.module.name.startswith(MODELS) and kind.key != ref.key
                if other and self.index.method(kind, "forward") is not None and self._gives_logits(kind, depth + 1):
                    return True
        found = read_forward(self.reader, ref)
        return depth == 0 and isinstance(found, Wrap) and not self.reader.path_types(ref, found.inner)

    # the answer

    def entry(self, ref: ClassRef) -> Dict[str, Any]:
        verdict = self.verdict(ref)
        notes = list(verdict.notes)
        rules = id_rules(self.reader, ref) if verdict.state == NATIVE else []
        if not rules and verdict.state in (NATIVE, PATCHABLE):
            for text in verdict.text:
                rules = rules or id_rules(self.reader, text)
        if not rules and verdict.state == PATCHABLE:
            rules = [Rule(None, None, verdict.shift)]
        notes.extend(say_ids(rules, verdict.shift))
        return {
            "state": verdict.state,
            "shape": verdict.shape,
            "file": ref.module.path,
            "text_architectures": [kind.name for kind in verdict.text],
            "reason": verdict.reason,
            "notes": notes,
            "edits": [] if self.whole else verdict.edits,
            "layer_ids": describe_ids(rules, verdict.shift),
        }


def _join(result: List[Dict[str, Any]], more: Sequence[Dict[str, Any]]) -> None:
    for item in more:
        if item not in result:
            result.append(item)


def _named_architectures(config: Optional[Dict[str, Any]]) -> List[str]:
    """Every architecture that a config.json names, at any depth."""
    found: List[str] = []
    todo: List[Any] = [config]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            names = item.get("architectures")
            found.extend(name for name in names if isinstance(name, str)) if isinstance(names, list) else None
            todo.extend(item.values())
    return found


def graph_note(root: str) -> Optional[str]:
    """A runner that captures CUDA graphs with the default layers, whatever the draft names."""
    folder = os.path.join(root, "sglang", "srt", "model_executor")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if not (name.endswith(".py") and "graph" in name):
            continue
        with open(path, "rb") as stream:
            data = stream.read()
        if SETTER.encode() not in data:
            continue
        for node in ast.walk(ast.parse(data)):
            path_of = self_path(node.func) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and path_of and path_of[-1] == SETTER and not node.args and not node.keywords:
                return (
                    f"sglang/srt/model_executor/{name}:{node.lineno} captures CUDA graphs with the default layers, "
                    "whatever layers the draft names: they must be the same"
                )
    return None


def _entries(request: Dict[str, Any]) -> Dict[str, Dict[str, Any]]:
    wanted: Union[None, List[str]] = request.get("architectures")
    survey = Survey(request["root"], request.get("model_config"), whole=wanted is None)
    registered = survey.reader.registered(wanted)
    common = graph_note(request["root"])
    result: Dict[str, Dict[str, Any]] = {}
    for name in registered if wanted is None else wanted:
        if name not in registered:
            result[name] = {
                "state": BY_HAND if survey.index.broken else ABSENT,
                "shape": None,
                "file": None,
                "text_architectures": [],
                "reason": "; ".join(survey.index.broken.values()) or f"this SGLang registers no {name}",
                "notes": [],
                "edits": [],
                "layer_ids": None,
            }
            continue
        result[name] = survey.entry(registered[name])
        if common is not None and result[name]["state"] in (NATIVE, PATCHABLE):
            result[name]["notes"].append(common)
    return result


def derive(request: Dict[str, Any]) -> Dict[str, Any]:
    """The state of architectures, with the edits that give them EAGLE-3; request and response as in ``derive.py``."""
    folder = os.path.join(request["root"], *MODELS.split("."))
    if not os.path.isdir(folder):
        return {"architectures": {}, "error": {"message": f"no folder {folder}", "kind": "SpecdecError"}}
    return {"architectures": _entries(request), "error": None}


__all__ = ("Survey", "derive")
