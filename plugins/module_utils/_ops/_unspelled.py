# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What a header pattern leaves open, and a replacement would therefore lose."""

from __future__ import annotations

import ast
from typing import Any, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import run_name
from ansible_collections.specdec.blackwell.plugins.module_utils._parameter_list import parameters
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import OPEN, is_header

_PARTS = {
    "decorator_list": "decorators",
    "returns": "return annotation",
    "bases": "bases",
    "keywords": "keywords",
    "handlers": "except branches",
    "orelse": "else",
    "finalbody": "finally",
    "type_params": "type parameters",
}


def check_nothing_lost(pattern: Sequence[ast.stmt], image: Sequence[ast.stmt], nodes: Sequence[Any]) -> None:
    """A header pattern matches whatever else the statement has; what the result does not name either would be gone.

    :raises Refused: names the line and the part.
    """
    for wanted in pattern:
        for node in nodes if is_header(wanted) else ():
            if type(node) is type(wanted):
                named = [item for root in image for item in ast.walk(root) if type(item) is type(node)]
                for what in _open_parts(wanted, node, named):
                    raise Refused(
                        f"line {node.lineno}: its {what} would be lost, "
                        "since the pattern leaves that open; name it there"
                    )


def _open_parts(wanted: Any, node: Any, named: Sequence[Any]) -> list[str]:
    parts = [
        what
        for field, what in _PARTS.items()
        if getattr(node, field, None) and not any(_names(item, field) for item in [wanted, *named])
    ]
    if isinstance(wanted, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parts.extend(_open_parameters(wanted.args, node.args, [item.args for item in named]))
    return parts


def _names(item: ast.AST, field: str) -> bool:
    """Whether a statement spells a part."""
    value: Any = getattr(item, field, None)
    return bool(value) and not (isinstance(value, list) and run_name(value[0]) == OPEN)


def _open_parameters(wanted: ast.arguments, actual: ast.arguments, named: Sequence[ast.arguments]) -> list[str]:
    """Parameters that the pattern names, but not their annotation or default; a run takes both along."""
    spelled = {item.node.arg: item for item in parameters(wanted) if run_name(item.node) is None}
    result = {item.node.arg: item for arguments in named for item in parameters(arguments)}
    parts: list[str] = []
    for item in parameters(actual):
        name = item.node.arg
        if name in spelled and name in result:
            before, after = spelled[name], result[name]
            if item.node.annotation is not None and not (before.node.annotation or after.node.annotation):
                parts.append(f"annotation of {name}")
            if item.default is not None and before.default is None and after.default is None:
                parts.append(f"default of {name}")
    return parts


__all__ = ("check_nothing_lost",)
