# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a decoder's forward over its layers: what it runs over, what it carries from layer to layer."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import List, Optional, Set, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    arguments,
    assigned_names,
    blocks,
    called,
    dotted,
    expressions,
    index_of,
    self_attribute,
    statements,
)


class Refusal(Exception):
    """Why a source cannot be edited by rule. ``kind`` groups reasons; the text is for a person."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


@dataclass(frozen=True)
class Over:
    """What a loop runs over. ``start`` and ``end`` None: from the first, to the last layer."""

    form: str
    attribute: Optional[str]
    start: Optional[ast.expr] = None
    end: Optional[ast.expr] = None
    counted: bool = False
    counted_from: Optional[ast.expr] = None


@dataclass(frozen=True)
class Loop:
    """The one loop over the layers. ``index``: a name that is the absolute number of the layer in each step."""

    node: ast.For
    over: Over
    attribute: str
    hidden: str
    residual: Optional[str]
    calls: Tuple[ast.Assign, ...]
    index: Optional[str]


def over(node: ast.expr) -> Optional[Over]:
    """Reads the iterable of a for statement; None when it is nothing of the model's own."""
    attribute = self_attribute(node)
    if attribute is not None:
        return Over("all", attribute)
    if isinstance(node, ast.Subscript):
        attribute, part = self_attribute(node.value), index_of(node)
        if attribute is None or not isinstance(part, ast.Slice):
            return None
        return Over("slice" if part.step is None else "other", attribute, part.lower, part.upper)
    if not isinstance(node, ast.Call) or not node.args:
        return None
    name = called(node)
    if name == "islice" and called(node.args[0]) == "enumerate":
        inner = over(node.args[0])
        if inner is None or inner.form != "all" or inner.counted_from is not None or len(node.args) != 3:
            return None if inner is None else Over("other", inner.attribute)
        return Over("slice", inner.attribute, node.args[1], node.args[2], True, node.args[1])
    if name == "islice":
        attribute = self_attribute(node.args[0])
        if attribute is None:
            return None
        if len(node.args) == 3:
            return Over("slice", attribute, node.args[1], node.args[2])
        return Over("slice", attribute, None, node.args[1]) if len(node.args) == 2 else Over("other", attribute)
    if name == "enumerate":
        inner = over(node.args[0])
        if inner is None:
            return None
        begin = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "start"), None)
        return Over(inner.form, inner.attribute, inner.start, inner.end, True, begin)
    if name == "range":
        if len(node.args) == 1:
            return Over("range", None, None, node.args[0])
        return Over("range" if len(node.args) == 2 else "other", None, node.args[0], node.args[1])
    for argument in node.args:
        inner = over(argument)
        if inner is not None:
            return Over("other", inner.attribute)
    return None


def find_loop(index: Index, ref: ClassRef, function: ast.FunctionDef) -> Loop:
    """The loop over the layers in a decoder's forward. Refusal where there is none, or more than a rule can edit."""
    found: List[Tuple[ast.For, Over, str, List[ast.Assign], int]] = []
    for node, depth in _fors(function.body, 0):
        what = over(node.iter)
        if what is None:
            continue
        attribute = what.attribute or _indexed(node)
        if attribute is None:
            continue
        calls = _layer_calls(node, what, attribute)
        if calls:
            found.append((node, what, attribute, calls, depth))
    if not found:
        raise Refusal("X6", f"{ref.name}.forward has no loop over layers that it owns")
    if len(found) > 1 or found[0][4]:
        raise Refusal(
            "X4",
            "{}.forward runs over its layers {}".format(
                ref.name, "in several loops" if len(found) > 1 else "inside another loop"
            ),
        )
    node, what, attribute, calls, _depth = found[0]
    if what.form == "other":
        raise Refusal("X4", f"the order or part of self.{attribute} that {ref.name}.forward runs over is not told")
    for inner in ast.walk(node):
        if isinstance(inner, (ast.Break, ast.Continue, ast.Return)):
            raise Refusal(
                "X4",
                f"the loop over self.{attribute} leaves a step early "
                f"({type(inner).__name__.lower()}, line {inner.lineno})",
            )
    _check_bounds(index, ref, what, attribute)
    hidden, residual = _carried(node, calls, attribute)
    _check_body(node, calls, hidden, residual)
    return Loop(node, what, attribute, hidden, residual, tuple(calls), _absolute_index(node, what))


def _fors(body: List[ast.stmt], depth: int) -> List[Tuple[ast.For, int]]:
    found = []
    for node in body:
        inner = depth
        if isinstance(node, ast.For):
            found.append((node, depth))
            inner += 1
        elif isinstance(node, ast.While):
            inner += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for block in blocks(node):
            found.extend(_fors(block, inner))
    return found


def _loop_names(node: ast.For) -> Set[str]:
    return {item.id for item in ast.walk(node.target) if isinstance(item, ast.Name)}


def _indexed(node: ast.For) -> Optional[str]:
    """``x`` of ``self.x[i]`` where i is the loop's own name."""
    names = _loop_names(node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript):
            place = index_of(inner)
            if isinstance(place, ast.Name) and place.id in names and isinstance(inner.ctx, ast.Load):
                attribute = self_attribute(inner.value)
                if attribute is not None:
                    return attribute
    return None


def _root(call: ast.Call) -> Optional[str]:
    node: ast.expr = call.func
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _layer_calls(node: ast.For, what: Over, attribute: str) -> List[ast.Assign]:
    """Assignments in the loop whose value is the call of the step's layer."""
    names = set() if what.form == "range" else _loop_names(node)
    if what.counted and isinstance(node.target, ast.Tuple):
        names = {item.id for item in node.target.elts[-1:] if isinstance(item, ast.Name)}
    for inner in statements(node.body):
        value = inner.value if isinstance(inner, ast.Assign) else None
        if isinstance(value, ast.Subscript) and self_attribute(value.value) == attribute:
            names.update(assigned_names(inner))
    found = []
    for inner in statements(node.body):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call):
            func = inner.value.func
            direct = isinstance(func, ast.Subscript) and self_attribute(func.value) == attribute
            if direct or _root(inner.value) in names:
                found.append(inner)
    return found


def _carried(node: ast.For, calls: List[ast.Assign], attribute: str) -> Tuple[str, Optional[str]]:
    forms = set()
    for call in calls:
        target = call.targets[0]
        items = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        forms.add(tuple(item.id if isinstance(item, ast.Name) else "?" for item in items))
    given = {
        name.id
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
        for argument in arguments(call)
        for name in ast.walk(argument)
        if isinstance(name, ast.Name)
    }
    form = next(iter(forms))
    text = " and ".join(sorted(", ".join(one) for one in forms))
    if len(forms) > 1 or not 1 <= len(form) <= 2 or form[0] not in given:
        raise Refusal(
            "X2", f"a step over self.{attribute} hands on ({text}), not one hidden state and at most one residual"
        )
    if len(form) == 1 or form[1] not in given:
        return form[0], None
    if not any(
        form[1] in {item.id for item in arguments(call.value) if isinstance(item, ast.Name)}
        for call in calls
        if isinstance(call.value, ast.Call)
    ):
        raise Refusal("X2", f"a step over self.{attribute} hands on ({text}), and {form[1]} is no argument of the next")
    return form[0], form[1]


def _check_body(node: ast.For, calls: List[ast.Assign], hidden: str, residual: Optional[str]) -> None:
    """Nothing may change the stream between the end of one step and the layer of the next."""
    first = min(call.lineno for call in calls)
    for inner in statements(node.body):
        if inner.lineno < first and not any(inner is call for call in calls):
            changed = {hidden, residual}.intersection(assigned_names(inner))
            if changed:
                raise Refusal(
                    "X10",
                    f"{sorted(changed, key=str)[0]} is changed at the top of a step (line {inner.lineno}), so what a "
                    "layer is given is not "
                    "what the layer before it left",
                )


def _check_bounds(index: Index, ref: ClassRef, what: Over, attribute: str) -> None:
    """The start must be the number of the first layer of this rank: made together with the layers, or zero."""
    start = what.start
    if start is None or (isinstance(start, ast.Constant) and start.value == 0):
        whole = what.end is None or what.form == "range"
        if not whole:
            raise Refusal("X4", f"the loop runs over a part of self.{attribute}")
        return
    name = self_attribute(start)
    layers = index.attribute(ref, attribute)
    starts = index.attribute(ref, name) if name is not None else []
    if not any(one.node is other.node for one in layers for other in starts):
        raise Refusal(
            "X4",
            "the first layer of the loop over self.{} ({}) is not made together with the layers".format(
                attribute, dotted(start) or "an expression"
            ),
        )


def _absolute_index(node: ast.For, what: Over) -> Optional[str]:
    if what.form == "range":
        return node.target.id if isinstance(node.target, ast.Name) else None
    if not what.counted or not isinstance(node.target, ast.Tuple) or not isinstance(node.target.elts[0], ast.Name):
        return None
    return node.target.elts[0].id if _same_start(what.start, what.counted_from) else None


def _same_start(one: Optional[ast.expr], other: Optional[ast.expr]) -> bool:
    def plain(node: Optional[ast.expr]) -> Optional[str]:
        if node is None or (isinstance(node, ast.Constant) and node.value == 0):
            return "0"
        return dotted(node)

    return plain(one) is not None and plain(one) == plain(other)


def names_in(node: ast.stmt) -> Set[str]:
    return {item.id for item in expressions(node) if isinstance(item, ast.Name)}


__all__ = ("Loop", "Over", "Refusal", "find_loop", "names_in", "over")
