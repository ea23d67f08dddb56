# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Compound statements: where their header ends, their blocks, and what equals them."""

from __future__ import annotations

import ast
from typing import Any, Sequence, cast

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _proof as proof
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse, reason
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, ScopeNode
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS, Source, blocks_of
from ansible_collections.specdec.blackwell.plugins.module_utils._syntax import same

# ``except*`` makes a node type of its own, which Python 3.10 and older do not have.
TRY = (ast.Try,) + tuple(cls for cls in (getattr(ast, "TryStar", None),) if cls is not None)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
WITHS = (ast.With, ast.AsyncWith)
COMPOUND = (ast.If,) + LOOPS + WITHS + TRY

_BLOCK_FIELDS = ("body", "handlers", "orelse", "finalbody")


def header_end(source: Source, node: ast.AST) -> int:
    """Offset after the colon of a compound statement's header."""
    position = source.start(node)
    for field, value in ast.iter_fields(node):
        if field in _BLOCK_FIELDS:
            continue
        for part in value if isinstance(value, list) else [value]:
            for item in (part.context_expr, part.optional_vars) if isinstance(part, ast.withitem) else (part,):
                if isinstance(item, ast.expr):
                    position = max(position, source.end(item))
    for token in lexer.significant(source.text, position):
        if source.text[token.start : token.end] == b":":
            return token.end
    raise AssertionError("a compound statement without a colon")


def after_block(source: Source, last: ast.stmt, outer: bytes) -> int:
    """Offset after a block whose last statement is ``last``: comments that stand deeper than ``outer`` belong to it."""
    position = lexer.line_end(source.text, source.end(last))
    ahead = position
    while True:
        start = lexer.next_line(source.text, ahead)
        if start == ahead:
            return position
        ahead = lexer.line_end(source.text, start)
        line = source.text[start:ahead]
        if not line.strip():
            continue
        lead = line[: len(line) - len(line.lstrip(b" \t\f"))]
        if not line.strip().startswith(b"#") or len(lead) <= len(outer) or not lead.startswith(outer):
            return position
        position = ahead


def body_span(source: Source, node: ast.AST) -> tuple[int, int, bool]:
    """Span of the body of a compound statement, whole lines with their comments, and whether it stands on the header's
    line (then from its first statement to the end of the line)."""
    statements: list[ast.stmt] = cast(Any, node).body
    first = source.start(statements[0])
    if not source.starts_line(first):
        return first, lexer.line_end(source.text, source.end(statements[-1])), True
    outer = source.indent_at(source.start(node))
    start = lexer.next_line(source.text, header_end(source, node))
    return start, after_block(source, statements[-1], outer), False


def last_statement(node: ast.AST) -> ast.stmt:
    """The statement that a compound statement ends with."""
    return list(blocks_of(node))[-1][1][-1]


def same_header(left: ast.AST, right: ast.AST) -> bool:
    """Whether two compound statements are the same but for their blocks."""
    return type(left) is type(right) and all(
        same(getattr(left, field, None), getattr(right, field, None))
        for field in left._fields
        if field not in _BLOCK_FIELDS and field != "type_comment"
    )


def from_header(header: bytes, tail: bytes) -> ast.stmt | None:
    """The one compound statement that a header makes, with ``pass`` as its body; None when it makes none."""
    try:
        tree = parse(b"\n".join([header, b"    pass", tail]).decode("utf-8")).body
    except SyntaxError:
        return None
    body: list[ast.stmt] = getattr(tree[0], "body", [])
    whole = len(tree) == 1 and isinstance(tree[0], COMPOUND) and len(body) == 1 and isinstance(body[0], ast.Pass)
    return tree[0] if whole else None


def same_tail(left: ast.AST, right: ast.AST) -> bool:
    """Whether two compound statements have the same branches after their body."""
    return all(same(getattr(left, field, []), getattr(right, field, [])) for field in _BLOCK_FIELDS[1:])


def branches(node: Any) -> list[Any]:
    """The branches of a statement after its first body, as nodes or statement lists."""
    found: list[Any] = list(getattr(node, "handlers", []))
    orelse = getattr(node, "orelse", [])
    if orelse:
        found.append(orelse)
        if isinstance(node, ast.If) and len(orelse) == 1 and isinstance(orelse[0], ast.If):
            found.extend(branches(orelse[0]))
    if getattr(node, "finalbody", []):
        found.append(node.finalbody)
    return found


def has_elif(source: Source, node: ast.If) -> bool:
    """Whether the statement goes on with an ``elif``, which is an ``If`` alone in ``orelse``, spelled so."""
    only = node.orelse[0] if len(node.orelse) == 1 else None
    return isinstance(only, ast.If) and source.text.startswith(b"elif", source.start(only))


def elif_chain(source: Source, node: ast.If) -> list[ast.If]:
    """An if statement and its ``elif`` ones."""
    chain = [node]
    while has_elif(source, chain[-1]):
        chain.append(cast(ast.If, chain[-1].orelse[0]))
    return chain


def jumps_out(statements: Sequence[ast.stmt]) -> ast.stmt | None:
    """A ``break`` or ``continue`` that belongs to a loop around ``statements``; None without one."""
    for node in statements:
        if isinstance(node, (ast.Break, ast.Continue)):
            return node
        if isinstance(node, DEFINITIONS):
            continue
        for field, inner in blocks_of(node):
            if isinstance(node, LOOPS) and field == "body":
                continue
            found = jumps_out(inner)
            if found is not None:
                return found
    return None


def check_moved(source: Source, text: bytes, indent: bytes, nodes: Sequence[ast.AST]) -> None:
    """A proof: ``text``, lines at ``indent``, holds the very same statements, strings included.

    :raises ProofFailed: it does not.
    """
    wanted = [ast.dump(node) for node in nodes]
    what = f"moving line {cast(ast.stmt, nodes[0]).lineno} would change it"
    try:
        # The line end is needed where the text ends with a backslash that joins an empty line to it.
        tree = parse(((b"if _:\n" if indent else b"") + text + b"\n").decode("utf-8"))
    except SyntaxError as error:
        raise proof.fail(source.path, f"{what}: {reason(error)}") from None
    for node in ast.walk(tree):
        for _field, statements in blocks_of(node):
            if len(statements) == len(wanted) and all(map(_dumps_as, statements, wanted)):
                return
    raise proof.fail(source.path, what)


def _dumps_as(node: ast.AST, text: str) -> bool:
    return text.startswith(type(node).__name__ + "(") and ast.dump(node) == text


def ancestors(scope: ScopeNode, block: Block) -> list[ast.stmt]:
    """The compound statements of a scope whose body, at any depth, is or holds ``block``; innermost first."""
    path: list[tuple[ast.AST, str]] = []

    def down(node: ast.AST) -> bool:
        for field, statements in blocks_of(node):
            path.append((node, field))
            if statements is block.statements:
                return True
            for statement in statements:
                if not isinstance(statement, DEFINITIONS) and down(statement):
                    return True
            path.pop()
        return False

    down(scope)
    return [cast(ast.stmt, node) for node, field in reversed(path) if node is not scope and field == "body"]


__all__ = (
    "COMPOUND",
    "LOOPS",
    "TRY",
    "WITHS",
    "ancestors",
    "after_block",
    "body_span",
    "branches",
    "check_moved",
    "elif_chain",
    "from_header",
    "has_elif",
    "header_end",
    "jumps_out",
    "last_statement",
    "same_header",
    "same_tail",
)
