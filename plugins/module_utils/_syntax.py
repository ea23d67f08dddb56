# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Comparison of syntax trees: what counts as the same Python.

Spacing, quotes, parentheses, comments, load or store and the ``u`` prefix do not count; the type of a constant
does; a docstring is compared as ``inspect.cleandoc`` reads it, since re-indenting a definition moves it.
"""

from __future__ import annotations

import ast
import inspect
from typing import Any, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS

IGNORED_FIELDS = frozenset(("ctx", "kind", "type_comment", "type_ignores"))


def plain(node: Any) -> Any:
    """Python 3.8 wraps a subscript in ``Index``; later ones do not."""
    return getattr(node, "value", node) if type(node).__name__ == "Index" else node


def same(left: Any, right: Any) -> bool:
    """Whether two nodes, lists of nodes or field values are the same Python."""
    left, right = plain(left), plain(right)
    if isinstance(left, ast.AST):
        if type(left) is not type(right):
            return False
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            return same_constant(left.value, right.value)
        if isinstance(left, DEFINITIONS):
            return _same_definition(left, right)
        return all(
            same(getattr(left, field, None), getattr(right, field, None))
            for field in left._fields
            if field not in IGNORED_FIELDS
        )
    if isinstance(left, (list, tuple)):
        return isinstance(right, type(left)) and len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def same_constant(left: Any, right: Any) -> bool:
    """Equal in type and value; 0.0 and -0.0 differ, as do 1, 1.0 and True."""
    return type(left) is type(right) and left == right and repr(left) == repr(right)


def docstring(node: ast.AST) -> str | None:
    """The docstring of a module, class or function, cleaned; None without one."""
    text = _docstring_value(getattr(node, "body", []))
    return None if text is None else inspect.cleandoc(text)


def _docstring_value(body: Any) -> str | None:
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return None


def _same_definition(left: Any, right: Any) -> bool:
    for field in left._fields:
        if field in IGNORED_FIELDS or field == "body":
            continue
        if not same(getattr(left, field, None), getattr(right, field, None)):
            return False
    if docstring(left) != docstring(right):
        return False
    skip = 0 if docstring(left) is None else 1
    return same(left.body[skip:], right.body[skip:])


def find_run(statements: Sequence[ast.stmt], wanted: Sequence[ast.stmt], *, start: int = 0) -> int | None:
    """Index at which ``wanted`` stands as a contiguous run of ``statements``, from ``start`` on; None if nowhere."""
    for index in range(start, len(statements) - len(wanted) + 1):
        if all(map(same, statements[index : index + len(wanted)], wanted)):
            return index
    return None


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of a name or attribute chain; '' for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        head = dotted(node.value)
        return f"{head}.{node.attr}" if head else ""
    return ""


def arguments_in_order(node: Any) -> list[ast.AST]:
    """Positional and keyword arguments of a call, or bases and keywords of a class, as they stand in the source."""
    positional = node.bases if isinstance(node, ast.ClassDef) else node.args
    return sorted(list(positional) + list(node.keywords), key=_position)


def _position(node: Any) -> tuple[int, int]:
    # Python 3.8 gives keywords no position of their own.
    located = node.value if isinstance(node, ast.keyword) else node
    return located.lineno, located.col_offset


__all__ = (
    "IGNORED_FIELDS",
    "plain",
    "same",
    "same_constant",
    "docstring",
    "find_run",
    "dotted",
    "arguments_in_order",
)
