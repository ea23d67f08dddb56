# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``wrap``: statements inside an if, try, with, for or while, one level deeper."""

from __future__ import annotations

import ast

from ansible_collections.specdec.blackwell.plugins.module_utils import _compound as compound
from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, code
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._lexer import line_end
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._matches import nested
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, encloses, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import docstring

MODIFIERS = ("with", "tail", "count")
ABSENT = False


class Wrap(Operation):
    """Put statements inside a compound statement."""

    def __init__(self, pattern: Pattern, header: bytes, tail: bytes, tree: ast.stmt, count: int | str) -> None:
        self.pattern = pattern
        self.header = header
        self.tail = tail
        self.tree = tree
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        found = self.pattern.as_statements(scope)
        found = [match for match in found if not self._is_wrapper(source, match, found)]
        todo: list[Found] = []
        for match in found:
            around = [
                node for node in compound.ancestors(scope.node, match.home) if compound.same_header(node, self.tree)
            ]
            if not around:
                todo.append(match)
            elif self.tail and not any(compound.same_tail(node, self.tree) for node in around):
                return drifted(
                    f"line {around[0].lineno}: the statements stand inside {self.header.decode('utf-8')!r} already, "
                    "but with another tail",
                    line=around[0].lineno,
                    matches=len(found),
                )
        lines = [source.line_of(source.start(match.nodes[0])) for match in found]
        if any(encloses(source, outer, inner.nodes[0]) for outer in todo for inner in found if inner is not outer):
            return nested(scope, self.pattern, lines)
        for match in todo:
            reason = self._refusal(scope, match)
            if reason:
                return drifted(reason, line=source.line_of(source.start(match.nodes[0])), matches=len(found))
        return settle(
            count=self.count,
            todo=todo,
            done=len(found) - len(todo),
            splices=[item for match in todo for item in self._splices(source, match)],
            lines=lines,
            nothing=drifted(
                f"{scope.describe()} has no statement {self.pattern.text!r}", candidates=nearest(scope, self.pattern)
            ),
            what=f"{scope.describe()} has {self.pattern.text!r}",
        )

    def _is_wrapper(self, source: Source, match: Found, found: list[Found]) -> bool:
        """The header itself can match the pattern; what it was put around is then the other match."""
        node = match.nodes[0]
        return (
            len(match.nodes) == 1
            and compound.same_header(node, self.tree)
            and any(encloses(source, node, other.nodes[0]) for other in found if other is not match)
        )

    def _refusal(self, scope: Scope, match: Found) -> str:
        nodes = [node for node in match.nodes if isinstance(node, ast.stmt)]
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                return f"line {node.lineno}: a __future__ import must stay at the top of the file"
        if match.first == 0 and match.home.statements is scope.node.body and docstring(scope.node) is not None:
            return f"line {nodes[0].lineno}: wrapped, it would no longer be the docstring"
        jump = compound.jumps_out(nodes)
        if isinstance(self.tree, compound.LOOPS) and jump is not None:
            kind = type(jump).__name__.lower()
            return f"line {jump.lineno}: this {kind} would then belong to the new loop"
        asynchronous = isinstance(self.tree, (ast.AsyncFor, ast.AsyncWith))
        if asynchronous and not isinstance(scope.node, ast.AsyncFunctionDef):
            return "{} is no async def, so {!r} cannot stand in it".format(
                scope.describe(), self.header.decode("utf-8")
            )
        return ""

    def _splices(self, source: Source, match: Found) -> list[Splice]:
        block, first, stop = match.home, match.first, match.stop
        statements = block.statements
        start, end = source.start(statements[first]), source.end(statements[stop - 1])
        shared = suite.shares_line(source, block, first) or suite.shares_line(source, block, stop)
        unit = source.indent_unit
        if shared or suite.is_inline(source, block):
            last = end if suite.shares_line(source, block, stop) else _kept(source, end, line_end(source.text, end))
            body = reindent(source.text[start:last], indent=unit)
            text = b"\n".join([self.header, body] + ([self.tail] if self.tail else []))
            compound.check_moved(source, text, b"", match.nodes)
            return suite.replace(source, block, first, stop, text, moved=statements[first:stop])
        indent = source.indent_at(start)
        newline = source.newline_at(start)
        span = start - len(indent), suite.after_statement(source, block, stop - 1)
        pieces = [
            reindent(self.header, indent=indent, unit=unit, newline=newline),
            reindent(source.text[span[0] : _kept(source, end, span[1])], indent=indent + unit),
        ]
        if self.tail:
            pieces.append(reindent(self.tail, indent=indent, unit=unit, newline=newline))
        text = newline.join(pieces)
        compound.check_moved(source, text, indent, match.nodes)
        return [Splice(span[0], span[1], text)]


def _kept(source: Source, end: int, stop: int) -> int:
    """Where the moved text ends: a backslash behind the last statement, which joins but an empty line to it, goes."""
    return end if b"\\" in source.text[end:stop] and b"#" not in source.text[end:stop] else stop


def parse(fields: Fields, *, absent: bool) -> Wrap:
    header = code(fields.text("with"))
    tail = code(fields.text("tail")) if "tail" in fields else b""
    shown = repr(header.decode("utf-8")) + (f" and {tail.decode('utf-8')!r}" if tail else "")
    tree = compound.from_header(header, tail)
    if tree is None:
        raise BadInput(
            f"{fields.what}: `with` must be one header of if, try, with, for or while, colon included, and `tail` what "
            f"follows its body (try needs one); got {shown}"
        )
    return Wrap(Pattern(fields.text("wrap"), what=fields.what), header, tail, tree, fields.count())
