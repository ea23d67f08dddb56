# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Tokens of Python source as byte spans.

The standard ``tokenize`` changes between releases (f-strings, errors) and counts characters; splices need
bytes, the same on every interpreter. This lexer knows only what splicing needs: names, numbers, strings
(nested f-strings included), operators, comments, line ends and blanks. It never fails: a byte that fits
nothing is an operator.
"""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple

NAME, NUMBER, STRING, OP, COMMENT, NEWLINE, BLANK = "name", "number", "string", "op", "comment", "newline", "blank"


class Token(NamedTuple):
    """One token: its kind and the half-open byte span ``[start, end)``."""

    kind: str
    start: int
    end: int


_STRING = re.compile(rb"([rRbBuUfFtT]{0,2})('''|\"\"\"|'|\")")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][0-9A-Za-z_\x80-\xff]*")
_NUMBER = re.compile(rb"(?:\d|\.\d)(?:[eE][+-]\d|[0-9A-Za-z_.])*")
_BLANK = re.compile(rb"(?:[ \t\f]|\\(?:\r\n|\r|\n))+")
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_COMMENT = re.compile(rb"#[^\r\n]*")
_OPENING = b"([{"
_CLOSING = b")]}"


def tokens(text: bytes, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """Yield the tokens of ``text[start:end]``; ``start`` must not lie inside a token."""
    position = start
    stop = len(text) if end is None else end
    while position < stop:
        token = _token(text, position)
        yield token
        position = token.end


def _token(text: bytes, position: int) -> Token:
    string = _STRING.match(text, position)
    if string is not None:
        return Token(STRING, position, _string_end(text, string))
    for kind, pattern in ((BLANK, _BLANK), (NAME, _NAME), (NUMBER, _NUMBER), (NEWLINE, _NEWLINE), (COMMENT, _COMMENT)):
        match = pattern.match(text, position)
        if match is not None:
            return Token(kind, position, match.end())
    return Token(OP, position, position + 1)


def _string_end(text: bytes, match: re.Match[bytes]) -> int:
    """End of the literal that ``match`` opens; the end of the text when it is not closed."""
    quote = match.group(2)
    nested = any(letter in b"fFtT" for letter in match.group(1))
    position = match.end()
    while position < len(text):
        if text.startswith(quote, position):
            return position + len(quote)
        if text[position : position + 1] == b"\\":
            position = _escape_end(text, position, match.group(1) if nested else b"")
        elif nested and text.startswith(b"{{", position):
            position += 2
        elif nested and text[position : position + 1] == b"{":
            position = _field_end(text, position + 1)
        else:
            position += 1
    return len(text)


def _escape_end(text: bytes, position: int, prefix: bytes) -> int:
    """End of a backslash escape; in an f-string (``prefix`` given) a brace after a backslash opens a field still."""
    if prefix and text[position + 1 : position + 2] in (b"{", b"}"):
        return position + 1
    if prefix and b"r" not in prefix.lower() and text.startswith(b"\\N{", position):
        end = text.find(b"}", position)
        return len(text) if end < 0 else end + 1
    return position + 2


def _field_end(text: bytes, position: int) -> int:
    """End of a replacement field whose ``{`` stands just before ``position``."""
    depth = 0
    in_format_spec = False
    while position < len(text):
        byte = text[position : position + 1]
        if in_format_spec:
            if byte == b"}":
                return position + 1
            position = _field_end(text, position + 1) if byte == b"{" else position + 1
            continue
        string = _STRING.match(text, position)
        if string is not None:
            position = _string_end(text, string)
        elif byte == b"#":
            position = _end_of(_COMMENT, text, position)
        elif byte in (b"(", b"[", b"{"):
            depth += 1
            position += 1
        elif byte == b"}" and depth == 0:
            return position + 1
        elif byte in (b")", b"]", b"}"):
            depth -= 1
            position += 1
        elif byte == b":" and depth == 0:
            in_format_spec = True
            position += 1
        else:
            name = _NAME.match(text, position)
            position = position + 1 if name is None else name.end()
    return len(text)


def _end_of(pattern: re.Pattern[bytes], text: bytes, position: int) -> int:
    match = pattern.match(text, position)
    return position + 1 if match is None else match.end()


def closing(text: bytes, opening: int) -> int:
    """Offset after the bracket that closes the one at ``opening``; the end of the text when there is none."""
    depth = 0
    for token in tokens(text, opening):
        depth += depth_change(text, token)
        if depth == 0:
            return token.end
    return len(text)


def significant(text: bytes, start: int, end: int | None = None) -> Iterator[Token]:
    """Like :func:`tokens`, without blanks, comments and line ends."""
    for token in tokens(text, start, end):
        if token.kind not in (BLANK, COMMENT, NEWLINE):
            yield token


def line_end(text: bytes, position: int) -> int:
    """Offset of the line end (or of the end of the text) after ``position``, which must not lie inside a token."""
    for token in tokens(text, position):
        if token.kind == NEWLINE:
            return token.start
    return len(text)


def next_line(text: bytes, position: int) -> int:
    """Offset of the first byte of the line that follows the one in which ``position`` lies."""
    end = line_end(text, position)
    match = _NEWLINE.match(text, end)
    return end if match is None else match.end()


def line_starts(text: bytes) -> list[int]:
    """Offsets at which lines begin, as the Python parser counts them: after LF, CR LF and CR, nothing else."""
    starts = [0]
    starts.extend(match.end() for match in _NEWLINE.finditer(text))
    return starts


def depth_change(text: bytes, token: Token) -> int:
    """+1 for an opening bracket, -1 for a closing one, else 0."""
    if token.kind != OP:
        return 0
    byte = text[token.start]
    return 1 if byte in _OPENING else -1 if byte in _CLOSING else 0


__all__ = (
    "NAME",
    "NUMBER",
    "STRING",
    "OP",
    "COMMENT",
    "NEWLINE",
    "BLANK",
    "Token",
    "tokens",
    "closing",
    "significant",
    "line_end",
    "next_line",
    "line_starts",
    "depth_change",
)
