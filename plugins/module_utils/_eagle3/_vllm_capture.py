# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a captured state has to be: read from the layers and from what follows the loop, or refused."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import List, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, MethodRef, Value
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    arguments,
    assigned_names,
    called,
    dotted,
    expressions,
    parameters,
    self_attribute,
    statements,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._values import MISSING, build, class_named
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import Loop, Refusal, find_loop

INTERMEDIATE = "IntermediateTensors"
FORWARDS = ("forward", "forward_native", "forward_static", "_forward_static_with_residual", "forward_cuda")


@dataclass(frozen=True)
class Exit:
    """A return after the loop. ``value``: the name returned, None when the return itself calls the final norm."""

    node: ast.Return
    value: Optional[str]
    previous: Optional[ast.stmt]


@dataclass(frozen=True)
class Capture:
    """Everything that the edits of a decoder need. ``summed``: the state is hidden + residual, else hidden alone."""

    decoder: ClassRef
    forward: MethodRef
    loop: Loop
    summed: bool
    exits: Tuple[Exit, ...]
    twins: int


def read_capture(index: Index, decoder: ClassRef) -> Capture:
    """How to capture in a decoder, or Refusal with the reason."""
    forward = index.method(decoder, "forward")
    if forward is None:
        raise Refusal("X6", f"{decoder.name} has no forward that can be read")
    loop = find_loop(index, decoder, forward.node)
    summed = _is_sum(index, decoder, forward, loop)
    exits, twins = _exits(forward.node, loop)
    return Capture(decoder, forward, loop, summed, exits, twins)


def after_loop(function: ast.FunctionDef, loop: ast.For) -> List[ast.stmt]:
    end = loop.end_lineno or loop.lineno
    return [node for node in statements(function.body) if node.lineno > end]


def is_handover(node: ast.stmt) -> bool:
    """A return to the next pipeline rank."""
    return isinstance(node, ast.Return) and node.value is not None and called(node.value) == INTERMEDIATE


def _is_sum(index: Index, decoder: ClassRef, forward: MethodRef, loop: Loop) -> bool:
    hidden, residual = loop.hidden, loop.residual
    alone: List[ast.stmt] = []
    for node in after_loop(forward.node, loop.node):
        if is_handover(node):
            continue
        verdict = _verdict(index, decoder, node, hidden, residual)
        if verdict is True:
            if all(_only_without(forward.node, other, residual) for other in alone):
                return True
            raise Refusal("X10", f"after the loop {hidden} is used with {residual} in one place and alone in another")
        if verdict is False:
            alone.append(node)
        elif not alone and {hidden, residual}.intersection(assigned_names(node)):
            raise Refusal(
                "X10",
                f"{hidden} is changed after the loop (line {node.lineno}) before its meaning is told: the states "
                "inside the loop may be parts of the whole",
            )
    if not alone and residual is not None:
        raise Refusal(
            "X10", f"nothing after the loop of {decoder.name}.forward tells whether {hidden} has {residual} in it"
        )
    if residual is not None:
        _check_dead(index, decoder, loop)
    return False


def _only_without(function: ast.FunctionDef, node: ast.stmt, residual: Optional[str]) -> bool:
    """The statement runs only where there is no residual: in the body of ``if residual is None``."""
    for outer in statements(function.body):
        if isinstance(outer, ast.If) and any(inner is node for inner in statements(outer.body)):
            test = outer.test
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and dotted(test.left) == residual:
                return residual is not None
    return False


def _verdict(index: Index, decoder: ClassRef, node: ast.stmt, hidden: str, residual: Optional[str]) -> Optional[bool]:
    """True: the stream is the sum; False: hidden alone; None: the statement does not say."""
    for item in expressions(node):
        is_sum = residual is not None and isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add)
        if is_sum and isinstance(item, ast.BinOp) and {dotted(item.left), dotted(item.right)} == {hidden, residual}:
            return True
    for item in expressions(node):
        if not isinstance(item, ast.Call) or hidden not in [dotted(one) for one in arguments(item)]:
            continue
        attribute = self_attribute(item.func)
        if attribute is None:
            continue
        if residual is None or residual not in [dotted(one) for one in arguments(item)]:
            return False
        if norm_adds(index, decoder, attribute):
            return True
        raise Refusal(
            "X10",
            f"self.{attribute} is given {residual} and is not seen to add it, so what it means after the loop is "
            "unclear",
        )
    if isinstance(node, ast.Return) and dotted(node.value) == hidden:
        return False
    return None


def norm_adds(index: Index, decoder: ClassRef, attribute: str) -> bool:
    """Every class that ``self.<attribute>`` may be adds its second argument to its first."""
    known = False
    for value in index.attribute(decoder, attribute):
        built = build(index, decoder, value)
        if not isinstance(built, ClassRef):
            continue
        if built.name in MISSING:
            continue
        if not _class_adds(index, built):
            return False
        known = True
    return known


def _class_adds(index: Index, norm: ClassRef) -> bool:
    for member in index.mro(norm):
        for name, function in index.own_methods(member).items():
            if not name.lstrip("_").startswith("forward"):
                continue
            names = [item.arg for item in parameters(function) if item.arg not in ("self", "cls")]
            for second in names[1:]:
                if _adds(function, second):
                    return True
    return False


def _adds(function: ast.FunctionDef, second: str) -> bool:
    for item in ast.walk(function):
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add):
            if any(second in _names(side) for side in (item.left, item.right)):
                return True
        elif isinstance(item, ast.AugAssign) and isinstance(item.op, ast.Add):
            if second in _names(item.value) or second in _names(item.target):
                return True
        elif isinstance(item, ast.Call) and _is_adding(item, second):
            return True
    return False


def _is_adding(call: ast.Call, second: str) -> bool:
    """A fused operation says in its name that it adds: ``fused_add_rms_norm``."""
    words = (dotted(call.func) or "").replace(".", "_").split("_")
    return "add" in words and any(dotted(one) == second for one in arguments(call))


def _names(node: ast.AST) -> List[str]:
    """Names of a chain such as ``residual.to(dtype)``."""
    return [item.id for item in ast.walk(node) if isinstance(item, ast.Name)]


def layer_classes(index: Index, decoder: ClassRef, attribute: str) -> List[ClassRef]:
    """The classes of the layers that ``self.<attribute>`` holds, as far as the source names them."""
    found: List[ClassRef] = []
    for value in index.attribute(decoder, attribute):
        for function, call in _makers(value):
            site = Value(value.owner, function, call.func)
            made = class_named(index, decoder, site, call.func)
            options = [made] if made is not None else _from_table(index, site, call.func)
            for option in options:
                if option not in found and index.method(option, "forward") is not None:
                    found.append(option)
    return found


def _makers(value: Value) -> List[Tuple[Optional[ast.AST], ast.Call]]:
    """Calls inside the expression that fills the layers, and inside the local function it names."""
    found: List[Tuple[Optional[ast.AST], ast.Call]] = [
        (value.function, item) for item in ast.walk(value.node) if isinstance(item, ast.Call)
    ]
    names = {item.id for item in ast.walk(value.node) if isinstance(item, ast.Name)}
    for node in statements(getattr(value.function, "body", [])):
        if isinstance(node, ast.FunctionDef) and node.name in names:
            found.extend((node, item) for item in ast.walk(node) if isinstance(item, ast.Call))
    return found


def _from_table(index: Index, site: Value, node: ast.expr) -> List[ClassRef]:
    """Classes of a module-level dict where the called name was looked up."""
    if not isinstance(node, ast.Name):
        return []
    found = []
    for inner in statements(getattr(site.function, "body", [])):
        value = getattr(inner, "value", None)
        if node.id in assigned_names(inner) and isinstance(value, ast.Subscript):
            for table in site.owner.module.values.get(dotted(value.value) or "", ()):
                for item in table.values if isinstance(table, ast.Dict) else ():
                    option = index.resolve(site.owner.module, dotted(item) or "?")
                    if option is not None:
                        found.append(option)
    return found


def _check_dead(index: Index, decoder: ClassRef, loop: Loop) -> None:
    """Hidden alone is right only when no layer reads the residual that it is given."""
    classes = layer_classes(index, decoder, loop.attribute)
    if not classes:
        raise Refusal(
            "X10",
            f"the final norm takes {loop.hidden} alone and the layers' class is not told, so whether {loop.residual} "
            "is still to be added is unclear",
        )
    for layer in classes:
        method = index.method(layer, "forward")
        for call in loop.calls:
            name = _parameter_for(method, call.value, loop.residual) if method is not None else None
            if method is None or name is None or not _dead(method.node, name):
                raise Refusal(
                    "X10",
                    f"the final norm takes {loop.hidden} alone, but {layer.name}.forward reads the {loop.residual} "
                    "that it is given",
                )


def _parameter_for(method: MethodRef, call: ast.expr, argument: Optional[str]) -> Optional[str]:
    if not isinstance(call, ast.Call):
        return None
    for keyword in call.keywords:
        if dotted(keyword.value) == argument:
            return keyword.arg
    for place, value in enumerate(call.args):
        if dotted(value) == argument:
            names = [item.arg for item in parameters(method.node)][1:]
            return names[place] if place < len(names) else None
    return None


def _dead(function: ast.FunctionDef, name: str) -> bool:
    """The parameter is given a new value before anything reads it."""
    for node in function.body:
        reads = [item for item in ast.walk(node) if isinstance(item, ast.Name) and item.id == name]
        if not reads:
            continue
        if isinstance(node, ast.Assign) and name in assigned_names(node):
            return all(isinstance(item.ctx, ast.Store) for item in reads)
        return False
    return True


def _exits(function: ast.FunctionDef, loop: Loop) -> Tuple[Tuple[Exit, ...], int]:
    exits = []
    previous: Optional[ast.stmt] = None
    for node in after_loop(function, loop.node):
        if isinstance(node, ast.Return) and not is_handover(node):
            exits.append(_exit(node, previous, loop))
        previous = node
    if not exits:
        raise Refusal("X7", "no return of the final hidden state follows the loop")
    values = {item.value for item in exits}
    if len(values) > 1:
        raise Refusal(
            "X7", "the returns after the loop differ: {}".format(", ".join(sorted(str(one) for one in values)))
        )
    twins = sum(
        isinstance(node, ast.Return) and exits[0].value is not None and dotted(node.value) == exits[0].value
        for node in statements(function.body)
    )
    return tuple(exits), twins


def _exit(node: ast.Return, previous: Optional[ast.stmt], loop: Loop) -> Exit:
    if isinstance(node.value, ast.Name):
        return Exit(node, node.value.id, previous)
    if isinstance(node.value, ast.Call) and self_attribute(node.value.func) is not None:
        given = [dotted(one) for one in arguments(node.value)]
        if loop.hidden in given and (loop.residual is None or loop.residual not in given):
            return Exit(node, None, previous)
    raise Refusal("X7", f"the return at line {node.lineno} hands out something else than one hidden state")


__all__ = ("Capture", "Exit", "after_loop", "is_handover", "layer_classes", "norm_adds", "read_capture")
