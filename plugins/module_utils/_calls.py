# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. One argument of a call: where it stands, whether it is as wanted, and how to change it."""

from __future__ import annotations

import ast
import copy
from typing import NamedTuple

from ansible_collections.specdec.blackwell.plugins.module_utils import _container as container
from ansible_collections.specdec.blackwell.plugins.module_utils import _listing as listing
from ansible_collections.specdec.blackwell.plugins.module_utils._expressions import spelled
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import Matcher, run_name
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import arguments_in_order, same


class Slot(NamedTuple):
    """The argument ``name``, or the one at position ``at`` (from 1), and its value; None: whichever it has."""

    name: str
    at: int
    value: ast.expr | None
    text: bytes

    def value_in(self, node: ast.Call) -> ast.expr | None:
        """The argument's value in a call, None without it."""
        if self.name:
            return next((item.value for item in node.keywords if item.arg == self.name), None)
        return node.args[self.at - 1] if self.at <= len(node.args) else None

    def is_set(self, node: ast.Call) -> bool:
        """Whether the call has the argument with the wanted value, where its position is known."""
        found = self.value_in(node)
        return found is not None and same(found, self.value) and not self._splat_before(node)

    def is_gone(self, node: ast.Call) -> bool:
        return self.value_in(node) is None

    def matches(self, pattern: Pattern, node: ast.Call) -> bool:
        return Matcher().match(pattern.expression, node, {})

    def was(self, pattern: Pattern, node: ast.Call) -> bool:
        """Whether the pattern matches a finished call, or matched it before: it may spell the old value, or none."""
        if not isinstance(pattern.expression, ast.Call):
            raise AssertionError("isinstance(pattern.expression, ast.Call)")
        wanted = [pattern.expression, self._without(pattern.expression)]
        if not self.name and self.value is not None:
            wanted.append(self._with(pattern.expression))
        shapes = [node, self._without(node)]
        return any(Matcher().match(left, right, {}) for left in wanted for right in shapes)

    def _without(self, node: ast.Call) -> ast.Call:
        changed = copy.copy(node)
        changed.keywords = [item for item in node.keywords if not self.name or item.arg != self.name]
        if not self.name and self._is_plain(node):
            changed.args = node.args[: self.at - 1] + node.args[self.at :]
        return changed

    def _with(self, node: ast.Call) -> ast.Call:
        changed = copy.copy(node)
        if self.value is not None and self.at <= len(node.args) and self._is_plain(node):
            changed.args = node.args[: self.at - 1] + [self.value] + node.args[self.at :]
        return changed

    def _is_plain(self, node: ast.Call) -> bool:
        """Whether the positions up to the wanted one are single arguments, neither splats nor runs of a pattern."""
        return not any(isinstance(item, ast.Starred) or run_name(item) is not None for item in node.args[: self.at])

    def _splat_before(self, node: ast.Call) -> bool:
        return not self.name and any(isinstance(item, ast.Starred) for item in node.args[: self.at])

    def put(self, source: Source, node: ast.Call) -> list[Splice] | str:
        """Add the argument or change its value; or why that cannot be done."""
        box = container.call(source, node)
        if self._splat_before(node):
            return f"a *argument stands before position {self.at}, so which argument that is cannot be told"
        found = self.value_in(node)
        text = spelled(source, source.end(node), self.text)
        if self.name:
            if found is not None:
                return [Splice(source.start(found), source.end(found), text)]
            splats = [index for index, item in enumerate(box.items) if _is_double_splat(item)]
            index = splats[0] if splats else len(box.items)
            return _add(source, node, box, index, self.name.encode("utf-8") + b"=" + self.text)
        if found is not None:
            start, end = box.places.items[_index(box, found)]
            return [Splice(start, end, text)]
        if self.at > len(node.args) + 1:
            return f"the call has {len(node.args)} positional arguments, so position {self.at} cannot be the next"
        keywords = [index for index, item in enumerate(box.items) if isinstance(item, ast.keyword)]
        return _add(source, node, box, keywords[0] if keywords else len(box.items), self.text)

    def drop(self, source: Source, node: ast.Call) -> list[Splice] | str:
        """Take the argument away; or why that cannot be done."""
        box = container.call(source, node)
        if self._splat_before(node):
            return f"a *argument stands before position {self.at}, so which argument that is cannot be told"
        if not self.name and self.at != len(node.args):
            return f"argument {self.at} is not the last positional one; without it the others would move up"
        found = self.value_in(node)
        if found is None:
            raise AssertionError("found is not None")
        if self.value is not None and not same(found, self.value):
            shown = source.segment(found).decode("utf-8")
            return f"the argument is {shown}, not the one to take away; to take it away anyway, leave `value` out"
        return listing.drop(source, box.places, _index(box, found))


def _is_double_splat(item: ast.AST) -> bool:
    return isinstance(item, ast.keyword) and item.arg is None


def _index(box: container.Container, value: ast.expr) -> int:
    items = [item.value if isinstance(item, ast.keyword) else item for item in box.items]
    return items.index(value)


def _add(source: Source, node: ast.Call, box: container.Container, index: int, text: bytes) -> list[Splice]:
    only = arguments_in_order(node)
    if len(only) == 1 and isinstance(only[0], ast.GeneratorExp) and source.start(only[0]) < box.places.start:
        # A generator that shares the call's brackets needs its own beside another argument.
        start, end = box.places.items[0]
        text = spelled(source, start, text)
        before, after = (text + b", (", b")") if index == 0 else (b"(", b"), " + text)
        return [Splice(start, start, before), Splice(end, end, after)]
    return listing.add(source, box.places, index, text)


__all__ = ("Slot",)
