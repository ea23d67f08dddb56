# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Places in blocks at which statements are inserted."""

from __future__ import annotations

import ast
from typing import Sequence, Tuple, cast

from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS, blocks_of
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import docstring

_LEAVING = (ast.Return, ast.Raise, ast.Break, ast.Continue)
# A block, the index before which the code goes, and the statements among which it counts as there already.
Site = Tuple[Block, int, Sequence[ast.stmt]]


def beside(match: Found, found: Sequence[Found], where: str) -> Site:
    """Beside a match; with several in one block, what is there already lies between two of them."""
    block = cast(Block, match.block)
    others = [other for other in found if other.block == block and other is not match]
    if where == "before":
        first = max([other.stop for other in others if other.stop <= match.first], default=0)
        return block, match.first, block.statements[first : match.first]
    stop = min([other.first for other in others if other.first >= match.stop], default=len(block.statements))
    return block, match.stop, block.statements[match.stop : stop]


def bodies(match: Found) -> list[Block]:
    node = match.nodes[0]
    return [Block(node, field, statements) for field, statements in blocks_of(node) if field == "body"]


def edge(block: Block, where: str) -> Site:
    statements = block.statements
    if where == "end":
        return block, len(statements), statements
    first = 1 if docstring(block.owner) is not None and isinstance(block.owner, (ast.Module,) + DEFINITIONS) else 0
    if isinstance(block.owner, ast.Module):
        while first < len(statements) and _is_future(statements[first]):
            first += 1
    return block, first, statements


def never_runs(site: Site) -> bool:
    block, index, _there = site
    return index > 0 and isinstance(block.statements[index - 1], _LEAVING)


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


__all__ = ("Site", "beside", "bodies", "edge", "never_runs")
