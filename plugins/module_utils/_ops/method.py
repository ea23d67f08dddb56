# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``method``: a def in the class in scope."""

from __future__ import annotations

import ast
from typing import Sequence, cast

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
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._method_places import (
    Function,
    Place,
    definition,
    like,
    named,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope, is_overload
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import docstring, same

MODIFIERS = ("position", "overwrite")
ABSENT = True


class Method(Operation):
    """Add, replace or take away a method."""

    local = True

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
        source = scope.source
        if self.code is None:
            return self._take_away(source, named(scope, self.name))
        found = like(scope, cast(Function, self.code.tree[0]))
        lines = [definition(place).lineno for place in found]
        equal = [place for place in found if same(definition(place), self.code.tree[0])]
        if self.absent:
            return self._take_away(source, equal, found)
        if equal:
            return present(definition(equal[0]).lineno)
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
            places = named(scope, self.after)
            if not places:
                return drifted(
                    f"{scope.name} has no method {self.after} to stand after",
                    candidates=[f"line {node.lineno}: {node.name}" for node in scope.definitions()][:8],
                )
            block, index = places[-1]
            index += 1
        splices = suite.insert(source, block, index, code, blank_lines=1)
        return pristine(splices, source.line_of(splices[-1].start))

    def _take_away(self, source: Source, gone: list[Place], found: Sequence[Place] = ()) -> Verdict:
        lines = [definition(place).lineno for place in gone or found]
        if not lines:
            return present()
        if not gone:
            return drifted(
                f"the method {self.name} has another body than the one to take away; "
                "give its bare name to remove it anyway",
                candidates=[f"line {line}: {self.name}" for line in lines],
                line=lines[0],
            )
        stubs = [place for place in gone if is_overload(definition(place))]
        if len(gone) - len(stubs) > 1 or (len(gone) == len(stubs) and self.code is not None and len(gone) > 1):
            return self._ambiguous(lines)
        splices: list[Splice] = []
        for block in {id(place[0].statements): place[0] for place in gone}.values():
            ranges = [(index, index + 1) for other, index in gone if other.statements is block.statements]
            splices.extend(suite.remove_many(source, block, ranges, blanks_above=True))
        return pristine(splices, lines[0])

    def _ambiguous(self, lines: list[int]) -> Verdict:
        return Verdict(
            AMBIGUOUS,
            message=f"the method {self.name} is defined {len(lines)} times",
            candidates=[f"line {line}: {self.name}" for line in lines],
            matches=len(lines),
            line=lines[0],
        )


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
