# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``element``: of a list, tuple, set, dict, ``frozenset(...)`` or ``Literal[...]``."""

from __future__ import annotations

from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils import _container as container
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, Snippet
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._element_target import Target
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same

MODIFIERS = ("count",)
ABSENT = True


class Element(Operation):
    """Add an element, or take it away."""

    local = True

    def __init__(self, target: Target, key: Snippet | None, value: Snippet, count: int | str, *, absent: bool) -> None:
        self.target = target
        self.key = key
        self.value = value
        self.count = count
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source, to = scope.source, self.target.text
        nodes = self.target.nodes(scope)
        boxes: list[container.Container] = []
        for node in nodes:
            box = self.target.container(source, node)
            if box is None:
                return drifted(
                    f"{to}, line {node.lineno}, is no literal collection, so no element can be added", line=node.lineno
                )
            if (self.key is not None) != box.has_keys and (box.items or box.has_keys):
                needs = "a dict: give `key` and `value`" if box.has_keys else "no dict: give `value` alone"
                return drifted(f"{to}, line {node.lineno}, is {needs}", line=node.lineno)
            other = self._other_value(box)
            if other is not None:
                return drifted(
                    f"{to} has the key with another value, line {other.lineno}", line=other.lineno, matches=1
                )
            boxes.append(box)
        found = [self._indices(box) for box in boxes]
        if boxes and [] in found and any(self._indices(box) for box in self.target.additions(scope)):
            where = f"{to}: the element stands in a `+=` of it"
            return drifted(where, line=nodes[0].lineno) if self.absent else present(nodes[0].lineno)
        todo = [(box, indices) for box, indices in zip(boxes, found) if bool(indices) == self.absent]
        splices: list[Splice] = []
        for box, indices in todo:
            splices.extend(
                container.drop(source, box, indices) if indices else container.add(source, box, self._text())
            )
        return settle(
            count=self.count,
            todo=todo,
            done=len(boxes) - len(todo),
            splices=splices,
            lines=[node.lineno for node in nodes],
            nothing=drifted(f"{scope.describe()} has no {to}", candidates=self.target.near(scope)),
            what=f"{scope.describe()} has {to}",
            source=scope.source,
        )

    def _indices(self, box: container.Container) -> list[int]:
        """Where the element stands; more than once in a list with duplicates."""
        key, value = self.key, self.value.expression
        if key is None:
            return [index for index, item in enumerate(box.items) if same(item, value)]
        return [
            index
            for index, item in enumerate(box.items)
            if same(item[0], key.expression) and (self.absent or same(item[1], value))
        ]

    def _other_value(self, box: container.Container) -> Any:
        """The last entry of the key, when it has another value: it is the one that counts."""
        if self.key is None or self.absent or not box.has_keys:
            return None
        entries = [item for item in box.items if same(item[0], self.key.expression)]
        return entries[-1][0] if entries and not same(entries[-1][1], self.value.expression) else None

    def _text(self) -> bytes:
        return (self.key.text + b": " if self.key is not None else b"") + self.value.text


def parse(fields: Fields, *, absent: bool) -> Element:
    inner = Fields(fields.values["element"], fields.what)
    inner.only(("to", "key", "value"))
    key = inner.expression("key") if "key" in inner else None
    value = key if absent and key is not None and "value" not in inner else inner.expression("value")
    target = Target(inner.text("to").strip(), f"{fields.what}, to")
    return Element(target, key, value, fields.count(), absent=absent)
