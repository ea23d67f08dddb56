# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``replace``: an expression, a statement or statements in a row, by pattern."""

from __future__ import annotations

import ast
from typing import Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    AMBIGUOUS,
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, nearest, span_of
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same
from ansible_collections.specdec.blackwell.plugins.module_utils._template import Rendered, Template, node_at

MODIFIERS = ("with", "count")
ABSENT = False


class Replace(Operation):
    """Replace what a pattern matches."""

    def __init__(self, pattern: Pattern, template: Template, count: int | str) -> None:
        self.pattern = pattern
        self.template = template
        self.count = count
        self.in_expressions = pattern.expression is not None and template.image.expression is not None

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        found = self._find(self.pattern, scope)
        images = self._find(self.template.image, scope)
        todo = [match for match in found if not any(_within(source, match, image) for image in images)]
        done = [image for image in images if not any(_within(source, image, match) for match in todo)]
        nested = [
            match for match in todo if any(match is not other and _within(source, match, other) for other in todo)
        ]
        lines = sorted(source.line_of(source.start(match.nodes[0])) for match in todo + done)
        if nested and not self.in_expressions:
            message = (
                f"{scope.describe()}: matches of {self.pattern.text!r} lie inside one another; name the inner scope"
            )
            return Verdict(AMBIGUOUS, message=message, line=lines[0], matches=len(todo))
        try:
            splices = self._expressions(source, todo) if self.in_expressions else self._statements(source, todo)
        except SpecdecError as error:
            return drifted(error.message, line=lines[0], matches=len(todo))
        return settle(
            count=self.count,
            todo=todo,
            done=len(done),
            splices=splices,
            lines=lines,
            nothing=drifted(
                f"{scope.describe()} has neither {self.pattern.text!r} nor {self.template.text!r}",
                candidates=nearest(scope, self.pattern),
            ),
            what=f"{scope.describe()} has {self.pattern.text!r}",
        )

    def _find(self, pattern: Pattern, scope: Scope) -> list[Found]:
        return pattern.as_expression(scope) if self.in_expressions else pattern.as_statements(scope)

    def _statements(self, source: Source, todo: Sequence[Found]) -> list[Splice]:
        splices: list[Splice] = []
        for match in todo:
            rendered = self.template.render(source, match)
            assert match.block is not None
            splices.extend(
                suite.replace(source, match.block, match.first, match.stop, rendered.text, moved=rendered.moved)
            )
        return splices

    def _expressions(self, source: Source, todo: Sequence[Found]) -> list[Splice]:
        """Outermost matches as splices, inner ones filled into them; parentheses only where the tree needs them."""
        outer, rendered = self._rendered(source, todo)
        wrapped: dict[int, bool] = {}
        for _attempt in range(2):
            splices = [_as_splice(source, match, rendered[id(match)], id(match) in wrapped) for match in outer]
            wrong = _misread(source, splices, [rendered[id(match)].expected for match in outer])
            if not wrong:
                return splices
            wrapped.update((id(outer[index]), True) for index in wrong)
        line = source.line_of(source.start(outer[wrong[0]].nodes[0]))
        raise BadInput(f"{self.template.text!r} cannot stand in the place of {self.pattern.text!r}, line {line}")

    def _rendered(self, source: Source, todo: Sequence[Found]) -> tuple[list[Found], dict[int, Rendered]]:
        rendered: dict[int, Rendered] = {}
        outer: list[Found] = []
        for match in reversed(todo):
            inside = [other for other in outer if _within(source, other, match)]
            inner = [
                (_as_splice(source, other, rendered[id(other)], True), other.nodes[0], _expression(rendered[id(other)]))
                for other in inside
            ]
            rendered[id(match)] = self.template.render(source, match, inner)
            outer = [other for other in outer if other not in inside] + [match]
        return outer, rendered


def _within(source: Source, inner: Found, outer: Found) -> bool:
    (start, end), (first, last) = span_of(source, inner), span_of(source, outer)
    return first <= start and end <= last


def _expression(rendered: Rendered) -> ast.expr:
    node = rendered.expected[0]
    assert isinstance(node, ast.Expr)
    return node.value


def _as_splice(source: Source, match: Found, rendered: Rendered, parenthesised: bool) -> Splice:
    start, end = span_of(source, match)
    return Splice(start, end, b"(" + rendered.text + b")" if parenthesised else rendered.text)


def _misread(source: Source, splices: Sequence[Splice], expected: Sequence[list[ast.stmt]]) -> list[int]:
    """Indices of the splices that the parser, after all of them, does not read as the expression they stand for."""
    if not splices:
        return []
    try:
        after: Source | None = source.with_splices(splices)
    except SpecdecError:
        return list(range(len(splices)))
    assert after is not None
    wrong: list[int] = []
    for index, item in enumerate(splices):
        shift = sum(len(other.text) - (other.end - other.start) for other in splices if other.start < item.start)
        node = expected[index][0]
        assert isinstance(node, ast.Expr)
        start, end = item.start + shift, item.start + shift + len(item.text)
        candidates = node_at(after, start, end) or node_at(after, start + 1, end - 1) or []
        if not any(same(found, node.value) for found in candidates):
            wrong.append(index)
    return wrong


def parse(fields: Fields, *, absent: bool) -> Replace:
    pattern = Pattern(fields.text("replace"), what=fields.what)
    template = Template(fields.text("with"), pattern, what=f"{fields.what}, with")
    return Replace(pattern, template, fields.count())
