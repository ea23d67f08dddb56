# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Expressions given in an edit, made fit for the place where they will stand."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Snippet
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same

DEFAULT = "def _(x=%s): pass"
ANNOTATION = "def _(x: %s = 0): pass"
RETURNS = "def _() -> %s: pass"
POSITIONAL = "_(%s, 0)"
KEYWORD = "_(x=%s, y=0)"


class Part(NamedTuple):
    """A default or an annotation: its text and its node, None for none."""

    text: bytes | None
    node: ast.expr | None


def fitted(snippet: Snippet, frame: str, *, what: str) -> bytes:
    """The expression's text, in parentheses where ``frame``, code with one ``%s``, would read it as something else.

    :raises BadInput: it cannot stand there, a comment in it, for example.
    """
    text = snippet.text.decode("utf-8")
    wanted = _parsed(frame % "SPECDEC_PLACE", snippet.expression)
    for candidate in (text, f"({text})"):
        try:
            tree = ast.parse(frame % candidate)
        except (SyntaxError, ValueError):
            continue
        if same(tree, wanted):
            return candidate.encode("utf-8")
    raise BadInput(f"{what}: {text!r} cannot stand there; leave comments out, and write one expression")


def spelled(source: Source, offset: int, text: bytes) -> bytes:
    """The text with the line ends of the file; also in a string, whose value they do not change."""
    return text.replace(b"\n", source.newline_at(offset))


def _parsed(frame: str, expression: ast.expr) -> ast.AST:
    tree = ast.parse(frame)
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.Name) and value.id == "SPECDEC_PLACE":
                setattr(node, field, expression)
            elif isinstance(value, list):
                value[:] = [
                    expression if isinstance(item, ast.Name) and item.id == "SPECDEC_PLACE" else item for item in value
                ]
    return tree


__all__ = ("ANNOTATION", "DEFAULT", "KEYWORD", "POSITIONAL", "RETURNS", "Part", "fitted", "spelled")
