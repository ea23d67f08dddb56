# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``insert``: statements before or after a match, or at the start or end of a block."""

from __future__ import annotations

import ast

from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, Snippet
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._sites import (
    Site,
    beside,
    bodies,
    edge,
    never_runs,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, nearest, span_of
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS, Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import find_run

MODIFIERS = ("before", "after", "at", "of", "count")
ABSENT = False


class Insert(Operation):
    """Insert statements."""

    local = True

    def __init__(self, code: Snippet, where: str, pattern: Pattern | None, count: int | str) -> None:
        self.code = code
        self.where = where
        self.pattern = pattern
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        if self.pattern is None:
            site = edge(scope.body, self.where)
            return self._settle(scope, [site], [_line(scope.source, site)])
        found = self._own_left_out(scope, self.pattern.as_statements(scope))
        lines = [scope.source.line_of(span_of(scope.source, match)[0]) for match in found]
        if self.where in ("before", "after"):
            return self._settle(scope, [beside(match, found, self.where) for match in found], lines)
        sites = [edge(block, self.where) for match in found for block in bodies(match)]
        if found and not sites:
            return drifted(f"{self.pattern.text!r}, line {lines[0]}, is no statement with a body", line=lines[0])
        return self._settle(scope, sites, lines)

    def _settle(self, scope: Scope, sites: list[Site], lines: list[int]) -> Verdict:
        source = scope.source
        todo = [site for site in sites if find_run(site[2], self.code.tree) is None]
        leaving = [site for site in todo if never_runs(site)]
        if leaving:
            line = leaving[0][0].statements[leaving[0][1] - 1].lineno
            return drifted(f"a statement after line {line} would never run: it leaves the block there", line=line)
        splices: list[Splice] = []
        for block, index, _there in todo:
            new = suite.insert(
                source,
                block,
                index,
                self.code.text,
                hug_next=self.where in ("before", "start"),
                blank_lines=self._blank_lines(block),
            )
            # Two places in one suite on its colon's line both break that line.
            splices.extend(item for item in new if item.start == item.end or item not in splices)
        text = self.pattern.text if self.pattern is not None else ""
        nothing = drifted(
            f"{scope.describe()} has no statement {text!r}",
            candidates=nearest(scope, self.pattern) if self.pattern is not None else (),
        )
        return settle(
            count=self.count,
            todo=todo,
            done=len(sites) - len(todo),
            splices=splices,
            lines=lines,
            nothing=nothing,
            what=f"{scope.describe()} has {text!r}",
            source=scope.source,
        )

    def _own_left_out(self, scope: Scope, found: list[Found]) -> list[Found]:
        """Without matches inside the inserted code itself, where it is there already."""
        own: set[int] = set()
        for block in scope.blocks() if found else ():
            at = find_run(block.statements, self.code.tree)
            while at is not None:
                run = block.statements[at : at + len(self.code.tree)]
                own.update(id(node) for statement in run for node in ast.walk(statement))
                at = find_run(block.statements, self.code.tree, start=at + 1)
        return [match for match in found if id(match.nodes[0]) not in own] or found

    def _blank_lines(self, block: Block) -> int:
        """Definitions get the usual empty lines around them."""
        if not any(isinstance(node, DEFINITIONS) for node in self.code.tree):
            return 0
        return 2 if isinstance(block.owner, ast.Module) else 1


def _line(source: Source, site: Site) -> int:
    block, index, _there = site
    if index < len(block.statements):
        return block.statements[index].lineno
    return block.statements[-1].lineno if block.statements else source.line_of(len(source.text))


def parse(fields: Fields, *, absent: bool) -> Insert:
    code = fields.statements("insert")
    places = [key for key in ("before", "after", "at") if key in fields]
    if len(places) != 1:
        raise BadInput(f"{fields.what}: insert needs one of before, after, at")
    where = places[0]
    if where != "at":
        if "of" in fields:
            raise BadInput(f"{fields.what}: `of` goes with `at`")
        return Insert(code, where, Pattern(fields.text(where), what=f"{fields.what}, {where}"), fields.count())
    edge = fields.choice("at", ("start", "end"), "start")
    text = fields.optional("of")
    pattern = Pattern(text, what=f"{fields.what}, of") if text is not None else None
    return Insert(code, edge, pattern, fields.count())
