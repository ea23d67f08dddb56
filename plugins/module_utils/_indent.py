# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Moving code to another indentation without changing any string's value."""

from __future__ import annotations

import ast
import re

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_INDENT = re.compile(rb"[ \t\f]*")

LOGICAL, CONTINUATION, STRING, COMMENT, EMPTY = "logical", "continuation", "string", "comment", "empty"


def _line_kinds(text: bytes, movable: set[int]) -> dict[int, str]:
    """Kind of every line by the offset of its start. ``movable``: starts of literals whose lines may move."""
    kinds: dict[int, str] = {0: LOGICAL}
    depth = 0
    fresh = True
    line = 0
    for token in lexer.tokens(text):
        if token.kind == lexer.NEWLINE:
            if fresh:
                kinds[line] = EMPTY if kinds[line] == LOGICAL else kinds[line]
            line = token.end
            kinds[line] = CONTINUATION if depth else LOGICAL
            fresh = True
            continue
        if token.kind in (lexer.STRING, lexer.BLANK):
            inner = [match.end() for match in _NEWLINE.finditer(text, token.start, token.end)]
            fixed = token.kind == lexer.STRING and token.start not in movable
            for start in inner:
                kinds[start] = STRING if fixed else CONTINUATION
                line = start
        if token.kind == lexer.COMMENT and fresh and kinds[line] == LOGICAL:
            kinds[line] = COMMENT
        depth += lexer.depth_change(text, token)
        fresh = fresh and token.kind == lexer.BLANK
    if fresh and kinds[line] == LOGICAL:
        kinds[line] = EMPTY
    return kinds


def _docstrings(text: bytes) -> set[int]:
    """Offsets at which the docstrings of definitions in ``text`` start."""
    starts: set[int] = set()
    offsets = lexer.line_starts(text)
    for node in ast.walk(ast.parse(text.decode("utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and isinstance(
            node.body[0], ast.Expr
        ):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                starts.add(offsets[value.lineno - 1] + value.col_offset)
    return starts


def reindent(
    text: bytes,
    *,
    indent: bytes,
    unit: bytes | None = None,
    newline: bytes | None = None,
    move_docstrings: bool = False,
) -> bytes:
    """Give ``text``, whole lines of code, the indentation ``indent``.

    :param unit: writes every nested level as this; None keeps the text's own levels.
    :param newline: line end to write; None keeps the text's own.
    :param move_docstrings: docstrings move along (their cleaned value stays); other strings never do.
    :returns: the lines without a final line end.
    """
    text = text.rstrip(b"\r\n \t\f")
    kinds = _line_kinds(text, _docstrings(text) if move_docstrings else set())
    starts = sorted(kinds)
    levels: list[bytes] = []
    written: list[bytes] = []
    pieces: list[bytes] = []
    for number, start in enumerate(starts):
        stop = starts[number + 1] if number + 1 < len(starts) else len(text)
        line = text[start:stop]
        ending = _NEWLINE.search(line)
        body, tail = (line[: ending.start()], line[ending.start() :]) if ending else (line, b"")
        match = _INDENT.match(body)
        lead = match.group() if match else b""
        kind = kinds[start]
        if kind in (LOGICAL, COMMENT):
            new, level = _level(lead, levels, written, indent, unit, pushing=kind == LOGICAL)
            body = new + body[len(lead) :]
        elif kind == CONTINUATION and body.strip():
            base, new = (levels[-1], written[-1]) if levels else (b"", indent)
            body = new + (lead[len(base) :] if lead.startswith(base) else b"") + body[len(lead) :]
        elif kind != STRING:
            body = b""
        pieces.append(body + (newline if newline is not None and tail else tail))
    return b"".join(pieces)


def _level(
    lead: bytes, levels: list[bytes], written: list[bytes], indent: bytes, unit: bytes | None, *, pushing: bool
) -> tuple[bytes, int]:
    """The new indentation of a logical line whose old one is ``lead``."""
    if not levels:
        if pushing:
            levels.append(lead)
            written.append(indent)
        return indent, 0
    if pushing:
        while len(levels) > 1 and len(levels[-1]) > len(lead):
            levels.pop()
            written.pop()
        if len(lead) > len(levels[-1]):
            extra = lead[len(levels[-1]) :] if lead.startswith(levels[-1]) else lead
            written.append(written[-1] + (unit if unit is not None else extra))
            levels.append(lead)
        return written[-1], len(levels) - 1
    for level in range(len(levels) - 1, -1, -1):
        if len(levels[level]) <= len(lead):
            return written[level] + lead[len(levels[level]) :], level
    return written[0], 0


def leading_lines(text: bytes) -> bytes:
    """``text`` without the empty lines it starts with."""
    position = 0
    while True:
        end = lexer.line_end(text, position)
        if text[position:end].strip() or end == len(text):
            return text[position:]
        position = lexer.next_line(text, position)


__all__ = ("reindent", "leading_lines")
