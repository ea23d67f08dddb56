# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``insert``: statements before or after a match, or at the start or end of a block."""

from __future__ import annotations

import ast
from typing import Sequence, Tuple

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
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS, Splice, blocks_of
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import docstring, find_run

MODIFIERS = ("before", "after", "at", "of", "count")
ABSENT = False

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
# A block, the index before which the code goes, and the statements among which it counts as there already.
Site = Tuple[Block, int, Sequence[ast.stmt]]


class Insert(Operation):
    """Insert statements."""

    def __init__(self, code: Snippet, where: str, pattern: Pattern | None, count: int | str) -> None:
        self.code = code
        self.where = where
        self.pattern = pattern
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        if self.pattern is None:
            return self._settle(scope, [self._edge(scope.body)])
        found = self._own_left_out(self.pattern.as_statements(scope))
        if self.where == "after":
            leaving = [match for match in found if isinstance(match.nodes[-1], _LEAVING)]
            if leaving:
                line = scope.source.line_of(scope.source.start(leaving[0].nodes[-1]))
                return drifted(f"a statement after line {line} would never run: it leaves the block there", line=line)
        if self.where in ("before", "after"):
            sites = [site for site in (self._beside(match) for match in found) if site is not None]
        else:
            sites = [self._edge(block) for match in found for block in self._bodies(match)]
        return self._settle(scope, sites)

    def _settle(self, scope: Scope, sites: list[Site]) -> Verdict:
        source = scope.source
        todo = [site for site in sites if find_run(site[2], self.code.tree) is None]
        splices: list[Splice] = []
        for block, index, _there in todo:
            splices.extend(
                suite.insert(
                    source,
                    block,
                    index,
                    self.code.text,
                    hug_next=self.where in ("before", "start"),
                    blank_lines=self._blank_lines(block),
                )
            )
        lines = [_line(source.line_of(len(source.text)), site) for site in sites]
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
        )

    def _own_left_out(self, found: list[Found]) -> list[Found]:
        """Without matches inside the inserted code itself, where it is there already."""
        kept: list[Found] = []
        for match in found:
            assert match.block is not None
            at = find_run(match.block.statements, self.code.tree)
            while at is not None and not (at <= match.first and match.stop <= at + len(self.code.tree)):
                at = find_run(match.block.statements, self.code.tree, start=at + 1)
            if at is None:
                kept.append(match)
        return kept or found

    def _beside(self, match: Found) -> Site | None:
        block = match.block
        assert block is not None
        if self.where == "before":
            return block, match.first, block.statements[: match.first]
        return block, match.stop, block.statements[match.stop :]

    def _bodies(self, match: Found) -> list[Block]:
        node = match.nodes[0]
        return [Block(node, field, statements) for field, statements in blocks_of(node) if field == "body"]

    def _edge(self, block: Block) -> Site:
        statements = block.statements
        if self.where == "end":
            return block, len(statements), statements
        first = 1 if docstring(block.owner) is not None and isinstance(block.owner, (ast.Module,) + DEFINITIONS) else 0
        if isinstance(block.owner, ast.Module):
            while first < len(statements) and _is_future(statements[first]):
                first += 1
        return block, first, statements

    def _blank_lines(self, block: Block) -> int:
        """Definitions get the usual empty lines around them."""
        if not any(isinstance(node, DEFINITIONS) for node in self.code.tree):
            return 0
        return 2 if isinstance(block.owner, ast.Module) else 1


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _line(last: int, site: Site) -> int:
    block, index, _there = site
    if index < len(block.statements):
        return block.statements[index].lineno
    return block.statements[-1].lineno if block.statements else last


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
