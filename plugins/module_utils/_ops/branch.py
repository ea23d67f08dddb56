# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``branch``: an elif, else, except or finally of a compound statement."""

from __future__ import annotations

import ast
import copy
import re
from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils import _compound as compound
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, code
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import Matcher
from ansible_collections.specdec.blackwell.plugins.module_utils._ops import _branches as branches
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    DRIFTED,
    PRESENT,
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse as parse_source
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same

MODIFIERS = ("of", "before", "count")
ABSENT = False

_KEYWORD = re.compile(rb"(elif|else|except|finally)\b")
_OPENERS = {"elif": b"if _:", "else": b"if _:", "except": b"try:", "finally": b"try:"}


class Branch(Operation):
    """Add a branch in its legal place."""

    def __init__(self, branch: branches.Branch, pattern: Pattern, count: int | str) -> None:
        self.branch = branch
        self.pattern = pattern
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        found: list[ast.AST] = [match.nodes[0] for match in self.pattern.as_statements(scope)]
        done = [node for node in self._finished(scope) if node not in found]
        todo: list[ast.AST] = []
        splices: list[Splice] = []
        for node in found:
            place = branches.examine(source, node, self.branch)
            if place.state == DRIFTED:
                return drifted(place.message, line=place.line, matches=len(found), candidates=place.candidates)
            if place.state != PRESENT:
                todo.append(node)
                splices.extend(place.splices)
        return settle(
            count=self.count,
            todo=todo,
            done=len(found) - len(todo) + len(done),
            splices=splices,
            lines=sorted(source.line_of(source.start(node)) for node in found + done),
            nothing=drifted(
                f"{scope.describe()} has no statement {self.pattern.text!r}", candidates=nearest(scope, self.pattern)
            ),
            what=f"{scope.describe()} has {self.pattern.text!r}",
        )

    def _finished(self, scope: Scope) -> list[ast.AST]:
        """Statements that have the branch and matched before they got it."""
        finished: list[ast.AST] = []
        for block in scope.blocks():
            for node in block.statements:
                before = undone(scope.source, node, self.branch)
                if before is not None and Matcher().match(self.pattern.statements[0], before, {}):
                    finished.append(node)
        return finished


def undone(source: Source, node: Any, branch: branches.Branch) -> Any:
    """The statement as it was before it got the branch; None when it has no such branch."""
    if not isinstance(node, branches.TAKES[branch.keyword]):
        return None
    changed = copy.copy(node)
    if branch.keyword == "except":
        changed.handlers = [item for item in node.handlers if not same(item, branch.owner.handlers[0])]
        return changed if len(changed.handlers) < len(node.handlers) else None
    if branch.keyword == "finally":
        changed.finalbody = []
        return changed if same(node.finalbody, branch.owner.finalbody) else None
    if isinstance(node, ast.If) and compound.has_elif(source, node):
        following: Any = node.orelse[0]
        wanted: Any = branch.owner.orelse[0]
        if branch.keyword == "elif" and same(following.test, wanted.test) and same(following.body, wanted.body):
            changed.orelse = following.orelse
            return changed
        changed.orelse = [undone(source, following, branch)]
        return changed if changed.orelse != [None] else None
    changed.orelse = []
    return changed if branch.keyword == "else" and same(node.orelse, branch.owner.orelse) else None


def parse(fields: Fields, *, absent: bool) -> Branch:
    text = code(fields.text("branch"))
    keyword = _KEYWORD.match(text)
    if not keyword:
        raise BadInput(f"{fields.what}: `branch` must begin with elif, else, except or finally")
    fields.choice("before", ("else",), "else")
    word = keyword.group().decode("ascii")
    opener = _OPENERS[word] + b"\n    pass\n"
    try:
        tree: list[Any] = parse_source((opener + text).decode("utf-8")).body
    except SyntaxError as error:
        # The two lines put above the branch do not count.
        line = max((error.lineno or 0) - 2, 1)
        raise BadInput(f"{fields.what}: `branch` does not parse, line {line}: {error.msg}") from None
    owner = tree[0]
    inner = compound.branches(owner)
    if len(tree) != 1 or len(inner) != 1:
        raise BadInput(f"{fields.what}: `branch` must be one branch; write one edit for each")
    pattern = Pattern(fields.text("of"), what=f"{fields.what}, of")
    if len(pattern.statements) != 1:
        raise BadInput(f"{fields.what}: `of` must be the pattern of one statement")
    return Branch(branches.Branch(word, opener, text, owner), pattern, fields.count())
