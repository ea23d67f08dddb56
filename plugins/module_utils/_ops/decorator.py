# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``decorator``: of the class or function in scope."""

from __future__ import annotations

import ast
from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, code
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    AMBIGUOUS,
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse as parse_source
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import first_line
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same

MODIFIERS = ("position",)
ABSENT = True


class Decorator(Operation):
    """Add a decorator as the first or the last one, or take it away."""

    def __init__(self, text: bytes, node: ast.expr, position: str, *, absent: bool) -> None:
        self.text = text
        self.node = node
        self.position = position
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        node = scope.node
        source = scope.source
        if isinstance(node, ast.Module):
            return drifted("a module takes no decorator; say with `in` which class or function is meant")
        equal = [item for item in node.decorator_list if same(item, self.node)]
        like = [item for item in node.decorator_list if same(_callee(item), _callee(self.node))]
        shown = self.text.decode("utf-8")
        candidates = [f"line {item.lineno}: {first_line(source, item)}" for item in like]
        if not equal and like:
            return drifted(
                f"{scope.name} has {shown} with other arguments", candidates=candidates, line=like[0].lineno, matches=1
            )
        if not self.absent:
            if equal:
                return present(equal[0].lineno)
            return pristine([self._splice(source, node)], node.lineno)
        if len(equal) > 1:
            return Verdict(
                AMBIGUOUS,
                message=f"{scope.name} has {shown} {len(equal)} times",
                candidates=candidates,
                line=equal[0].lineno,
                matches=len(equal),
            )
        if not equal:
            return present(node.lineno)
        start = source.line_start(source.text.rindex(b"@", 0, source.start(equal[0])))
        return pristine([Splice(start, lexer.next_line(source.text, source.end(equal[0])), b"")], equal[0].lineno)

    def _splice(self, source: Source, node: Any) -> Splice:
        start = source.start(node) if self.position == "first" else source.keyword_start(node)
        newline = source.newline_at(start)
        indent = source.indent_at(start)
        lines = reindent(self.text, indent=indent, newline=newline)
        return Splice(start, start, lines[len(indent) :] + newline + indent)


def _callee(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def parse(fields: Fields, *, absent: bool) -> Decorator:
    text = code(fields.text("decorator"))
    if not text.startswith(b"@"):
        text = b"@" + text
    try:
        tree = parse_source(text.decode("utf-8") + "\ndef _(): pass").body
    except SyntaxError:
        tree = []
    only = tree[0] if len(tree) == 1 else None
    if not isinstance(only, ast.FunctionDef) or len(only.decorator_list) != 1:
        raise BadInput(
            f"{fields.what}: `decorator` must be one decorator, such as '@cache', not {text.decode('utf-8')!r}"
        )
    position = fields.choice("position", ("first", "last"), "first")
    return Decorator(text, only.decorator_list[0], position, absent=absent)
