# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Collections as they are written: displays, ``frozenset(...)``, ``Literal[...]``, calls."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _listing as listing
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import arguments_in_order, dotted, plain

_FACTORIES = {"frozenset": ("{", "}"), "set": ("{", "}"), "tuple": ("[", "]"), "list": ("[", "]")}


class Container(NamedTuple):
    """A collection: its items as nodes (a dict's as key and value), and the comma list that holds them.

    :ivar kind: 'tuple', 'subscript', 'set', or '' where nothing is special about few elements.
    :ivar wrap: brackets that the first element of an empty ``set()`` needs around it.
    :ivar span: of the whole collection.
    """

    items: list[Any]
    places: listing.Listing
    span: tuple[int, int]
    has_keys: bool = False
    kind: str = ""
    wrap: tuple[str, str] = ("", "")


def of(source: Source, node: Any) -> Container | None:
    """The collection that a node is: a display, also in ``frozenset(...)`` and the like, or ``Literal[...]``."""
    span = (source.start(node), source.end(node))
    if isinstance(node, ast.Call):
        return _factory(source, node) if isinstance(node.func, ast.Name) and node.func.id in _FACTORIES else None
    if isinstance(node, (ast.List, ast.Set)):
        kind = "set" if isinstance(node, ast.Set) else ""
        return Container(list(node.elts), _places(source, span[0] + 1, span[1] - 1, node.elts), span, kind=kind)
    if isinstance(node, ast.Dict):
        nodes = [value if key is None else key for key, value in zip(node.keys, node.values)]
        places = _places(source, span[0] + 1, span[1] - 1, nodes)
        return Container(list(zip(node.keys, node.values)), places, span, has_keys=True)
    if isinstance(node, ast.Tuple):
        return _tuple(source, node, span)
    if isinstance(node, ast.Subscript) and dotted(node.value).rsplit(".", 1)[-1] == "Literal":
        return subscript(source, node)
    return None


def holding(source: Source, node: Any) -> Container | None:
    """The collection of a node whose elements a pattern names: also the arguments of any call, and any subscript."""
    if isinstance(node, ast.Call):
        factory = of(source, node)
        return call(source, node) if factory is None else factory
    return subscript(source, node) if isinstance(node, ast.Subscript) else of(source, node)


def _tuple(source: Source, node: ast.Tuple, span: tuple[int, int]) -> Container:
    start, end = span
    if listing.brackets(source, start, end) == (start + 1, end - 1):
        return Container(list(node.elts), _places(source, start + 1, end - 1, node.elts), span, kind="tuple")
    closing = next(lexer.significant(source.text, end), None)
    if closing is not None and source.text[closing.start : closing.end] == b"]":
        # The index of a subscript, up to its bracket: a comment behind the last element is part of it.
        return Container(list(node.elts), _places(source, start, closing.start, node.elts), span, kind="subscript")
    return Container(list(node.elts), _places(source, start, end, node.elts), span, kind="bare tuple")


def subscript(source: Source, node: ast.Subscript) -> Container:
    """The elements between the brackets of a subscript."""
    index = plain(node.slice)
    elements = isinstance(index, ast.Tuple) and source.text[source.start(index)] != ord("(")
    items = list(index.elts) if elements else [index]
    span = (source.start(node), source.end(node))
    inside = listing.last_brackets(source, *span)
    return Container(items, _places(source, inside[0], inside[1], items), span, kind="subscript")


def call(source: Source, node: Any) -> Container:
    """The arguments of a call, positional and keyword ones in source order."""
    items: list[Any] = arguments_in_order(node)
    span = (source.start(node), source.end(node))
    inside = listing.last_brackets(source, *span)
    nodes = [item.value if isinstance(item, ast.keyword) else item for item in items]
    return Container(items, _places(source, inside[0], inside[1], nodes), span)


def _factory(source: Source, node: Any) -> Container | None:
    if node.keywords or len(node.args) > 1:
        return None
    if node.args:
        inner = of(source, node.args[0])
        return None if inner is None or inner.has_keys else inner
    empty = call(source, node)
    return empty._replace(wrap=_FACTORIES[node.func.id])


def _places(source: Source, start: int, end: int, nodes: Any) -> listing.Listing:
    return listing.Listing(start, end, listing.split(source, start, end, [source.start(node) for node in nodes]))


def add(source: Source, box: Container, text: bytes) -> list[Splice]:
    """Add an element at the end."""
    if box.wrap[0] and not box.items:
        text = box.wrap[0].encode("ascii") + text + box.wrap[1].encode("ascii")
    return listing.add(source, box.places, len(box.places.items), text, comma_when_single=box.kind == "tuple")


def drop(source: Source, box: Container, gone: Sequence[int]) -> list[Splice]:
    """Take the elements at these indices out. A subscript cannot be left without any.

    :raises Refused: nothing would be left in a subscript.
    """
    if len(gone) == len(box.items):
        if box.kind == "subscript":
            line = source.line_of(box.span[0])
            raise Refused(f"line {line}: the only element of a subscript cannot be taken out; replace what holds it")
        empty = {"set": b"set()", "bare tuple": b"()"}.get(box.kind)
        if empty is not None:
            return [Splice(box.span[0], box.span[1], empty)]
    return listing.drop_many(
        source,
        box.places,
        gone,
        comma_when_single=box.kind in ("tuple", "bare tuple"),
        no_comma_when_single=box.kind == "subscript",
    )


__all__ = ("Container", "of", "holding", "subscript", "call", "add", "drop")
