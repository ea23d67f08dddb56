# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``base``: a base class of the class in scope."""

from __future__ import annotations

import ast

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _listing as listing
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._imports import aliases
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import dotted

MODIFIERS = ("position",)
ABSENT = True


class Base(Operation):
    """Add a base class at a position, or take it away."""

    local = True

    def __init__(self, text: str, name: str, where: str, anchor: str, *, absent: bool) -> None:
        self.text = text
        self.name = name
        self.where = where
        self.anchor = anchor
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        node = scope.node
        if not isinstance(node, ast.ClassDef):
            return drifted(f"{scope.describe()} is no class, so it cannot have the base {self.text}")
        source = scope.source
        line = node.lineno
        renamed = aliases(source.module)
        names = [_known_as(base, renamed) for base in node.bases]
        wanted = {_last(self.name), renamed.get(self.name, _last(self.name))}
        found = [index for index, known in enumerate(names) if wanted.intersection(known)]
        if self.absent:
            return pristine(_without(source, node, found), line) if found else present(line)
        if found:
            return present(line)
        index = {"first": 0, "last": len(node.bases)}.get(self.where, -1)
        if index < 0:
            at = [number for number, known in enumerate(names) if _last(self.anchor) in known]
            if not at:
                return drifted(
                    f"class {scope.name} has no base {self.anchor} to stand {self.where}",
                    candidates=[f"line {line}: {', '.join(dotted(base) or '...' for base in node.bases)}"],
                    line=line,
                )
            index = at[0] + (1 if self.where == "after" else 0)
        before = node.bases[index - 1] if index else None
        if before is not None and any(source.start(keyword.value) < source.start(before) for keyword in node.keywords):
            return drifted(
                f"class {scope.name} has *bases after a keyword argument: a base after them is no valid Python; "
                "use position: first",
                line=line,
            )
        return pristine(_with(source, node, index, self.text.encode("utf-8")), line)


def parse(fields: Fields, *, absent: bool) -> Base:
    text = fields.text("base").strip()
    name = _base_name(fields.expression("base").expression)
    if not name:
        raise BadInput(f"{fields.what}: `base` must be a name, a dotted name or one with a subscript, not {text!r}")
    position = fields.values.get("position")
    if position is None or isinstance(position, str):
        return Base(text, name, fields.choice("position", ("first", "last"), "last"), "", absent=absent)
    inner = Fields(position, fields.what + ", position")
    inner.only(("before", "after"))
    if len(inner.values) != 1:
        raise BadInput(f"{fields.what}: position takes before or after, one of them")
    where = next(iter(inner.values))
    return Base(text, name, where, inner.text(where), absent=absent)


def _base_name(node: ast.expr) -> str:
    return dotted(node.value if isinstance(node, ast.Subscript) else node)


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _known_as(base: ast.expr, renamed: dict[str, str]) -> tuple[str, ...]:
    """The names under which a base counts: its last part, and what an import alias stands for."""
    name = _base_name(base)
    last = _last(name)
    return (last, renamed.get(name, last)) if name else ()


def _header(source: Source, node: ast.ClassDef) -> tuple[int, int]:
    """From just after the class name (and type parameters) to the first statement of the body."""
    words = lexer.significant(source.text, source.keyword_start(node))
    start = [next(words), next(words)][1].end
    for parameter in getattr(node, "type_params", []):
        start = max(start, source.text.index(b"]", source.end(parameter)) + 1)
    return start, source.start(node.body[0])


def _listing(source: Source, node: ast.ClassDef, start: int, end: int) -> listing.Listing:
    """The header's argument list; without brackets an empty one."""
    inside = listing.brackets(source, start, end)
    if inside is None:
        return listing.Listing(start, start, [])
    nodes = [source.start(base) for base in node.bases] + [source.start(keyword.value) for keyword in node.keywords]
    return listing.Listing(inside[0], inside[1], listing.split(source, inside[0], inside[1], nodes))


def _with(source: Source, node: ast.ClassDef, index: int, text: bytes) -> list[Splice]:
    start, end = _header(source, node)
    found = _listing(source, node, start, end)
    if found.start == start:
        return [Splice(start, start, b"(" + text + b")")]
    place = _item_index(source, found, node.bases[index - 1]) + 1 if index else 0
    return listing.add(source, found, place, text)


def _without(source: Source, node: ast.ClassDef, gone: list[int]) -> list[Splice]:
    start, end = _header(source, node)
    found = _listing(source, node, start, end)
    if len(found.items) == len(gone):
        return [Splice(start, found.end + 1, b"")]
    return listing.drop_many(source, found, [_item_index(source, found, node.bases[index]) for index in gone])


def _item_index(source: Source, found: listing.Listing, base: ast.expr) -> int:
    start = source.start(base)
    return next(number for number, (first, last) in enumerate(found.items) if first <= start < last)
