# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The forward of a registered class: what it runs, and how logits come of it.

Either it hands the hidden states of an inner model to a logits processor, or it returns what a whole language model
returns. Anything else is not understood, and the answer says why.
"""

from __future__ import annotations

import ast
from typing import Dict, List, NamedTuple, Optional, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, MethodRef
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import AUX, Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    assigned_names,
    dotted,
    parameters,
    self_attribute,
    self_path,
    statements,
)

Path = Tuple[str, ...]


class Logits(NamedTuple):
    """One call of the logits processor; ``head`` is None when it is not an attribute of the class."""

    call: ast.Call
    hidden: Optional[str]
    head: Optional[str]
    passes: bool
    parameter: str


class Head(NamedTuple):
    """A forward that gives an inner model's hidden states to the logits processor."""

    forward: MethodRef
    logits: List[Logits]
    hidden: str
    head: str
    inner: Path
    sources: List[ast.Assign]
    flag: Optional[str]
    states: Optional[str]


class Wrap(NamedTuple):
    """A forward that returns what ``self.<inner>`` returns."""

    forward: MethodRef
    inner: Path


class Unknown(NamedTuple):
    """A forward that is not understood."""

    reason: str


def run_paths(reader: Reader, ref: ClassRef, forward: MethodRef, node: ast.AST) -> List[Path]:
    """The attributes that a call runs as a model: ``self.x(...)``, or a routine that is handed ``self.x``."""
    if not isinstance(node, ast.Call):
        return []
    path = self_path(node.func)
    if path is not None:
        if path[-1] == "forward":
            path = path[:-1]
        is_model = bool(path) and (
            any(reader.index.method(item, "forward") for item in reader.path_types(ref, path))
            or (not reader.path_types(ref, path) and reader.index.method(ref, path[0]) is None and len(path) == 1)
        )
        return [path] if is_model else []
    hit = reader.called_function(forward.owner.module, node.func)
    if hit is None:
        return []
    run = _parameter_that_is_run(hit[1])
    if run is None:
        return []
    names = [item.arg for item in parameters(hit[1])]
    given: Dict[str, ast.expr] = dict(zip(names, node.args))
    given.update({item.arg: item.value for item in node.keywords if item.arg})
    path = self_path(given.get(run))
    return [path] if path else []


def _parameter_that_is_run(function: ast.AST) -> Optional[str]:
    """The parameter whose call gives what the function returns."""
    names = {item.arg for item in parameters(function)}
    made: Dict[str, str] = {}
    for node in statements(getattr(function, "body", [])):
        value = getattr(node, "value", None)
        run = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else None
        if isinstance(node, ast.Assign) and run in names:
            for name in assigned_names(node):
                made[name] = run or ""
        elif isinstance(node, ast.Return):
            if run in names:
                return run
            if isinstance(value, ast.Name) and value.id in made:
                return made[value.id]
    return None


def _bind(names: List[str], call: ast.Call) -> Dict[str, ast.expr]:
    bound: Dict[str, ast.expr] = dict(zip(names, call.args))
    bound.update({item.arg: item.value for item in call.keywords if item.arg})
    return bound


def _head_text(forward: MethodRef, node: Optional[ast.expr]) -> Optional[str]:
    """The source of a head that other methods of the class can use too; None when there is none."""
    text = dotted(node)
    if text is not None and text.startswith("self."):
        return text
    for item in statements(forward.node.body) if isinstance(node, ast.Name) else ():
        if isinstance(item, ast.If) and len(item.body) == len(item.orelse) == 1:
            one, other = item.body[0], item.orelse[0]
            names = assigned_names(one) + assigned_names(other)
            parts = [dotted(getattr(part, "value", None)) or "" for part in (one, other)]
            test = dotted(item.test) or ""
            if names == [text, text] and all(part.startswith("self.") for part in parts + [test]):
                return f"({parts[0]} if {test} else {parts[1]})"
    return None


def logits_calls(reader: Reader, ref: ClassRef, forward: MethodRef) -> List[Logits]:
    found: List[Logits] = []
    for node in ast.walk(forward.node):
        path = self_path(node.func) if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not path:
            continue
        kinds = [item for item in reader.path_types(ref, path) if reader.is_logits_processor(item)]
        if not kinds:
            continue
        method = reader.index.method(kinds[0], "forward")
        if method is None:
            raise AssertionError("method is not None")
        names = [item.arg for item in parameters(method.node)][1:]
        bound = _bind(names, node)
        hidden = bound.get(names[1])
        head = bound.get(names[2])
        found.append(
            Logits(
                node,
                hidden.id if isinstance(hidden, ast.Name) else None,
                _head_text(forward, head),
                AUX in bound,
                AUX,
            )
        )
    return found


def _unpacks(forward: MethodRef, hidden: str) -> Tuple[Optional[str], Optional[str]]:
    """``(flag, states)`` of ``if self.flag: hidden, states = hidden``; the flag is None where another test decides."""
    for node in statements(forward.node.body):
        if not isinstance(node, ast.If):
            continue
        flags = [name for name in map(self_attribute, ast.walk(node.test)) if name is not None]
        for inner in node.body:
            if not (isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Name) and inner.value.id == hidden):
                continue
            target = inner.targets[0]
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                first, second = target.elts
                if isinstance(first, ast.Name) and first.id == hidden and isinstance(second, ast.Name):
                    return (flags[0] if flags else None), second.id
    return None, None


def _sources(reader: Reader, ref: ClassRef, forward: MethodRef, name: str) -> Dict[Path, List[ast.Assign]]:
    found: Dict[Path, List[ast.Assign]] = {}
    for node in statements(forward.node.body):
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id == name:
            for path in run_paths(reader, ref, forward, node.value):
                found.setdefault(path, []).append(node)
    return found


def _wrapped(reader: Reader, ref: ClassRef, forward: MethodRef) -> Union[Wrap, Unknown]:
    paths: List[Path] = []
    for node in statements(forward.node.body):
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        here = run_paths(reader, ref, forward, node.value)
        if isinstance(node.value, ast.Name):
            here = list(_sources(reader, ref, forward, node.value.id))
        for path in here:
            if path not in paths:
                paths.append(path)
    if len(paths) == 1:
        return Wrap(forward, paths[0])
    if paths:
        return Unknown(
            "its forward returns what several models return: {}".format(", ".join(".".join(path) for path in paths))
        )
    return Unknown("its forward neither calls a logits processor nor returns what an inner model returns")


def _borrowed(reader: Reader, ref: ClassRef) -> Union[Wrap, Unknown]:
    """A class without a forward whose instances get that of a part: ``self.forward = self.part.forward``."""
    for value in reader.index.attribute(ref, "forward"):
        path = self_path(value.node)
        if path is not None and len(path) > 1 and path[-1] == "forward" and isinstance(value.function, ast.FunctionDef):
            return Wrap(MethodRef(value.owner, value.function), path[:-1])
    return Unknown("it has no forward that can be read")


def read_forward(reader: Reader, ref: ClassRef) -> Union[Head, Wrap, Unknown]:
    """What the effective forward of a class does."""
    forward = reader.index.method(ref, "forward")
    if forward is None:
        return _borrowed(reader, ref)
    calls = logits_calls(reader, ref, forward)
    if not calls:
        return _wrapped(reader, ref, forward)
    for node in statements(forward.node.body):
        if isinstance(node, ast.Return) and (node.value is None or isinstance(node.value, ast.Constant)):
            return Unknown("its forward returns nothing in some passes")
    names = {item.hidden for item in calls}
    if len(names) != 1 or None in names:
        return Unknown("its logits processor is not given hidden states by one name")
    hidden = calls[0].hidden or ""
    heads = {item.head for item in calls}
    if len(heads) != 1 or None in heads:
        return Unknown("its logits processor is not given one head of the class")
    sources = _sources(reader, ref, forward, hidden)
    if len(sources) != 1:
        return Unknown(
            "its hidden states come from %s"
            % ("several models" if sources else "no call of an inner model that can be read")
        )
    inner, assigns = next(iter(sources.items()))
    flag, states = _unpacks(forward, hidden)
    return Head(forward, calls, hidden, calls[0].head or "", inner, assigns, flag, states)


__all__ = ("Head", "Logits", "Path", "Unknown", "Wrap", "logits_calls", "read_forward", "run_paths")
