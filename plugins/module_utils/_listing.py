# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Comma lists in brackets: bases, imported names, elements, arguments, parameters.

An item is added in the style that the list has: on one line, or one item a line with its trailing comma.
"""

from __future__ import annotations

from typing import NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice


class Listing(NamedTuple):
    """A comma list: ``start`` just after its opening bracket, ``end`` at the closing one; ``items`` are byte spans."""

    start: int
    end: int
    items: list[tuple[int, int]]


def brackets(source: Source, start: int, end: int) -> tuple[int, int] | None:
    """The first bracket pair in ``[start, end)``: offset after the opening one, offset of the closing one."""
    depth = 0
    opening = 0
    for token in lexer.significant(source.text, start, end):
        change = lexer.depth_change(source.text, token)
        if change > 0 and depth == 0:
            opening = token.end
        depth += change
        if change < 0 and depth == 0:
            return opening, token.start
    return None


def split(source: Source, start: int, end: int, nodes: Sequence[int] | None = None) -> list[tuple[int, int]]:
    """Spans of the items between commas at depth 0 in ``[start, end)``, blanks and comments around them left out.

    :param nodes: offsets at which the items' nodes start; a piece without one (a lambda has commas of its own) belongs
        to the item before it.
    """
    items: list[tuple[int, int]] = []
    depth = 0
    first: int | None = None
    last = start
    for token in lexer.significant(source.text, start, end):
        if depth == 0 and source.text[token.start : token.end] == b",":
            if first is not None:
                items.append((first, last))
            first = None
            continue
        depth += lexer.depth_change(source.text, token)
        first = token.start if first is None else first
        last = token.end
    if first is not None:
        items.append((first, last))
    if nodes is None:
        return items
    merged: list[tuple[int, int]] = []
    for piece in items:
        if merged and not any(piece[0] <= offset < piece[1] for offset in nodes):
            merged[-1] = (merged[-1][0], piece[1])
        else:
            merged.append(piece)
    return merged


def _comma_after(source: Source, position: int, end: int) -> int | None:
    """Offset after the comma that follows an item, or None."""
    for token in lexer.significant(source.text, position, end):
        return token.end if source.text[token.start : token.end] == b"," else None
    return None


def one_per_line(source: Source, listing: Listing) -> bool:
    """Whether every item begins a line of its own."""
    starts = [source.line_of(start) for start, _end in listing.items]
    return len(set(starts)) == len(starts) and all(source.starts_line(start) for start, _end in listing.items)


def add(source: Source, listing: Listing, index: int, text: bytes, *, comma_when_single: bool = False) -> list[Splice]:
    """Add an item before item ``index``, or at the end.

    :param comma_when_single: a lone item keeps a comma behind it (a tuple).
    """
    items = listing.items
    if not items:
        return [Splice(listing.start, listing.start, text + (b"," if comma_when_single else b""))]
    if one_per_line(source, listing):
        return _add_line(source, listing, index, text)
    if index < len(items):
        start = items[index][0]
        return [Splice(start, start, text + b", ")]
    end = items[-1][1]
    comma = _comma_after(source, end, listing.end)
    if comma is None:
        return [Splice(end, end, b", " + text)]
    return [Splice(comma, comma, b" " + text + (b"" if len(items) == 1 else b","))]


def _add_line(source: Source, listing: Listing, index: int, text: bytes) -> list[Splice]:
    items = listing.items
    newline = source.newline_at(items[0][0])
    indent = source.indent_at(items[min(index, len(items) - 1)][0])
    if index < len(items):
        line = source.line_start(items[index][0])
        return [Splice(line, line, indent + text + b"," + newline)]
    end = items[-1][1]
    comma = _comma_after(source, end, listing.end)
    after = end if comma is None else comma
    line_end = lexer.line_end(source.text, after)
    # The closing bracket may stand on the last item's line.
    position = line_end if line_end <= listing.end else after
    if comma is not None:
        return [Splice(position, position, newline + indent + text + b",")]
    if position == end:
        return [Splice(end, end, b"," + newline + indent + text)]
    return [Splice(end, end, b","), Splice(position, position, newline + indent + text)]


def drop(source: Source, listing: Listing, index: int, *, comma_when_single: bool = False) -> list[Splice]:
    """Take item ``index`` out with its comma, and its line when it stands alone on it (trailing comment included)."""
    items = listing.items
    start, end = items[index]
    comma = _comma_after(source, end, listing.end)
    stop = end if comma is None else comma
    rest = source.text[stop : lexer.line_end(source.text, stop)].strip()
    if (
        source.starts_line(start)
        and (not rest or rest.startswith(b"#"))
        and lexer.line_end(source.text, stop) < listing.end
    ):
        return [Splice(source.line_start(start), lexer.next_line(source.text, stop), b"")]
    if index + 1 < len(items):
        needs_comma = len(items) == 2 and comma_when_single and _comma_after(source, items[1][1], listing.end) is None
        tail = [Splice(items[1][1], items[1][1], b",")] if needs_comma else []
        return [Splice(start, items[index + 1][0], b"")] + tail
    if index:
        lone = len(items) == 2 and comma_when_single
        return [Splice(items[index - 1][1], stop, b"," if lone else b"")]
    return [Splice(start, stop, b"")]


__all__ = ("Listing", "brackets", "split", "one_per_line", "add", "drop")
