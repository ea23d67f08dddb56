# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which class an attribute of a model holds: follows the expression that builds it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, Value
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    called,
    defaults,
    dotted,
    keyword_value,
    self_attribute,
    statements,
    targets,
    text_constant,
    text_list,
)

# Functions of the engine that stand around a constructor and return what it makes.
REGISTERED = "init_vllm_registered_model"
MISSING = ("PPMissingLayer", "StageMissingLayer", "Identity")


Choice = Tuple[Tuple[str, ...], Tuple[str, ...], Tuple[str, ...]]


@dataclass(frozen=True)
class Registered:
    """A model that the engine's registry builds: literal architectures, and the path of its config.

    ``choices``: where a field of the config chooses, its path, the values, and the architectures for them.
    """

    architectures: Tuple[str, ...]
    config: Tuple[str, ...]
    choices: Tuple[Choice, ...] = ()

    def chosen(self, config: Dict[str, Any]) -> Tuple[str, ...]:
        """The architectures for a parsed config.json; none where it does not choose."""
        for path, values, architectures in self.choices:
            part: Any = config
            for name in path:
                part = part.get(name) if isinstance(part, dict) else None
            if isinstance(part, str) and part in values:
                return architectures
        return self.architectures


Built = Union[ClassRef, Registered]


def built_by(index: Index, ref: ClassRef, attribute: str) -> Optional[Built]:
    """What ``self.<attribute>`` of a class of ``ref``'s lineage is; None where the source does not say."""
    for value in index.attribute(ref, attribute):
        found = build(index, ref, value)
        if found is not None:
            return found
    return None


def build(index: Index, ref: ClassRef, value: Value, depth: int = 0) -> Optional[Built]:
    """The class that an expression makes an instance of, seen from an instance of ``ref``."""
    node = value.node
    if depth > 6:
        return None
    if isinstance(node, (ast.IfExp, ast.BoolOp)):
        options = [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values
        for option in options:
            found = build(index, ref, Value(value.owner, value.function, option), depth + 1)
            if found is not None:
                return found
        return None
    if isinstance(node, ast.Name) and value.function is not None:
        return _first(index, ref, _local_values(value, node.id), depth)
    if isinstance(node, ast.Attribute):
        name = self_attribute(node)
        return None if name is None else _first(index, ref, index.attribute(ref, name), depth)
    if not isinstance(node, ast.Call):
        return None
    if called(node) == REGISTERED:
        return _registered(node, value)
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        return build(index, ref, Value(value.owner, value.function, node.func.value), depth + 1)
    made = class_named(index, ref, value, node.func)
    if made is not None:
        return made
    name = self_attribute(node.func)
    if name is not None:
        method = index.method(ref, name)
        if method is not None:
            returned = [
                Value(method.owner, method.node, item.value)
                for item in statements(method.node.body)
                if isinstance(item, ast.Return) and item.value is not None
            ]
            return _first(index, ref, returned, depth)
    return None


def class_named(index: Index, ref: ClassRef, value: Value, node: ast.expr) -> Optional[ClassRef]:
    """The class that an expression in the place of a constructor means."""
    attribute = self_attribute(node)
    if attribute is not None:
        chosen = index.class_value(ref, attribute)
        if chosen is not None:
            name = dotted(chosen.node)
            return None if name is None else index.resolve(chosen.owner.module, name)
        for assigned in index.attribute(ref, attribute):
            name = dotted(assigned.node)
            found = None if name is None else index.resolve(assigned.owner.module, name)
            if found is not None:
                return found
        return None
    name = dotted(node)
    if name is None:
        return None
    found = index.resolve(value.owner.module, name)
    if found is not None or value.function is None or "." in name:
        return found
    for local in _local_values(value, name):
        text = dotted(local.node) if isinstance(local.node, (ast.Name, ast.Attribute)) else None
        found = None if text in (None, name) else index.resolve(value.owner.module, text or "")
        if found is not None:
            return found
    default = defaults(value.function).get(name)
    text = dotted(default)
    return None if text is None else index.resolve(value.owner.module, text)


def _first(index: Index, ref: ClassRef, found: List[Value], depth: int) -> Optional[Built]:
    for item in found:
        built = build(index, ref, item, depth + 1)
        if built is not None:
            return built
    return None


def _local_values(site: Value, name: str) -> List[Value]:
    """What the function around an expression assigns to one of its own names."""
    found = []
    for node in statements(getattr(site.function, "body", [])):
        value = getattr(node, "value", None)
        if value is not None and any(isinstance(place, ast.Name) and place.id == name for place in targets(node)):
            found.append(Value(site.owner, site.function, value))
    return found


def _registered(call: ast.Call, site: Value) -> Registered:
    given = keyword_value(call, "architectures")
    literal = text_list(given)
    choices = tuple(_choices(site, given.id)) if isinstance(given, ast.Name) else ()
    config = keyword_value(call, "hf_config")
    if isinstance(config, ast.Name):
        for local in _local_values(site, config.id):
            config = local.node
    return Registered(tuple(literal or ()), _config_path(config), choices)


def _config_path(node: Optional[ast.AST]) -> Tuple[str, ...]:
    """Where below the whole config an expression points."""
    path = dotted(node)
    parts = tuple(path.split(".")) if path else ()
    while parts and parts[0] in ("self", "vllm_config", "model_config", "hf_config", "config"):
        parts = parts[1:]
    return parts


def _choices(site: Value, name: str) -> List[Choice]:
    """What ``if config.kind in ("a", "b"): name = ["X"] elif ...`` assigns; none unless every branch is told."""
    for node in statements(getattr(site.function, "body", [])):
        if not isinstance(node, ast.If):
            continue
        found: List[Choice] = []
        branch: List[ast.stmt] = [node]
        while len(branch) == 1 and isinstance(branch[0], ast.If):
            test = branch[0].test
            chosen = _assigned(branch[0].body, name)
            if not isinstance(test, ast.Compare) or len(test.ops) != 1 or chosen is None:
                found = []
                break
            wanted = test.comparators[0]
            one = text_constant(wanted) if isinstance(test.ops[0], ast.Eq) else None
            values = text_list(wanted) if isinstance(test.ops[0], ast.In) else None if one is None else [one]
            path = _config_path(test.left)
            if values is None or not path:
                found = []
                break
            found.append((path, tuple(values), tuple(chosen)))
            branch = branch[0].orelse
        if found:
            return found
    return []


def _assigned(body: List[ast.stmt], name: str) -> Optional[List[str]]:
    if len(body) != 1 or not any(isinstance(place, ast.Name) and place.id == name for place in targets(body[0])):
        return None
    return text_list(getattr(body[0], "value", None))


__all__ = ("Built", "MISSING", "REGISTERED", "Registered", "build", "built_by", "class_named")
