# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Moving code to another indentation without changing any string's value."""

from __future__ import annotations

import ast
import re

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse

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
    """Offsets at which docstrings of definitions in ``text`` start whose lines can move and mean the same."""
    starts: set[int] = set()
    if not re.search(rb"\b(?:def|class)\b", text):
        return starts
    offsets = lexer.line_starts(text)
    for node in ast.walk(parse(text.decode("utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and isinstance(
            node.body[0], ast.Expr
        ):
            value = node.body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                start = offsets[value.lineno - 1] + value.col_offset
                if _can_move(text, offsets[value.lineno - 1], start):
                    starts.add(start)
    return starts


def _can_move(text: bytes, line: int, start: int) -> bool:
    """Whether all lines of a docstring are indented at least as deep as its first, and moving keeps their distances."""
    end = next(lexer.tokens(text, start)).end
    literal = text[start:end]
    if (
        re.search(rb"\\[\r\n]", literal)
        or next(lexer.significant(text, end), lexer.Token("", end, end)).kind == "string"
    ):
        return False
    lead = text[line:start]
    rest = [part for part in _NEWLINE.split(literal)[1:] if part.strip()]
    return not lead.strip() and all(part.startswith(lead) and b"\t" not in part[len(lead) :] for part in rest)


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
        if b"\f" in lead and kind in (LOGICAL, COMMENT):
            body = body[lead.rindex(b"\f") + 1 :]
            lead = lead.rpartition(b"\f")[2]
        if kind in (LOGICAL, COMMENT):
            new, level = _level(lead, levels, written, indent, unit, pushing=kind == LOGICAL)
            body = new + body[len(lead) :]
        elif kind == CONTINUATION and body.strip():
            base, new = (levels[-1], written[-1]) if levels else (b"", indent)
            body = new + (lead[len(base) :] if lead.startswith(base) else b"") + body[len(lead) :]
        elif kind != STRING:
            body = b"\f" if b"\f" in body else b""
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


def code(text: str) -> bytes:
    """Source as a person wrote it in YAML: without empty lines around it and at column 0."""
    data = leading_lines(text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8")).rstrip()
    if data[:1] in (b" ", b"\t"):
        data = reindent(data, indent=b"")
    return data


def leading_lines(text: bytes) -> bytes:
    """``text`` without the empty lines it starts with."""
    position = 0
    while True:
        end = lexer.line_end(text, position)
        if text[position:end].strip() or end == len(text):
            return text[position:]
        position = lexer.next_line(text, position)


__all__ = ("reindent", "code", "leading_lines")
