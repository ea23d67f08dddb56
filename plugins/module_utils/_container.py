# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Collections as they are written: displays, ``frozenset(...)``, ``Literal[...]``, calls."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

from ansible_collections.specdec.blackwell.plugins.module_utils import _listing as listing
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import arguments_in_order, dotted, plain

_FACTORIES = {"frozenset": ("{", "}"), "set": ("{", "}"), "tuple": ("[", "]"), "list": ("[", "]")}


class Container(NamedTuple):
    """A collection: its items as nodes (a dict's as key and value), and the comma list that holds them."""

    items: list[Any]
    places: listing.Listing
    has_keys: bool = False
    is_tuple: bool = False
    wrap: tuple[str, str] = ("", "")


def of(source: Source, node: Any) -> Container | None:
    """The collection that a node is; None when its elements are not written in it."""
    if isinstance(node, ast.Call) and dotted(node.func).rsplit(".", 1)[-1] in _FACTORIES:
        return _factory(source, node)
    if isinstance(node, (ast.List, ast.Set)):
        return Container(list(node.elts), _places(source, source.start(node) + 1, source.end(node) - 1, node.elts))
    if isinstance(node, ast.Dict):
        nodes = [value if key is None else key for key, value in zip(node.keys, node.values)]
        places = _places(source, source.start(node) + 1, source.end(node) - 1, nodes)
        return Container(list(zip(node.keys, node.values)), places, has_keys=True)
    if isinstance(node, ast.Tuple):
        start, end = source.start(node), source.end(node)
        inside = listing.brackets(source, start, end)
        if inside is not None and inside == (start + 1, end - 1):
            start, end = inside
        return Container(list(node.elts), _places(source, start, end, node.elts), is_tuple=True)
    if isinstance(node, ast.Subscript):
        index = plain(node.slice)
        items = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        inside = listing.brackets(source, source.end(node.value), source.end(node))
        return None if inside is None else Container(items, _places(source, inside[0], inside[1], items))
    if isinstance(node, ast.Call):
        return call(source, node)
    return None


def call(source: Source, node: Any) -> Container:
    """The arguments of a call, positional and keyword ones in source order."""
    items: list[Any] = arguments_in_order(node)
    inside = listing.brackets(source, source.end(node.func), source.end(node))
    assert inside is not None
    nodes = [item.value if isinstance(item, ast.keyword) else item for item in items]
    return Container(items, _places(source, inside[0], inside[1], nodes))


def _factory(source: Source, node: ast.Call) -> Container | None:
    if node.keywords or len(node.args) > 1:
        return None
    if node.args:
        inner = of(source, node.args[0])
        return None if inner is None or inner.has_keys else inner
    empty = call(source, node)
    return empty._replace(wrap=_FACTORIES[dotted(node.func).rsplit(".", 1)[-1]])


def _places(source: Source, start: int, end: int, nodes: Any) -> listing.Listing:
    return listing.Listing(start, end, listing.split(source, start, end, [source.start(node) for node in nodes]))


def add(source: Source, box: Container, text: bytes) -> list[Splice]:
    """Add an element at the end."""
    if box.wrap[0] and not box.items:
        text = box.wrap[0].encode("ascii") + text + box.wrap[1].encode("ascii")
    return listing.add(source, box.places, len(box.places.items), text, comma_when_single=box.is_tuple)


def drop(source: Source, box: Container, index: int) -> list[Splice]:
    """Take the element at ``index`` out."""
    return listing.drop(source, box.places, index, comma_when_single=box.is_tuple)


__all__ = ("Container", "of", "call", "add", "drop")
