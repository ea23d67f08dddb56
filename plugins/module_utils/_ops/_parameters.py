# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. A parameter by its name: added, changed, moved across ``*``, or taken away."""

from __future__ import annotations

import ast

from ansible_collections.specdec.blackwell.plugins.module_utils import _signature as signature
from ansible_collections.specdec.blackwell.plugins.module_utils._expressions import Part, spelled
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._signature import Parameter, Parts, Signature
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same


class Named(Operation):
    """Add or change a parameter, or take it away. ``kind``: '' when it is not given, ``*`` or ``**`` for those."""

    def __init__(
        self, name: str, kind: str, after: str, annotation: Part | None, default: Part | None, *, absent: bool
    ) -> None:
        self.name = name
        self.kind = kind
        self.after = after
        self.annotation = annotation
        self.default = default
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return drifted(f"{scope.describe()} is no function, so it has no parameters")
        found = signature.read(scope.source, node)
        index = found.find(self.name)
        if self.absent:
            verdict = self._take_away(scope, found, index)
        elif index is None:
            verdict = self._add(scope, found)
        else:
            verdict = self._change(scope, node, found, found.items[index])
        return verdict._replace(line=verdict.line or node.lineno)

    def _take_away(self, scope: Scope, found: Signature, index: int | None) -> Verdict:
        if index is None:
            return present()
        item = found.items[index]
        for part, there in ((self.default, item.default), (self.annotation, item.node and item.node.annotation)):
            if part is not None and not same(there, part.node):
                return drifted(
                    f"{scope.name} has {self._shown(scope, item)}, not the parameter to take away; to take it away "
                    "anyway, give its name alone"
                )
        return pristine(signature.drop(scope.source, found, index), None)

    def _add(self, scope: Scope, found: Signature) -> Verdict:
        kind = self.kind or signature.NORMAL
        place = signature.place(found, kind, self.after)
        if isinstance(place, str):
            return drifted(
                f"{scope.name}: {place}", candidates=[self._shown(scope, item) for item in found.items if item.name]
            )
        for block in scope.blocks():
            for statement in block.statements:
                if isinstance(statement, (ast.Global, ast.Nonlocal)) and self.name in statement.names:
                    return drifted(f"line {statement.lineno}: {self.name} is declared as a variable of another scope")
        text = self._parts(Parts(self.kind.encode("ascii") if "*" in kind else b"", None, None)).compose()
        has_default = self.default is not None and self.default.text is not None
        problem = signature.order_problem(found, place, self.name, has_default=has_default, gone=None)
        if problem and kind == signature.NORMAL:
            return drifted(f"{scope.name}: {problem}")
        return pristine(signature.add(scope.source, found, place, kind, text), None)

    def _change(self, scope: Scope, node: signature.Function, found: Signature, item: Parameter) -> Verdict:
        source = scope.source
        if self.kind and self.kind != item.kind:
            movable = (signature.NORMAL, signature.KEYWORD_ONLY)
            if self.kind not in movable or item.kind not in movable:
                return drifted(f"{scope.name} has {self._shown(scope, item)}, which is no {self.kind} parameter")
        elif (
            not self.kind and item.kind in (signature.VARARG, signature.KWARG) and (self.default or not self.annotation)
        ):
            return drifted(f"{scope.name} has {self._shown(scope, item)}: give the name with its stars")
        wanted = self._parts(signature.parts(source, item))
        if item.node is None:
            raise AssertionError("item.node is not None")
        moves = bool(self.kind) and self.kind != item.kind
        equal = all(
            part is None or same(there, part.node)
            for part, there in ((self.default, item.default), (self.annotation, item.node.annotation))
        )
        if equal and not moves:
            return present()
        index = found.items.index(item)
        if signature.has_comment(source, found, index, behind=moves):
            return drifted(f"{scope.name}: the comment at the parameter {self.name} would be lost")
        place = signature.place(found, self.kind, self.after) if moves else index
        if isinstance(place, str):
            return drifted(f"{scope.name}: {place}")
        has_default = wanted.default is not None
        problem = signature.order_problem(found, place, self.name, has_default=has_default, gone=index)
        if problem and (self.kind if moves else item.kind) in (signature.NORMAL, signature.POSITIONAL):
            return drifted(f"{scope.name}: {problem}")
        text = spelled(source, item.start, wanted.compose())
        if not moves:
            return pristine([Splice(item.start, item.end, text)], None)
        return pristine([self._moved(source, node, found, index, wanted.compose())], None)

    def _moved(self, source: Source, node: signature.Function, found: Signature, index: int, text: bytes) -> Splice:
        """Out of its place, then in at the other one: as one splice, since the two touch where it is the last."""
        start = source.keyword_start(node)
        without = source.with_splices(signature.drop(source, found, index))
        rest = signature.read(without, signature.at(without, start))
        place = signature.place(rest, self.kind, self.after)
        if not isinstance(place, int):
            raise AssertionError("isinstance(place, int)")
        after = without.with_splices(signature.add(without, rest, place, self.kind, text))
        return signature.difference(source.text, after.text)

    def _parts(self, there: Parts) -> Parts:
        """The text with the given keys changed."""
        name = there.name if there.name.strip(b"*") else there.name + self.name.encode("utf-8")
        annotation = there.annotation if self.annotation is None else self.annotation.text
        default = there.default if self.default is None else self.default.text
        return Parts(name, annotation, default)

    def _shown(self, scope: Scope, item: Parameter) -> str:
        return scope.source.text[item.start : item.end].decode("utf-8")


__all__ = ("Named",)
