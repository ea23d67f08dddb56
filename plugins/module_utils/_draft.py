# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. One file while edits are applied: parsed once, then only where it changes.

A large file costs a tenth of a second to parse, and a patch has many edits. So a changed file is a list of chunks, a
top-level statement each with what follows it; an edit in a class or function needs only the chunk that holds it. A
changed chunk is a ``Source`` of its own, below empty lines, so that its line numbers are those of the file.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _proof as proof
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope, named
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice

_NEWLINE = re.compile(rb"\r\n|\r|\n")


class Chunk(NamedTuple):
    """Top-level statements that share lines, with the blanks and comments up to the next ones; a byte span."""

    start: int
    end: int
    statements: list[ast.stmt]


class Draft:
    """A file as it stands after the edits so far."""

    def __init__(self, source: Source) -> None:
        self._reset(source)

    def _reset(self, source: Source) -> None:
        self._base = source
        self._cut: list[Chunk] | None = None
        self._parts: dict[int, Source] = {}
        self._lent: tuple[int, Source] | None = None

    @property
    def text(self) -> bytes:
        """The file's text now."""
        if not self._parts:
            return self._base.text
        head = self._base.text[: self._chunks[0].start]
        return head + b"".join(self._text_of(index) for index in range(len(self._chunks)))

    def whole(self) -> Source:
        """The file as one source; parsed anew when something changed since it was."""
        if self._parts:
            expected = self._places()
            source = self._parsed(self.text)
            if [(type(node), source.start(node), source.end(node)) for node in source.tree.body] != expected:
                raise proof.fail(source.path, "its parts do not make the whole")
            self._reset(source)
        return self._base

    def scope(self, name: str) -> Scope | None:
        """The definition called ``name``, in the chunk that holds it; None: look at the whole file."""
        if not self._parts:
            return None
        found: list[int] = []
        for index in range(len(self._chunks)):
            module = ast.Module(body=self._statements(index), type_ignores=[])
            found.extend(index for _scope in named(Scope("", module, self._base), name))
        part = self._part(found[0]) if len(found) == 1 else None
        return None if part is None else named(Scope("", part.tree, part), name)[0]

    def apply(self, scope: Scope, splices: Sequence[Splice]) -> None:
        """Change the file, after the proofs that concern this one change.

        :raises SpecdecError: a proof failed.
        """
        source = scope.source
        splices = [item._replace(text=_with_newlines(source, item)) for item in splices]
        index = self._index_of(source)
        if index is None:
            index = self._index(splices)
            part = None if index is None else self._part(index)
            inner = None if part is None else _counterpart(part, scope)
            if index is None or part is None or inner is None:
                self._reset(_changed(scope, splices))
                return
            shift = part.padding - self._chunks[index].start
            splices = [Splice(item.start + shift, item.end + shift, item.text) for item in splices]
            scope = inner
        self._parts[index] = after = _changed(scope, splices)
        last = index == len(self._chunks) - 1
        if not last and len(after.text) > after.padding and not after.text.endswith((b"\n", b"\r")):
            self._reset(self._parsed(self.text))

    @property
    def _chunks(self) -> list[Chunk]:
        if self._cut is None:
            self._cut = _chunks_of(self._base)
        return self._cut

    def _text_of(self, index: int) -> bytes:
        part = self._parts.get(index)
        chunk = self._chunks[index]
        return self._base.text[chunk.start : chunk.end] if part is None else part.text[part.padding :]

    def _statements(self, index: int) -> list[ast.stmt]:
        return self._parts[index].tree.body if index in self._parts else self._chunks[index].statements

    def _index_of(self, source: Source) -> int | None:
        """The chunk that ``source`` is a part for; None for the whole file."""
        for index, part in list(self._parts.items()) + ([self._lent] if self._lent else []):
            if part is source:
                return index
        return None

    def _index(self, splices: Sequence[Splice]) -> int | None:
        """The chunk in which all of ``splices`` lie."""
        first, last = min(item.start for item in splices), max(item.end for item in splices)
        found = [number for number, chunk in enumerate(self._chunks) if chunk.start <= first]
        return found[-1] if found and last <= self._chunks[found[-1]].end else None

    def _part(self, index: int) -> Source | None:
        """The chunk as a source of its own; None when it cannot stand alone."""
        chunk, text = self._chunks[index], self._text_of(index)
        line = self._base.line_of(chunk.start) + sum(self._growth(other) for other in self._parts if other < index)
        part = self._parts.get(index)
        if part is None or part.first_line != line:
            types = [type(node) for node in self._statements(index)]
            try:
                part = self._base.part(text, line=line, newline=self._base.newline_at(chunk.start))
            except SpecdecError:
                return None
            if [type(node) for node in part.tree.body] != types:
                return None
            if index in self._parts:
                self._parts[index] = part
        everything = [node for number in range(len(self._chunks)) for node in self._statements(number)]
        part.module = ast.Module(body=everything, type_ignores=[])
        self._lent = (index, part)
        return part

    def _growth(self, index: int) -> int:
        """By how many lines a changed chunk has grown."""
        chunk = self._chunks[index]
        return len(lexer.line_starts(self._text_of(index))) - len(
            lexer.line_starts(self._base.text[chunk.start : chunk.end])
        )

    def _places(self) -> list[tuple[type[ast.stmt], int, int]]:
        """Where the top-level statements must stand in the whole file."""
        places: list[tuple[type[ast.stmt], int, int]] = []
        position = self._chunks[0].start
        for index, chunk in enumerate(self._chunks):
            source = self._parts.get(index, self._base)
            shift = position - (source.padding if index in self._parts else chunk.start)
            for node in self._statements(index):
                places.append((type(node), source.start(node) + shift, source.end(node) + shift))
            position += len(self._text_of(index))
        return places

    def _parsed(self, text: bytes) -> Source:
        try:
            return Source(path=self._base.path, text=text, encoding=self._base.encoding)
        except SpecdecError as error:
            raise proof.fail(self._base.path, error.message) from None


def _chunks_of(source: Source) -> list[Chunk]:
    chunks: list[Chunk] = []
    for node in source.tree.body:
        start = source.start(node)
        if chunks and not source.starts_line(start):
            chunks[-1].statements.append(node)
            continue
        line = source.line_start(start)
        if chunks:
            chunks[-1] = chunks[-1]._replace(end=line)
        chunks.append(Chunk(line, len(source.text), [node]))
    return chunks


def _counterpart(part: Source, scope: Scope) -> Scope | None:
    """The scope in a part of its file, where lines are the same."""
    found = Scope("", part.tree, part)
    for node in (scope.parents + (scope.node,))[1:]:
        line = getattr(node, "lineno", 0)
        inner = [other for other in found.definitions() if type(other) is type(node) and other.lineno == line]
        if len(inner) != 1:
            return None
        found = Scope(scope.name, inner[0], part, found.parents + (found.node,))
    return found


def _changed(scope: Scope, splices: Sequence[Splice]) -> Source:
    source = scope.source
    try:
        after = source.with_splices(splices)
    except SpecdecError as error:
        raise proof.fail(source.path, error.message) from None
    proof.check_undo(source, after, splices)
    proof.check_outside(source, after, splices, scope.parents + (scope.node,))
    return after


def _with_newlines(source: Source, item: Splice) -> bytes:
    """The text of a splice with the line ends that the file has there."""
    if b"\n" not in item.text and b"\r" not in item.text:
        return item.text
    return _NEWLINE.sub(lambda match: source.newline_at(item.start), item.text)


__all__ = ("Draft",)
