# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An installed tree read lazily: modules, classes, their bases across files. Nothing of it is imported or run."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    FUNCTIONS,
    dotted,
    last_part,
    self_attribute,
    statements,
)

# Folders that hold another platform's twin of a class; a CUDA host loads none of them.
OTHER_PLATFORMS = frozenset(("amd", "cpu", "hpu", "npu", "rocm", "tpu", "xpu"))


@dataclass
class Module:
    """One parsed file. ``path`` is relative to the root, with slashes."""

    name: str
    path: str
    is_package: bool
    source: bytes
    tree: ast.Module
    classes: Dict[str, List[ast.ClassDef]] = field(default_factory=dict)
    functions: Dict[str, ast.AST] = field(default_factory=dict)
    imports: Dict[str, List[Tuple[str, Optional[str]]]] = field(default_factory=dict)
    stars: List[str] = field(default_factory=list)
    values: Dict[str, List[ast.expr]] = field(default_factory=dict)
    _lines: Optional[List[bytes]] = None

    def absolute(self, node: ast.ImportFrom) -> str:
        """The module that a from-import names, dots resolved."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        keep = len(parts) - node.level + (1 if self.is_package else 0)
        return ".".join(parts[: max(keep, 0)] + ([node.module] if node.module else []))

    def read(self) -> None:
        for node in statements(self.tree.body):
            if isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, []).append(node)
            elif isinstance(node, FUNCTIONS):
                self.functions[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                origin = self.absolute(node)
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(origin)
                    else:
                        self.imports.setdefault(alias.asname or alias.name, []).append((origin, alias.name))
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.split(".")[0]
                    self.imports.setdefault(bound, []).append((alias.name if alias.asname else bound, None))
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.values.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self.values.setdefault(node.target.id, []).append(node.value)

    def segment(self, node: ast.AST) -> str:
        """The source of a node as written; lines after the first keep their indentation."""
        if self._lines is None:
            self._lines = self.source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        first, last = getattr(node, "lineno", 1) - 1, getattr(node, "end_lineno", 1) - 1
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        if first == last:
            part = self._lines[first][start:end]
        else:
            part = b"\n".join([self._lines[first][start:], *self._lines[first + 1 : last], self._lines[last][:end]])
        return part.decode("utf-8", "replace")


@dataclass(frozen=True)
class ClassRef:
    """A class where it is defined."""

    module: Module
    node: ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def key(self) -> Tuple[str, str]:
        return self.module.name, self.node.name

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassRef) and other.key == self.key


@dataclass(frozen=True)
class MethodRef:
    """A method and the class of the lineage that defines it."""

    owner: ClassRef
    node: ast.FunctionDef


@dataclass(frozen=True)
class Value:
    """An expression, with the function (None: class body) and class it stands in."""

    owner: ClassRef
    function: Optional[ast.AST]
    node: ast.expr


class Index:
    """Reads the modules of the named import packages below ``root``, each file at most once."""

    def __init__(self, root: str, packages: Sequence[str]) -> None:
        self.root = root
        self.packages = tuple(packages)
        self.broken: Dict[str, str] = {}
        self.met: Set[str] = set()
        self._broken_names: Dict[str, str] = {}
        self._modules: Dict[str, Optional[Module]] = {}
        self._mro: Dict[Tuple[str, str], List[ClassRef]] = {}
        self._methods: Dict[Tuple[str, str], Dict[str, ast.FunctionDef]] = {}
        self._selves: Dict[Tuple[str, str], Dict[str, List[Value]]] = {}
        self._resolved: Dict[Tuple[str, str], Optional[ClassRef]] = {}

    # files

    def module(self, name: str) -> Optional[Module]:
        """The parsed module, None when it is not in the packages or does not parse.

        ``broken`` says why by path; ``met`` collects the broken paths that were asked for, until the caller clears it.
        """
        if name not in self._modules:
            self._modules[name] = self._load(name) if name.split(".")[0] in self.packages else None
        if name in self._broken_names:
            self.met.add(self._broken_names[name])
        return self._modules[name]

    def path_of(self, name: str) -> Optional[Tuple[str, bool]]:
        """Path below the root and whether it is a package."""
        stem = name.replace(".", "/")
        for path, is_package in ((stem + ".py", False), (stem + "/__init__.py", True)):
            if os.path.isfile(os.path.join(self.root, path)):
                return path, is_package
        return None

    def _load(self, name: str) -> Optional[Module]:
        place = self.path_of(name)
        if place is None:
            return None
        path, is_package = place
        with open(os.path.join(self.root, path), "rb") as stream:
            source = stream.read()
        try:
            tree = ast.parse(source, path)
        except (SyntaxError, ValueError) as error:
            self._broken_names[name] = path
            line = getattr(error, "lineno", None)
            self.broken[path] = "{} does not parse{}: {}".format(
                path, "" if line is None else f" at line {line}", getattr(error, "msg", None) or error
            )
            return None
        module = Module(name=name, path=path, is_package=is_package, source=source, tree=tree)
        module.read()
        return module

    # names

    def resolve(self, module: Module, name: str) -> Optional[ClassRef]:
        """The class that a (dotted) name means in a module, through imports, re-exports and aliases."""
        key = (module.name, name)
        if key not in self._resolved:
            self._resolved[key] = self._resolve(module, name, set())
        return self._resolved[key]

    def _resolve(self, module: Optional[Module], name: str, seen: Set[Tuple[str, str]]) -> Optional[ClassRef]:
        if module is None or (module.name, name) in seen:
            return None
        seen.add((module.name, name))
        if "." in name:
            head, tail = name.split(".", 1)
            for origin, original in module.imports.get(head, ()):
                inner = origin if original is None else origin + "." + original
                found = self._resolve(self.module(inner), tail, seen)
                if found is not None:
                    return found
            return None
        if name in module.classes:
            return ClassRef(module, module.classes[name][0])
        for origin, original in sorted(module.imports.get(name, ()), key=_platform_rank):
            if original is not None:
                found = self._resolve(self.module(origin), original, seen)
                if found is not None:
                    return found
        for value in module.values.get(name, ()):
            alias = dotted(value)
            if alias is not None:
                found = self._resolve(module, alias, seen)
                if found is not None:
                    return found
        for origin in module.stars:
            found = self._resolve(self.module(origin), name, seen)
            if found is not None:
                return found
        return None

    def origin(self, module: Module, name: str) -> Optional[Tuple[str, str]]:
        """(module, name) that an imported name comes from, whether or not that module can be read."""
        for source, original in module.imports.get(name, ()):
            if original is not None:
                return source, original
        return None

    # classes

    def bases(self, ref: ClassRef) -> Iterator[Tuple[str, Optional[ClassRef]]]:
        for node in ref.node.bases:
            name = dotted(node.value if isinstance(node, ast.Subscript) else node)
            if name is not None:
                yield name, self.resolve(ref.module, name)

    def mro(self, ref: ClassRef) -> List[ClassRef]:
        """Python's own method resolution order over the classes that can be read."""
        if ref.key not in self._mro:
            self._mro[ref.key] = [ref]
            parents = [base for _name, base in self.bases(ref) if base is not None]
            self._mro[ref.key] = [ref, *_merge([list(self.mro(base)) for base in parents] + [parents])]
        return self._mro[ref.key]

    def lineage_names(self, ref: ClassRef) -> Set[str]:
        """Last parts of the names of every class and base of the lineage, readable or not."""
        names = set()
        for member in self.mro(ref):
            names.add(member.name)
            names.update(last_part(name) for name, _base in self.bases(member))
        return names

    def own_methods(self, ref: ClassRef) -> Dict[str, ast.FunctionDef]:
        if ref.key not in self._methods:
            found: Dict[str, ast.FunctionDef] = {}
            for node in statements(ref.node.body):
                if isinstance(node, ast.FunctionDef) and not _is_overload(node):
                    found[node.name] = node
            self._methods[ref.key] = found
        return self._methods[ref.key]

    def method(self, ref: ClassRef, name: str) -> Optional[MethodRef]:
        for member in self.mro(ref):
            node = self.own_methods(member).get(name)
            if node is not None:
                return MethodRef(member, node)
        return None

    def class_value(self, ref: ClassRef, name: str) -> Optional[Value]:
        """The value that a class attribute has in the lineage."""
        for member in self.mro(ref):
            for node in statements(member.node.body):
                value = getattr(node, "value", None)
                places = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                if value is not None and any(isinstance(place, ast.Name) and place.id == name for place in places):
                    return Value(member, None, value)
        return None

    def own_attributes(self, ref: ClassRef) -> Dict[str, List[Value]]:
        """``self.x = value`` in the class's own methods; a tuple target gives each of its names the whole value."""
        if ref.key not in self._selves:
            found: Dict[str, List[Value]] = {}
            for function in self.own_methods(ref).values():
                for node in statements(function.body):
                    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                        continue
                    places = list(node.targets) if isinstance(node, ast.Assign) else [node.target]
                    for place in places:
                        for item in place.elts if isinstance(place, (ast.Tuple, ast.List)) else [place]:
                            name = self_attribute(item)
                            if name is not None:
                                found.setdefault(name, []).append(Value(ref, function, node.value))
            self._selves[ref.key] = found
        return self._selves[ref.key]

    def attribute(self, ref: ClassRef, name: str) -> List[Value]:
        """What the nearest class of the lineage that assigns ``self.name`` assigns to it."""
        for member in self.mro(ref):
            values = self.own_attributes(member).get(name)
            if values:
                return values
        return []


def _platform_rank(candidate: Tuple[str, Optional[str]]) -> bool:
    return not OTHER_PLATFORMS.isdisjoint(candidate[0].split("."))


def _is_overload(node: ast.FunctionDef) -> bool:
    return any(last_part(dotted(mark) or "") == "overload" for mark in node.decorator_list)


def _merge(sequences: List[List[ClassRef]]) -> List[ClassRef]:
    """The C3 merge; where it has no answer (an unreadable base hides why), the first candidate goes on."""
    merged: List[ClassRef] = []
    sequences = [sequence for sequence in sequences if sequence]
    while sequences:
        head = next(
            (one[0] for one in sequences if not any(one[0] in other[1:] for other in sequences)), sequences[0][0]
        )
        merged.append(head)
        sequences = [[item for item in sequence if item != head] for sequence in sequences]
        sequences = [sequence for sequence in sequences if sequence]
    return merged


__all__ = ("ClassRef", "Index", "MethodRef", "Module", "OTHER_PLATFORMS", "Value")
