# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Matched expressions, also inside one another, rewritten to a template."""

from __future__ import annotations

import ast
from typing import Sequence, cast

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, span_of
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same
from ansible_collections.specdec.blackwell.plugins.module_utils._template import Rendered, Template, node_at


def rewrite(source: Source, template: Template, todo: Sequence[Found]) -> list[Splice]:
    """Outermost matches as splices, inner ones filled into them; parentheses only where the tree needs them.

    :raises Refused: the result cannot stand where the match stands.
    """
    wrong: list[Found] = []
    for inner_parentheses in (False, True):
        try:
            outer, rendered = _rendered(source, template, todo, inner_parentheses)
        except Refused:
            if inner_parentheses:
                raise
            continue
        wrapped: set[int] = set()
        for _attempt in range(2):
            splices = [_as_splice(source, match, rendered[id(match)], id(match) in wrapped) for match in outer]
            wrong = [outer[index] for index in _misread(source, splices, [rendered[id(match)] for match in outer])]
            if not wrong:
                return splices
            wrapped.update(id(match) for match in wrong)
    line = source.line_of(span_of(source, wrong[0])[0])
    raise Refused(f"{template.what}: {template.text!r} cannot stand in the place of the match in line {line}")


def _rendered(
    source: Source, template: Template, todo: Sequence[Found], parentheses: bool
) -> tuple[list[Found], dict[int, Rendered]]:
    rendered: dict[int, Rendered] = {}
    outer: list[Found] = []
    spans = {id(match): span_of(source, match) for match in todo}
    for match in reversed(todo):
        first, last = spans[id(match)]
        inside = [other for other in outer if first <= spans[id(other)][0] and spans[id(other)][1] <= last]
        inner = [
            (
                _as_splice(source, other, rendered[id(other)], parentheses),
                other.nodes[0],
                _expression(rendered[id(other)]),
            )
            for other in inside
        ]
        rendered[id(match)] = template.render(source, match, inner)
        within = {id(other) for other in inside}
        outer = [other for other in outer if id(other) not in within] + [match]
    return outer, rendered


def _expression(rendered: Rendered) -> ast.expr:
    return cast(ast.Expr, rendered.expected[0]).value


def _as_splice(source: Source, match: Found, rendered: Rendered, parenthesised: bool) -> Splice:
    start, end = span_of(source, match)
    text = rendered.text
    if b"\n" in text and b"\n" in rendered.template:
        indent = source.indent_at(start)
        text = reindent(text, indent=indent)[len(indent) :]
    return Splice(start, end, b"(" + text + b")" if parenthesised else text)


def _misread(source: Source, splices: Sequence[Splice], expected: Sequence[Rendered]) -> list[int]:
    """Indices of the splices that the parser, after all of them, does not read as the expression they stand for."""
    if not splices:
        return []
    try:
        after = source.with_splices(splices)
    except SpecdecError:
        return list(range(len(splices)))
    wrong: list[int] = []
    for index, item in enumerate(splices):
        shift = sum(len(other.text) - (other.end - other.start) for other in splices if other.start < item.start)
        start, end = item.start + shift, item.start + shift + len(item.text)
        candidates = node_at(after, start, end) or node_at(after, start + 1, end - 1) or []
        if not any(same(found, _expression(expected[index])) for found in candidates):
            wrong.append(index)
    return wrong


__all__ = ("rewrite",)
