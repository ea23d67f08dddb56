# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The branches of if, for, while and try: which are there, and where a new one may stand."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _compound as compound
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import first_line
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import dotted, same

TAKES: dict[str, Any] = {
    "elif": (ast.If,),
    "else": (ast.If,) + compound.LOOPS + compound.TRY,
    "except": compound.TRY,
    "finally": compound.TRY,
}


class Branch(NamedTuple):
    """A branch given in an edit: its keyword, its text, the header that it was parsed below, and the node they give."""

    keyword: str
    opener: bytes
    text: bytes
    owner: Any


def examine(source: Source, node: Any, branch: Branch) -> Verdict:
    """What is to be done to give ``node`` the branch."""
    if not isinstance(node, TAKES[branch.keyword]):
        return drifted(f"line {node.lineno}: {first_line(source, node)!r} takes no {branch.keyword}", line=node.lineno)
    if isinstance(node, ast.If):
        return _if(source, node, branch)
    if branch.keyword == "except":
        return _except(source, node, branch)
    if branch.keyword == "finally":
        return _last(source, node, branch, node.finalbody, branch.owner.finalbody, _end_of_try(node))
    if isinstance(node, compound.TRY):
        if not node.handlers:
            return drifted(f"line {node.lineno}: a try without except takes no else", line=node.lineno)
        return _last(source, node, branch, node.orelse, branch.owner.orelse, node.handlers[-1].body)
    return _last(source, node, branch, node.orelse, branch.owner.orelse, node.body)


def _if(source: Source, node: ast.If, branch: Branch) -> Verdict:
    chain = compound.elif_chain(source, node)
    if branch.keyword == "else":
        return _last(source, node, branch, chain[-1].orelse, branch.owner.orelse, chain[-1].body)
    wanted: ast.If = branch.owner.orelse[0]
    for link in chain:
        if not same(link.test, wanted.test):
            continue
        if same(link.body, wanted.body):
            return present(link.lineno)
        return _other(source, link.lineno, "a branch with this test", link.body)
    return _added(source, node, branch, chain[-1].body)


def _end_of_try(node: Any) -> list[ast.stmt]:
    body: list[ast.stmt] = node.orelse or (node.handlers[-1].body if node.handlers else node.body)
    return body


def _last(
    source: Source,
    node: ast.stmt,
    branch: Branch,
    there: list[ast.stmt],
    wanted: list[ast.stmt],
    before: list[ast.stmt],
) -> Verdict:
    """A branch that a statement can have once, after the block ``before``."""
    if not there:
        return _added(source, node, branch, before)
    if same(there, wanted):
        return present(there[0].lineno)
    return _other(source, there[0].lineno, f"{'an' if branch.keyword == 'else' else 'a'} {branch.keyword}", there)


def _except(source: Source, node: Any, branch: Branch) -> Verdict:
    wanted = branch.owner.handlers[0]
    if node.handlers and type(node) is not type(branch.owner):
        return drifted(f"line {node.lineno}: except and except* cannot stand in one try", line=node.lineno)
    for handler in node.handlers:
        if same(handler.type, wanted.type):
            if same(handler, wanted):
                return present(handler.lineno)
            return _other(source, handler.lineno, f"the branch {first_line(source, handler)}", handler.body)
    # Behind one that catches all, a handler would never run.
    earlier = [handler for handler in node.handlers if _breadth(handler.type) <= _breadth(wanted.type)]
    broad = [index for index, handler in enumerate(node.handlers) if handler not in earlier]
    before = node.handlers[: broad[0]] if broad else node.handlers
    return _added(source, node, branch, before[-1].body if before else node.body)


def _breadth(caught: ast.expr | None) -> int:
    if caught is None:
        return 3
    names = [dotted(item) for item in (caught.elts if isinstance(caught, ast.Tuple) else [caught])]
    return 2 if "BaseException" in names else 1 if "Exception" in names else 0


def _other(source: Source, line: int, what: str, body: Sequence[ast.stmt]) -> Verdict:
    return drifted(
        f"line {line} has {what} already, with another body",
        line=line,
        matches=1,
        candidates=[f"line {node.lineno}: {first_line(source, node)}" for node in body[:3]],
    )


def _added(source: Source, node: ast.stmt, branch: Branch, before: Sequence[ast.stmt]) -> Verdict:
    """The branch, after the block ``before`` of ``node``."""
    start = source.start(node)
    indent = source.indent_at(start)
    newline = source.newline_at(start)
    position = compound.after_block(source, before[-1], indent)
    lines = reindent(
        branch.opener + branch.text, indent=indent, unit=source.indent_unit, newline=newline, move_docstrings=True
    )
    lines = lines.split(newline, 2)[2]
    return pristine([Splice(position, position, newline + lines)], node.lineno)


__all__ = ("TAKES", "Branch", "examine")
