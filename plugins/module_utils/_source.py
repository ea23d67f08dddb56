# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. One Python file as bytes and as a tree, with exact positions.

Everything is done on ``text``: the file's content as UTF-8 without BOM, which is what ``ast`` columns count.
``encode()`` gives the file's own encoding back; a file whose encoding does not round-trip is refused.
"""

from __future__ import annotations

import ast
import bisect
import codecs
import contextlib
import re
import sys
from typing import Iterator, NamedTuple, Sequence, Union, cast

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse, reason

Definition = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef]
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_LINE = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_LINE = re.compile(rb"[^\r\n]*")
_NEWLINE = re.compile(rb"\r\n|\r|\n")
_INDENT = re.compile(rb"[ \t\f]*")
_CONTINUED = re.compile(rb"\\(?:\r\n|\r|\n)\Z")
_FSTRING = re.compile(rb"[fF][rR]?['\"]")
_KNOWN_ENCODINGS = (
    ("utf-8", "utf-8"),
    ("latin-1", "iso8859-1"),
    ("iso-8859-1", "iso8859-1"),
    ("iso-latin-1", "iso8859-1"),
)
# Older parsers give what stands inside an f-string positions that are often wrong.
FSTRING_POSITIONS = sys.version_info >= (3, 12)


class Splice(NamedTuple):
    """Replace the half-open byte span ``[start, end)`` of a text by ``text``."""

    start: int
    end: int
    text: bytes


def splice(text: bytes, splices: Sequence[Splice]) -> bytes:
    """Apply ``splices``; insertions at one point keep their order.

    :raises Refused: two of them overlap.
    """
    pieces: list[bytes] = []
    position = 0
    for start, end, new in sorted(splices, key=lambda item: (item.start, item.end)):
        if start < position or end < start:
            raise Refused("two changes of one edit overlap")
        pieces.append(text[position:start])
        pieces.append(new)
        position = end
    pieces.append(text[position:])
    return b"".join(pieces)


def encoding_of(data: bytes) -> str:
    """The encoding that PEP 263 gives to a file; ``utf-8-sig`` when it starts with a BOM."""
    bom = data.startswith(codecs.BOM_UTF8)
    start = len(codecs.BOM_UTF8) if bom else 0
    for _number in range(2):
        match = _LINE.match(data, start)
        line = match.group() if match else b""
        cookie = _COOKIE.match(line)
        if cookie:
            name = cookie.group(1).decode("ascii", "replace")
            encoding = _normal_name(name)
            if bom and encoding != "utf-8":
                raise BadInput(f"it starts with a UTF-8 BOM, but its coding line says {name!r}")
            return "utf-8-sig" if bom else encoding
        if not _BLANK_LINE.match(line):
            break
        newline = _NEWLINE.match(data, start + len(line))
        if not newline:
            break
        start = newline.end()
    return "utf-8-sig" if bom else "utf-8"


def _normal_name(name: str) -> str:
    """The codec that a coding line means; ``utf-8-unix`` and ``latin-1-dos``, as Emacs writes them, are known."""
    folded = name[:12].lower().replace("_", "-")
    for known, encoding in _KNOWN_ENCODINGS:
        if folded == known or folded.startswith(known + "-"):
            return encoding
    try:
        codec = codecs.lookup(name)
        with contextlib.suppress(UnicodeError):
            b" ".decode(name)
    except LookupError:
        raise BadInput(f"its coding line names {name!r}, which is no encoding of text known here") from None
    return codec.name


def parse_text(text: str, path: str) -> ast.Module:
    """Parse a file's text; a failure names file, line and the parser's own message."""
    try:
        return parse(text)
    except SyntaxError as error:
        raise BadInput(
            f"{path} does not parse, {reason(error)}",
            file=path,
            line=error.lineno,
            source_line=(error.text or "").rstrip(),
        ) from None


class Source:
    """One parsed file.

    :ivar path: the name used in messages.
    :ivar text: the content as UTF-8 bytes, without BOM.
    :ivar tree: its ``ast.Module``; columns count bytes of ``text``.
    :ivar module: the tree to look names of the module up in; it differs from ``tree`` in a part of a file.
    :ivar padding: bytes of empty lines that stand for what precedes a part of a file.
    """

    def __init__(self, *, path: str, text: bytes, encoding: str, padding: int = 0) -> None:
        self.path = path
        self.text = text
        self.encoding = encoding
        self.tree = parse_text(text.decode("utf-8"), path)
        self.module = self.tree
        self.padding = padding
        self._starts = lexer.line_starts(text)
        self._unit: bytes | None = None
        self._inside: set[int] | None = None

    @classmethod
    def parse(cls, data: bytes, *, path: str) -> Source:
        """Read a file's bytes.

        :raises BadInput: unknown or false encoding, or a syntax error.
        :raises Refused: the encoding does not give the same bytes back.
        """
        try:
            encoding = encoding_of(data)
            decoded = data.decode(encoding)
        except BadInput as error:
            raise BadInput(f"{path} cannot be read: {error.message}", file=path) from None
        except UnicodeDecodeError as error:
            line = bisect.bisect_right(lexer.line_starts(data), error.start)
            hint = "; it has no coding line, so Python cannot read it either" if encoding == "utf-8" else ""
            raise BadInput(
                f"{path} is not valid {error.encoding}, line {line}: {error.reason}{hint}", file=path, line=line
            ) from None
        except UnicodeError as error:
            raise BadInput(f"{path} is not valid {encoding}: {error}", file=path) from None
        try:
            again = decoded.encode(encoding)
        except UnicodeError:
            again = b""
        if again != data:
            raise Refused(f"{path}: its encoding {encoding} does not give the same bytes back", file=path)
        return cls(path=path, text=decoded.encode("utf-8"), encoding=encoding)

    def encode(self) -> bytes:
        """The file's bytes in its own encoding.

        :raises BadInput: the encoding lacks a character.
        :raises Refused: a comment has come to stand where it reads as a coding line.
        """
        try:
            data = self.text.decode("utf-8").encode(self.encoding)
        except UnicodeEncodeError as error:
            raise BadInput(
                f"{self.path} is written in {self.encoding}, "
                f"which cannot hold {error.object[error.start : error.end]!r}",
                file=self.path,
            ) from None
        try:
            encoding = encoding_of(data)
        except BadInput as error:
            raise Refused(f"{self.path} would not be read as {self.encoding} any more: {error.message}") from None
        if encoding != self.encoding:
            raise Refused(
                f"{self.path} is {self.encoding}; after the edit a comment in its first two lines says {encoding}",
                file=self.path,
            )
        return data

    def with_splices(self, splices: Sequence[Splice]) -> Source:
        """The file after ``splices``, parsed anew."""
        text = splice(self.text, splices)
        after = Source(path=self.path, text=text, encoding=self.encoding, padding=self.padding)
        if self.padding:
            after._unit = self.indent_unit
        return after

    def part(self, text: bytes, *, line: int, newline: bytes) -> Source:
        """A piece of the file that begins with line ``line``, as a source with the file's line numbers."""
        padding = newline * (line - 1)
        part = Source(path=self.path, text=padding + text, encoding=self.encoding, padding=len(padding))
        part._unit = self.indent_unit
        return part

    @property
    def first_line(self) -> int:
        """The number of the first line that is no padding."""
        return self.line_of(self.padding)

    # positions

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a position as ``ast`` gives it (line from 1, column in bytes from 0)."""
        return self._starts[line - 1] + column

    def line_of(self, offset: int) -> int:
        """Line number, from 1, in which a byte lies."""
        return bisect.bisect_right(self._starts, offset)

    def line_text(self, line: int) -> str:
        """A line as a message shows it: without its indentation, and not too long."""
        start = self._starts[line - 1]
        match = _LINE.match(self.text, start)
        text = match.group().decode("utf-8", "replace").strip() if match else ""
        return text if len(text) <= 100 else text[:97] + "..."

    def line_start(self, offset: int) -> int:
        """Offset of the first byte of the line in which ``offset`` lies."""
        return self._starts[self.line_of(offset) - 1]

    def start(self, node: ast.AST) -> int:
        """First byte of a node; of a definition, its first decorator's ``@``."""
        decorators = getattr(node, "decorator_list", None)
        if decorators:
            sign = self.text.rindex(b"@", 0, self.start(decorators[0]))
            while not self.starts_line(sign):
                # It stands in a comment: ``@(  # as @this`` and the decorator below.
                sign = self.text.rindex(b"@", 0, sign)
            return sign
        located = self._located(node)
        return self.offset(located.lineno, located.col_offset)

    def keyword_start(self, node: Definition) -> int:
        """First byte of ``class``, ``def`` or ``async``, after the decorators."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> int:
        """Byte after a node."""
        located = self._located(node)
        return self.offset(cast(int, located.end_lineno), cast(int, located.end_col_offset))

    def _located(self, node: ast.AST) -> ast.expr:
        if isinstance(node, ast.expr) and self.in_fstring(node):
            raise Refused(
                f"{self.path}, line {node.lineno}: the place lies inside an f-string, and Python "
                f"{sys.version_info[0]}.{sys.version_info[1]} does not say where in it; replace the whole f-string"
            )
        if getattr(node, "lineno", None) is None:
            raise Refused(
                f"{self.path}: Python {sys.version_info[0]}.{sys.version_info[1]} does not say "
                f"where the {type(node).__name__} stands; replace the statement that holds it"
            )
        return cast(ast.expr, node)

    def in_fstring(self, node: ast.AST) -> bool:
        """Whether a node lies inside an f-string and its position can therefore not be trusted."""
        if FSTRING_POSITIONS:
            return False
        if self._inside is None:
            self._inside = set()
            if _FSTRING.search(self.text):
                for outer in ast.walk(self.tree):
                    if isinstance(outer, ast.JoinedStr):
                        self._inside.update(id(inner) for inner in ast.walk(outer) if inner is not outer)
        return id(node) in self._inside

    def segment(self, node: ast.AST) -> bytes:
        """The bytes of a node, decorators included."""
        return self.text[self.start(node) : self.end(node)]

    # layout

    def starts_line(self, offset: int) -> bool:
        """Whether only blanks stand before ``offset`` in its line, and no backslash joins it to the line above."""
        start = self.line_start(offset)
        if self.text[start:offset].strip(b" \t\f"):
            return False
        return not (_CONTINUED.search(self.text, max(start - 3, 0), start) and self._is_continued(start))

    def _is_continued(self, start: int) -> bool:
        """Whether the backslash at the end of the line before ``start`` is one, and not the end of a comment."""
        above = self.line_start(start - 1)
        if b"#" not in self.text[above:start]:
            return True
        before = [node for node in self.tree.body if self.start(node) < start]
        return any(
            token.kind == lexer.BLANK and token.start < start <= token.end
            for token in lexer.tokens(self.text, self.start(before[-1]) if before else 0, start)
        )

    def indent_at(self, offset: int) -> bytes:
        """The blanks that open the line in which ``offset`` lies, after a form feed if there is one."""
        match = _INDENT.match(self.text, self.line_start(offset))
        return match.group().rpartition(b"\f")[2] if match else b""

    def newline_at(self, offset: int) -> bytes:
        """The line end of the line in which ``offset`` lies, else of the line before, else the file's first."""
        index = self.line_of(offset)
        for number in (index, index - 1, 1):
            if 0 < number < len(self._starts):
                ending = _NEWLINE.search(self.text, self._starts[number - 1], self._starts[number])
                if ending:
                    return ending.group()
        return b"\n"

    @property
    def indent_unit(self) -> bytes:
        """One level of indentation as the file writes it; four spaces when it has none."""
        if self._unit is None:
            self._unit = next(self._units(self.tree), b"    ")
        return self._unit

    def _units(self, node: ast.AST) -> Iterator[bytes]:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.stmt):
                continue
            body = getattr(child, "body", None)
            if body:
                outer = self.indent_at(self.start(child))
                first = self.start(body[0])
                if self.starts_line(first):
                    inner = self.indent_at(first)
                    if inner.startswith(outer) and len(inner) > len(outer):
                        yield inner[len(outer) :]
                yield from self._units(child)


def blocks_of(node: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    """The statement lists that a statement owns directly, in source order, with their field names."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        value = getattr(node, field, None)
        if not isinstance(value, list):
            continue
        if field in ("handlers", "cases"):
            for item in value:
                yield field, item.body
        elif value and isinstance(value[0], ast.stmt):
            yield field, value


__all__ = (
    "Definition",
    "DEFINITIONS",
    "Splice",
    "Source",
    "splice",
    "encoding_of",
    "parse_text",
    "blocks_of",
)
