# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``replace``: an expression, a statement or statements in a row, by pattern."""

from __future__ import annotations

import ast
from typing import Sequence, cast

from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import one_name, run_name
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._matches import nested, nothing_left
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._rewrite import rewrite
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._unspelled import check_nothing_lost
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, any_nested, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._template import Template

MODIFIERS = ("with", "count")
ABSENT = False


class Replace(Operation):
    """Replace what a pattern matches."""

    local = True

    def __init__(self, pattern: Pattern, template: Template, count: int | str) -> None:
        self.pattern = pattern
        self.template = template
        self.count = count
        self.in_expressions = pattern.expression is not None and template.image.expression is not None

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        found = self._find(self.pattern, scope)
        images = [] if self._says_nothing() else self._find(self.template.image, scope)
        todo = _not_within(found, images)
        done = _not_within(images, todo)
        if not todo and not done and self._says_nothing():
            return nothing_left(scope, self.pattern, context, "replace")
        lines = sorted(_line(match) for match in todo + done)
        try:
            if not self.in_expressions and any_nested(source, todo):
                return nested(scope, self.pattern, lines)
            splices = rewrite(source, self.template, todo) if self.in_expressions else self._statements(source, todo)
        except Refused as error:
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
            source=scope.source,
        )

    def _says_nothing(self) -> bool:
        """Whether the after-image is one metavariable: then any code looks like it."""
        only = self.template.image.statements[0]
        bare = one_name(only) is not None or run_name(only) is not None
        return bare and len(self.template.image.statements) == 1

    def _find(self, pattern: Pattern, scope: Scope) -> list[Found]:
        return pattern.as_expression(scope) if self.in_expressions else pattern.as_statements(scope)

    def _statements(self, source: Source, todo: Sequence[Found]) -> list[Splice]:
        splices: list[Splice] = []
        for group in _on_shared_lines(source, todo):
            texts: list[bytes] = []
            moved: list[ast.stmt] = []
            for match in group:
                check_nothing_lost(self.pattern.statements, self.template.image.statements, match.nodes)
                rendered = self.template.render(source, match)
                texts.append(rendered.text)
                moved.extend(rendered.moved)
            block = cast(Block, group[0].block)
            new = suite.replace(source, block, group[0].first, group[-1].stop, b"\n".join(texts), moved=moved)
            # Two places in one suite on its colon's line both break that line.
            splices.extend(item for item in new if item not in splices)
        return splices


def _on_shared_lines(source: Source, todo: Sequence[Found]) -> list[list[Found]]:
    """Matches that follow each other on one line (``a(); b()``) are replaced together."""
    groups: list[list[Found]] = []
    for match in todo:
        block = cast(Block, match.block)
        last = groups[-1][-1] if groups else None
        follows = last is not None and last.block == block and last.stop == match.first
        if follows and suite.shares_line(source, block, match.first):
            groups[-1].append(match)
        else:
            groups.append([match])
    return groups


def _not_within(matches: Sequence[Found], others: Sequence[Found]) -> list[Found]:
    """The matches that neither are nor lie within one of ``others``; by identity, since positions may not be known."""
    owners: dict[int, set[int]] = {}
    for number, other in enumerate(others):
        for root in other.nodes:
            for node in ast.walk(root):
                owners.setdefault(id(node), set()).add(number)
    nobody: set[int] = set()
    return [match for match in matches if not set.intersection(*(owners.get(id(node), nobody) for node in match.nodes))]


def _line(match: Found) -> int:
    return cast(ast.expr, match.nodes[0]).lineno


def parse(fields: Fields, *, absent: bool) -> Replace:
    pattern = Pattern(fields.text("replace"), what=fields.what)
    template = Template(fields.text("with"), pattern, what=f"{fields.what}, with")
    return Replace(pattern, template, fields.count())
