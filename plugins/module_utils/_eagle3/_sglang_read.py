# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What an installed SGLang registers, and which classes its attributes hold.

Types are followed through constructors, locals, defaults, helper methods and dictionaries of classes. Where the source
does not tell, the answer is empty, never a guess.
"""

from __future__ import annotations

import ast
import os
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, MethodRef, Module
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    FUNCTIONS,
    defaults,
    dotted,
    parameters,
    self_attribute,
    self_path,
    statements,
)

MODELS = "sglang.srt.models"
ENTRY = "EntryClass"
AUX = "aux_hidden_states"
SETTER = "set_eagle3_layers_to_capture"
GETTER = "get_embed_and_head"
SET_EMBED = "set_embed_and_head"

_DEPTH = 9


class Place:
    """Where an expression stands: its module, the function around it, and the class that ``self`` is.

    ``bound``: a name that the expression gives a new value, so that in it the name still has its older one.
    """

    def __init__(
        self, module: Module, function: Optional[ast.AST], ref: Optional[ClassRef], bound: Optional[str] = None
    ) -> None:
        self.module = module
        self.function = function
        self.ref = ref
        self.bound = bound


def add(found: List[ClassRef], more: Sequence[ClassRef]) -> None:
    for item in more:
        if item not in found:
            found.append(item)


def returned(function: ast.AST) -> Iterator[ast.expr]:
    for node in statements(getattr(function, "body", [])):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value


def local_values(function: Optional[ast.AST], name: str) -> List[ast.expr]:
    """What a function assigns to a plain local name."""
    found: List[ast.expr] = []
    for node in statements(getattr(function, "body", [])):
        places = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and any(isinstance(item, ast.Name) and item.id == name for item in places):
            found.append(value)
    return found


def local_function(function: Optional[ast.AST], name: str) -> Optional[ast.AST]:
    for node in statements(getattr(function, "body", [])):
        if isinstance(node, FUNCTIONS) and node.name == name:
            return node
    return None


def _passes_up(function: ast.FunctionDef) -> bool:
    last = function.body[-1]
    call = last.value if isinstance(last, ast.Return) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "forward"
        and isinstance(call.func.value, ast.Call)
        and dotted(call.func.value.func) == "super"
    )


def _given(call: ast.Call, name: str, order: Sequence[str], place: Place) -> Iterator[Tuple[ast.expr, Place]]:
    """The argument that a call gives to one parameter."""
    for keyword in call.keywords:
        if keyword.arg == name:
            yield keyword.value, place
    for parameter, argument in zip(order, call.args):
        if parameter == name and not isinstance(argument, ast.Starred):
            yield argument, place


class Reader:
    """The registry, and types, of one installed SGLang.

    ``built``: for the class at hand, the calls that construct it (their arguments may name a layer class).
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.index = Index(root, ["sglang"])
        self.built: Dict[Tuple[str, str], List[Tuple[ast.Call, Place]]] = {}
        self._types: Dict[Tuple[Tuple[str, str], str], List[ClassRef]] = {}

    # the registry

    def _entries(self, module: Module) -> Iterator[str]:
        for value in module.values.get(ENTRY, [])[-1:]:
            for item in value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]:
                name = dotted(item)
                if name is not None:
                    yield name

    def model_modules(self) -> Iterator[str]:
        folder = os.path.join(self.root, *MODELS.split("."))
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            if name.endswith(".py"):
                yield name[:-3]

    def registered(self, wanted: Optional[Sequence[str]] = None) -> Dict[str, ClassRef]:
        """Architecture to class, as the engine's registry builds it from ``EntryClass`` of each module of the package.

        With ``wanted``, only the files that spell one of those names are parsed.
        """
        found: Dict[str, ClassRef] = {}
        folder = os.path.join(self.root, *MODELS.split("."))
        for stem in self.model_modules():
            with open(os.path.join(folder, stem + ".py"), "rb") as stream:
                data = stream.read()
            if ENTRY.encode() not in data:
                continue
            if wanted is not None and not any(name.encode() in data for name in wanted):
                continue
            module = self.index.module(MODELS + "." + stem)
            if module is None:
                continue
            for name in self._entries(module):
                ref = self.index.resolve(module, name)
                if ref is not None:
                    found.setdefault(ref.name, ref)
        return found

    # types

    def attribute_types(self, ref: ClassRef, name: str, depth: int = 0) -> List[ClassRef]:
        """The classes that ``self.name`` may hold; empty when unknown."""
        key = (ref.key, name)
        if key in self._types:
            return self._types[key]
        if depth == 0:
            found = self._attribute_types(ref, name, depth)
            self._types[key] = found
            return found
        return self._attribute_types(ref, name, depth)

    def _attribute_types(self, ref: ClassRef, name: str, depth: int) -> List[ClassRef]:
        found: List[ClassRef] = []
        if depth > _DEPTH:
            return found
        for value in self.index.attribute(ref, name):
            place = Place(value.owner.module, value.function, ref)
            add(found, self.instances(value.node, place, depth + 1))
        if not found:
            method = self.index.method(ref, name)
            if method is not None and any(dotted(mark) == "property" for mark in method.node.decorator_list):
                place = Place(method.owner.module, method.node, ref)
                for expression in returned(method.node):
                    add(found, self.instances(expression, place, depth + 1))
        return found

    def path_types(self, ref: ClassRef, path: Sequence[str], depth: int = 0) -> List[ClassRef]:
        """The classes of ``self.a.b``."""
        current = [ref]
        for name in path:
            following: List[ClassRef] = []
            for item in current:
                add(following, self.attribute_types(item, name, depth))
            current = following
        return current if path else []

    def instances(self, node: ast.expr, place: Place, depth: int = 0) -> List[ClassRef]:
        """The classes of which the value of an expression is an instance."""
        found: List[ClassRef] = []
        if depth > _DEPTH:
            return found
        if isinstance(node, ast.Call):
            add(found, self.classes(node.func, place, depth + 1))
            if not found:
                for function, where in self._functions(node.func, place):
                    for expression in returned(function):
                        add(found, self.instances(expression, where, depth + 1))
        elif isinstance(node, ast.Name):
            for expression in local_values(place.function, node.id):
                add(found, self.instances(expression, place, depth + 1))
        elif isinstance(node, ast.Attribute):
            path = self_path(node)
            if path is not None and place.ref is not None:
                add(found, self.path_types(place.ref, path, depth + 1))
            elif path is None:
                for owner in self.instances(node.value, place, depth + 1):
                    add(found, self.attribute_types(owner, node.attr, depth + 1))
        elif isinstance(node, ast.IfExp):
            add(found, self.instances(node.body, place, depth + 1))
            add(found, self.instances(node.orelse, place, depth + 1))
        elif isinstance(node, ast.BoolOp):
            for part in node.values:
                add(found, self.instances(part, place, depth + 1))
        return found

    def _functions(self, node: ast.expr, place: Place) -> Iterator[Tuple[ast.AST, Place]]:
        name = self_attribute(node)
        if name is not None and place.ref is not None:
            method = self.index.method(place.ref, name)
            if method is not None:
                yield method.node, Place(method.owner.module, method.node, place.ref)
        elif isinstance(node, ast.Name):
            local = local_function(place.function, node.id)
            if local is not None:
                yield local, place
                return
            hit = self.function(place.module, node.id)
            if hit is not None:
                yield hit[1], Place(hit[0], hit[1], None)

    def function(self, module: Module, name: str, depth: int = 0) -> Optional[Tuple[Module, ast.AST]]:
        """A module-level function by name, through imports."""
        if name in module.functions:
            return module, module.functions[name]
        for origin, original in module.imports.get(name, ()) if depth < _DEPTH else ():
            source = self.index.module(origin) if original is not None else None
            if source is not None and original is not None:
                found = self.function(source, original, depth + 1)
                if found is not None:
                    return found
        return None

    def called_function(self, module: Module, node: ast.expr) -> Optional[Tuple[Module, ast.AST]]:
        """The module-level function that ``f`` or ``module.f`` names."""
        if isinstance(node, ast.Name):
            return self.function(module, node.id)
        head = dotted(node.value) if isinstance(node, ast.Attribute) else None
        for origin, original in module.imports.get(head or "", ()):
            source = self.index.module(origin if original is None else f"{origin}.{original}")
            if source is not None and isinstance(node, ast.Attribute):
                return self.function(source, node.attr)
        return None

    def classes(self, node: ast.expr, place: Place, depth: int = 0) -> List[ClassRef]:
        """The classes that an expression itself may be."""
        found: List[ClassRef] = []
        if depth > _DEPTH:
            return found
        name = dotted(node)
        if name is not None and not name.startswith("self."):
            ref = self.index.resolve(place.module, name)
            if ref is not None:
                return [ref]
        if isinstance(node, ast.Name):
            for bound, where in self._bindings(node.id, place):
                add(found, self.classes(bound, where, depth + 1))
        elif isinstance(node, ast.Attribute):
            attribute = self_attribute(node)
            if attribute is not None and place.ref is not None:
                value = self.index.class_value(place.ref, attribute)
                for item in [value] if value else self.index.attribute(place.ref, attribute):
                    where = Place(item.owner.module, item.function, place.ref)
                    add(found, self.classes(item.node, where, depth + 1))
        elif isinstance(node, ast.Subscript):
            add(found, self._table(node.value, place, depth))
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
                add(found, self._table(node.func.value, place, depth))
            for function, where in self._functions(node.func, place):
                for expression in returned(function):
                    add(found, self.classes(expression, where, depth + 1))
        elif isinstance(node, ast.IfExp):
            add(found, self.classes(node.body, place, depth + 1))
            add(found, self.classes(node.orelse, place, depth + 1))
        elif isinstance(node, ast.BoolOp):
            for part in node.values:
                found = found or self.classes(part, place, depth + 1)
        return found

    def _bindings(self, name: str, place: Place) -> Iterator[Tuple[ast.expr, Place]]:
        """What a name may stand for: locals, parameter defaults and what subclasses pass up, module values."""
        for expression in local_values(place.function, name) if name != place.bound else ():
            own = any(isinstance(item, ast.Name) and item.id == name for item in ast.walk(expression))
            yield expression, Place(place.module, place.function, place.ref, name) if own else place
            if own:
                return
        for parameter in parameters(place.function) if place.function is not None else []:
            if parameter.arg != name or place.function is None:
                continue
            passed = list(self._passed_up(name, place))
            default = defaults(place.function).get(name)
            if default is not None and not passed:
                yield default, place
            yield from passed
        if place.function is None or not local_values(place.function, name):
            for expression in place.module.values.get(name, ()):
                yield expression, Place(place.module, None, None)

    def _passed_up(self, name: str, place: Place) -> Iterator[Tuple[ast.expr, Place]]:
        """Arguments of ``super().__init__(...)`` in the classes below the one whose ``__init__`` this is."""
        if place.ref is None:
            return
        order = [item.arg for item in parameters(place.function)][1:] if place.function is not None else []
        for member in self.index.mro(place.ref):
            init = self.index.own_methods(member).get("__init__")
            if init is None:
                continue
            if init is place.function:
                break
            for node in ast.walk(init):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
                    yield from _given(node, name, order, Place(member.module, init, place.ref))
        else:
            return
        for call, where in self.built.get(place.ref.key, ()):
            yield from _given(call, name, order, where)

    def _table(self, node: ast.expr, place: Place, depth: int) -> List[ClassRef]:
        """Every class in a dictionary of classes."""
        found: List[ClassRef] = []
        tables: List[Tuple[ast.expr, Place]] = [(node, place)]
        if isinstance(node, ast.Name):
            tables = list(self._bindings(node.id, place))
        for table, where in tables:
            if isinstance(table, ast.Dict):
                for value in table.values:
                    add(found, self.classes(value, where, depth + 1))
        return found

    # layers

    def note_built(self, ref: ClassRef, path: Sequence[str]) -> None:
        """Remember how the classes of ``self.a.b`` are constructed."""
        self.built = {}
        owners = self.path_types(ref, path[:-1]) if len(path) > 1 else [ref]
        for owner in owners:
            for value in self.index.attribute(owner, path[-1]):
                place = Place(value.owner.module, value.function, owner)
                for call in ast.walk(value.node):
                    for kind in self.classes(call.func, place) if isinstance(call, ast.Call) else []:
                        if not isinstance(call, ast.Call):
                            raise AssertionError("isinstance(call, ast.Call)")
                        self.built.setdefault(kind.key, []).append((call, place))

    def named_classes(
        self, node: ast.AST, place: Place, seen: Optional[Set[int]] = None, depth: int = 0
    ) -> List[ClassRef]:
        """Every class that an expression or local function mentions, locals and lambdas followed."""
        found: List[ClassRef] = []
        seen = set() if seen is None else seen
        if id(node) in seen or depth > _DEPTH:
            return found
        seen.add(id(node))
        for item in ast.walk(node):
            meant = isinstance(item, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
            named = self.classes(item, place, depth + 1) if meant and isinstance(item, ast.expr) else []
            add(found, named)
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load):
                local = local_function(place.function, item.id)
                if local is not None:
                    add(found, self.named_classes(local, place, seen, depth + 1))
                for expression in local_values(place.function, item.id) if not named else ():
                    add(found, self.named_classes(expression, place, seen, depth + 1))
            attribute = self_attribute(item)
            if attribute is not None and isinstance(getattr(item, "ctx", None), ast.Load) and place.ref is not None:
                method = self.index.method(place.ref, attribute)
                if method is not None:
                    where = Place(method.owner.module, method.node, place.ref)
                    add(found, self.named_classes(method.node, where, seen, depth + 1))
        for function in (node,) if isinstance(node, FUNCTIONS) else ():
            for statement in statements(function.body):
                for value in [statement.value] if isinstance(statement, ast.Assign) else []:
                    add(found, self.named_classes(value, Place(place.module, function, place.ref), seen, depth + 1))
        return found

    def element_classes(self, ref: ClassRef, name: str) -> List[ClassRef]:
        """The classes with a ``forward`` that the container ``self.name`` may hold."""
        found: List[ClassRef] = []
        for value in self.index.attribute(ref, name):
            place = Place(value.owner.module, value.function, ref)
            add(found, self.named_classes(value.node, place))
            for grown in self._grown(value.function, name):
                add(found, self.named_classes(grown, place))
        return [item for item in found if self.index.method(item, "forward") is not None]

    def _grown(self, function: Optional[ast.AST], name: str) -> Iterator[ast.expr]:
        """What is appended to ``self.name``, or to the local list it is made from."""
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
                target = dotted(node.func.value)
                if target is not None and (target == "self." + name or target in self._sources(function, name)):
                    yield from node.args

    def _sources(self, function: Optional[ast.AST], name: str) -> Set[str]:
        found: Set[str] = set()
        for node in statements(getattr(function, "body", [])):
            if isinstance(node, ast.Assign) and any(self_attribute(item) == name for item in node.targets):
                found.update(item.id for item in ast.walk(node.value) if isinstance(item, ast.Name))
        return found

    # forwards

    def running_forward(self, ref: ClassRef) -> Optional[MethodRef]:
        """The forward that does the work: a class's own, or the one that ``super().forward(...)`` passes on to."""
        order = self.index.mro(ref)
        found = self.index.method(ref, "forward")
        while found is not None and _passes_up(found.node):
            above = order[order.index(found.owner) + 1 :]
            owner = next((item for item in above if "forward" in self.index.own_methods(item)), None)
            found = None if owner is None else MethodRef(owner, self.index.own_methods(owner)["forward"])
        return found

    # the logits processor

    def is_logits_processor(self, ref: ClassRef) -> bool:
        """Whether a class takes captured states beside hidden states and head, as the engine's own does."""
        forward = self.index.method(ref, "forward")
        names = [item.arg for item in parameters(forward.node)] if forward is not None else []
        return AUX in names and len(names) > 4


__all__ = (
    "AUX",
    "GETTER",
    "MODELS",
    "Place",
    "Reader",
    "SETTER",
    "SET_EMBED",
    "add",
    "local_function",
    "local_values",
    "returned",
)
