# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``element``: of a list, tuple, set, dict, ``frozenset(...)`` or ``Literal[...]``."""

from __future__ import annotations

import ast
from typing import Any, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _container as container
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, Snippet
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import Matcher
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, nearest, placeholders
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import dotted, same

MODIFIERS = ("count",)
ABSENT = True

_ELEMENTS = "SPECDEC_ELEMENTS"


class Element(Operation):
    """Add an element, or take it away."""

    def __init__(
        self, to: str, what: str, key: Snippet | None, value: Snippet, count: int | str, *, absent: bool
    ) -> None:
        self.to = to
        self.key = key
        self.value = value
        self.count = count
        self.absent = absent
        self.run = ""
        self.pattern = Pattern(self._named(what), what=what)
        self.name = "" if self.run or self.pattern.expression is None else dotted(self.pattern.expression)

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        nodes = self._assigned(scope) if self.name else self._matched(scope)
        boxes: list[container.Container] = []
        for node in nodes:
            box = container.of(source, node)
            if box is None:
                return drifted(
                    f"{self.to}, line {node.lineno}, is no literal collection, so no element can be added",
                    line=node.lineno,
                )
            if (self.key is not None) != box.has_keys and (box.items or box.has_keys):
                needs = "a dict: give `key` and `value`" if box.has_keys else "no dict: give `value` alone"
                return drifted(f"{self.to}, line {node.lineno}, is {needs}", line=node.lineno)
            boxes.append(box)
        there = [self._index(box) for box in boxes]
        for box, index in zip(boxes, there):
            other = self._other_value(box)
            if index is None and other is not None:
                return drifted(
                    f"{self.to} has the key with another value, line {other.lineno}", line=other.lineno, matches=1
                )
        if not self.absent and boxes and None in there and self._in_additions(scope):
            return present(nodes[0].lineno)
        todo = [(box, index) for box, index in zip(boxes, there) if (index is None) != self.absent]
        splices: list[Splice] = []
        for box, index in todo:
            splices.extend(
                container.drop(source, box, index) if index is not None else container.add(source, box, self._text())
            )
        return settle(
            count=self.count,
            todo=todo,
            done=len(boxes) - len(todo),
            splices=splices,
            lines=[node.lineno for node in nodes],
            nothing=drifted(f"{scope.describe()} has no {self.to}", candidates=self._near(scope)),
            what=f"{scope.describe()} has {self.to}",
        )

    def _near(self, scope: Scope) -> list[str]:
        if not self.name:
            return nearest(scope, self.pattern)
        return nearest(scope, Pattern(f"{self.name} = $_", what="to"))

    def _assigned(self, scope: Scope) -> list[Any]:
        """Values assigned to the name."""
        return [
            node.value
            for node in self._bindings(scope, (ast.Assign, ast.AnnAssign))
            if node.value is not None and not isinstance(node, ast.AugAssign)
        ]

    def _in_additions(self, scope: Scope) -> bool:
        """Whether a ``name += [...]`` holds the element already."""
        if not self.name:
            return False
        boxes = [container.of(scope.source, node.value) for node in self._bindings(scope, (ast.AugAssign,))]
        return any(box is not None and self._index(box) is not None for box in boxes)

    def _bindings(self, scope: Scope, kinds: Any) -> list[Any]:
        found: list[Any] = []
        for block in scope.blocks():
            for node in block.statements:
                if isinstance(node, kinds):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    if any(dotted(target) == self.name for target in targets):
                        found.append(node)
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def _matched(self, scope: Scope) -> list[Any]:
        """The nodes whose elements the run of the pattern stands for."""
        matches = (
            self.pattern.as_expression(scope)
            if self.pattern.expression is not None
            else self.pattern.as_statements(scope)
        )
        nodes: list[Any] = []
        for match in matches:
            matcher = Matcher()
            wanted: Sequence[Any] = self.pattern.statements if match.block else [self.pattern.expression]
            matcher.match_sequence(wanted, match.nodes, {})
            node = matcher.containers.get(self.run)
            if node is not None:
                nodes.append(node)
        return nodes

    def _index(self, box: container.Container) -> int | None:
        for index, item in enumerate(box.items):
            if self.key is None:
                if same(item, self.value.expression):
                    return index
            elif same(item[0], self.key.expression) and (self.absent or same(item[1], self.value.expression)):
                return index
        return None

    def _other_value(self, box: container.Container) -> Any:
        if self.key is None or self.absent:
            return None
        for item in box.items:
            if item[0] is not None and same(item[0], self.key.expression) and not same(item[1], self.value.expression):
                return item[0]
        return None

    def _text(self) -> bytes:
        return (self.key.text + b": " if self.key is not None else b"") + self.value.text

    def _named(self, what: str) -> str:
        """The target with the run that holds the elements named, so that a match says where it stood."""
        spans = [span for span in placeholders(self.to, what=what) if span[3]]
        unnamed = [span for span in spans if not span[2]]
        if len(unnamed) > 1 or (not unnamed and len(spans) > 1):
            raise BadInput(f"{what}: `to` must have one $$$ for the elements; give the other runs names")
        if not spans:
            return self.to
        start, end, name, _run = (unnamed or spans)[0]
        self.run = name or _ELEMENTS
        data = self.to.encode("utf-8")
        return (data[:start] + b"$$$" + self.run.encode("utf-8") + data[end:]).decode("utf-8")


def parse(fields: Fields, *, absent: bool) -> Element:
    inner = Fields(fields.values["element"], fields.what)
    inner.only(("to", "key", "value"))
    what = f"{fields.what}, to"
    key = inner.expression("key") if "key" in inner else None
    value = inner.expression("value") if "value" in inner or not (absent and key is not None) else key
    assert value is not None
    element = Element(inner.text("to").strip(), what, key, value, fields.count(), absent=absent)
    if not element.run and not element.name:
        raise BadInput(f"{what}: give an assigned name, a dotted name, or a pattern whose $$$ holds the elements")
    return element
