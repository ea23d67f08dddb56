# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What a file imports, and how its relative imports read in full."""

from __future__ import annotations

import ast
from typing import Iterator, NamedTuple, Sequence, Union

ImportNode = Union[ast.Import, ast.ImportFrom]


class Import(NamedTuple):
    """An import statement of a block: ``joinable`` when it stands directly in it, not in the body of a ``try``."""

    node: ImportNode
    joinable: bool


def imports_in(statements: Sequence[ast.stmt]) -> Iterator[Import]:
    """The imports whose names a block surely binds: its own and those in the body of a ``try``.

    What stands under ``if TYPE_CHECKING``, or any other condition, is not bound at run time for sure.
    """
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield Import(statement, True)
        elif isinstance(statement, ast.Try):
            for inner in imports_in(statement.body):
                yield Import(inner.node, False)


def absolute_module(node: ast.ImportFrom, module: str | None, *, is_package: bool) -> str | None:
    """The module that a from-import means; None when it is relative and the file's own module is not known."""
    if not node.level:
        return node.module
    return resolve_relative(node.level, node.module, module, is_package=is_package)


def resolve_relative(level: int, name: str | None, module: str | None, *, is_package: bool) -> str | None:
    """Full name of ``level`` dots and ``name`` in the file of ``module``; None when that leads out of the package."""
    if module is None:
        return None
    package = module.split(".")
    drop = level - 1 if is_package else level
    if drop > len(package):
        return None
    head: list[str] = package[: len(package) - drop]
    return ".".join(head + ([name] if name else [])) or None


def aliases(tree: ast.Module) -> dict[str, str]:
    """Local names that module-level imports bind under another name, with the name they stand for."""
    found: dict[str, str] = {}
    for statement in _module_imports(tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                if alias.asname:
                    found[alias.asname] = alias.name.rsplit(".", 1)[-1]
    return found


def _module_imports(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement
        elif isinstance(statement, (ast.If, ast.Try)):
            yield from _module_imports(statement.body)


__all__ = ("Import", "ImportNode", "imports_in", "absolute_module", "resolve_relative", "aliases")
