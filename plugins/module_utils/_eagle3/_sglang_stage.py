# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Models whose layers' boundaries own the residual, and how those hand out the stream.

There the loop carries one handle: its sum with the residual is known to the boundary alone, which gives a copy of it,
reduced if that is still owed. A boundary asks for plain sums; that a model's are plain is told by its end.
"""

from __future__ import annotations

import ast
from typing import Optional, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import _sglang_stream as stream
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, MethodRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_edits import free
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_loop import Loop, bound_parameter
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_outer import Unknown
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    assigned_names,
    blocks,
    dotted,
    expressions,
    parameters,
    self_path,
    statements,
)


def _hands_out(reader: Reader, package: str) -> bool:
    """Whether a release's boundaries can hand out the stream: a class with ``prepare`` and ``capture_output``."""
    place = reader.index.module(package + ".stage")
    for nodes in place.classes.values() if place is not None else ():
        names = {item.name for item in nodes[0].body if isinstance(item, ast.FunctionDef)}
        if {"prepare", "capture_output"} <= names:
            return True
    return False


_OWNER = ("start", "snapshot", "to_pp")


def residual_owner(reader: Reader, forward: MethodRef) -> Optional[Tuple[str, str]]:
    """``(alias, package)`` of a module that keeps the residual of a batch, where a forward uses one."""
    for node in ast.walk(forward.node):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        alias = dotted(node.func.value) or ""
        for origin, original in forward.owner.module.imports.get(alias, ()):
            full = origin if original is None else f"{origin}.{original}"
            module = reader.index.module(full)
            if module is not None and all(name in module.functions for name in _OWNER):
                return alias, ".".join(full.split(".")[:-2])
    return None


def _plain(reader: Reader, model: ClassRef, loop: Loop, alias: str) -> bool:
    """Whether what the loop carries ends as a plain sum: in an adding norm, or in a fold, which takes nothing else."""
    hidden = loop.turns[0].hidden
    for node in statements(loop.after):
        for call in ast.walk(node):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
                continue
            first = call.args[0]
            if dotted(call.func.value) != alias or not (isinstance(first, ast.Name) and first.id == hidden):
                continue
            paths = [self_path(item) for item in call.args[1:]]
            norms = [kind for path in paths if path for kind in reader.path_types(model, path)]
            real = [kind for kind in norms if not stream.takes_anything(reader, kind)]
            if call.func.attr == "fold" or (real and all(stream.adds(reader, kind) for kind in real)):
                return True
    return False


def _entered(reader: Reader, layer: ClassRef, hidden: str) -> Optional[Tuple[str, str]]:
    """``(boundary, batch)`` of ``self.boundary.prepare(hidden, batch, ...)``, where every layer takes its input so."""
    forward = reader.index.method(layer, "forward")
    if forward is None:
        raise AssertionError("forward is not None")
    for node in forward.node.body:
        for call in expressions(node):
            path = self_path(call.func) if isinstance(call, ast.Call) else None
            if not (isinstance(call, ast.Call) and path and len(path) == 2 and path[1] == "prepare"):
                continue
            first, second = (call.args + [None, None])[:2]
            if isinstance(first, ast.Name) and first.id == hidden and isinstance(second, ast.Name):
                return path[0], second.id
        if hidden in assigned_names(node) or list(blocks(node)):
            return None
    return None


def _capture(reader: Reader, loop: Loop) -> Union[str, Unknown]:
    turn = loop.turns[0]
    found = set()
    for kind in loop.kinds:
        hidden = bound_parameter(reader, kind, turn.call, turn.hidden)
        entered = _entered(reader, kind, hidden) if hidden is not None else None
        if entered is None:
            return Unknown(f"{kind.name} does not take its input through a boundary that can be read")
        batch = _argument(reader, kind, turn.call, entered[1])
        found.add((entered[0], batch))
    boundary, batch = next(iter(found))
    if len(found) != 1 or batch is None:
        return Unknown("its layers enter through different boundaries")
    snapshot = free(loop.forward.node, "aux_hidden_state")
    taken = f"{loop.layer}.{boundary}.capture_output({turn.hidden}, {batch})"
    return f"{turn.hidden}, {snapshot} = {taken}\n$STATES.append({snapshot})"


def _argument(reader: Reader, layer: ClassRef, call: ast.Call, parameter: str) -> Optional[str]:
    """The plain name that a call gives to a parameter of a layer's forward."""
    forward = reader.index.method(layer, "forward")
    names = [item.arg for item in parameters(forward.node)][1:] if forward is not None else []
    given = dict(zip(names, call.args))
    given.update({item.arg: item.value for item in call.keywords if item.arg})
    value = given.get(parameter)
    return value.id if isinstance(value, ast.Name) else None


def stage_value(reader: Reader, model: ClassRef, loop: Loop, owner: Tuple[str, str]) -> Union[str, Unknown]:
    """The statements that put the stream into ``$STATES`` at the loop's top; ``owner``: what keeps the residual."""
    alias, package = owner
    if loop.turns[0].residual is None and _plain(reader, model, loop, alias) and _hands_out(reader, package):
        return _capture(reader, loop)
    return Unknown("its layers' boundaries do not hand out the stream as a plain sum")


__all__ = ("residual_owner", "stage_value")
