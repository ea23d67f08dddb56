# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. From a qualified name to the definition it means, and what belongs to it.

A scope is the module, a class or a function. What belongs to it: its statements, also under if / try / with /
for; not the bodies of definitions nested in it, but those definitions' decorators, defaults and annotations.
"""

from __future__ import annotations

import ast
import difflib
from typing import Iterator, NamedTuple, Sequence, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Drift
from ansible_collections.specdec.blackwell.plugins.module_utils._source import (
    DEFINITIONS,
    Definition,
    Source,
    blocks_of,
)

ScopeNode = Union[ast.Module, Definition]


class Block(NamedTuple):
    """One statement list and the node that owns it (``field`` names the list in the owner)."""

    owner: ast.AST
    field: str
    statements: list[ast.stmt]


class Scope(NamedTuple):
    """A module, class or function that an edit works in; ``name`` is '' for the module."""

    name: str
    node: ScopeNode
    source: Source
    parents: tuple[ScopeNode, ...] = ()

    @property
    def body(self) -> Block:
        return Block(self.node, "body", self.node.body)

    def blocks(self) -> Iterator[Block]:
        """Every statement list of the scope, outer ones first."""
        return _blocks(self.node)

    def definitions(self) -> Iterator[Definition]:
        """The definitions that stand directly in the scope, in source order."""
        return _definitions(self.node)

    def expressions(self) -> Iterator[ast.expr]:
        """Every expression that belongs to the scope, parents before children."""
        for statement in self.node.body:
            yield from _expressions(statement)

    def describe(self) -> str:
        return self.name or "the module"


def _blocks(node: ast.AST) -> Iterator[Block]:
    # A long chain of elif is deep: no recursion here.
    pending = [Block(node, field, statements) for field, statements in blocks_of(node)][::-1]
    while pending:
        block = pending.pop()
        yield block
        inner: list[Block] = []
        for statement in block.statements:
            if not isinstance(statement, DEFINITIONS):
                inner.extend(Block(statement, field, statements) for field, statements in blocks_of(statement))
        pending.extend(reversed(inner))


def _definitions(node: ast.AST) -> Iterator[Definition]:
    pending = [statement for _field, statements in blocks_of(node) for statement in statements][::-1]
    while pending:
        statement = pending.pop()
        if isinstance(statement, DEFINITIONS):
            yield statement
        else:
            inner = [item for _field, statements in blocks_of(statement) for item in statements]
            pending.extend(reversed(inner))


def outer_expressions(node: Definition) -> list[ast.AST]:
    """The parts of a definition that belong to the scope around it."""
    parts: list[ast.AST] = list(node.decorator_list)
    if isinstance(node, ast.ClassDef):
        parts.extend(node.bases)
        parts.extend(node.keywords)
    else:
        parts.append(node.args)
        if node.returns is not None:
            parts.append(node.returns)
    return parts


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, DEFINITIONS):
            pending.extend(reversed(outer_expressions(current)))
            continue
        if isinstance(current, ast.expr):
            yield current
        pending.extend(reversed(list(ast.iter_child_nodes(current))))


def is_overload(node: Definition) -> bool:
    """Whether a definition is a ``typing.overload`` stub."""
    return any(_last_name(decorator) == "overload" for decorator in node.decorator_list)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def resolve(source: Source, name: str | None, *, occurrence: int | None = None) -> Scope:
    """Find the scope called ``name`` (``Class.method``); None or '' is the module.

    :raises Drift: with ``candidates`` and ``state``: 'drifted' (not there) or 'ambiguous' (several, no ``occurrence``).
    """
    module = Scope("", source.tree, source)
    if not name:
        return module
    found = named(module, name)
    if not found:
        message = f"{source.path} has no {name}{_outer_found(module, name)}"
        raise Drift(message, state="drifted", candidates=nearest_scopes(source, name), matches=0)
    if occurrence is not None:
        if occurrence > len(found):
            raise Drift(
                f"{source.path} has {len(found)} of {name}, not {occurrence}",
                state="drifted",
                candidates=[_candidate(source, scope.name, scope.node) for scope in found],
                matches=len(found),
            )
        return found[occurrence - 1]
    if len(found) > 1:
        raise Drift(
            f"{source.path} has {len(found)} definitions of {name}; say which with `occurrence`",
            state="ambiguous",
            candidates=[_candidate(source, scope.name, scope.node) for scope in found],
            matches=len(found),
        )
    return found[0]


def _outer_found(module: Scope, name: str) -> str:
    """Which part of a dotted name is there, for a message."""
    parts = name.split(".")
    for stop in range(len(parts) - 1, 0, -1):
        found = _find(module, parts[:stop])
        if found:
            line = getattr(found[0].node, "lineno", 1)
            return f": {'.'.join(parts[:stop])}, line {line}, has no {parts[stop]}"
    return ""


def named(module: Scope, name: str) -> list[Scope]:
    """Every definition that ``name`` may mean."""
    return _find(module, name.split("."))


def _find(scope: Scope, parts: Sequence[str]) -> list[Scope]:
    if not parts:
        return [scope]
    named = [node for node in scope.definitions() if node.name == parts[0]]
    real = [node for node in named if not is_overload(node)]
    found: list[Scope] = []
    for node in real or named:
        qualified = f"{scope.name}.{node.name}" if scope.name else node.name
        inner = Scope(qualified, node, scope.source, scope.parents + (scope.node,))
        found.extend(_find(inner, parts[1:]))
    return found


def all_scopes(source: Source) -> Iterator[Scope]:
    """The module and every definition in it, at any depth."""
    pending = [Scope("", source.tree, source)]
    while pending:
        scope = pending.pop(0)
        yield scope
        for node in scope.definitions():
            qualified = f"{scope.name}.{node.name}" if scope.name else node.name
            pending.append(Scope(qualified, node, source, scope.parents + (scope.node,)))


def nearest_scopes(source: Source, name: str, *, limit: int = 3) -> list[str]:
    """Definitions of the file that resemble ``name``: same last part first, then similar spelling."""
    last = name.rsplit(".", 1)[-1]
    scopes = [scope for scope in all_scopes(source) if scope.name]
    same = [scope for scope in scopes if scope.name.rsplit(".", 1)[-1] == last]
    by_name = {scope.name: scope for scope in reversed(scopes)}
    similar = [by_name[near] for near in difflib.get_close_matches(name, list(by_name), n=limit, cutoff=0.6)]
    chosen: list[str] = []
    for scope in same + similar:
        text = _candidate(source, scope.name, scope.node)
        if text not in chosen:
            chosen.append(text)
    return chosen[:limit]


def _candidate(source: Source, name: str, node: ScopeNode) -> str:
    line = 1 if isinstance(node, ast.Module) else node.lineno
    return f"line {line}: {name}"


__all__ = (
    "Block",
    "Scope",
    "ScopeNode",
    "resolve",
    "named",
    "all_scopes",
    "nearest_scopes",
    "outer_expressions",
    "is_overload",
)
