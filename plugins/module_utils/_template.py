# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The other half of a pattern: source with metavariables, filled from a match.

Bound code is copied byte for byte from the file. Whether the text then means what the template says is checked
on the syntax tree, and bound expressions get parentheses where they need them.
"""

from __future__ import annotations

import ast
import copy
from typing import Any, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import code, reindent
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import Bindings, one_name, run_name
from ansible_collections.specdec.blackwell.plugins.module_utils._parameter_list import (
    STARS,
    Parameter,
    arguments,
    parameters,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Found, Pattern, placeholders, span_of
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice, splice
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import arguments_in_order, plain, same


class Rendered:
    """A template filled from one match: its text, its syntax, and the statements of the file moved in it."""

    def __init__(self, text: bytes, template: bytes, expected: list[ast.stmt], *, moved: list[ast.stmt]) -> None:
        self.text = text
        self.template = template
        self.expected = expected
        self.moved = moved


class Template:
    """The ``with`` of a replacement, compiled together with its pattern."""

    def __init__(self, text: str, pattern: Pattern, *, what: str) -> None:
        self.text = code(text).decode("utf-8")
        self.what = what
        self.image = Pattern(self.text, what=what, selective=False)
        known = {name for _start, _end, name, _run in placeholders(pattern.text, what=what)}
        for _start, _end, name, _run in placeholders(self.text, what=what):
            if name in ("", "_") or name not in known:
                raise BadInput("{}: {!r} is not bound by the pattern".format(what, "$" + name if name else "$$$"))

    def render(self, source: Source, found: Found, inner: Sequence[tuple[Splice, ast.AST, ast.AST]] = ()) -> Rendered:
        """Fill the template.

        :param inner: replacements inside the bound code: their splice, the node replaced and the node in its place.
        :raises Refused: the filled text cannot be made to mean what the template says.
        """
        replaced = {id(old): new for _splice, old, new in inner}
        splices = [item for item, _old, _new in inner]
        expected = [_fill(node, found.bindings, replaced) for node in self.image.statements]
        flat: list[ast.stmt] = [item for node in expected for item in (node if isinstance(node, list) else [node])]
        for parenthesised in (False, True):
            text, moved = self._text(source, found, splices, parenthesised=parenthesised)
            try:
                tree = parse(text.decode("utf-8")).body
            except SyntaxError:
                continue
            if same(tree, flat):
                return Rendered(text, self.text.encode("utf-8"), flat, moved=moved)
        raise Refused(
            f"{self.what}: {self.text!r} cannot be filled from line {source.line_of(span_of(source, found)[0])}"
        )

    def _text(
        self, source: Source, found: Found, splices: Sequence[Splice], *, parenthesised: bool
    ) -> tuple[bytes, list[ast.stmt]]:
        data = self.text.encode("utf-8")
        pieces: list[bytes] = []
        position = 0
        moved: list[ast.stmt] = []
        for start, end, name, _run in placeholders(self.text, what=self.what):
            value = found.bindings[name]
            statements = value if isinstance(value, list) else [value]
            if value == []:
                piece, position = _without_comma(data, position, start, end)
                pieces.append(piece)
                continue
            line = max(data.rfind(b"\n", 0, start) + 1, 0)
            alone = not data[line:start].strip()
            if alone and all(isinstance(item, ast.stmt) for item in statements):
                moved.extend(statements)
                lines = _statement_lines(source, statements, splices, _reach(source, found))
                pieces.append(data[position:line])
                pieces.append(reindent(lines, indent=data[line:start]) if lines else b"")
            else:
                pieces.append(data[position:start])
                pieces.append(_inline(source, value, splices, parenthesised=parenthesised))
            position = end
        pieces.append(data[position:])
        return b"".join(pieces), moved


def _without_comma(data: bytes, position: int, start: int, end: int) -> tuple[bytes, int]:
    """The template up to an empty run, and where it goes on; a comma beside it goes too, and a line left empty."""
    before, after = data[position:start], end
    following = next(lexer.significant(data, end), None)
    earlier = list(lexer.significant(data, position, start))[-1:]
    if following is not None and data[following.start : following.end] == b",":
        after = following.end + len(data[following.end :]) - len(data[following.end :].lstrip(b" "))
    elif earlier and data[earlier[0].start : earlier[0].end] == b",":
        before = data[position : earlier[0].start]
    line, newline = before.rfind(b"\n") + 1, data.find(b"\n", after)
    if line and newline >= 0 and not before[line:].strip() and not data[after:newline].strip():
        return before[:line], newline + 1
    return before, after


def _bytes(source: Source, start: int, end: int, splices: Sequence[Splice]) -> bytes:
    """``[start, end)`` of the file with the splices that lie in it."""
    inside = [
        Splice(item.start - start, item.end - start, item.text)
        for item in splices
        if start <= item.start and item.end <= end
    ]
    return splice(source.text[start:end], inside)


def _reach(source: Source, found: Found) -> tuple[int, int]:
    """Span of a match with the comments that stand in or hang below its last statement."""
    start, end = span_of(source, found)
    if found.block is not None and suite.is_compound(found.nodes[-1]):
        end = suite.after_statement(source, found.block, found.stop - 1)
    return start, end


def _statement_lines(
    source: Source, statements: Sequence[Any], splices: Sequence[Splice], span: tuple[int, int]
) -> bytes:
    """Whole statements at column 0, with the comments above, between and behind them that lie in the match."""
    if not statements:
        return b""
    start, end = source.start(statements[0]), source.end(statements[-1])
    if not source.starts_line(start):
        return _bytes(source, start, end, splices)
    first = source.line_start(start)
    while first:
        above = source.line_start(first - 1)
        if above < span[0] or not source.text[above:first].strip().startswith(b"#"):
            break
        first = above
    rest = lexer.line_end(source.text, end)
    if source.text[end:rest].strip()[:1] not in (b"", b"#"):
        return reindent(_bytes(source, first, end, splices), indent=b"")
    stop = _own_comments(source, rest, source.indent_at(start), span[1])
    return reindent(_bytes(source, first, stop, splices), indent=b"")


def _own_comments(source: Source, position: int, indent: bytes, limit: int) -> int:
    """End of the comment lines below ``position`` that stand at least as deep as ``indent``, before ``limit``."""
    ahead = position
    while True:
        start = lexer.next_line(source.text, ahead)
        if start == ahead or start >= limit:
            return position
        ahead = lexer.line_end(source.text, start)
        line = source.text[start:ahead]
        if not line.strip():
            continue
        if ahead > limit or not line.startswith(indent) or not line.strip().startswith(b"#"):
            return position
        position = ahead


def _inline(source: Source, value: Any, splices: Sequence[Splice], *, parenthesised: bool) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if not isinstance(value, list):
        start, end = item_span(source, value)
        text = _bytes(source, start, end, splices)
        return b"(" + text + b")" if parenthesised and isinstance(value, ast.expr) else text
    if not value:
        return b""
    spans = [item_span(source, item) for item in value]
    whole = _bytes(source, spans[0][0], spans[-1][1], splices)
    if parenthesised and all(isinstance(item, (ast.withitem, ast.alias)) for item in value):
        # The brackets around names or items over several lines are no part of them.
        return b"(" + whole + b")"
    if _balanced(whole):
        return whole
    return b", ".join(_bytes(source, start, end, splices) for start, end in spans)


def _balanced(text: bytes) -> bool:
    depth = 0
    for token in lexer.significant(text, 0):
        depth += lexer.depth_change(text, token)
        if depth < 0:
            return False
    return depth == 0


def item_span(source: Source, item: Any) -> tuple[int, int]:
    """Byte span of a node, a parameter with its default, a keyword argument, or a dictionary's key and value."""
    if isinstance(item, Parameter):
        start = source.start(item.node)
        if item.kind in ("*", STARS):
            start = source.text.rindex(item.kind.encode("ascii"), 0, start)
        return start, source.end(item.node if item.default is None else item.default)
    if isinstance(item, ast.withitem):
        return source.start(item.context_expr), source.end(item.optional_vars or item.context_expr)
    if not isinstance(item, (ast.AST, tuple)):
        raise Refused(f"{item!r} cannot be moved; replace the statement that holds it")
    if isinstance(item, tuple):
        key, value = item
        if key is None:
            return source.text.rindex(b"**", 0, source.start(value)), source.end(value)
        return source.start(key), source.end(value)
    if isinstance(item, ast.keyword):
        if hasattr(item, "lineno"):
            return source.start(item), source.end(item)
        # Python 3.8 gives keywords no position of their own.
        before = source.start(item.value)
        mark = b"**" if item.arg is None else item.arg.encode("utf-8")
        return source.text.rindex(mark, 0, before), source.end(item.value)
    return source.start(item), source.end(item)


def _fill(node: Any, bindings: Bindings, replaced: dict[int, ast.AST]) -> Any:
    """The template's tree with metavariables put in; a run in a list spreads."""
    name = run_name(node)
    if name is not None and name in bindings:
        return [_swap(item, replaced) for item in bindings[name]]
    name = one_name(node)
    if name is not None and name in bindings:
        bound = bindings[name]
        if isinstance(node, str):
            if not isinstance(bound, (str, ast.Name)):
                raise Refused(f"${name} stands for more than a name, and the place in the template takes a name")
            return bound if isinstance(bound, str) else bound.id
        if isinstance(bound, str):
            bound = ast.Name(bound, ast.Load())
        if isinstance(node, ast.Expr) and not isinstance(bound, ast.stmt):
            return ast.Expr(_swap(bound, replaced))
        return _swap(bound, replaced)
    if isinstance(node, list):
        return _fill_list(node, bindings, replaced)
    if not isinstance(node, ast.AST):
        return node
    filled: Any = copy.copy(node)
    if isinstance(node, (ast.Call, ast.ClassDef)):
        return _fill_call(node, filled, bindings, replaced)
    if isinstance(node, ast.Dict):
        pairs = _fill_list(list(zip(node.keys, node.values)), bindings, replaced)
        return ast.Dict([key for key, _value in pairs], [value for _key, value in pairs])
    if isinstance(node, ast.arguments):
        return _fill_parameters(node, bindings, replaced)
    if isinstance(node, ast.Subscript) and run_name(plain(node.slice)) is not None:
        items = _fill(plain(node.slice), bindings, replaced)
        filled.slice = items[0] if len(items) == 1 else ast.Tuple(items, ast.Load())
        filled.value = _fill(node.value, bindings, replaced)
        return filled
    for field, value in ast.iter_fields(node):
        setattr(filled, field, _fill(value, bindings, replaced))
    return filled


def _fill_list(items: Sequence[Any], bindings: Bindings, replaced: dict[int, ast.AST]) -> list[Any]:
    result: list[Any] = []
    for item in items:
        if isinstance(item, tuple) and run_name(item) is None:
            result.append(tuple(_fill(part, bindings, replaced) for part in item))
            continue
        value = _fill(item, bindings, replaced)
        if isinstance(value, list):
            result.extend(value)
        else:
            result.append(value)
    return result


def _fill_parameters(node: ast.arguments, bindings: Bindings, replaced: dict[int, ast.AST]) -> ast.arguments:
    """A run of parameters may hold all kinds."""
    items: list[Parameter] = []
    for item in parameters(node):
        name = run_name(item.node)
        if name is not None and name in bindings:
            items.extend(bindings[name])
        else:
            items.append(
                item._replace(
                    node=_fill(item.node, bindings, replaced), default=_fill(item.default, bindings, replaced)
                )
            )
    return arguments(items)


def _fill_call(node: ast.Call | ast.ClassDef, filled: Any, bindings: Bindings, replaced: dict[int, ast.AST]) -> ast.AST:
    """A run of arguments or bases may hold positional and keyword ones."""
    items = _fill_list(arguments_in_order(node), bindings, replaced)
    for field, value in ast.iter_fields(node):
        if field in ("args", "bases"):
            setattr(filled, field, [item for item in items if not isinstance(item, ast.keyword)])
        elif field == "keywords":
            filled.keywords = [item for item in items if isinstance(item, ast.keyword)]
        else:
            setattr(filled, field, _fill(value, bindings, replaced))
    result: ast.AST = filled
    return result


def _swap(node: Any, replaced: dict[int, ast.AST]) -> Any:
    """A copy of ``node`` in which replaced nodes are swapped; the node itself when there are none."""
    if not replaced:
        return node
    if id(node) in replaced:
        return replaced[id(node)]
    if isinstance(node, list):
        return [_swap(item, replaced) for item in node]
    if isinstance(node, tuple):
        return tuple(_swap(item, replaced) for item in node)
    if not isinstance(node, ast.AST):
        return node
    swapped = copy.copy(node)
    for field, value in ast.iter_fields(node):
        setattr(swapped, field, _swap(value, replaced))
    return swapped


def node_at(source: Source, start: int, end: int) -> list[ast.expr] | None:
    """The expressions that span exactly ``[start, end)``."""
    for statement in source.tree.body:
        if source.start(statement) <= start and end <= source.end(statement):
            return [
                node
                for node in ast.walk(statement)
                if isinstance(node, ast.expr)
                and not source.in_fstring(node)
                and source.start(node) == start
                and source.end(node) == end
            ]
    return None


__all__ = ("Template", "Rendered", "item_span", "node_at")
