# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Does a piece of syntax match a pattern, and what do its metavariables stand for."""

from __future__ import annotations

import ast
from typing import Any, Dict, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._parameter_list import NORMAL, Parameter, parameters
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import (
    IGNORED_FIELDS,
    arguments_in_order,
    plain,
    same,
    same_constant,
)

ONE = "SpecdecOne0"
RUN = "SpecdecRun0"

# A node, the nodes of a run, or a plain name.
Bindings = Dict[str, Any]

_TRY_TYPES = ("Try", "TryStar")


def one_name(item: Any) -> str | None:
    """Name of the metavariable that a pattern item is ('_' for any), None when it is none."""
    if isinstance(item, ast.Expr):
        item = item.value
    text = item.id if isinstance(item, ast.Name) else item
    if isinstance(text, str) and text.startswith(ONE):
        return text[len(ONE) :]
    return None


def run_name(item: Any) -> str | None:
    """Name of the run that a pattern item is ('' for an unnamed one), None when it is none."""
    if isinstance(item, ast.Expr):
        item = item.value
    if isinstance(item, ast.keyword) and item.arg is None:
        item = item.value
    elif isinstance(item, ast.withitem) and item.optional_vars is None:
        item = item.context_expr
    if isinstance(item, ast.Starred):
        item = item.value
    text = item
    for attribute in ("id", "arg", "name"):
        if isinstance(item, (ast.Name, ast.arg, ast.alias)) and hasattr(item, attribute):
            text = getattr(item, attribute)
    if isinstance(text, tuple):
        return run_name(text[1]) if text[0] is None else None
    if isinstance(text, str) and text.startswith(RUN):
        return text[len(RUN) :]
    return None


class _Wanted(NamedTuple):
    """A parameter of a pattern."""

    parameter: Parameter
    lenient: bool


class Matcher:
    """Structural comparison of a pattern with syntax; bindings are passed and filled.

    :ivar containers: for every run, the node whose list it stood in at the last match.
    """

    def __init__(self) -> None:
        self.containers: dict[str, ast.AST] = {}

    def match(self, pattern: Any, node: Any, bindings: Bindings) -> bool:
        """Whether ``node`` matches; ``bindings`` then holds the metavariables (on failure it may hold rubbish)."""
        pattern, node = plain(pattern), plain(node)
        if isinstance(pattern, ast.Expr):
            name = one_name(pattern)
            if name is not None and isinstance(node, ast.stmt):
                return self._bind(name, node, bindings)
        name = one_name(pattern)
        if name is not None:
            return _fits(pattern, node) and self._bind(name, node, bindings)
        if isinstance(pattern, ast.AST):
            return self._match_node(pattern, node, bindings)
        if isinstance(pattern, list):
            return isinstance(node, list) and self.match_sequence(pattern, node, bindings)
        return type(pattern) is type(node) and bool(pattern == node)

    def _match_node(self, pattern: ast.AST, node: Any, bindings: Bindings) -> bool:
        if isinstance(pattern, ast.Set) and isinstance(node, (ast.Set, ast.Dict)) and _is_only_run(pattern.elts):
            items = node.elts if isinstance(node, ast.Set) else _pairs(node)
            self.containers[run_name(pattern.elts[0]) or ""] = node
            return self.match_sequence(pattern.elts, items, bindings)
        if type(pattern) is not type(node):
            both_try = type(pattern).__name__ in _TRY_TYPES and type(node).__name__ in _TRY_TYPES
            if not (both_try and _is_only_run(getattr(pattern, "body", None))):
                return False
        if isinstance(pattern, ast.Constant):
            return same_constant(pattern.value, node.value)
        for child in ast.iter_child_nodes(pattern):
            name = run_name(plain(child))
            if name is not None:
                self.containers[name] = node
        if isinstance(pattern, ast.Subscript) and run_name(plain(pattern.slice)) is not None:
            index = plain(node.slice)
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            return self.match(pattern.value, node.value, bindings) and self.match_sequence(
                [plain(pattern.slice)], items, bindings
            )
        if isinstance(pattern, ast.Call):
            return self.match(pattern.func, node.func, bindings) and self.match_sequence(
                arguments_in_order(pattern), arguments_in_order(node), bindings
            )
        if isinstance(pattern, ast.Dict):
            return self.match_sequence(_pairs(pattern), _pairs(node), bindings)
        if isinstance(pattern, ast.arguments):
            return self._match_parameters(pattern, node, bindings, lenient=False)
        if _is_only_run(getattr(pattern, "body", None)) and isinstance(pattern, ast.stmt):
            return self._match_header(pattern, node, bindings)
        if isinstance(pattern, ast.ClassDef):
            return self.match_sequence(
                arguments_in_order(pattern), arguments_in_order(node), bindings
            ) and self._match_fields(pattern, node, bindings, skip=("bases", "keywords"))
        return self._match_fields(pattern, node, bindings)

    def _match_fields(self, pattern: ast.AST, node: Any, bindings: Bindings, *, skip: Sequence[str] = ()) -> bool:
        return all(
            self.match(getattr(pattern, field, None), getattr(node, field, None), bindings)
            for field in pattern._fields
            if field not in IGNORED_FIELDS and field not in skip
        )

    def _match_header(self, pattern: ast.AST, node: Any, bindings: Bindings) -> bool:
        """Header patterns: parts that the pattern leaves out may be anything."""
        for field in pattern._fields:
            wanted = getattr(pattern, field, None)
            actual = getattr(node, field, None)
            if field in IGNORED_FIELDS or wanted is None or wanted == []:
                continue
            if isinstance(wanted, ast.arguments):
                if not self._match_parameters(wanted, actual, bindings, lenient=True):
                    return False
            elif field in ("orelse", "handlers") and not actual:
                return False
            elif field in ("bases", "keywords") and isinstance(pattern, ast.ClassDef):
                continue
            elif not self.match(wanted, actual, bindings):
                return False
        if isinstance(pattern, ast.ClassDef) and (pattern.bases or pattern.keywords):
            return self.match_sequence(arguments_in_order(pattern), arguments_in_order(node), bindings)
        return True

    # sequences

    def match_sequence(self, pattern: Sequence[Any], nodes: Sequence[Any], bindings: Bindings) -> bool:
        """Whether all of ``nodes`` match ``pattern``, runs included."""
        return self._sequence(list(pattern), list(nodes), 0, bindings, whole=True) is not None

    def match_run(self, pattern: Sequence[Any], nodes: Sequence[Any], index: int, bindings: Bindings) -> int | None:
        """Match ``pattern`` against ``nodes`` from ``index`` on; the index after the match, or None."""
        return self._sequence(list(pattern), list(nodes), index, bindings, whole=False)

    def _sequence(
        self, pattern: list[Any], nodes: list[Any], index: int, bindings: Bindings, *, whole: bool
    ) -> int | None:
        if not pattern:
            return index if not whole or index == len(nodes) else None
        name = run_name(pattern[0])
        if name is None:
            if index >= len(nodes):
                return None
            trial = dict(bindings)
            if not self._match_item(pattern[0], nodes[index], trial):
                return None
            stop = self._sequence(pattern[1:], nodes, index + 1, trial, whole=whole)
            if stop is not None:
                bindings.update(trial)
            return stop
        lengths = range(len(nodes) - index + 1)
        for length in lengths if len(pattern) > 1 else reversed(lengths):
            trial = dict(bindings)
            if self._bind(name or "_", list(nodes[index : index + length]), trial):
                stop = self._sequence(pattern[1:], nodes, index + length, trial, whole=whole)
                if stop is not None:
                    bindings.update(trial)
                    return stop
        return None

    def _match_item(self, pattern: Any, node: Any, bindings: Bindings) -> bool:
        if isinstance(pattern, _Wanted):
            return self._match_parameter(pattern, node, bindings)
        if isinstance(pattern, tuple):
            return (
                isinstance(node, tuple)
                and len(pattern) == len(node)
                and all(self.match(left, right, bindings) for left, right in zip(pattern, node))
            )
        return self.match(pattern, node, bindings)

    # parameters

    def _match_parameters(self, pattern: ast.arguments, node: Any, bindings: Bindings, *, lenient: bool) -> bool:
        """``lenient``: annotations and defaults that the pattern leaves out may be anything."""
        wanted = [
            item.node if run_name(item.node) is not None else _Wanted(item, lenient) for item in parameters(pattern)
        ]
        return self.match_sequence(wanted, parameters(node), bindings)

    def _match_parameter(self, wanted: _Wanted, node: Parameter, bindings: Bindings) -> bool:
        pattern, lenient = wanted
        any_kind = one_name(pattern.node.arg) is not None and pattern.kind == NORMAL
        if pattern.kind != node.kind and not any_kind:
            return False
        if not self.match(pattern.node.arg, node.node.arg, bindings):
            return False
        for expected, actual in ((pattern.node.annotation, node.node.annotation), (pattern.default, node.default)):
            if expected is None and lenient:
                continue
            if not self.match(expected, actual, bindings):
                return False
        return True

    def _bind(self, name: str, value: Any, bindings: Bindings) -> bool:
        if name == "_":
            return True
        if name not in bindings:
            bindings[name] = value
            return True
        bound = bindings[name]
        for left, right in ((bound, value), (value, bound)):
            if isinstance(left, str) and isinstance(right, ast.Name):
                return left == right.id
        return same(bound, value)


def _fits(pattern: Any, node: Any) -> bool:
    """Whether a metavariable, a node or a plain name in the pattern, can stand for ``node``."""
    if not isinstance(pattern, ast.AST):
        return isinstance(node, str)
    # Python 3.8 has slices that are no expressions.
    return isinstance(node, (ast.expr, ast.keyword)) or type(node).__name__ in ("Slice", "ExtSlice")


def _is_only_run(items: Any) -> bool:
    return isinstance(items, list) and len(items) == 1 and run_name(items[0]) is not None


def _pairs(node: ast.Dict) -> list[tuple[Any, Any]]:
    return list(zip(node.keys, node.values))


__all__ = ("ONE", "RUN", "Bindings", "Matcher", "one_name", "run_name")
