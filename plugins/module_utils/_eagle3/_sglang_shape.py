# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What an inner model needs: nothing, or a capture of one of three kinds.

``classic``: the loop carries two tensors whose sum is the stream. ``single``: one tensor is the stream by itself.
``stage``: the layers' boundaries own the residual and can hand out the stream.
"""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Set, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import _sglang_stream as stream
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, MethodRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_capture import (
    Capture,
    find_capture,
    freely_returned,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_edits import capture_edits, same
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_loop import (
    Inner,
    Loop,
    bound_parameter,
    find_loop,
    layer_calls,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_outer import Unknown
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader, returned
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_stage import residual_owner, stage_value
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    blocks,
    expressions,
    parameters,
    self_attribute,
    statements,
)

METHODS = "methods"
CLASSIC = "classic"
SINGLE = "single"
STAGE = "stage"


class Plan(NamedTuple):
    """How an inner model gets its capture.

    ``ids``: the attribute that takes layer numbers, None: a method does. ``shift``: what makes of the number of a layer
    the one that captures its output.
    """

    shape: str
    path: Tuple[str, ...]
    ids: Optional[str]
    layers: str
    embed: Optional[str]
    shift: int
    edits: List[Dict[str, Any]]
    notes: List[str]


# returns


def _returns(body: Sequence[ast.stmt], last_rank: bool = True) -> Iterator[Tuple[ast.Return, bool]]:
    """Every return, and whether the last pipeline rank reaches it."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node, last_rank
        elif isinstance(node, ast.If) and _not_last(node.test):
            yield from _returns(node.body, False)
            yield from _returns(node.orelse, last_rank)
        else:
            for block in blocks(node):
                yield from _returns(block, last_rank)


def _not_last(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.UnaryOp)
        and isinstance(test.op, ast.Not)
        and isinstance(test.operand, ast.Attribute)
        and test.operand.attr == "is_last_rank"
    )


def _handed_out(loop: Loop, hidden: str) -> Union[List[ast.Return], Unknown]:
    """The returns that hand out hidden states."""
    chosen: List[ast.Return] = []
    others: List[ast.Return] = []
    for node, last_rank in _returns(loop.forward.node.body):
        after = node.lineno > int(loop.node.end_lineno or 0)
        names = {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
        if not last_rank:
            others.append(node)
        elif not after:
            return Unknown("its forward returns before its loop ends")
        elif isinstance(node.value, ast.Tuple) or hidden not in names:
            return Unknown("its forward returns something else than hidden states")
        else:
            chosen.append(node)
    if not chosen:
        return Unknown("its forward returns nothing after its loop")
    if any(same(one, other) for one in chosen for other in others):
        return Unknown("its forward returns the same on every pipeline rank")
    return chosen


# the stream


def _agreed(loop: Loop) -> Optional[Unknown]:
    if loop.enclosing:
        return Unknown("its layers run several times in one forward")
    if len({(turn.hidden, turn.residual) for turn in loop.turns}) != 1:
        return Unknown("its layers are called in ways that carry different values")
    return None


def _meaning(reader: Reader, model: ClassRef, loop: Loop) -> Union[str, Unknown]:
    """``sum`` or ``alone``, when layers and final norm agree on it."""
    turn = loop.turns[0]
    last = stream.final(reader, model, loop.after, turn.hidden, turn.residual)
    if last.meaning == stream.UNCLEAR:
        return Unknown(last.reason or "")
    for kind in loop.kinds:
        for item in loop.turns:
            hidden = bound_parameter(reader, kind, item.call, item.hidden)
            if hidden is None:
                return Unknown(f"{kind.name} is not given the carried tensor as it is")
            residual = bound_parameter(reader, kind, item.call, item.residual) if item.residual else None
            entry = stream.entry(reader, kind, hidden, residual)
            if entry.meaning == stream.UNCLEAR:
                return Unknown(entry.reason or "")
            if entry.meaning == stream.EITHER and last.bare:
                continue
            if entry.meaning != last.meaning:
                return Unknown(
                    f"{kind.name} takes its input as {entry.meaning}, but the norm after the loop as {last.meaning}"
                )
    return last.meaning


def _pair_value(loop: Loop, meaning: str) -> str:
    turn = loop.turns[0]
    alone = f"{turn.hidden}.clone()"
    if meaning == stream.SUM and turn.residual is not None:
        both = f"{turn.hidden} + {turn.residual}"
        return f"$STATES.append({alone} if {turn.residual} is None else {both})"
    return f"$STATES.append({alone})"


# the embedding


def _embedding(reader: Reader, model: ClassRef, forward: MethodRef) -> Optional[str]:
    """The attribute that turns the first argument of a forward, the token ids, into vectors."""
    names = [item.arg for item in parameters(forward.node)]
    found: List[str] = []
    for node in ast.walk(forward.node):
        if not (isinstance(node, ast.Call) and len(names) > 1):
            continue
        attribute = self_attribute(node.func)
        if attribute is None or not any(isinstance(item, ast.Name) and item.id == names[1] for item in node.args):
            continue
        for name in _embedding_of(reader, model, attribute):
            if name not in found and _is_module(reader, model, name):
                found.append(name)
    return found[0] if len(found) == 1 else None


def _shared_embedding(reader: Reader, models: Sequence[Tuple[ClassRef, Tuple[str, ...]]]) -> Optional[str]:
    """The first embedding among the model with the loop and those above it, as ``self.a.b``."""
    for model, path in models:
        forward = reader.running_forward(model)
        name = _embedding(reader, model, forward) if forward is not None else None
        if name is not None:
            return "self.{}".format(".".join(path + (name,)))
    return None


def _embedding_of(reader: Reader, model: ClassRef, name: str) -> Iterator[str]:
    method = reader.index.method(model, name)
    if method is None:
        yield name
        return
    for node in ast.walk(method.node):
        attribute = self_attribute(node.func) if isinstance(node, ast.Call) else None
        if attribute is not None and reader.index.method(model, attribute) is None:
            yield attribute
    for value in returned(method.node):
        attribute = self_attribute(value)
        if attribute is not None:
            yield attribute


def _is_module(reader: Reader, model: ClassRef, name: str) -> bool:
    """Whether an attribute is constructed, and not a number or a function."""
    return any(isinstance(value.node, (ast.Call, ast.IfExp)) for value in reader.index.attribute(model, name))


# plans


def _layers_of(reader: Reader, model: ClassRef, forward: MethodRef) -> Optional[str]:
    for node in ast.walk(forward.node):
        name = self_attribute(node)
        if name is not None and reader.element_classes(model, name):
            return name
    return None


def plan_inner(reader: Reader, model: ClassRef, path: Tuple[str, ...]) -> Union[Plan, Unknown]:
    """How ``model``, which a registered class calls as ``self.<path>``, gets or has its capture."""
    forward = reader.running_forward(model)
    if forward is None:
        return Unknown(f"{model.name} has no forward that can be read")
    inner = find_loop(reader, model, path)
    above: List[Tuple[ClassRef, Tuple[str, ...]]] = []
    if isinstance(inner, Inner):
        model, path, forward, above = inner.ref, inner.path, inner.loop.forward, inner.above
    capture = find_capture(reader, model, forward)
    embed = _shared_embedding(reader, [(model, path), *above[::-1]])
    if capture.whole:
        return _existing(reader, model, path, forward, inner, capture, embed)
    if isinstance(inner, Unknown):
        return inner
    if capture.states is not None and not freely_returned(reader, forward, capture.states):
        return Unknown(f"{model.name} fills or hands out states in a way of its own")
    return _new(reader, inner, capture.states, embed)


def _existing(
    reader: Reader,
    model: ClassRef,
    path: Tuple[str, ...],
    forward: MethodRef,
    inner: Union[Inner, Unknown],
    capture: Capture,
    embed: Optional[str],
) -> Union[Plan, Unknown]:
    states, ids, setter = capture
    layers = inner.loop.layers if isinstance(inner, Inner) else _layers_of(reader, model, forward)
    if layers is None:
        return Unknown(f"{model.name} captures, but its layers cannot be found")
    if isinstance(inner, Inner) and _agreed(inner.loop) is None:
        meaning = _meaning(reader, model, inner.loop)
        if isinstance(meaning, Unknown) and "but the norm after the loop" in meaning.reason:
            return Unknown(f"{model.name} captures, but {meaning.reason}")
    shift: Optional[int] = 1
    if ids is not None:
        wrong = _not_told(reader, model, forward, inner, states, ids)
        shift = _shift(reader, forward, ids)
        if setter and (wrong is not None or shift is None):
            wrong, shift, ids = None, 1, None
        if wrong is not None:
            return wrong
    if shift is None:
        return Unknown(f"{model.name} captures, but which layer's state is not told by its loop")
    return Plan(METHODS, path, ids, layers, embed, shift, [], [])


def _not_told(
    reader: Reader,
    model: ClassRef,
    forward: MethodRef,
    inner: Union[Inner, Unknown],
    states: Optional[str],
    ids: str,
) -> Optional[Unknown]:
    """Why setting ``ids`` may not do what is wanted."""
    if isinstance(inner, Unknown):
        return Unknown(f"{model.name} captures, but its loop is not understood: {inner.reason}")
    if states is not None and not _on_ids_only(forward, states, ids):
        return Unknown(f"{model.name} captures on a condition of its own")
    return None


def _on_ids_only(forward: MethodRef, states: str, ids: str) -> bool:
    """Whether nothing but the ids (and the list itself) decides that states are kept and handed out."""
    asked = [
        node
        for node in ast.walk(forward.node)
        if isinstance(node, ast.Compare) and self_attribute(node.comparators[0]) == ids
    ]
    inside = [item for node in asked for item in ast.walk(node)]
    for test in _deciding(forward.node.body, states, ids):
        left = [item for item in ast.walk(test) if not any(item is one for one in inside)]
        names = {item.id for item in left if isinstance(item, ast.Name)}
        own = {self_attribute(item) for item in left} - {None, ids}
        if own or not names <= {states, "self", "len"}:
            return False
    return True


def _deciding(body: Sequence[ast.stmt], states: str, ids: str) -> Iterator[ast.expr]:
    """The tests that ask for ids, and those under which a list is returned."""
    for node in body:
        inside = list(blocks(node))
        for part in expressions(node) if not inside else ():
            if isinstance(part, ast.IfExp) and _names(part.body, states):
                yield part.test
        if isinstance(node, ast.If) and not _not_last(node.test):
            asks = any(self_attribute(item) == ids for item in ast.walk(node.test))
            hands = any(isinstance(item, ast.Return) and _names(item, states) for item in node.body)
            if hands or (asks and any(_names(item, states) for item in node.body)):
                yield node.test
        for block in inside:
            yield from _deciding(block, states, ids)


def _names(node: ast.AST, name: str) -> bool:
    return any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(node))


def _shift(reader: Reader, forward: MethodRef, ids: str) -> Optional[int]:
    """1 where ``i in self.ids`` is asked before layer i runs, 0 after; ``i + c`` adds c. None: not certain."""
    found: Set[Optional[int]] = set()
    for loop in statements(forward.node.body):
        calls = layer_calls(reader, loop, forward) if isinstance(loop, ast.For) else []
        ran = False
        for node in statements(loop.body) if isinstance(loop, ast.For) and calls else ():
            inside = list(expressions(node))
            for test in inside:
                if isinstance(test, ast.Compare) and self_attribute(test.comparators[0]) == ids:
                    added = _added(test.left)
                    found.add(None if added is None else added + (0 if ran else 1))
            ran = ran or any(call is item for call in calls for item in inside)
    return found.pop() if len(found) == 1 else None


def _added(node: ast.expr) -> Optional[int]:
    """``c`` of ``i + c`` and ``i - c``; 0 of ``i``, and of ``i + self.first``, which counts from another layer."""
    if isinstance(node, ast.Name):
        return 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and self_attribute(node.right) is not None:
        return _added(node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name) and isinstance(node.right, ast.Constant):
        step = node.right.value
        sign = {ast.Add: 1, ast.Sub: -1}.get(type(node.op))
        return sign * step if sign is not None and isinstance(step, int) else None
    return None


def _new(reader: Reader, inner: Inner, states: Optional[str], embed: Optional[str]) -> Union[Plan, Unknown]:
    loop, model = inner.loop, inner.ref
    wrong = _agreed(loop)
    if wrong is not None:
        return Unknown(f"{model.name}: {wrong.reason}")
    owned = residual_owner(reader, loop.forward)
    notes: List[str] = []
    value: Union[str, Unknown]
    if owned is not None:
        shape = STAGE
        value = stage_value(reader, model, loop, owned)
        notes.append(
            "with DP attention a captured state has the rows of the layer that produced it, which may be a slice"
        )
    else:
        meaning = _meaning(reader, model, loop)
        shape = SINGLE if loop.turns[0].residual is None else CLASSIC
        value = meaning if isinstance(meaning, Unknown) else _pair_value(loop, meaning)
    if isinstance(value, Unknown):
        return Unknown(f"{model.name}: {value.reason}")
    returns = _handed_out(loop, loop.turns[0].hidden) if states is None else []
    if isinstance(returns, Unknown):
        return Unknown(f"{model.name}: {returns.reason}")
    if loop.top is not loop.node:
        if not isinstance(loop.top, (ast.If, ast.With)):
            return Unknown(f"{model.name}: its loop stands inside another statement")
        if isinstance(loop.top, ast.If):
            test = loop.forward.owner.module.segment(loop.top.test)
            notes.append(f"states are captured by one branch of `if {test}` only")
    if _repeated(loop):
        return Unknown(f"{model.name}: its loop's header stands twice in its forward")
    ids, edits = capture_edits(reader, loop, states, None, value, returns)
    return Plan(shape, inner.path, ids, loop.layers, embed, 1, edits, notes)


def _repeated(loop: Loop) -> bool:
    twins = [
        node
        for node in statements(loop.forward.node.body)
        if isinstance(node, ast.For) and same(node.target, loop.node.target) and same(node.iter, loop.node.iter)
    ]
    return len(twins) != 1


__all__ = ("CLASSIC", "METHODS", "Plan", "SINGLE", "STAGE", "plan_inner")
