# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Where the bytes of a name stand, f-strings included, on every Python.

Before Python 3.12 the nodes inside an f-string have wrong positions, names bound by imports, ``except`` and
``global`` have none at all: all of these are found by their tokens.
"""

from __future__ import annotations

import ast
from typing import Any, Iterator

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice


def words(source: Source, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Tokens that are code in ``[start, end)``: their bytes and span."""
    for token in lexer.significant(source.text, start, end):
        yield source.text[token.start : token.end], token.start, token.end


def span_of_name(source: Source, node: Any, name: str) -> tuple[int, int] | None:
    """Where ``node`` spells the name that it binds or reads; None when it spells it another way."""
    wanted = name.encode("utf-8")
    start = _start(source, node)
    if isinstance(node, (ast.Name, ast.arg)):
        found = start, start + len(wanted)
        return found if source.text[found[0] : found[1]] == wanted else None
    previous = b""
    captured: tuple[int, int] | None = None
    last_word = isinstance(node, (ast.ExceptHandler,)) or type(node).__name__.startswith("Match")
    for word, first, last in words(source, start, _stop(source, node)):
        if word == wanted:
            captured = first, last
            if not last_word or (isinstance(node, ast.ExceptHandler) and previous == b"as"):
                break
        previous = word
    return captured


def _start(source: Source, node: Any) -> int:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return source.keyword_start(node)
    return source.start(node)


def _stop(source: Source, node: Any) -> int:
    """No further than the header of what has a body."""
    body = getattr(node, "body", None)
    return source.start(body[0]) if isinstance(body, list) and body else source.end(node)


def is_import(node: ast.AST) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def import_splices(source: Source, node: Any, old: str, new: str) -> list[Splice] | None:
    """What makes an import bind ``new`` instead of ``old``; None for ``import old.x``, which binds it by its path."""
    tokens = list(words(source, source.start(node), source.end(node)))
    position = 0
    if isinstance(node, ast.ImportFrom):
        position = max(index for index, token in enumerate(tokens) if token[0] == b"import")
    found: list[Splice] = []
    index = position + 1
    for alias in node.names:
        while tokens[index][0] in (b"(", b","):
            index += 1
        first = index
        while index < len(tokens) and tokens[index][0] not in (b",", b"as", b")"):
            index += 1
        if alias.asname:
            index += 2
            if alias.asname == old:
                found.append(Splice(tokens[index - 1][1], tokens[index - 1][2], new.encode("utf-8")))
        elif alias.name == old:
            end = tokens[first][2]
            found.append(Splice(end, end, b" as " + new.encode("utf-8")))
        elif alias.name.split(".", 1)[0] == old:
            return None
    return found


def in_string(source: Source, node: ast.AST, name: str) -> list[tuple[int, int]] | None:
    """Where the replacement fields of an f-string have the word ``name``, attributes left out; None when one of them is
    a ``{name=}`` field, whose text would change with it."""
    wanted = name.encode("utf-8")
    found: list[tuple[int, int]] = []
    for token in lexer.tokens(source.text, source.start(node), source.end(node)):
        if token.kind != lexer.STRING:
            continue
        for start, end in fields(source.text, token):
            inside: list[tuple[int, int]] = []
            previous, depth, shows = b"", 0, False
            for word, first, last in words(source, start, end):
                if word == wanted and previous != b".":
                    inside.append((first, last))
                if depth == 0 and word == b"=" and previous not in (b"=", b"!", b"<", b">"):
                    shows = source.text[last : last + 1] != b"="
                depth += 1 if word in (b"(", b"[", b"{") else -1 if word in (b")", b"]", b"}") else 0
                previous = word
            if inside and shows:
                return None
            found.extend(inside)
    return found


def fields(text: bytes, token: lexer.Token) -> Iterator[tuple[int, int]]:
    """Spans of the expressions in the replacement fields of a literal, nested literals' fields included."""
    prefix = text[token.start : token.end]
    prefix = prefix[: min(index for index in (prefix.find(b"'"), prefix.find(b'"')) if index >= 0)].lower()
    if b"f" not in prefix and b"t" not in prefix:
        return
    quote = text[token.start + len(prefix) :][:3]
    quote = quote if quote in (b"'''", b'"""') else quote[:1]
    yield from _fields(text, token.start + len(prefix) + len(quote), token.end - len(quote), raw=b"r" in prefix)


def _fields(text: bytes, position: int, end: int, *, raw: bool, spec: bool = False) -> Iterator[tuple[int, int]]:
    while position < end:
        byte = text[position : position + 1]
        if byte == b"\\" and not raw:
            named = text.startswith(b"\\N{", position)
            skip = text.find(b"}", position) + 1 if named else position + 2
            position = position + 1 if text[position + 1 : position + 2] in (b"{", b"}") else skip
        elif not spec and text[position : position + 2] in (b"{{", b"}}"):
            position += 2
        elif byte == b"{":
            start = position + 1
            stop, position = _expression(text, start, end)
            yield start, stop
            for token in lexer.tokens(text, start, stop):
                if token.kind == lexer.STRING:
                    yield from fields(text, token)
            if text[stop : stop + 1] != b"}":
                yield from _fields(text, stop + 1, position - 1, raw=raw, spec=True)
        else:
            position += 1


def _expression(text: bytes, start: int, end: int) -> tuple[int, int]:
    """End of a field's expression, and the offset after the field."""
    depth = 0
    for token in lexer.tokens(text, start, end):
        word = text[token.start : token.end]
        if depth == 0 and word == b"}":
            return token.start, token.end
        bang = word == b"!" and text[token.end : token.end + 1] != b"="
        if depth == 0 and (word == b":" or bang):
            return token.start, _field_end(text, token.end, end)
        depth += lexer.depth_change(text, token)
    return end, end


def _field_end(text: bytes, position: int, end: int) -> int:
    """Offset after the brace that closes a field, from its conversion or format on."""
    depth = 1
    while position < end:
        byte = text[position : position + 1]
        depth += 1 if byte == b"{" else -1 if byte == b"}" else 0
        position += 1
        if depth == 0:
            return position
    return end


__all__ = ("fields", "import_splices", "in_string", "is_import", "span_of_name", "words")
