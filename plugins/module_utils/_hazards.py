# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Why a variable cannot be renamed: what else would change, or cannot be seen."""

from __future__ import annotations

import ast
import builtins
import re
from typing import Any, Iterator, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._names import (
    CLASS,
    FUNCTION,
    MODULE,
    Names,
    Occurrence,
    Region,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import dotted

_DYNAMIC = ("eval", "exec", "globals", "locals", "vars")


def of_rename(scope: Scope, names: Names, region: Region, places: Sequence[Occurrence], old: str, new: str) -> str:
    """The reason not to rename ``old`` to ``new``; '' when nothing stands against it."""
    return (
        _parameter(scope, region, places, old)
        or _private(places, region, (old, new))
        or _captured(names, region, places, old, new)
        or _by_name(scope, old)
        or ("" if region.kind == FUNCTION else _seen_outside(scope, names, region, old))
    )


def _parameter(scope: Scope, region: Region, places: Sequence[Occurrence], old: str) -> str:
    """Callers may pass a parameter by its name."""
    args = getattr(scope.node, "args", None)
    if args is None or not any(place.region is region and isinstance(place.node, ast.arg) for place in places):
        return ""
    safe = list(args.posonlyargs) + [args.vararg, args.kwarg]
    if scope.parents and isinstance(scope.parents[-1], ast.ClassDef):
        decorators = [dotted(item) for item in getattr(scope.node, "decorator_list", [])]
        safe.extend([] if "staticmethod" in decorators else args.args[:1])
    if any(arg is not None and arg.arg == old for arg in safe):
        return ""
    return f"{old} is a parameter, which callers may pass by its name"


def _private(places: Sequence[Occurrence], region: Region, pair: Sequence[str]) -> str:
    """Inside a class ``__name`` means ``_Class__name``."""
    mangled = [name for name in pair if name.startswith("__") and not name.endswith("__")]
    if mangled and any(_in_class(place.region) for place in places):
        return f"{mangled[0]} has another name inside a class"
    return ""


def _in_class(region: Region | None) -> bool:
    while region is not None:
        if region.kind == CLASS:
            return True
        region = region.parent
    return False


def _captured(names: Names, region: Region, places: Sequence[Occurrence], old: str, new: str) -> str:
    """Names that would mean another variable afterwards: tried out on the scopes themselves."""
    declaring = {id(place.region): place.region for place in places if old in place.region.declared}
    for inner in declaring.values():
        if new in inner.bound or new in inner.declared:
            return f"{new} is another variable where {old} is declared {inner.declared[old]}"
    region.bound.add(new)
    for inner in declaring.values():
        inner.declared[new] = inner.declared[old]
    try:
        for item in names.occurrences:
            if item.name == new and item.owner is region:
                return f"line {_line(item)}: {new} is something else there, and would become this one"
        for place in places:
            if place.region.owner(new) is not region:
                return f"line {_line(place)}: {new} is another variable there, and would hide this one"
    finally:
        region.bound.discard(new)
        for inner in declaring.values():
            del inner.declared[new]
    return ""


def _line(place: Occurrence) -> int:
    node: Any = place.string or place.node
    line: int = node.lineno
    return line


def _by_name(scope: Scope, old: str) -> str:
    """Places that reach a variable through text."""
    word = re.compile(rf"(?<![\w.]){re.escape(old)}\b")
    for node in ast.walk(scope.node):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if called in _DYNAMIC and not (called == "vars" and isinstance(node, ast.Call) and node.args):
            return f"line {getattr(node, 'lineno', 1)}: {called}() can reach it by its name"
        for text, line in _annotation_strings(node):
            if word.search(text):
                return f"line {line}: the string annotation {text!r} has that name"
    return ""


def _annotation_strings(node: ast.AST) -> Iterator[tuple[str, int]]:
    annotations = [getattr(node, "annotation", None), getattr(node, "returns", None)]
    if isinstance(node, ast.Call) and dotted(node.func).rsplit(".", 1)[-1] in ("cast", "TypeVar", "ForwardRef"):
        annotations.extend(list(node.args) + [item.value for item in node.keywords])
    for annotation in annotations:
        for inner in ast.walk(annotation) if isinstance(annotation, ast.AST) else ():
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value, inner.lineno


def _seen_outside(scope: Scope, names: Names, region: Region, old: str) -> str:
    """A variable of a module or class has more ways to be reached, and may stand for a global before it is bound."""
    if hasattr(builtins, old):
        return f"{old} may mean the builtin where it is not bound yet"
    for node in ast.walk(scope.source.tree):
        if isinstance(node, ast.Constant) and node.value == old and isinstance(node.value, str):
            return f"line {node.lineno}: the text {old!r} may mean it"
        if region.kind == CLASS and isinstance(node, ast.Attribute) and node.attr == old:
            return f"line {node.lineno}: the attribute .{old} may be it"
        if region.kind == CLASS and isinstance(node, ast.Call) and any(item.arg == old for item in node.keywords):
            return f"line {node.lineno}: the argument {old}= may be it"
    if region.kind == CLASS and names.module.holds(old):
        return f"the module has a variable {old} too, which the class reads until it binds its own"
    for item in names.occurrences:
        in_class = item.region.kind == CLASS and item.region.holds(old)
        if region.kind == MODULE and item.name == old and in_class and not item.binds:
            return f"line {_line(item)}: a class has its own {old} and may read this one first"
    return ""


__all__ = ("of_rename",)
