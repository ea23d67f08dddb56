# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The decoder loop of an inner model: its header, what it carries, what is returned.

The model whose forward has the loop may lie some attributes below the one that the registered class calls; the way
there is part of the answer.
"""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, MethodRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_outer import Unknown, run_paths
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    blocks,
    parameters,
    self_attribute,
    self_path,
    statements,
)


class Turn(NamedTuple):
    """One call of a layer inside the loop."""

    call: ast.Call
    statement: ast.Assign
    hidden: str
    residual: Optional[str]
    taken: Optional[str]


class Loop(NamedTuple):
    """The decoder loop.

    ``counter``: the name that counts, None when the loop has none. ``offset``: source of what is to be added to it to
    get the layer's number. ``layer``: source of the current layer at the top of the body.
    """

    forward: MethodRef
    node: ast.For
    top: ast.stmt
    after: List[ast.stmt]
    layers: str
    counter: Optional[str]
    offset: Optional[str]
    layer: Optional[str]
    turns: List[Turn]
    kinds: List[ClassRef]
    enclosing: int


def _attribute_of(node: ast.expr) -> Optional[str]:
    """``x`` of ``self.x``, ``self.x[...]``, ``islice(self.x, ...)``, ``enumerate(self.x)``."""
    if isinstance(node, ast.Subscript):
        return _attribute_of(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
        return _attribute_of(node.args[0]) if node.func.id in ("enumerate", "islice", "iter", "list") else None
    return self_attribute(node)


class _Header(NamedTuple):
    layers: Optional[str]
    counter: Optional[str]
    offset: Optional[str]
    layer: Optional[str]
    known: bool


def _start_of(node: ast.expr, reader: Reader, forward: MethodRef) -> Tuple[bool, Optional[str]]:
    """``(known, source)`` of the number of the first layer that an iterable over layers gives."""
    if isinstance(node, ast.Subscript):
        bounds = node.slice
        if not isinstance(bounds, ast.Slice) or bounds.step is not None:
            return False, None
        return True, None if bounds.lower is None else forward.owner.module.segment(bounds.lower)
    if isinstance(node, ast.Call):
        if not (isinstance(node.func, ast.Name) and node.func.id == "islice") or node.keywords:
            return False, None
        return (
            (True, forward.owner.module.segment(node.args[1])) if len(node.args) == 3 else (len(node.args) == 2, None)
        )
    return self_attribute(node) is not None, None


def _header(node: ast.For, reader: Reader, forward: MethodRef) -> _Header:
    source, target = node.iter, node.target
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range":
        name = target.id if isinstance(target, ast.Name) else None
        return _Header(None, name, None, None, name is not None and len(source.args) < 3)
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "enumerate":
        plain = (
            isinstance(target, ast.Tuple)
            and len(target.elts) == 2
            and all(isinstance(item, ast.Name) for item in target.elts)
        )
        if not plain or len(source.args) != 1 or source.keywords:
            return _Header(_attribute_of(source), None, None, None, False)
        if not isinstance(target, ast.Tuple):
            raise AssertionError("isinstance(target, ast.Tuple)")
        index, layer = (item.id for item in target.elts if isinstance(item, ast.Name))
        known, start = _start_of(source.args[0], reader, forward)
        return _Header(_attribute_of(source), index, start, layer, known)
    layer_name = target.id if isinstance(target, ast.Name) else None
    known, start = _start_of(source, reader, forward)
    return _Header(_attribute_of(source), None, start, layer_name, known and layer_name is not None)


def _layer_names(node: ast.For, header: _Header) -> Dict[str, str]:
    """Names that stand for the current layer, with the attribute they come from."""
    names: Dict[str, str] = {}
    if header.layer is not None and header.layers is not None:
        names[header.layer] = header.layers
    for item in statements(node.body):
        if isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
            attribute = self_attribute(item.value.value) if isinstance(item.value, ast.Subscript) else None
            if attribute is not None:
                names[item.targets[0].id] = attribute
    return names


def _called_layer(call: ast.Call, names: Dict[str, str]) -> Optional[str]:
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr == "forward":
        function = function.value
    if isinstance(function, ast.Name):
        return names.get(function.id)
    if isinstance(function, ast.Subscript):
        return self_attribute(function.value)
    return None


def _turns(node: ast.For, names: Dict[str, str]) -> Iterator[Tuple[str, Union[Turn, Unknown]]]:
    for statement in statements(node.body):
        value = getattr(statement, "value", None)
        if not isinstance(value, ast.Call):
            continue
        attribute = _called_layer(value, names)
        if attribute is None:
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if not isinstance(statement, ast.Assign) or target is None:
            yield attribute, Unknown("a layer's result is not assigned")
        elif isinstance(target, ast.Name):
            yield attribute, Turn(value, statement, target.id, None, None)
        elif isinstance(target, ast.Tuple) and all(isinstance(item, ast.Name) for item in target.elts):
            found = [item.id for item in target.elts if isinstance(item, ast.Name)]
            if len(found) == 1:
                yield attribute, Turn(value, statement, found[0], None, None)
            elif len(found) == 2:
                yield attribute, Turn(value, statement, found[0], found[1], None)
            else:
                yield attribute, Unknown(f"a layer gives {len(found)} values: " + ", ".join(found))
        else:
            yield attribute, Unknown("a layer's result is not assigned to plain names")


def layer_calls(reader: Reader, node: ast.For, forward: MethodRef) -> List[ast.Call]:
    """Every call of a layer in a loop, whatever becomes of its result."""
    names = _layer_names(node, _header(node, reader, forward))
    return [item for item in ast.walk(node) if isinstance(item, ast.Call) and _called_layer(item, names) is not None]


def _picked(node: ast.For, turn: Turn) -> Turn:
    """``x = layer(...)`` followed by ``h = x[0]``: what is carried is ``h``."""
    if turn.residual is not None:
        return turn
    for statement in statements(node.body):
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Subscript):
            whole = statement.value.value
            target = statement.targets[0]
            if isinstance(whole, ast.Name) and whole.id == turn.hidden and isinstance(target, ast.Name):
                return turn._replace(hidden=target.id, taken=turn.hidden)
    return turn


def _following(body: Sequence[ast.stmt], node: ast.stmt) -> Optional[Tuple[ast.stmt, List[ast.stmt], int]]:
    """``(statement of body that holds node, statements that run after node, loops around it)``."""
    for position, item in enumerate(body):
        rest = list(body[position + 1 :])
        if item is node:
            return item, rest, 0
        for block in blocks(item):
            found = _following(block, node)
            if found is not None:
                loops = found[2] + isinstance(item, (ast.For, ast.While, ast.AsyncFor))
                return item, found[1] + rest, loops
    return None


def _accepts(reader: Reader, ref: ClassRef, call: ast.Call) -> bool:
    forward = reader.index.method(ref, "forward")
    if forward is None:
        return False
    names = [item.arg for item in parameters(forward.node)][1:]
    return forward.node.args.kwarg is not None or all(item.arg in names for item in call.keywords if item.arg)


def bound_parameter(reader: Reader, ref: ClassRef, call: ast.Call, name: str) -> Optional[str]:
    """The parameter of a layer's forward that gets the plain name ``name``."""
    forward = reader.index.method(ref, "forward")
    if forward is None:
        return None
    names = [item.arg for item in parameters(forward.node)][1:]
    for parameter, argument in zip(names, call.args):
        if isinstance(argument, ast.Name) and argument.id == name:
            return parameter
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name) and keyword.value.id == name and keyword.arg in names:
            return keyword.arg
    return None


def _loops(reader: Reader, model: ClassRef, forward: MethodRef) -> Iterator[Union[Loop, Unknown]]:
    for node in statements(forward.node.body):
        if not isinstance(node, ast.For):
            continue
        header = _header(node, reader, forward)
        turns: List[Turn] = []
        layers: List[str] = []
        failed: Optional[Unknown] = None
        for attribute, turn in _turns(node, _layer_names(node, header)):
            kinds = reader.element_classes(model, attribute)
            if not kinds:
                continue
            if attribute not in layers:
                layers.append(attribute)
            if isinstance(turn, Unknown):
                failed = failed or turn
            else:
                turns.append(_picked(node, turn))
        if not layers:
            continue
        if failed is not None:
            yield failed
            continue
        if any(isinstance(item, ast.For) and _turns_of(item, header) for item in statements(node.body)):
            continue
        place = _following(forward.node.body, node)
        if place is None:
            raise AssertionError("place is not None")
        kinds = [
            item
            for item in reader.element_classes(model, layers[0])
            if all(_accepts(reader, item, turn.call) for turn in turns)
        ]
        if len(layers) > 1 or not header.known:
            yield Unknown("its decoder loop has a header whose counting is not understood")
        elif not kinds:
            yield Unknown("no class of its layers fits the call in the loop")
        else:
            layer = header.layer or f"self.{layers[0]}[{header.counter}]"
            yield Loop(
                forward,
                node,
                place[0],
                place[1],
                layers[0],
                header.counter,
                header.offset,
                layer,
                turns,
                kinds,
                place[2],
            )


def _turns_of(node: ast.For, header: _Header) -> bool:
    return any(True for _item in _turns(node, _layer_names(node, header)))


class Inner(NamedTuple):
    """The model that has the loop, the way to it from the registered class, and the models passed on that way."""

    ref: ClassRef
    path: Tuple[str, ...]
    loop: Loop
    above: List[Tuple[ClassRef, Tuple[str, ...]]]


def find_loop(
    reader: Reader, model: ClassRef, path: Tuple[str, ...], above: Sequence[Tuple[ClassRef, Tuple[str, ...]]] = ()
) -> Union[Inner, Unknown]:
    """The decoder loop of a model, or of the one model that its forward only passes on to."""
    forward = reader.running_forward(model)
    if forward is None:
        return Unknown(f"{model.name} has no forward that can be read")
    loops = list(_loops(reader, model, forward))
    if len(loops) > 1:
        return Unknown(f"{model.name} has {len(loops)} loops over layers, of which one run takes some")
    if loops:
        found = loops[0]
        if isinstance(found, Unknown):
            return Unknown(f"{model.name}: {found.reason}")
        return Inner(model, path, found, list(above))
    passed: List[Tuple[str, ...]] = []
    for node in statements(forward.node.body):
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Return, ast.Assign)) and value is not None:
            for item in run_paths(reader, model, forward, value):
                if item not in passed and _passes_on(forward, item):
                    passed.append(item)
    if len(passed) == 1 and len(above) < 3:
        kinds = reader.path_types(model, passed[0])
        if len(kinds) == 1:
            return find_loop(reader, kinds[0], path + passed[0], [*above, (model, path)])
    return Unknown(f"{model.name} has no loop over layers that can be read")


def _passes_on(forward: MethodRef, path: Tuple[str, ...]) -> bool:
    """Whether a forward returns what ``self.<path>(...)`` gives, unchanged."""
    last = forward.node.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return False
    if isinstance(last.value, ast.Call):
        return self_path(last.value.func) in (path, path + ("forward",))
    stores = [
        node
        for node in statements(forward.node.body)
        if isinstance(node, ast.Assign)
        and isinstance(last.value, ast.Name)
        and any(isinstance(item, ast.Name) and item.id == last.value.id for item in node.targets)
    ]
    return len(stores) == 1 and isinstance(stores[0].value, ast.Call) and self_path(stores[0].value.func) == path


__all__ = ("layer_calls", "Inner", "Loop", "Turn", "bound_parameter", "find_loop")
