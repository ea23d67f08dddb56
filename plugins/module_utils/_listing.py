# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Comma lists in brackets: bases, imported names, elements, arguments, parameters.

An item is added in the style that the list has: on one line, or one item a line with its trailing comma.
"""

from __future__ import annotations

from typing import Iterator, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice


class Listing(NamedTuple):
    """A comma list: ``start`` just after its opening bracket, ``end`` at the closing one; ``items`` are byte spans."""

    start: int
    end: int
    items: list[tuple[int, int]]


def brackets(source: Source, start: int, end: int) -> tuple[int, int] | None:
    """The first bracket pair in ``[start, end)``: offset after the opening one, offset of the closing one."""
    return next(_pairs(source, start, end), None)


def last_brackets(source: Source, start: int, end: int) -> tuple[int, int]:
    """The last bracket pair in ``[start, end)``, which has one: of ``(f)(x)`` that of the call."""
    return list(_pairs(source, start, end))[-1]


def _pairs(source: Source, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Bracket pairs that do not lie in another one; a closing bracket opened before ``start`` is none."""
    opened: list[int] = []
    for token in lexer.significant(source.text, start, end):
        change = lexer.depth_change(source.text, token)
        if change > 0:
            opened.append(token.end)
        elif change < 0 and opened:
            opening = opened.pop()
            if not opened:
                yield opening, token.start


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


def _hanging(source: Source, listing: Listing) -> bool:
    """Whether items stand one a line below the first, which stands behind the bracket."""
    rest = Listing(listing.start, listing.end, listing.items[1:])
    return len(listing.items) > 1 and one_per_line(source, rest)


def stacks(source: Source, listing: Listing, index: int) -> bool:
    """Whether an item added before item ``index`` gets a line of its own."""
    return one_per_line(source, listing) or (index == len(listing.items) and _hanging(source, listing))


def add(source: Source, listing: Listing, index: int, text: bytes, *, comma_when_single: bool = False) -> list[Splice]:
    """Add an item before item ``index``, or at the end.

    :param comma_when_single: a lone item keeps a comma behind it (a tuple).
    """
    items = listing.items
    if b"\n" in text:
        indent = source.indent_at(items[-1][0] if items else listing.start)
        text = reindent(text, indent=indent, newline=source.newline_at(listing.start))[len(indent) :]
    if not items:
        return [Splice(listing.start, listing.start, text + (b"," if comma_when_single else b""))]
    if stacks(source, listing, index):
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
    """Take item ``index`` out; see :func:`drop_many`."""
    return drop_many(source, listing, [index], comma_when_single=comma_when_single)


def drop_many(
    source: Source,
    listing: Listing,
    gone: Sequence[int],
    *,
    comma_when_single: bool = False,
    no_comma_when_single: bool = False,
) -> list[Splice]:
    """Take items out with their commas, and their lines when they stand alone on them (trailing comments included).

    :param comma_when_single: a lone item that stays keeps a comma behind it (a tuple).
    :param no_comma_when_single: a lone item that stays must have none (a subscript).
    """
    items = listing.items
    kept = [index for index in range(len(items)) if index not in gone]
    splices: list[Splice] = []
    for first, stop in _runs(sorted(set(gone))):
        if all(_alone(source, listing, index) for index in range(first, stop)):
            for index in range(first, stop):
                splices.append(Splice(source.line_start(items[index][0]), _line_after(source, listing, index), b""))
        elif stop < len(items):
            splices.append(_forward(source, listing, first, stop))
        elif first and not _comment_between(source, items[first - 1][1], items[first][0]):
            splices.append(Splice(items[first - 1][1], _stop(source, listing, stop - 1), b""))
        else:
            splices.append(Splice(items[first][0], _stop(source, listing, stop - 1), b""))
    if len(kept) == 1 and (comma_when_single or no_comma_when_single):
        return _with_lone_comma(source, listing, kept[0], splices, wanted=comma_when_single)
    return splices


def _runs(indices: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for index in indices:
        if runs and runs[-1][1] == index:
            runs[-1] = (runs[-1][0], index + 1)
        else:
            runs.append((index, index + 1))
    return runs


def _stop(source: Source, listing: Listing, index: int) -> int:
    """End of an item, after its comma if it has one."""
    end = listing.items[index][1]
    comma = _comma_after(source, end, listing.end)
    return end if comma is None else comma


def _alone(source: Source, listing: Listing, index: int) -> bool:
    stop = _stop(source, listing, index)
    line_end = lexer.line_end(source.text, stop)
    rest = source.text[stop:line_end].strip()
    return source.starts_line(listing.items[index][0]) and line_end < listing.end and (not rest or rest[:1] == b"#")


def _line_after(source: Source, listing: Listing, index: int) -> int:
    return lexer.next_line(source.text, _stop(source, listing, index))


def _comment_between(source: Source, start: int, end: int) -> bool:
    return any(token.kind == lexer.COMMENT for token in lexer.tokens(source.text, start, end))


def _forward(source: Source, listing: Listing, first: int, stop: int) -> Splice:
    """Up to the item that follows; an own-line comment in front of that one stays."""
    start, following = listing.items[first][0], listing.items[stop][0]
    after = _stop(source, listing, stop - 1)
    line_end = min(lexer.line_end(source.text, after), following)
    if _comment_between(source, line_end, following):
        return Splice(start, line_end, b"")
    return Splice(start, following, b"")


def _with_lone_comma(
    source: Source, listing: Listing, index: int, splices: list[Splice], *, wanted: bool
) -> list[Splice]:
    """See to it that the one item left has a comma behind it, or has none."""
    end = listing.items[index][1]
    comma = _comma_after(source, end, listing.end)
    there = comma is not None and not any(item.start < comma <= item.end for item in splices)
    if there == wanted:
        return splices
    if wanted:
        at = [number for number, item in enumerate(splices) if item.start == end]
        if at:
            splices[at[0]] = splices[at[0]]._replace(text=b",")
            return splices
        return splices + [Splice(end, end, b",")]
    return splices + [Splice((comma or 1) - 1, comma or 1, b"")]


__all__ = ("Listing", "brackets", "last_brackets", "split", "one_per_line", "stacks", "add", "drop", "drop_many")
