# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``unwrap``: the body of a compound statement takes its place."""

from __future__ import annotations

import ast
from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils import _compound as compound
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._matches import nested, nothing_left
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, encloses
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice

MODIFIERS = ("count",)
ABSENT = False

_PARTS = (("orelse", "else"), ("finalbody", "finally"))


class Unwrap(Operation):
    """Put the body of a compound statement in its place."""

    def __init__(self, pattern: Pattern, count: int | str) -> None:
        self.pattern = pattern
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        found = self.pattern.as_statements(scope)
        lines = [source.line_of(source.start(match.nodes[0])) for match in found]
        if any(encloses(source, outer, inner.nodes[0]) for outer in found for inner in found if inner is not outer):
            return nested(scope, self.pattern, lines)
        for match in found:
            reason = self._refusal(source, match)
            if reason:
                return drifted(reason, line=source.line_of(source.start(match.nodes[0])), matches=len(found))
        return settle(
            count=self.count,
            todo=found,
            done=0,
            splices=[self._splice(source, match) for match in found],
            lines=lines,
            nothing=nothing_left(scope, self.pattern, context, "unwrap"),
            what=f"{scope.describe()} has {self.pattern.text!r}",
        )

    def _refusal(self, source: Source, match: Found) -> str:
        node: Any = match.nodes[0]
        wanted: Any = self.pattern.statements[0]
        for field, keyword in _PARTS:
            branch = getattr(node, field, [])
            # `try: $$$` is completed to a statement by a finally that nobody wrote.
            spelled = getattr(wanted, field, []) and (field == "orelse" or keyword in self.pattern.text)
            if branch and not spelled:
                if field == "orelse" and isinstance(node, ast.If) and len(branch) == 1:
                    keyword = "elif" if source.text.startswith(b"elif", source.start(branch[0])) else keyword
                article = "an" if keyword[0] == "e" else "a"
                return (
                    f"line {node.lineno} has {article} {keyword} that the pattern does not spell and that would be "
                    "lost; spell it with $$$"
                )
        jump = compound.jumps_out(node.body)
        if isinstance(node, compound.LOOPS) and jump is not None:
            return f"line {jump.lineno}: this {type(jump).__name__.lower()} belongs to the loop that would go"
        return ""

    def _splice(self, source: Source, match: Found) -> Splice:
        node: Any = match.nodes[0]
        start = source.start(node)
        indent = source.indent_at(start)
        first, last, inline = compound.body_span(source, node)
        end = compound.after_block(source, compound.last_statement(node), indent)
        if inline:
            return Splice(start, end, source.text[first:last])
        text = reindent(source.text[first:last], indent=indent)
        compound.check_moved(source, text, indent, node.body)
        return Splice(start - len(indent), end, text)


def parse(fields: Fields, *, absent: bool) -> Unwrap:
    pattern = Pattern(fields.text("unwrap"), what=fields.what)
    if len(pattern.statements) != 1 or not isinstance(pattern.statements[0], compound.COMPOUND):
        raise BadInput(
            f"{fields.what}: `unwrap` must be the pattern of one if, try, with, for or while, such as 'if X: $$$'; "
            f"got {pattern.text!r}"
        )
    return Unwrap(pattern, fields.count())
