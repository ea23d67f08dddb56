# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM's EAGLE-3 interface as the installed release defines it, and whether a class or decoder has it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import List, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    called,
    dotted,
    expressions,
    last_part,
    parameters,
    self_attribute,
    self_path,
    statements,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._values import built_by
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_registry import MODELS

INTERFACES = MODELS + ".interfaces"
PROTOCOL = "SupportsEagle3"
MIXIN = "EagleModelMixin"
FLAG = "supports_eagle3"
IDS = "aux_hidden_state_layers"
SETTER = "set_aux_hidden_state_layers"
GETTERS = ("get_eagle3_aux_hidden_state_layers", "get_eagle3_default_aux_hidden_state_layers")
MIXIN_SETTER = "_set_aux_hidden_state_layers"
MIXIN_ADD = "_maybe_add_hidden_state"
OVER_PP = "supports_aux_hidden_states_over_pp"
MULTIMODAL = "SupportsMultiModal"


@dataclass(frozen=True)
class Interface:
    """What interfaces.py of the release offers. ``getter``: the name that the release's runner asks for."""

    module: str
    protocol: Optional[ClassRef]
    mixin: Optional[ClassRef]
    getter: str
    pipeline: bool


def read_interface(index: Index) -> Interface:
    module = index.module(INTERFACES)
    protocol = None if module is None else index.resolve(module, PROTOCOL)
    mixin = None if module is None else index.resolve(module, MIXIN)
    if mixin is not None:
        add = index.method(mixin, MIXIN_ADD)
        if index.method(mixin, MIXIN_SETTER) is None or add is None or len(parameters(add.node)) != 5:
            mixin = None
    getter = GETTERS[0]
    if protocol is not None:
        getter = next((name for name in GETTERS if name in index.own_methods(protocol)), getter)
    pipeline = mixin is not None and index.class_value(mixin, OVER_PP) is not None
    return Interface(INTERFACES, protocol, mixin, getter, pipeline)


def has_interface(index: Index, ref: ClassRef) -> bool:
    """The class passes the engine's isinstance check: by a base, or by carrying all of the protocol's members."""
    if PROTOCOL in index.lineage_names(ref):
        return True
    return (
        index.class_value(ref, FLAG) is not None
        and index.method(ref, SETTER) is not None
        and any(index.method(ref, name) is not None for name in GETTERS)
    )


def is_multimodal(index: Index, ref: ClassRef) -> bool:
    return MULTIMODAL in index.lineage_names(ref)


def captures(index: Index, decoder: ClassRef, parts: bool = False) -> bool:
    """The decoder's forward, or what it calls on itself, above itself (``parts``: on its modules), captures states."""
    todo, seen = ["forward"], set()
    while todo:
        name = todo.pop()
        if parts and index.method(decoder, name) is None:
            part = built_by(index, decoder, name)
            if isinstance(part, ClassRef) and captures(index, part):
                return True
        for member in index.mro(decoder):
            method = index.own_methods(member).get(name)
            if method is None or (member.key, name) in seen:
                continue
            seen.add((member.key, name))
            goes_up = False
            for node in ast.walk(method):
                if isinstance(node, ast.Attribute) and node.attr in (IDS, MIXIN_ADD):
                    return True
                if isinstance(node, ast.Call):
                    attribute = self_attribute(node.func)
                    if attribute is not None:
                        todo.append(attribute)
                    goes_up = goes_up or (
                        isinstance(node.func, ast.Attribute)
                        and node.func.attr == name
                        and called(node.func.value) == "super"
                    )
            if not goes_up:
                break
    return False


def returned_path(index: Index, ref: ClassRef) -> Optional[Tuple[str, ...]]:
    """``(a, b)`` when the class's forward hands out what ``self.a.b(...)`` gave it, unchanged."""
    forward = index.method(ref, "forward")
    if forward is None:
        return None
    held, given = {}, None
    first = 0
    for node in statements(forward.node.body):
        value = getattr(node, "value", None)
        path = None
        if isinstance(value, ast.Call):
            path = self_path(value.func)
            if path is not None and path[-1] == "forward":
                path = path[:-1]
        for place in getattr(node, "targets", None) or [getattr(node, "target", None)]:
            name = dotted(place) if isinstance(place, ast.Name) else None
            if name is not None:
                held[name] = path
        if isinstance(node, ast.Return):
            answer = path if isinstance(value, ast.Call) else held.get(dotted(value) or "")
            if answer is not None:
                if given is not None and given != answer:
                    return None
                given, first = answer, first or node.lineno
            elif first:
                return None
    return given


def takes_last(index: Index, decoder: ClassRef) -> Optional[bool]:
    """Whether a decoder that captures can hand out the last layer's id; None where its code is not understood."""
    forward = index.method(decoder, "forward")
    if forward is None:
        return None
    answer: Optional[bool] = None
    loops = [node for node in statements(forward.node.body) if isinstance(node, ast.For)]
    for node in statements(forward.node.body):
        for item in expressions(node):
            number = _captured_id(item)
            if number is None:
                continue
            inside = [loop for loop in loops if loop.lineno < node.lineno <= (loop.end_lineno or 0)]
            past = any(node.lineno > (loop.end_lineno or 0) for loop in loops)
            if isinstance(number, ast.BinOp) or (past and not inside) or _counts_up(inside, number, node.lineno):
                return True
            if inside:
                answer = False
    return answer


def _counts_up(loops: List[ast.For], number: ast.AST, line: int) -> bool:
    """The id is a counter that the step has already moved on."""
    return any(
        isinstance(node, ast.AugAssign) and dotted(node.target) == dotted(number) and node.lineno < line
        for loop in loops
        for node in statements(loop.body)
    )


def _captured_id(node: ast.AST) -> Optional[ast.AST]:
    """The layer id of ``id in self.<ids>`` or of the mixin's call."""
    if isinstance(node, ast.Compare) and last_part(dotted(node.comparators[0]) or "") == IDS:
        return node.left if isinstance(node.ops[0], ast.In) else None
    if isinstance(node, ast.Call) and called(node) == MIXIN_ADD and len(node.args) > 1:
        return node.args[1]
    return None


__all__ = (
    "GETTERS",
    "IDS",
    "Interface",
    "MIXIN",
    "MIXIN_ADD",
    "MIXIN_SETTER",
    "OVER_PP",
    "PROTOCOL",
    "SETTER",
    "captures",
    "has_interface",
    "is_multimodal",
    "read_interface",
    "returned_path",
    "takes_last",
)
