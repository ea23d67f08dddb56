# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes EAGLE-3 support out of a class of the engine, so that it is as in releases before it had any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

NAMES = {"SupportsEagle3", "EagleModelMixin"}
WORDS = ("aux_hidden_state", "eagle3")
# Gathering between ranks inside the loop over the layers; it came after the support, and one rank never does it.
GATHERS = "hidden_states.shape[0] != positions.shape[0]"


def _mentions(node: ast.AST) -> bool:
    return any(word in ast.unparse(node) for word in WORDS)


def _is_support(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return any(word in node.name for word in WORDS)
    if isinstance(node, ast.If):
        return _mentions(node.test) or GATHERS in ast.unparse(node.test)
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and _mentions(node)


def _spans(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """First and last line of what goes, nothing inside something else that goes."""

    def visit(body: list[ast.stmt]) -> Iterator[tuple[int, int]]:
        for node in body:
            if _is_support(node):
                yield node.lineno, node.end_lineno or node.lineno
                continue
            for name in ("body", "orelse", "finalbody"):
                yield from visit(getattr(node, name, []))

    yield from visit(tree.body)
    for node in ast.walk(tree):
        parts: list[ast.expr] | list[ast.alias] = []
        if isinstance(node, ast.ClassDef):
            parts = node.bases
        elif isinstance(node, ast.ImportFrom):
            parts = node.names
        for part in parts:
            if getattr(part, "id", getattr(part, "name", None)) in NAMES:
                yield part.lineno, part.end_lineno or part.lineno


def strip(path: Path) -> None:
    """Rewrite the file. Bases and imported names have to be on lines of their own, as formatters put long lists."""
    source = path.read_text()
    lines = source.splitlines(keepends=True)
    spans = sorted(set(_spans(ast.parse(source))), reverse=True)
    assert spans, f"{path.name} has no support to take out"
    for first, last in spans:
        gone = "".join(lines[first - 1 : last]).strip()
        assert first != last or gone.rstrip(",") in NAMES or _is_support(ast.parse(gone).body[0]), gone
        lines[first - 1 : last] = []
    text = "".join(lines)
    ast.parse(text)
    path.unlink()
    path.write_text(text)


__all__ = ("strip",)
