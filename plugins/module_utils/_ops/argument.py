# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``argument``: of the calls that a pattern matches, by keyword or by position."""

from __future__ import annotations

import ast
import keyword
import sys

from ansible_collections.specdec.blackwell.plugins.module_utils import _calls as calls
from ansible_collections.specdec.blackwell.plugins.module_utils import _expressions as expressions
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._matches import nested
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Splice

MODIFIERS = ("count",)
ABSENT = True

_PLACES_UNKNOWN = sys.version_info < (3, 12)


class Argument(Operation):
    """Add or change an argument of calls, or take it away."""

    def __init__(self, pattern: Pattern, slot: calls.Slot, count: int | str, *, absent: bool) -> None:
        self.pattern = pattern
        self.slot = slot
        self.count = count
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        hidden = _in_strings(scope)
        todo: list[ast.Call] = []
        done: list[ast.Call] = []
        for node in scope.expressions():
            if not isinstance(node, ast.Call):
                continue
            finished = self.slot.is_gone(node) if self.absent else self.slot.is_set(node)
            if finished and self.slot.was(self.pattern, node):
                done.append(node)
            elif not finished and self.slot.matches(self.pattern, node):
                todo.append(node)
        # A call inside of the value given is no place of its own.
        values = [value for value in (self.slot.value_in(node) for node in done) if value is not None]
        inside = {id(inner) for value in values for inner in ast.walk(value)}
        todo = [node for node in todo if id(node) not in inside]
        done = [node for node in done if id(node) not in inside]
        lines = sorted(node.lineno for node in todo + done)
        splices: list[Splice] = []
        for node in todo:
            if id(node) in hidden:
                return drifted(
                    f"line {node.lineno}: a call inside an f-string cannot be changed before Python 3.12; "
                    "replace the string",
                    line=node.lineno,
                    matches=len(lines),
                )
            change = self.slot.drop(source, node) if self.absent else self.slot.put(source, node)
            if isinstance(change, str):
                return drifted(f"line {node.lineno}: {change}", line=node.lineno, matches=len(lines))
            splices.extend(change)
        if _overlap(splices) or self._swallowed(todo):
            return nested(scope, self.pattern, lines)
        return settle(
            count=self.count,
            todo=todo,
            done=len(done),
            splices=splices,
            lines=lines,
            nothing=drifted(
                f"{scope.describe()} has no call {self.pattern.text!r}", candidates=nearest(scope, self.pattern)
            ),
            what=f"{scope.describe()} has {self.pattern.text!r}",
        )

    def _swallowed(self, todo: list[ast.Call]) -> bool:
        """Whether a call to change lies in a value that goes."""
        gone = [value for value in (self.slot.value_in(node) for node in todo) if value is not None]
        inside = {id(inner) for value in gone for inner in ast.walk(value)}
        return any(id(node) in inside for node in todo)


def _in_strings(scope: Scope) -> set[int]:
    """The nodes whose place in the file the parser does not tell."""
    strings = [node for node in scope.expressions() if isinstance(node, ast.JoinedStr) and _PLACES_UNKNOWN]
    return {id(inner) for node in strings for inner in ast.walk(node)}


def _overlap(splices: list[Splice]) -> bool:
    ordered = sorted(splices, key=lambda item: (item.start, item.end))
    return any(left.end > right.start for left, right in zip(ordered, ordered[1:]))


def parse(fields: Fields, *, absent: bool) -> Argument:
    inner = Fields(fields.values["argument"], fields.what)
    inner.only(("call", "name", "at", "value"))
    pattern = Pattern(inner.text("call"), what=f"{fields.what}, call")
    if not isinstance(pattern.expression, ast.Call):
        raise BadInput(f"{fields.what}: `call` must be the pattern of a call, such as 'f($$$)'; got {pattern.text!r}")
    if ("name" in inner) == ("at" in inner):
        raise BadInput(f"{fields.what}: give `name` for a keyword argument or `at` for a positional one, one of them")
    name = inner.optional("name")
    if name is not None and (not name.isidentifier() or keyword.iskeyword(name)):
        raise BadInput(f"{fields.what}: `name` must be an argument's name, not {name!r}")
    at = inner.number("at")
    node: ast.expr | None = None
    text = b""
    if "value" in inner or not absent:
        snippet = inner.expression("value")
        node = snippet.expression
        frame = expressions.POSITIONAL if name is None else expressions.KEYWORD
        text = expressions.fitted(snippet, frame, what=f"{fields.what}, value")
    return Argument(pattern, calls.Slot(name or "", at or 0, node, text), fields.count(), absent=absent)
