# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Proofs about a planned change, in memory, before anything is written.

A failed proof is a fault of this collection, not of the user's file: it is reported as such, and nothing is written.
"""

from __future__ import annotations

import ast
from typing import Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice, blocks_of, splice


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


def check_outside(before: Source, after: Source, splices: Sequence[Splice]) -> None:
    """Statements that no splice touches are the same statements after, at their shifted places.

    A statement with the same bytes, the same start column and the same end is the same tree, so trees need not be
    walked where nothing changed.
    """
    ordered = sorted(splices, key=lambda item: (item.start, item.end))
    _check_block(before, after, before.tree.body, after.tree.body, ordered)


def _check_block(
    before: Source, after: Source, old: Sequence[ast.stmt], new: Sequence[ast.stmt], splices: Sequence[Splice]
) -> None:
    by_start = {after.start(node): node for node in new}
    for node in old:
        start, end = before.start(node), before.end(node)
        touching = [item for item in splices if item.start <= end and start <= item.end]
        moved = start + _shift(splices, start)
        if not touching:
            found = by_start.get(moved)
            if found is None or type(found) is not type(node) or after.end(found) != moved + (end - start):
                raise fail(before.path, f"line {node.lineno}, outside of the edit, would change")
            continue
        inside = [item for item in touching if start < item.start and item.end <= end]
        found = by_start.get(moved)
        if found is None or type(found) is not type(node) or len(inside) != len(touching):
            continue
        for (field, inner), (other, body) in _paired(node, found):
            if field == other:
                _check_block(before, after, inner, body, splices)


def _paired(node: ast.AST, found: ast.AST) -> list[tuple[tuple[str, list[ast.stmt]], tuple[str, list[ast.stmt]]]]:
    old, new = list(blocks_of(node)), list(blocks_of(found))
    return list(zip(old, new)) if len(old) == len(new) else []


def _shift(splices: Sequence[Splice], position: int) -> int:
    """By how much the splices that end before ``position`` move it."""
    return sum(len(item.text) - (item.end - item.start) for item in splices if item.end < position)


__all__ = ("ProofFailed", "fail", "inverse", "check_undo", "check_outside")
