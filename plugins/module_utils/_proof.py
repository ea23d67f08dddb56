# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Proofs about a planned change, in memory, before anything is written.

A failed proof is a fault of this collection, not of the user's file: it is reported as such, and nothing is written.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._source import (
    DEFINITIONS,
    Source,
    Splice,
    blocks_of,
    splice,
)


class ProofFailed(SpecdecError):
    """A planned change did not hold what it must; ``message`` asks for a bug report."""


def fail(path: str, what: str) -> ProofFailed:
    return ProofFailed(
        f"{path}: the planned change failed its own check ({what}), so nothing was written; "
        "please report this with the edit and the file's version",
        file=path,
    )


def inverse(splices: Sequence[Splice], before: bytes) -> list[Splice]:
    """The splices that undo ``splices`` on the text they give."""
    undone: list[Splice] = []
    shift = 0
    for item in sorted(splices, key=lambda item: (item.start, item.end)):
        start = item.start + shift
        undone.append(Splice(start, start + len(item.text), before[item.start : item.end]))
        shift += len(item.text) - (item.end - item.start)
    return undone


def check_undo(before: Source, after: Source, splices: Sequence[Splice]) -> None:
    """``revert(apply(x)) == x``, byte for byte."""
    if splice(after.text, inverse(splices, before.text)) != before.text:
        raise fail(before.path, "undoing it does not give the same bytes back")


def check_outside(before: Source, after: Source, splices: Sequence[Splice], scope: Sequence[ast.AST]) -> None:
    """Outside of the scope nothing changes; inside, statements that no splice touches are the same statements after.

    A statement with the same bytes, the same start column and the same end is the same tree, so trees need not be
    walked where nothing changed.

    :param scope: the scope's node and those around it, outermost first.
    """
    ordered = sorted(splices, key=lambda item: (item.start, item.end))
    old, new = list(scope[:1]), [after.tree]
    for inner in scope[1:]:
        found = _check_around(before, after, (old[-1], new[-1]), inner, ordered)
        old.append(inner)
        new.append(found)
    _check_inside(before, after, old[-1], new[-1], ordered)


def _check_around(before: Source, after: Source, pair: tuple[Any, Any], inner: Any, splices: Sequence[Splice]) -> Any:
    """The statements around ``inner`` are the same ones; returns what ``inner`` has become."""
    found: Any = None
    pending = [pair]
    while pending:
        old, new = pending.pop()
        left, right = _statements(old), _statements(new)
        if [len(items) for items in left] != [len(items) for items in right]:
            raise fail(before.path, "statements outside of its scope would come or go")
        pairs: list[tuple[Any, Any]] = [pair for items, others in zip(left, right) for pair in zip(items, others)]
        for one, other in pairs:
            if one is inner:
                if type(one) is not type(other) or one.name != other.name:
                    raise fail(before.path, f"line {one.lineno}, the scope itself, would be another definition")
                found = other
            elif not _untouched(before, after, one, other, splices):
                if isinstance(one, DEFINITIONS) or not list(_statements(one)):
                    raise fail(before.path, f"line {one.lineno}, outside of the edit's scope, would change")
                pending.append((one, other))
    if found is None:
        raise fail(before.path, f"line {inner.lineno}, the scope itself, would be gone")
    return found


def _statements(node: ast.AST) -> list[list[ast.stmt]]:
    return [statements for _field, statements in blocks_of(node)]


def _untouched(before: Source, after: Source, old: ast.stmt, new: ast.stmt, splices: Sequence[Splice]) -> bool:
    start, end = before.start(old), before.end(old)
    if any(item.start < end and start < item.end for item in splices):
        return False
    moved = start + sum(len(item.text) - (item.end - item.start) for item in splices if item.end <= start)
    return type(old) is type(new) and after.start(new) == moved and after.end(new) == moved + (end - start)


def _check_inside(before: Source, after: Source, old: ast.AST, new: ast.AST, splices: Sequence[Splice]) -> None:
    pending = [(old, new)]
    while pending:
        left, right = pending.pop()
        there = {after.start(node): node for statements in _statements(right) for node in statements}
        for node in (node for statements in _statements(left) for node in statements):
            start, end = before.start(node), before.end(node)
            touching = [item for item in splices if item.start <= end and start <= item.end]
            moved = start + _shift(splices, start)
            found = there.get(moved)
            if not touching and any(
                _is_same(after, other, node, moved, end - start)
                for other in itertools.chain([found] if found else [], ast.walk(right))
            ):
                continue
            # A block may also grow behind the comment of its last statement.
            inside = all(start < item.start and item.end <= end for item in touching)
            if found is not None and type(found) is type(node) and inside and _statements(node):
                pending.append((node, found))
            elif not touching:
                raise fail(before.path, f"line {node.lineno}, outside of the edit, would change")


def _is_same(after: Source, found: ast.AST, node: ast.stmt, start: int, length: int) -> bool:
    """Whether ``found`` is ``node`` at its shifted place; a branch put in before an ``else`` moves its body deeper."""
    return type(found) is type(node) and after.start(found) == start and after.end(found) == start + length


def _shift(splices: Sequence[Splice], position: int) -> int:
    """By how much the splices that end before ``position`` move it."""
    return sum(len(item.text) - (item.end - item.start) for item in splices if item.end < position)


__all__ = ("ProofFailed", "fail", "inverse", "check_undo", "check_outside")
