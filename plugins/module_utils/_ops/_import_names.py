# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Which names the imports of a block bind, and what stands in the way of another one."""

from __future__ import annotations

import ast
from typing import NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._imports import ImportNode, absolute_module, imports_in
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import Context, Verdict, drifted
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS


class Name(NamedTuple):
    """One imported name, as in ``name as alias``."""

    name: str
    alias: str | None

    @property
    def bound(self) -> str:
        return self.alias or self.name

    def __str__(self) -> str:
        return f"{self.name} as {self.alias}" if self.alias else self.name


class Binding(NamedTuple):
    """One imported name. ``module``: in full where it can be known, '' for a plain import."""

    local: str
    name: str
    module: str
    node: ImportNode
    joinable: bool


def bindings(scope: Scope, context: Context, spelled: str, wanted: str) -> list[Binding]:
    """The names that the imports of a scope bind; a module spelled as ``spelled`` counts as ``wanted``."""
    found: list[Binding] = []
    for item in imports_in(scope.node.body):
        node = item.node
        module = ""
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            full = absolute_module(node, context.module, is_package=context.is_package)
            module = wanted if module == spelled else full or module
        for alias in node.names:
            local = alias.asname or (alias.name if module else alias.name.split(".")[0])
            found.append(Binding(local, alias.name, module, node, item.joinable))
    return found


def taken(scope: Scope, bound: Sequence[Binding], name: str) -> Verdict | None:
    """Why ``name`` cannot be imported: the block binds it to something else."""
    for item in bound:
        if item.local == name:
            other = f"{item.module}.{item.name}" if item.module else item.name
            line = item.node.lineno
            return drifted(
                f"{name} is imported from somewhere else already ({other}, line {line}); import it under another name",
                line=line,
            )
    for node in scope.node.body:
        if isinstance(node, DEFINITIONS) and node.name == name:
            return drifted(f"{name} is defined in the file itself, line {node.lineno}", line=node.lineno)
    return None


__all__ = ("Name", "Binding", "bindings", "taken")
