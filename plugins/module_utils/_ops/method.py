# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``method``: a def in the class in scope."""

from __future__ import annotations

import ast
from typing import Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, Snippet
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    AMBIGUOUS,
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope, is_overload
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Definition, Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import docstring, same

MODIFIERS = ("position", "overwrite")
ABSENT = True

_ACCESSORS = ("setter", "getter", "deleter")
Place = Tuple[Block, int]


class Method(Operation):
    """Add, replace or take away a method."""

    def __init__(
        self, name: str, code: Snippet | None, position: str, after: str, *, overwrite: bool, absent: bool
    ) -> None:
        self.name = name
        self.code = code
        self.position = position
        self.after = after
        self.overwrite = overwrite
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        if not isinstance(scope.node, ast.ClassDef):
            return drifted(f"{scope.describe()} is no class, so it cannot have the method {self.name}")
        found = self._found(scope)
        source = scope.source
        lines = [_definition(place).lineno for place in found]
        equal = [place for place in found if self.code is not None and same(_definition(place), self.code.tree[0])]
        if self.absent:
            return self._take_away(source, found if self.code is None else equal, found, lines)
        if equal:
            return present(_definition(equal[0]).lineno)
        assert self.code is not None
        if found and not self.overwrite:
            return drifted(
                f"{scope.name} has a method {self.name} with another body; to replace it, say overwrite: true",
                candidates=[f"line {line}: {self.name}" for line in lines],
                line=lines[0],
                matches=len(found),
            )
        if len(found) > 1:
            return self._ambiguous(lines)
        if found:
            block, index = found[0]
            return pristine(suite.replace(source, block, index, index + 1, self.code.text), lines[0])
        return self._add(scope, self.code.text)

    def _add(self, scope: Scope, code: bytes) -> Verdict:
        source = scope.source
        block = scope.body
        index = len(block.statements)
        if self.position == "start":
            index = 1 if docstring(scope.node) is not None else 0
        elif self.position == "after":
            places = _places(scope, self.after)
            if not places:
                return drifted(
                    f"{scope.name} has no method {self.after} to stand after",
                    candidates=[f"line {node.lineno}: {node.name}" for node in scope.definitions()][:8],
                )
            block, index = places[-1]
            index += 1
        splices = suite.insert(source, block, index, code, blank_lines=1)
        return pristine(splices, source.line_of(splices[-1].start))

    def _take_away(self, source: Source, gone: list[Place], found: list[Place], lines: list[int]) -> Verdict:
        if not found:
            return present()
        if not gone:
            return drifted(
                f"the method {self.name} has another body than the one to take away; "
                "give its bare name to remove it anyway",
                candidates=[f"line {line}: {self.name}" for line in lines],
                line=lines[0],
            )
        if len(gone) > 1:
            return self._ambiguous(lines)
        block, index = gone[0]
        splices: list[Splice] = suite.remove(source, block, index, index + 1, blanks_above=True)
        return pristine(splices, _definition(gone[0]).lineno)

    def _ambiguous(self, lines: list[int]) -> Verdict:
        return Verdict(
            AMBIGUOUS,
            message=f"the method {self.name} is defined {len(lines)} times",
            candidates=[f"line {line}: {self.name}" for line in lines],
            matches=len(lines),
            line=lines[0],
        )

    def _found(self, scope: Scope) -> list[Place]:
        """Definitions of that name and accessor (``@x.setter`` beside ``@property`` are two), without stubs."""
        places = _places(scope, self.name)
        if self.code is not None:
            wanted = _accessor(self.code.tree[0])
            places = [place for place in places if _accessor(_definition(place)) == wanted]
            if is_overload(_as_definition(self.code.tree[0])):
                return [place for place in places if is_overload(_definition(place))]
        real = [place for place in places if not is_overload(_definition(place))]
        return real or places


def _places(scope: Scope, name: str) -> list[Place]:
    return [
        (block, index)
        for block in scope.blocks()
        for index, node in enumerate(block.statements)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name
    ]


def _definition(place: Place) -> Definition:
    return _as_definition(place[0].statements[place[1]])


def _as_definition(node: ast.stmt) -> Definition:
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    return node


def _accessor(node: ast.stmt) -> str:
    for decorator in _as_definition(node).decorator_list:
        if isinstance(decorator, ast.Attribute) and decorator.attr in _ACCESSORS:
            return decorator.attr
    return ""


def parse(fields: Fields, *, absent: bool) -> Method:
    text = fields.text("method").strip()
    overwrite = fields.flag("overwrite", False)
    position: str | Fields
    after = ""
    if isinstance(fields.values.get("position"), dict):
        inner = Fields(fields.values["position"], fields.what + ", position")
        inner.only(("after",))
        position, after = "after", inner.text("after")
    else:
        position = fields.choice("position", ("start", "end"), "end")
    if absent and text.isidentifier():
        return Method(text, None, position, after, overwrite=overwrite, absent=True)
    code = fields.statements("method")
    node = code.tree[0]
    if len(code.tree) != 1 or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise BadInput(f"{fields.what}: `method` must be the source of one def")
    return Method(node.name, code, position, after, overwrite=overwrite, absent=absent)
