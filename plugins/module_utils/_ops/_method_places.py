# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Where the methods of a class stand, and which of one name belong together."""

from __future__ import annotations

import ast
from typing import Tuple, Union, cast

from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope, is_overload

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
# A statement: its block and its index.
Place = Tuple[Block, int]

_ACCESSORS = ("setter", "getter", "deleter")


def definition(place: Place) -> Function:
    """The def at a place."""
    return cast(Function, place[0].statements[place[1]])


def named(scope: Scope, name: str) -> list[Place]:
    """Every def of that name in a class, also under if / try / with, in source order."""
    places = [
        (block, index)
        for block in scope.blocks()
        for index, node in enumerate(block.statements)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]
    return sorted(places, key=lambda place: definition(place).lineno)


def like(scope: Scope, wanted: Function) -> list[Place]:
    """Those that ``wanted`` would stand beside: of the same accessor (``@x.setter`` and ``@property`` are two),
    stubs with stubs, and stubs left out where there are others."""
    places = [place for place in named(scope, wanted.name) if _accessor(definition(place)) == _accessor(wanted)]
    if is_overload(wanted):
        return [place for place in places if is_overload(definition(place))]
    return [place for place in places if not is_overload(definition(place))] or places


def _accessor(node: Function) -> str:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Attribute) and decorator.attr in _ACCESSORS:
            return decorator.attr
    return ""


__all__ = ("Function", "Place", "definition", "named", "like")
