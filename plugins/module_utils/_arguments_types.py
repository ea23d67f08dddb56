# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What the annotations of an engine's configuration classes allow, as far as they are
literal."""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, Module
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    called,
    dotted,
    index_of,
    last_part,
    targets,
)

Scalar = Union[str, int, float, bool]
_CHANGES = ("add", "append", "extend", "insert", "remove", "update")
_DEEPEST = 12


class Field(NamedTuple):
    """An annotated name of a class body."""

    name: str
    owner: ClassRef
    annotation: ast.expr
    source: str


class Leaf(NamedTuple):
    """One alternative of an annotation and the module that spells it."""

    module: Module
    node: ast.expr


class Types:
    """Reads annotations and literal lists, through aliases and imports."""

    def __init__(self, index: Index) -> None:
        self.index = index

    def fields(self, ref: ClassRef) -> List[Field]:
        found: Dict[str, Field] = {}
        for owner in reversed(self.index.mro(ref)):
            for node in owner.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    name = node.target.id
                    if "ClassVar" not in ast.dump(node.annotation) and not name.startswith("_"):
                        found[name] = Field(name, owner, node.annotation, f"{owner.module.path}:{node.lineno}")
        return list(found.values())

    def field(self, ref: ClassRef, name: str) -> Optional[Field]:
        return next((field for field in self.fields(ref) if field.name == name), None)

    def described(self, field: Field) -> Dict[str, Any]:
        """``choices`` of a field where all of its alternatives are literal, ``boolean``, ``keys`` of a nested class."""
        leaves = list(self.leaves(field.owner.module, field.annotation))
        names = {last_part(dotted(leaf.node) or "") for leaf in leaves}
        choices: Optional[List[Scalar]] = None
        if "str" not in names and "bool" not in names:
            literals = [leaf for leaf in leaves if _head(leaf.node) == "Literal"]
            # Of several types the engine's parser takes the literal one, unless a class or a string is among them.
            classes = any(self.index.resolve(leaf.module, dotted(leaf.node) or "") is not None for leaf in leaves)
            if literals and not classes:
                parts = [self._literal(leaf.module, leaf.node) for leaf in literals]
                choices = None if None in parts else [item for part in parts for item in part or []]
        keys = None
        for leaf in leaves:
            ref = self.index.resolve(leaf.module, dotted(leaf.node) or "")
            if ref is not None and last_part(ref.name).endswith("Config"):
                keys = [inner.name for inner in self.fields(ref)]
        return {"choices": choices, "boolean": "bool" in names and "str" not in names, "keys": keys}

    def leaves(self, module: Module, node: ast.expr, depth: int = 0) -> Iterator[Leaf]:
        """The alternatives of a union, with Optional, Annotated and aliases taken away."""
        head = _head(node)
        if depth > _DEEPEST:
            yield Leaf(module, node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                yield from self.leaves(module, ast.parse(node.value, mode="eval").body, depth + 1)
            except SyntaxError:
                yield Leaf(module, node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            yield from self.leaves(module, node.left, depth + 1)
            yield from self.leaves(module, node.right, depth + 1)
        elif isinstance(node, ast.Subscript) and head in ("Optional", "Union", "Annotated", "A", "SkipValidation"):
            inner = index_of(node)
            parts = list(inner.elts) if isinstance(inner, ast.Tuple) else [inner]
            for part in parts if head == "Union" else parts[:1]:
                if isinstance(part, ast.expr):
                    yield from self.leaves(module, part, depth + 1)
        else:
            alias = self._value(module, node.id) if isinstance(node, ast.Name) else None
            if alias is None or self.index.resolve(module, dotted(node) or "") is not None:
                yield Leaf(module, node)
            else:
                yield from self.leaves(alias.module, alias.node, depth + 1)

    def annotated(self, field: Field) -> List[ast.expr]:
        """What stands beside the type in ``Annotated[type, ...]``."""
        node = field.annotation
        if not isinstance(node, ast.Subscript) or _head(node) not in ("Annotated", "A"):
            return []
        inner = index_of(node)
        return list(inner.elts[1:]) if isinstance(inner, ast.Tuple) else []

    def _value(self, module: Module, name: str, depth: int = 0) -> Optional[Leaf]:
        """What a module-level name is; its last assignment holds, as where TYPE_CHECKING has an ``else``."""
        values = module.values.get(name)
        if values:
            return Leaf(module, values[-1])
        for origin, original in module.imports.get(name, ()) if depth < _DEEPEST else ():
            inner = self.index.module(origin)
            found = None if inner is None or original is None else self._value(inner, original, depth + 1)
            if found is not None:
                return found
        return None

    def _literal(self, module: Module, node: ast.expr) -> Optional[List[Scalar]]:
        inner = index_of(node) if isinstance(node, ast.Subscript) else node
        found: List[Scalar] = []
        for item in inner.elts if isinstance(inner, ast.Tuple) else [inner]:
            if isinstance(item, ast.Constant) and isinstance(item.value, (str, int, float)):
                found.append(item.value)
            elif not _is_none(item):
                parts = [
                    self._literal(leaf.module, leaf.node) if _head(leaf.node) == "Literal" else None
                    for leaf in (self.leaves(module, item) if isinstance(item, ast.Name) else ())
                ]
                if not parts or None in parts:
                    return None
                found += [value for part in parts for value in part or []]
        return found

    def values(
        self, module: Module, node: ast.expr, function: Optional[ast.AST], depth: int = 0
    ) -> Optional[List[Scalar]]:
        """The values of a literal list, or of names and sums of such; None where it is computed."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            found: List[Scalar] = []
            for item in node.elts:
                if isinstance(item, ast.Constant) and isinstance(item.value, (str, int, float)):
                    found.append(item.value)
                elif isinstance(item, ast.Starred):
                    inner = self.values(module, item.value, function, depth + 1)
                    if inner is None:
                        return None
                    found += inner
                elif not _is_none(item):
                    return None
            return found
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left = self.values(module, node.left, function, depth + 1)
            right = self.values(module, node.right, function, depth + 1)
            return None if left is None or right is None else left + right
        if isinstance(node, ast.Name):
            local = [] if function is None else _locals(function, node.id)
            if local:
                changed = function is not None and _changed(function, node.id)
                return None if changed or len(local) > 1 else self.values(module, local[0], function, depth + 1)
            value = self._value(module, node.id)
            return None if value is None else self.values(value.module, value.node, None, depth + 1)
        if called(node) in ("list", "sorted", "tuple", "set") and isinstance(node, ast.Call) and len(node.args) == 1:
            return self.values(module, node.args[0], function, depth + 1)
        if called(node) == "keys" and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._keys(module, node.func.value)
        return None

    def _keys(self, module: Module, node: ast.expr) -> Optional[List[Scalar]]:
        """The keys of a dictionary that a class, such as a registry of parsers, spells out."""
        head, dot, tail = (dotted(node) or "").rpartition(".")
        ref = self.index.resolve(module, head) if dot else None
        value = None if ref is None else self.index.class_value(ref, tail)
        if value is None or not isinstance(value.node, ast.Dict):
            return None
        keys = [key for key in value.node.keys if key is not None]
        return self.values(module, ast.List(elts=keys), None) if len(keys) == len(value.node.keys) else None

    def text(self, module: Module, node: Optional[ast.AST], depth: int = 0) -> str:
        """The plain text of a string, of a sum of strings, or of a name for one; empty where there is none."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else ""
        if isinstance(node, ast.JoinedStr):
            return "".join(self.text(module, item) if isinstance(item, ast.Constant) else "..." for item in node.values)
        if isinstance(node, ast.BinOp) and depth < _DEEPEST:
            return self.text(module, node.left, depth + 1) + self.text(module, node.right, depth + 1)
        value = self._value(module, node.id) if isinstance(node, ast.Name) and depth < _DEEPEST else None
        return "" if value is None else self.text(value.module, value.node, depth + 1)


def _head(node: ast.AST) -> str:
    return last_part(dotted(node.value) or "") if isinstance(node, ast.Subscript) else ""


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _locals(function: ast.AST, name: str) -> List[ast.expr]:
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and any(isinstance(item, ast.Name) and item.id == name for item in targets(node))
    ]


def _changed(function: ast.AST, name: str) -> bool:
    return any(
        called(node) in _CHANGES and isinstance(node, ast.Call) and (dotted(node.func) or "").startswith(name + ".")
        for node in ast.walk(function)
    )


__all__ = ("Field", "Leaf", "Scalar", "Types")
