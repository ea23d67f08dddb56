# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What ``element`` adds to: an assigned name, or the run in a pattern."""

from __future__ import annotations

import ast
from typing import Any, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _container as collection
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import Matcher
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, nearest, placeholders
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import dotted

_ELEMENTS = "SPECDEC_ELEMENTS"


class Target:
    """The ``to`` of an element.

    :ivar text: as the edit gives it.
    """

    def __init__(self, text: str, what: str) -> None:
        self.text = text
        self.run = ""
        self.pattern = Pattern(self._named(what), what=what)
        self.name = "" if self.run or self.pattern.expression is None else dotted(self.pattern.expression)
        if not self.run and not self.name:
            raise BadInput(f"{what}: give an assigned name, a dotted name, or a pattern whose $$$ holds the elements")

    def nodes(self, scope: Scope) -> list[Any]:
        """The nodes in the scope that hold the elements."""
        if not self.name:
            return self._matched(scope)
        return [node.value for node in self._bindings(scope, (ast.Assign, ast.AnnAssign)) if node.value is not None]

    def container(self, source: Source, node: Any) -> collection.Container | None:
        return collection.of(source, node) if self.name else collection.holding(source, node)

    def additions(self, scope: Scope) -> list[collection.Container]:
        """The collections that ``name += [...]`` adds."""
        found = [collection.of(scope.source, node.value) for node in self._bindings(scope, (ast.AugAssign,))]
        return [box for box in found if box is not None and not box.has_keys]

    def near(self, scope: Scope) -> list[str]:
        """Statements like the one that was looked for."""
        return nearest(scope, Pattern(f"{self.name} = $_", what="to") if self.name else self.pattern)

    def _bindings(self, scope: Scope, kinds: Any) -> list[Any]:
        found: list[Any] = []
        for block in scope.blocks() if self.name else ():
            for node in block.statements:
                if isinstance(node, kinds):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    if any(dotted(target) == self.name for target in targets):
                        found.append(node)
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def _matched(self, scope: Scope) -> list[Any]:
        """The nodes whose elements the run of the pattern stands for."""
        in_expressions = self.pattern.expression is not None
        nodes: list[Any] = []
        for match in self.pattern.as_expression(scope) if in_expressions else self.pattern.as_statements(scope):
            matcher = Matcher()
            wanted: Sequence[Any] = self.pattern.statements if match.block else [self.pattern.expression]
            matcher.match_sequence(wanted, match.nodes, {})
            if self.run in matcher.containers:
                nodes.append(matcher.containers[self.run])
        return nodes

    def _named(self, what: str) -> str:
        """The target with the run that holds the elements named, so that a match says where it stood."""
        spans = [span for span in placeholders(self.text, what=what) if span[3]]
        unnamed = [span for span in spans if not span[2]]
        if len(unnamed) > 1 or (not unnamed and len(spans) > 1):
            raise BadInput(f"{what}: `to` must have one $$$ for the elements; give the other runs names")
        if not spans:
            return self.text
        start, end, name, _run = (unnamed or spans)[0]
        self.run = name or _ELEMENTS
        data = self.text.encode("utf-8")
        return (data[:start] + b"$$$" + self.run.encode("utf-8") + data[end:]).decode("utf-8")


__all__ = ("Target",)
