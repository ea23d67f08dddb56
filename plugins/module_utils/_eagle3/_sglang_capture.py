# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Capture that is there already, and the shift that a setter gives to layer ids."""

from __future__ import annotations

import ast
import operator
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, MethodRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import SETTER, Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    arguments,
    called,
    dotted,
    parameters,
    self_attribute,
    self_path,
    statements,
)


class Capture(NamedTuple):
    """What a model's forward has of a capture.

    ``states``: the name of the list that a return hands out beside the hidden states. ``ids``: the attribute that says
    which layers. ``setter``: the model has a method of its own that takes the ids.
    """

    states: Optional[str]
    ids: Optional[str]
    setter: bool

    @property
    def whole(self) -> bool:
        return self.states is not None and (self.ids is not None or self.setter)


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))


def _guards(forward: ast.FunctionDef, states: str) -> Iterator[str]:
    """``x`` of ``i in self.x`` where that decides whether ``states`` is added to."""
    for node in ast.walk(forward):
        if not isinstance(node, (ast.If, ast.IfExp)):
            continue
        body: Sequence[ast.AST] = node.body if isinstance(node, ast.If) else [node.body]
        for test in ast.walk(node.test):
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
                attribute = self_attribute(test.comparators[0])
                if attribute is not None and any(_mentions(item, states) for item in body):
                    yield attribute


def find_capture(reader: Reader, model: ClassRef, forward: MethodRef) -> Capture:
    states = None
    for node in statements(forward.node.body):
        for value in ast.walk(node) if isinstance(node, ast.Return) else ():
            if isinstance(value, ast.Tuple) and len(value.elts) == 2:
                names = [item.id for item in ast.walk(value.elts[1]) if isinstance(item, ast.Name)]
                states = names[0] if names and states is None else states
    found = list(_guards(forward.node, states)) if states is not None else []
    return Capture(states, found[0] if found else None, reader.index.method(model, SETTER) is not None)


def freely_returned(reader: Reader, forward: MethodRef, states: str) -> bool:
    """Whether a list that nothing fills yet is handed out on no other condition than that it is filled."""
    made = [
        node.value
        for node in statements(forward.node.body)
        if isinstance(node, ast.Assign)
        and any(isinstance(item, ast.Name) and item.id == states for item in node.targets)
    ]
    if len(made) != 1 or not _makes_list(reader, forward, made[0]):
        return False
    return not _filled(forward, states) and any(
        _hands_out(node, states) for node in _undecided(forward.node.body, states)
    )


def _filled(forward: MethodRef, states: str) -> bool:
    """Whether a forward puts something into a list, or hands it to someone who may."""
    for node in ast.walk(forward.node):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == states:
            return True
        given = arguments(node) if isinstance(node, ast.Call) and called(node) != "len" else []
        if any(_mentions(item, states) for item in given):
            return True
    return False


def _makes_list(reader: Reader, forward: MethodRef, node: ast.expr) -> bool:
    if isinstance(node, ast.List):
        return not node.elts
    name = dotted(node.func) if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    ref = reader.index.resolve(forward.owner.module, name) if name is not None else None
    return ref is not None and "list" in reader.index.lineage_names(ref)


def _undecided(body: Sequence[ast.stmt], states: str) -> Iterator[ast.stmt]:
    """Statements that no test decides on but one of the list itself."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and {item.id for item in ast.walk(node.test) if isinstance(item, ast.Name)} <= {
            states,
            "len",
        }:
            yield from _undecided(node.body, states)
            yield from _undecided(node.orelse, states)


def _hands_out(node: ast.stmt, states: str) -> bool:
    value = node.value if isinstance(node, ast.Return) else None
    pair = value.body if isinstance(value, ast.IfExp) else value
    return isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and _mentions(pair.elts[1], states)


# ids


class Rule(NamedTuple):
    """``shift`` is added to every id where ``when`` holds for the ids (None: always)."""

    when: Optional[ast.expr]
    text: Optional[str]
    shift: int


def _shift(node: ast.expr, name: str) -> Optional[int]:
    """What an expression over the ids adds to each of them."""
    if isinstance(node, ast.Name):
        return 0 if node.id == name else None
    if isinstance(node, ast.Call) and called(node) in ("list", "set", "sorted", "tuple") and len(node.args) == 1:
        return _shift(node.args[0], name)
    if isinstance(node, (ast.ListComp, ast.SetComp)) and len(node.generators) == 1:
        source, element = node.generators[0], node.elt
        if not (isinstance(source.iter, ast.Name) and source.iter.id == name and isinstance(source.target, ast.Name)):
            return None
        if isinstance(element, ast.Name) and element.id == source.target.id:
            return 0
        if (
            isinstance(element, ast.BinOp)
            and isinstance(element.left, ast.Name)
            and element.left.id == source.target.id
        ):
            step = element.right
            if isinstance(step, ast.Constant) and isinstance(step.value, int):
                return {ast.Add: step.value, ast.Sub: -step.value}.get(type(element.op))
    return None


def _sources(node: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        yield node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from node.value.args
        for keyword in node.value.keywords:
            yield keyword.value


def _rules(body: Sequence[ast.stmt], name: str, method: MethodRef, when: Optional[ast.expr]) -> Iterator[Rule]:
    for node in body:
        if isinstance(node, ast.If):
            about = _mentions(node.test, name) and not _is_none_test(node.test)
            yield from _rules(node.body, name, method, node.test if about else when)
            yield from _rules(node.orelse, name, method, when)
            continue
        for source in _sources(node):
            shift = _shift(source, name)
            if shift is not None:
                text = method.owner.module.segment(when) if when is not None else None
                yield Rule(when, text, shift)


def _is_none_test(node: ast.expr) -> bool:
    return isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot))


def setter_marks(function: ast.FunctionDef) -> Set[str]:
    """What a setter sets or calls: stored attributes, methods called on attributes, names given to ``setattr``."""
    found: Set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Call) and called(node) == "setattr" and len(node.args) == 3:
            found.update(
                item.value for item in node.args[1:2] if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.add(node.func.attr)
    return found


def id_rules(reader: Reader, ref: ClassRef, depth: int = 0) -> List[Rule]:
    """How the setter of a class shifts ids; empty when its source does not tell."""
    method = reader.index.method(ref, SETTER)
    if method is None or depth > 4:
        return []
    names = [item.arg for item in parameters(method.node)][1:]
    if not names:
        return []
    for node in ast.walk(method.node):
        path = self_path(node.func) if isinstance(node, ast.Call) else None
        if not (isinstance(node, ast.Call) and path and path[-1] == SETTER and len(path) > 1):
            continue
        given = list(node.args) + [item.value for item in node.keywords]
        if len(given) == 1 and isinstance(given[0], ast.Name) and given[0].id == names[0]:
            kinds = reader.path_types(ref, path[:-1])
            found = [id_rules(reader, kind, depth + 1) for kind in kinds]
            return found[0] if found and all(_same(item, found[0]) for item in found) else []
    return list(_rules(method.node.body, names[0], method, None))


def _same(one: Sequence[Rule], other: Sequence[Rule]) -> bool:
    return [(item.text, item.shift) for item in one] == [(item.text, item.shift) for item in other]


def describe_ids(rules: Sequence[Rule], base: int) -> Optional[Dict[str, Any]]:
    """The structured form: the first rule whose ``when`` holds says how far an id is shifted.

    ``base``: what a number must be shifted by to name the layer whose output is captured; see :func:`captured`.
    """
    if not rules:
        return None
    return {"rules": [{"when": rule.text, "shift": rule.shift} for rule in rules], "base": base}


def say_ids(rules: Sequence[Rule], base: int) -> List[str]:
    if not rules:
        return []
    parts = [
        (f"{rule.shift:+d}" if rule.shift else "as they are") + (f" if {rule.text}" if rule.text else "")
        for rule in rules
    ]
    meant = {0: "the output of layer i", 1: "the input of layer i"}.get(base, f"the output of layer i {-base:+d}")
    return ["layer ids of a draft are taken {}; the result i means {}".format(", else ".join(parts), meant)]


_COMPARISONS: Dict[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
}


def _value(node: ast.expr, name: str, ids: Sequence[int]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id == name:
        return list(ids)
    if isinstance(node, ast.Subscript):
        index = node.slice
        inner = getattr(index, "value", index) if type(index).__name__ == "Index" else index
        return _value(node.value, name, ids)[_value(inner, name, ids)]
    if isinstance(node, ast.BoolOp):
        result: Any = None
        for item in node.values:
            result = _value(item, name, ids)
            if bool(result) != isinstance(node.op, ast.And):
                break
        return result
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _value(node.operand, name, ids)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _value(node.left, name, ids), _value(node.comparators[0], name, ids)
        if type(node.ops[0]) in _COMPARISONS:
            return _COMPARISONS[type(node.ops[0])](left, right)
    raise ValueError("condition on layer ids is not understood")


def _moved(ids: Sequence[int], rule: Dict[str, Any], description: Dict[str, Any]) -> List[int]:
    return [item + int(rule["shift"]) - int(description["base"]) + 1 for item in ids]


def captured(description: Dict[str, Any], ids: Sequence[int]) -> List[int]:
    """The layers whose input is captured for a draft's ``ids``, by ``layer_ids`` of an architecture.

    :raises ValueError: a condition is not understood.
    """
    for rule in description["rules"]:
        if rule["when"] is None:
            return _moved(ids, rule, description)
        test = ast.parse(rule["when"], mode="eval").body
        names = sorted({node.id for node in ast.walk(test) if isinstance(node, ast.Name)})
        if len(names) != 1:
            raise ValueError("condition on layer ids is not understood: {}".format(rule["when"]))
        if _value(test, names[0], ids):
            return _moved(ids, rule, description)
    raise ValueError("no rule takes these layer ids")


__all__ = (
    "Capture",
    "Rule",
    "captured",
    "describe_ids",
    "find_capture",
    "freely_returned",
    "id_rules",
    "say_ids",
    "setter_marks",
)
