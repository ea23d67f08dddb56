# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Which names mean the same variable: Python's scopes, for the few names that matter.

Every place where one of the names stands is an :class:`Occurrence`; :meth:`Region.owner` says whose variable it is.
"""

from __future__ import annotations

import ast
from typing import Any, Iterator, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source

MODULE, CLASS, FUNCTION, COMPREHENSION, TYPES = "module", "class", "function", "comprehension", "types"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_STRINGS = ("JoinedStr", "TemplateStr")


class Region:
    """One scope of names: a module, class, function or lambda, comprehension, or a definition's type parameters."""

    def __init__(self, kind: str, node: ast.AST, parent: Region | None) -> None:
        self.kind = kind
        self.node = node
        self.parent = parent
        self.bound: set[str] = set()
        self.declared: dict[str, str] = {}

    @property
    def module(self) -> Region:
        return self if self.parent is None else self.parent.module

    def holds(self, name: str) -> bool:
        """Whether a name is a variable of this scope itself."""
        return name in self.bound and name not in self.declared

    def owner(self, name: str) -> Region:
        """The scope whose variable ``name`` is when it stands in this one; the module for globals and builtins."""
        if self.declared.get(name) == "global":
            return self.module
        if self.holds(name) or self.parent is None:
            return self
        region: Region | None = self.parent
        sees_class = self.kind == TYPES
        while region is not None and region.parent is not None:
            if region.kind != CLASS or sees_class:
                if region.declared.get(name) == "global":
                    return self.module
                if region.holds(name):
                    return region
            sees_class = region.kind == TYPES
            region = region.parent
        return self.module

    def within(self, other: Region) -> bool:
        """Whether this scope is ``other`` or nested in it."""
        return self is other or (self.parent is not None and self.parent.within(other))


class Occurrence:
    """A place where a name stands. ``node``: what spells it; ``string``: the f-string in which it stands."""

    def __init__(self, name: str, node: ast.AST, region: Region, string: ast.AST | None, *, binds: bool) -> None:
        self.name = name
        self.node = node
        self.region = region
        self.string = string
        self.binds = binds

    @property
    def owner(self) -> Region:
        return self.region.owner(self.name)


class Names:
    """The occurrences of ``wanted`` names in a file."""

    def __init__(self, source: Source, wanted: Sequence[str]) -> None:
        self.wanted = frozenset(wanted)
        self.occurrences: list[Occurrence] = []
        self._bound: dict[int, dict[str, int]] = {}
        self.regions: dict[int, Region] = {}
        self._string: ast.AST | None = None
        self.module = self._region(MODULE, source.tree, None)
        self._visit_all(source.tree.body, self.module)

    def region_of(self, node: ast.AST) -> Region:
        """The scope that a module, class or function makes."""
        return self.regions[id(node)]

    def bound_in(self, node: ast.AST) -> dict[str, int]:
        """All names that a module, class or function binds, with the line of the first place."""
        return self._bound.get(id(node), {})

    def _region(self, kind: str, node: ast.AST, parent: Region | None) -> Region:
        region = Region(kind, node, parent)
        if kind != TYPES:
            self.regions[id(node)] = region
        return region

    def _note(self, name: str | None, node: ast.AST, region: Region, *, binds: bool) -> None:
        if name is None:
            return
        if binds:
            self._bound.setdefault(id(region.node), {}).setdefault(name, getattr(node, "lineno", 1))
        if name in self.wanted:
            if binds:
                region.bound.add(name)
            self.occurrences.append(Occurrence(name, node, region, self._string, binds=binds))

    def _visit_all(self, nodes: Sequence[Any], region: Region) -> None:
        for node in nodes:
            if isinstance(node, ast.AST):
                self._visit(node, region)

    def _visit(self, node: Any, region: Region) -> None:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._definition(node, region)
        elif isinstance(node, ast.Lambda):
            self._visit_all(list(node.args.defaults) + list(node.args.kw_defaults), region)
            inner = self._region(FUNCTION, node, region)
            self._parameters(node.args, inner)
            self._visit(node.body, inner)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, region)
        elif isinstance(node, ast.Name):
            self._note(node.id, node, region, binds=not isinstance(node.ctx, ast.Load))
        elif isinstance(node, ast.NamedExpr):
            self._visit(node.value, region)
            around = region
            while around.kind == COMPREHENSION and around.parent is not None:
                around = around.parent
            self._note(node.target.id, node.target, around, binds=True)
        elif type(node).__name__ in _STRINGS and self._string is None:
            self._string = node
            self._visit_all(list(ast.iter_child_nodes(node)), region)
            self._string = None
        elif type(node).__name__ == "TypeAlias":
            self._visit(node.name, region)
            self._visit(node.value, self._type_parameters(node, region))
        else:
            self._other(node, region)

    def _other(self, node: Any, region: Region) -> None:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                if name in self.wanted:
                    region.declared[name] = "global" if isinstance(node, ast.Global) else "nonlocal"
                self._note(name, node, region, binds=False)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                self._note(alias.asname or alias.name.split(".", 1)[0], node, region, binds=True)
        else:
            for field in ("name", "rest"):
                # An except clause, or what a case captures.
                value = getattr(node, field, None)
                if isinstance(value, str):
                    self._note(value, node, region, binds=True)
            self._visit_all(list(ast.iter_child_nodes(node)), region)

    def _definition(self, node: Any, region: Region) -> None:
        self._note(node.name, node, region, binds=True)
        self._visit_all(node.decorator_list, region)
        outer = self._type_parameters(node, region)
        if isinstance(node, ast.ClassDef):
            self._visit_all(list(node.bases) + [item.value for item in node.keywords], outer)
            self._visit_all(node.body, self._region(CLASS, node, outer))
            return
        self._visit_all(list(node.args.defaults) + list(node.args.kw_defaults), region)
        self._visit_all([node.returns] + [arg.annotation for arg in parameters(node.args)], outer)
        inner = self._region(FUNCTION, node, outer)
        self._parameters(node.args, inner)
        self._visit_all(node.body, inner)

    def _type_parameters(self, node: Any, region: Region) -> Region:
        items = getattr(node, "type_params", [])
        if not items:
            return region
        types = self._region(TYPES, node, region)
        for item in items:
            self._note(item.name, item, types, binds=True)
            self._visit_all(list(ast.iter_child_nodes(item)), types)
        return types

    def _parameters(self, args: ast.arguments, region: Region) -> None:
        for arg in parameters(args):
            self._note(arg.arg, arg, region, binds=True)

    def _comprehension(self, node: Any, region: Region) -> None:
        # Only the first iterable is read outside of the comprehension's own scope.
        inner = self._region(COMPREHENSION, node, region)
        first = True
        for generator in node.generators:
            self._visit(generator.iter, region if first else inner)
            self._visit(generator.target, inner)
            self._visit_all(generator.ifs, inner)
            first = False
        fields = ("key", "value") if isinstance(node, ast.DictComp) else ("elt",)
        self._visit_all([getattr(node, field) for field in fields], inner)


def parameters(args: ast.arguments) -> Iterator[ast.arg]:
    """All parameters of a function."""
    for arg in list(args.posonlyargs) + list(args.args) + [args.vararg] + list(args.kwonlyargs) + [args.kwarg]:
        if arg is not None:
            yield arg


__all__ = ("CLASS", "FUNCTION", "MODULE", "Names", "Occurrence", "Region", "parameters")
