# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What two carried tensors mean: is the stream their sum, or the first alone?

A layer that hands on ``(hidden, residual)`` may have left the addition to the next norm, or have done it already. Both
ends are read: how a layer takes the pair in, and how the norm after the last layer does. Where they do not agree, or
the source does not tell, nothing is derived.
"""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    FUNCTIONS,
    arguments,
    assigned_names,
    blocks,
    expressions,
    parameters,
    self_path,
)

SUM = "sum"
ALONE = "alone"
EITHER = "either"
UNCLEAR = "unclear"


def takes_anything(reader: Reader, ref: ClassRef) -> bool:
    """Whether a class only passes its input through (a placeholder for a layer of another rank)."""
    found = [
        function
        for member in reader.index.mro(ref)
        for name, function in reader.index.own_methods(member).items()
        if name.startswith("forward")
    ]
    return bool(found) and all(len(parameters(item)) < 2 and item.args.vararg is not None for item in found)


def adds(reader: Reader, ref: ClassRef) -> Optional[bool]:
    """Whether a norm adds its second argument to its first; None when the source does not tell."""
    told: Optional[bool] = None
    for member in reader.index.mro(ref):
        for name, function in reader.index.own_methods(member).items():
            if not (name.startswith("forward") or name == "_forward_impl"):
                continue
            names = [item.arg for item in parameters(function)][1:]
            if len(names) < 2:
                continue
            if _adds_up(function, names[0], names[1]):
                return True
            if name == "forward" and not _hands_on(function, names[1]):
                told = False
    return told


def _named(node: ast.AST, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))


def _adds_up(function: ast.FunctionDef, first: str, second: str) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if _named(one, first) and _named(other, second) and not _named(one, second):
                    return True
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            both = (node.target, node.value)
            if any(_named(one, first) and _named(other, second) for one, other in (both, both[::-1])):
                return True
    return False


def _hands_on(function: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter goes into anything but a return."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and any(_named(item, name) for item in arguments(node)):
            return True
    return False


class Use(NamedTuple):
    """A place where a tensor that came in is read; ``fresh`` names what was still as it came in."""

    node: ast.AST
    fresh: Tuple[str, ...]


class Flow:
    """Where names still hold what came in, followed through branches."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.uses: List[Use] = []

    def run(self, body: Sequence[ast.stmt], fresh: Tuple[str, ...]) -> Tuple[str, ...]:
        for node in body:
            if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
                continue
            for part in expressions(node):
                read = isinstance(part, (ast.Call, ast.Compare)) or isinstance(getattr(part, "ctx", None), ast.Load)
                self.uses.extend([Use(part, fresh)] if read else [])
            if isinstance(node, ast.Return):
                self.uses.append(Use(node, fresh))
            if isinstance(node, (ast.Return, ast.Raise)):
                return ()
            if isinstance(node, ast.If):
                one = self.run(node.body, fresh)
                other = self.run(node.orelse, fresh)
                fresh = tuple(name for name in fresh if name in one or name in other)
                continue
            if isinstance(node, (ast.With, ast.AsyncWith)):
                fresh = self.run(node.body, fresh)
            else:
                for block in blocks(node):
                    self.run(block, fresh)
            bound = assigned_names(node)
            fresh = tuple(name for name in fresh if name not in bound)
        return fresh


def _is_none_test(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and node.left.id == name
        and len(node.ops) == 1
        and isinstance(node.ops[0], (ast.Is, ast.IsNot))
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    )


def _direct(call: ast.Call, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in arguments(call))


def _returns_copy(function: ast.FunctionDef, hidden: str, residual: str) -> bool:
    """Whether a layer hands on one tensor twice: ``residual = hidden`` right before its one return."""
    body = function.body
    last = body[-1]
    if not (
        isinstance(last, ast.Return)
        and isinstance(last.value, ast.Tuple)
        and len(last.value.elts) == 2
        and len(body) > 1
    ):
        return False
    if sum(isinstance(node, ast.Return) for node in ast.walk(function)) != 1:
        return False
    before = body[-2]
    return (
        isinstance(before, ast.Assign)
        and assigned_names(before) == [residual]
        and isinstance(before.value, ast.Name)
        and before.value.id == hidden
        and [getattr(item, "id", None) for item in last.value.elts] == [hidden, residual]
    )


class Entry(NamedTuple):
    """``either``: the layer takes the first tensor alone and hands on no residual."""

    meaning: str
    reason: Optional[str]


def entry(reader: Reader, layer: ClassRef, hidden: str, residual: Optional[str]) -> Entry:
    """How a layer takes in the tensors that it gets as the parameters ``hidden`` and ``residual``."""
    forward = reader.index.method(layer, "forward")
    if forward is None:
        return Entry(UNCLEAR, f"{layer.name} has no forward that can be read")
    if residual is None:
        return Entry(ALONE, None)
    flow = Flow((hidden, residual))
    flow.run(forward.node.body, (hidden, residual))
    uses = [use for use in flow.uses if residual in use.fresh]
    calls = [use for use in uses if isinstance(use.node, ast.Call) and _direct(use.node, residual)]
    told = [use for use in calls if _is_adding_norm(reader, layer, use, hidden)]
    foreign = [use for use in calls if use not in told]
    loads = [use.node for use in uses if isinstance(use.node, ast.Name) and use.node.id == residual]
    explained = [item for use in told for item in ast.walk(use.node)]
    explained += [item for use in uses if _is_none_test(use.node, residual) for item in ast.walk(use.node)]
    explained += [item for use in uses if isinstance(use.node, ast.Return) for item in _tuple_names(use.node)]
    left = [node for node in loads if not any(node is item for item in explained)]
    if foreign:
        name = _callee(foreign[0].node)
        return Entry(UNCLEAR, f"{layer.name} gives the pair to {name}, which may scatter it or put off its all-reduce")
    if told and not left:
        return Entry(SUM, None)
    if not told and not left and _returns_none(forward.node):
        return Entry(EITHER, None)
    if not told and (not left or _returns_copy(forward.node, hidden, residual)):
        return Entry(ALONE, None)
    return Entry(UNCLEAR, f"{layer.name} uses its residual in a way that does not tell what it means")


def _returns_none(function: ast.FunctionDef) -> bool:
    """Whether every return hands on ``(hidden, None)``."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    return bool(values) and all(
        isinstance(value, ast.Tuple)
        and len(value.elts) == 2
        and isinstance(value.elts[1], ast.Constant)
        and value.elts[1].value is None
        for value in values
    )


def _callee(node: ast.AST) -> str:
    path = self_path(node.func) if isinstance(node, ast.Call) else None
    return "self." + ".".join(path) if path else "another function"


def _tuple_names(node: ast.AST) -> Iterator[ast.AST]:
    value = getattr(node, "value", None)
    if isinstance(value, ast.Tuple):
        yield from value.elts


def _is_adding_norm(reader: Reader, layer: ClassRef, use: Use, hidden: str) -> bool:
    call = use.node
    if not isinstance(call, ast.Call):
        raise AssertionError("isinstance(call, ast.Call)")
    path = self_path(call.func)
    if path is None or hidden not in use.fresh or not _direct(call, hidden):
        return False
    kinds = [item for item in reader.path_types(layer, path) if not takes_anything(reader, item)]
    return bool(kinds) and all(adds(reader, item) is True for item in kinds)


class Final(NamedTuple):
    """``bare``: without a residual, the norm takes the one tensor alone."""

    meaning: str
    reason: Optional[str]
    bare: bool = False


def final(reader: Reader, model: ClassRef, after: Sequence[ast.stmt], hidden: str, residual: Optional[str]) -> Final:
    """How the norm after the loop takes in what the loop carried. ``after``: the statements that follow it."""
    names = (hidden,) if residual is None else (hidden, residual)
    flow = Flow(names)
    flow.run(after, names)
    meanings: Dict[str, str] = {}
    for use in flow.uses:
        if not (isinstance(use.node, ast.Call) and hidden in use.fresh and _direct(use.node, hidden)):
            continue
        path = self_path(use.node.func)
        if path is None:
            continue
        if any(self_path(item) is not None for item in arguments(use.node)):
            return Final(UNCLEAR, f"self.{'.'.join(path)} takes more than what the loop carried")
        pair = residual is not None and residual in use.fresh and _direct(use.node, residual)
        kinds = [item for item in reader.path_types(model, path) if not takes_anything(reader, item)]
        told = {adds(reader, item) for item in kinds} or {None}
        name = "self." + ".".join(path)
        if not pair:
            meanings.setdefault(ALONE, name)
        elif told == {True}:
            meanings[SUM] = name
        elif told == {False}:
            meanings.setdefault(ALONE, name)
        else:
            return Final(UNCLEAR, f"{name} takes both tensors, and its source does not tell whether it adds them")
    if SUM in meanings:
        return Final(SUM, None, ALONE in meanings)
    if ALONE in meanings:
        return Final(ALONE, None, True)
    return Final(UNCLEAR, "no norm after the loop takes what the loop carried, so it does not tell what that is")


__all__ = ("ALONE", "EITHER", "Entry", "Final", "Flow", "SUM", "UNCLEAR", "adds", "entry", "final", "takes_anything")
