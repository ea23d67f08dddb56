# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small readers of syntax trees that every engine's knowledge shares."""

from __future__ import annotations

import ast
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def dotted(node: Optional[ast.AST]) -> Optional[str]:
    """``a.b.c`` of a name or attribute chain, None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return None if head is None else head + "." + node.attr
    return None


def last_part(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def called(node: ast.AST) -> str:
    """Last part of the name of what a call calls; empty when it has none."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr
        if isinstance(node.func, ast.Name):
            return node.func.id
    return ""


def self_attribute(node: Optional[ast.AST]) -> Optional[str]:
    """``x`` of ``self.x``."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def self_path(node: Optional[ast.AST]) -> Optional[Tuple[str, ...]]:
    """``(x, y)`` of ``self.x.y``."""
    text = dotted(node)
    if text is None or not text.startswith("self."):
        return None
    return tuple(text.split(".")[1:])


def index_of(node: ast.Subscript) -> ast.AST:
    """What stands in the brackets; syntax trees before 3.9 wrap it."""
    inner: ast.AST = node.slice
    if type(inner).__name__ == "Index":
        inner = getattr(inner, "value", inner)
    return inner


def blocks(node: ast.stmt) -> Iterator[List[ast.stmt]]:
    """The statement lists that stand right inside one statement."""
    for name in ("body", "orelse", "finalbody"):
        part = getattr(node, name, None)
        if part:
            yield part
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement in source order, nested blocks included, nested definitions not entered."""
    for node in body:
        yield node
        if not isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            for block in blocks(node):
                yield from statements(block)


def expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """Every node of a statement's own expressions; nested statements are left out."""
    todo: List[ast.AST] = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    while todo:
        child = todo.pop()
        yield child
        todo.extend(inner for inner in ast.iter_child_nodes(child) if not isinstance(inner, ast.stmt))


def targets(node: ast.stmt) -> List[ast.expr]:
    """What an assignment statement assigns to."""
    if isinstance(node, ast.Assign):
        return node.targets
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)):
        return [node.target]
    return []


def assigned_names(node: ast.stmt) -> List[str]:
    """Plain names that a statement's own header or assignment binds."""
    found: List[str] = []
    places = list(targets(node))
    if isinstance(node, (ast.For, ast.AsyncFor)):
        places.append(node.target)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        places.extend(item.optional_vars for item in node.items if item.optional_vars is not None)
    while places:
        place = places.pop()
        if isinstance(place, ast.Name):
            found.append(place.id)
        elif isinstance(place, (ast.Tuple, ast.List)):
            places.extend(place.elts)
        elif isinstance(place, ast.Starred):
            places.append(place.value)
    return found


def bound_names(function: ast.AST) -> List[str]:
    """Every name that a function binds: parameters and stores."""
    return [
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(function)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ]


def arguments(call: ast.Call) -> List[ast.expr]:
    """Positional and keyword argument values, stars unwrapped."""
    values = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
    return values + [keyword.value for keyword in call.keywords]


def keyword_value(call: ast.Call, name: str) -> Optional[ast.expr]:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return None


def text_constant(node: Optional[ast.AST]) -> Optional[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def text_list(node: Optional[ast.AST]) -> Optional[List[str]]:
    """The strings of a list, tuple or set display made of strings only."""
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    found = [text_constant(item) for item in node.elts]
    return None if None in found else [item for item in found if item is not None]


def parameters(function: ast.AST) -> List[ast.arg]:
    """All named parameters in order, without the starred ones."""
    spec = getattr(function, "args", None)
    if not isinstance(spec, ast.arguments):
        return []
    return [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]


def defaults(function: ast.AST) -> Dict[str, ast.expr]:
    """Parameter name to its default."""
    spec = getattr(function, "args", None)
    if not isinstance(spec, ast.arguments):
        return {}
    plain = [*spec.posonlyargs, *spec.args]
    found = {arg.arg: value for arg, value in zip(plain[len(plain) - len(spec.defaults) :], spec.defaults)}
    found.update({arg.arg: value for arg, value in zip(spec.kwonlyargs, spec.kw_defaults) if value is not None})
    return found


__all__ = (
    "FUNCTIONS",
    "arguments",
    "assigned_names",
    "blocks",
    "bound_names",
    "called",
    "defaults",
    "dotted",
    "expressions",
    "index_of",
    "keyword_value",
    "last_part",
    "parameters",
    "self_attribute",
    "self_path",
    "statements",
    "targets",
    "text_constant",
    "text_list",
)
