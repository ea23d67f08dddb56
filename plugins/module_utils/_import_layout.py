# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Where an import goes, and how a name joins one: splices only."""

from __future__ import annotations

import ast
from typing import Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _listing as listing
from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._imports import ImportNode
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS, Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import docstring


def _names_of(source: Source, node: ImportNode) -> listing.Listing:
    """The name list of an import. Tokens give it, since Python 3.8 gives aliases no position."""
    start, end = source.start(node), source.end(node)
    after = start
    for token in lexer.significant(source.text, start, end):
        if source.text[token.start : token.end] == b"import":
            after = token.end
            break
    after, end = listing.brackets(source, after, end) or (after, end)
    return listing.Listing(after, end, listing.split(source, after, end))


def _text(source: Source, item: tuple[int, int]) -> str:
    """An item as ``name`` or ``name as alias``, blanks folded."""
    words = [source.text[token.start : token.end] for token in lexer.significant(source.text, *item)]
    return b"".join(b" as " if word == b"as" else word for word in words).decode("utf-8")


def with_names(source: Source, node: ImportNode, names: Sequence[str]) -> list[Splice]:
    """Join names to an import; sorted in when its names are sorted, at the end otherwise."""
    found = _names_of(source, node)
    there = [_text(source, item) for item in found.items]
    is_sorted = there == sorted(there, key=str.lower) or there == sorted(there)
    key = str.lower if there == sorted(there, key=str.lower) else str
    places: list[tuple[int, str]] = []
    for name in sorted(names, key=key) if is_sorted else names:
        later = [index for index, other in enumerate(there) if key(other) > key(name)] if is_sorted else []
        places.append((later[0] if later else len(there), name))
    splices: list[Splice] = []
    for place in sorted({place for place, _name in places}):
        group = [name for at, name in places if at == place]
        splices.extend(_join(source, found, place, group))
    return splices


def _join(source: Source, found: listing.Listing, place: int, names: Sequence[str]) -> list[Splice]:
    added = [listing.add(source, found, place, name.encode("utf-8")) for name in names]
    if len(added) == 1 or place < len(found.items):
        return [item for splices in added for item in splices]
    # A missing comma after the last item is written once; what follows goes in one piece.
    first, rest = added[0], added[1:]
    merged = list(first[:-1]) + [first[-1]]
    text = first[-1].text
    trailing = text.endswith(b",")
    for splices in rest:
        new = splices[-1].text
        if not trailing and not new.startswith(b","):
            new = b"," + new
        text += new
    merged[-1] = Splice(first[-1].start, first[-1].end, text)
    return merged


def without_names(scope: Scope, nodes: Sequence[ImportNode], names: Sequence[str]) -> list[Splice]:
    """Take names out of imports; an import left without names goes whole."""
    source = scope.source
    splices: list[Splice] = []
    empty: list[ast.AST] = []
    for node in nodes:
        found = _names_of(source, node)
        gone = [index for index, item in enumerate(found.items) if _text(source, item) in names]
        if len(gone) == len(found.items):
            empty.append(node)
        elif gone:
            splices.extend(listing.drop_many(source, found, gone))
    for block in scope.blocks() if empty else ():
        ranges = [(index, index + 1) for index, node in enumerate(block.statements) if node in empty]
        if ranges:
            splices.extend(suite.remove_many(source, block, ranges))
    return splices


def new_import(scope: Scope, statement: str, module: str) -> tuple[int | None, list[Splice]]:
    """A new import line after those it belongs to: the same package's, else the last of its form."""
    source = scope.source
    statements = scope.node.body
    index = _place(
        statements, module, has_docstring=docstring(scope.node) is not None, plain=statement.startswith("import")
    )
    code = statement.encode("utf-8")
    block = Block(scope.node, "body", statements)
    if index == 0 and isinstance(scope.node, ast.Module):
        return _at_top(source, block, code)
    line = source.line_of(source.end(statements[index - 1])) if index else None
    after_docstring = index == 1 and docstring(scope.node) is not None
    return line, suite.insert(source, block, index, code, blank_lines=1 if after_docstring else 0)


def _place(statements: Sequence[ast.stmt], module: str, *, has_docstring: bool, plain: bool) -> int:
    """Index before which the import goes."""
    first = 1 if has_docstring else 0
    last: int | None = None
    alike: int | None = None
    related: int | None = None
    for index, statement in enumerate(statements):
        if isinstance(statement, DEFINITIONS) and last is not None:
            break
        if not isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            first = index + 1
            continue
        last = index + 1
        if isinstance(statement, ast.Import) == plain:
            alike = index + 1
        if _top(_spelled(statement)) == _top(module):
            related = index + 1
    return related or alike or last or first


def _spelled(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.Import):
        return node.names[0].name
    return "." * node.level + (node.module or "")


def _top(module: str) -> str:
    return "." if module.startswith(".") else module.split(".")[0]


def _at_top(source: Source, block: Block, code: bytes) -> tuple[int | None, list[Splice]]:
    """Before the first statement, or after the comments of a file that has none."""
    if not block.statements:
        return None, suite.insert(source, block, 0, code)
    position = source.line_start(source.start(block.statements[0]))
    newline = source.newline_at(position)
    return source.line_of(position), [Splice(position, position, code.replace(b"\n", newline) + newline)]


__all__ = ("with_names", "without_names", "new_import")
