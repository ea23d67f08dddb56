# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Putting statements into a block, and taking them out, as splices.

The hard cases live here once: suites on the line of their colon, several statements on a line, trailing and
own-line comments, no line end at the end of the file, a block that would be left empty.
"""

from __future__ import annotations

import ast
import re
from typing import Sequence, cast

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice

_BLANKS = rb"(?:[ \t\f]|\\(?:\r\n|\r|\n))*"
_SEPARATOR = re.compile(_BLANKS + rb";?" + _BLANKS)
_BLANKS_BEFORE = re.compile(_BLANKS + rb"\Z")


def is_inline(source: Source, block: Block) -> bool:
    """Whether the block stands on the line of its colon (``if x: return y``)."""
    first = source.start(block.statements[0]) if block.statements else 0
    return not isinstance(block.owner, ast.Module) and not source.starts_line(first)


def block_indent(source: Source, block: Block) -> bytes:
    """Indentation of the block's statements; of an inline suite, the one they would have on lines of their own."""
    if isinstance(block.owner, ast.Module):
        return b""
    first = source.start(block.statements[0])
    if not is_inline(source, block):
        return source.indent_at(first)
    return source.indent_at(source.start(_header_of(block))) + source.indent_unit


def _header_of(block: Block) -> ast.AST:
    """A node that begins on the line of the block's header: the owner, an ``except`` or the pattern of a ``case``."""
    for branch in getattr(block.owner, block.field) if block.field in ("handlers", "cases") else ():
        if branch.body is block.statements:
            return branch if block.field == "handlers" else cast(ast.AST, branch.pattern)
    return block.owner


def shares_line(source: Source, block: Block, index: int) -> bool:
    """Whether statement ``index`` begins on the line where the one before it ends (``a = 1; b = 2``)."""
    return 0 < index < len(block.statements) and not source.starts_line(source.start(block.statements[index]))


def is_compound(statement: ast.AST) -> bool:
    """Whether a statement has blocks."""
    return hasattr(statement, "body") or hasattr(statement, "cases")


def after_statement(source: Source, block: Block, index: int) -> int:
    """Offset just after the line of statement ``index``, its trailing comment and comments that hang below it."""
    statement = block.statements[index]
    position = lexer.line_end(source.text, source.end(statement))
    if not is_compound(statement):
        return position
    indent = block_indent(source, block)
    while True:
        start = lexer.next_line(source.text, position)
        stop = lexer.line_end(source.text, start)
        line = source.text[start:stop]
        lead = line[: len(line) - len(line.lstrip(b" \t\f"))]
        hangs = line.strip().startswith(b"#") and len(lead) > len(indent) and lead.startswith(indent)
        if start == position or not hangs:
            return position
        position = stop


def _gap(source: Source, block: Block, index: int) -> tuple[int, int]:
    """Blanks and semicolon between statement ``index`` and the colon or statement before it, on one line."""
    start = source.start(block.statements[index])
    if index:
        before = source.end(block.statements[index - 1])
        match = _SEPARATOR.match(source.text, before)
        return before, match.end() if match else before
    above = source.line_start(max(source.line_start(start) - 1, 0))
    blanks = _BLANKS_BEFORE.search(source.text, above, start)
    return blanks.start() if blanks else start, start


def insert(
    source: Source,
    block: Block,
    index: int,
    code: bytes,
    *,
    hug_next: bool = False,
    blank_lines: int = 0,
    move_docstrings: bool = True,
) -> list[Splice]:
    """Put ``code`` (unindented lines) before statement ``index``, or at the end when there is no such statement.

    :param hug_next: directly above the next statement rather than below the one before.
    :param blank_lines: wanted between the code and its neighbours; existing ones count.
    """
    indent = block_indent(source, block)
    count = len(block.statements)
    anchor = source.start(block.statements[min(index, count - 1)]) if count else len(source.text)
    newline = source.newline_at(anchor)
    lines = reindent(code, indent=indent, unit=source.indent_unit, newline=newline, move_docstrings=move_docstrings)
    inline = count > 0 and is_inline(source, block)
    splices: list[Splice] = []
    if inline and index > 0:
        splices.append(Splice(*_gap(source, block, 0), newline + indent))
    if (inline and index == 0) or shares_line(source, block, index):
        splices.append(Splice(*_gap(source, block, index), newline + lines + newline + indent))
        return splices
    if index < count and (hug_next or index == 0):
        position = source.line_start(source.start(block.statements[index]))
        above = newline * _missing_blanks(source, position, blank_lines, upwards=True) if index else b""
        splices.append(Splice(position, position, above + lines + newline + newline * blank_lines))
        return splices
    position = after_statement(source, block, index - 1) if count else len(source.text)
    below = (
        newline * _missing_blanks(source, lexer.next_line(source.text, position), blank_lines) if index < count else b""
    )
    opening = newline * (1 + blank_lines)
    closing = b""
    if not count and (not position or source.text.endswith((b"\n", b"\r"))):
        # A module that has only comments, or nothing at all.
        opening, closing = newline * blank_lines if position else b"", newline
    splices.append(Splice(position, position, opening + lines + below + closing))
    return splices


def _missing_blanks(source: Source, position: int, wanted: int, *, upwards: bool = False) -> int:
    """How many of ``wanted`` empty lines are missing above or below the line start ``position``."""
    present = 0
    line = source.line_of(position)
    while present < wanted:
        number = line - 1 - present if upwards else line + present
        if number < 1:
            return 0
        start = source.offset(number, 0) if number <= source.line_of(len(source.text)) else len(source.text)
        if source.text[start : lexer.line_end(source.text, start)].strip() or start >= len(source.text):
            break
        present += 1
    return wanted - present


def remove(source: Source, block: Block, first: int, stop: int, *, blanks_above: bool = False) -> list[Splice]:
    """Take statements ``[first, stop)`` out with their trailing comments; own-line comments stay.

    A block left empty gets ``pass``. ``blanks_above``: the empty lines directly above go too.
    """
    return remove_many(source, block, [(first, stop)], blanks_above=blanks_above)


def remove_many(
    source: Source, block: Block, ranges: Sequence[tuple[int, int]], *, blanks_above: bool = False
) -> list[Splice]:
    """Like :func:`remove`, for several ranges ``[first, stop)`` of one block, in order."""
    merged: list[tuple[int, int]] = []
    for first, stop in ranges:
        if merged and merged[-1][1] == first:
            merged[-1] = (merged[-1][0], stop)
        else:
            merged.append((first, stop))
    splices: list[Splice] = []
    if merged == [(0, len(block.statements))] and not isinstance(block.owner, ast.Module):
        lines = _lines(source, block, 0, len(block.statements))
        end = after_statement(source, block, lines[0][1] - 1)
        splices.append(Splice(source.start(block.statements[0]), end, b"pass"))
        merged = lines[1:]
    for first, stop in merged:
        for from_, to in _lines(source, block, first, stop):
            splices.append(_cut(source, block, from_, to, blanks_above=blanks_above))
    return splices


def _lines(source: Source, block: Block, first: int, stop: int) -> list[tuple[int, int]]:
    """Statements ``[first, stop)`` by the lines on which they stand."""
    lines: list[tuple[int, int]] = []
    for index in range(first, stop):
        if lines and shares_line(source, block, index):
            lines[-1] = (lines[-1][0], index + 1)
        else:
            lines.append((index, index + 1))
    return lines


def _cut(source: Source, block: Block, first: int, stop: int, *, blanks_above: bool) -> Splice:
    """Take statements that share lines out."""
    statements = block.statements
    start, end = source.start(statements[first]), source.end(statements[stop - 1])
    if stop < len(statements) and shares_line(source, block, stop):
        return Splice(start, source.start(statements[stop]), b"")
    if shares_line(source, block, first):
        return Splice(_gap(source, block, first)[0], end, b"")
    position = source.line_start(start)
    if blanks_above:
        while position and not source.text[source.line_start(position - 1) : position].strip():
            position = source.line_start(position - 1)
    return Splice(position, lexer.next_line(source.text, after_statement(source, block, stop - 1)), b"")


def replace(
    source: Source, block: Block, first: int, stop: int, code: bytes, *, moved: Sequence[ast.stmt] = ()
) -> list[Splice]:
    """Put ``code`` (unindented lines) in the place of statements ``[first, stop)``.

    The trailing comment of a simple statement stays, the comments of a compound one go with it.

    :param moved: statements of the file that ``code`` holds; their docstrings keep their bytes, and a trailing comment
        that came along with the last one does not stay a second time.
    """
    statements = block.statements
    start, end = source.start(statements[first]), source.end(statements[stop - 1])
    if is_compound(statements[stop - 1]):
        end = after_statement(source, block, stop - 1)
    elif any(source.end(node) == end for node in moved):
        end = lexer.line_end(source.text, end)
    indent = block_indent(source, block)
    newline = source.newline_at(start)
    lines = reindent(code, indent=indent, unit=source.indent_unit, newline=newline, move_docstrings=not moved)
    splices: list[Splice] = []
    shared = shares_line(source, block, first) or shares_line(source, block, stop)
    simple = _is_simple(code)
    if (is_inline(source, block) or shared) and not simple:
        if is_inline(source, block) and first > 0:
            splices.append(Splice(*_gap(source, block, 0), newline + indent))
        if shares_line(source, block, first) or (first == 0 and is_inline(source, block)):
            start = _gap(source, block, first)[0]
            lines = newline + lines
        else:
            lines = lines[len(indent) :]
        if shares_line(source, block, stop):
            end = _gap(source, block, stop)[1]
            lines += newline + indent
    else:
        lines = lines[len(indent) :]
    splices.append(Splice(start, end, lines))
    return splices


def _is_simple(code: bytes) -> bool:
    """Whether code is one line that can share it with others: no block in it, no comment behind it."""
    if len(lexer.line_starts(code.strip())) > 1 or any(item.kind == lexer.COMMENT for item in lexer.tokens(code)):
        return False
    return not any(is_compound(statement) for statement in parse(code.decode("utf-8")).body)


__all__ = (
    "is_inline",
    "is_compound",
    "block_indent",
    "shares_line",
    "after_statement",
    "insert",
    "remove",
    "remove_many",
    "replace",
)
