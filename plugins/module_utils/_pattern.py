# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Structural patterns: Python with ``$NAME`` and ``$$$NAME``.

``$NAME`` stands for one expression, name, statement or argument (the same NAME twice must be equal, ``$_`` for
any), ``$$$NAME`` for a run of them, also none. A compound statement whose body is one run is a header pattern:
what its header does not spell (decorators, annotations, else) may be anything.
"""

from __future__ import annotations

import ast
import itertools
import re
from typing import Any, Iterator, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import code
from ansible_collections.specdec.blackwell.plugins.module_utils._matcher import ONE, RUN, Bindings, Matcher, run_name
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse, reason
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Block, Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS, Source, blocks_of

# Name of the run that stands for whatever branches a try has.
OPEN = "SPECDEC_OPEN"
_TRY_HEADER = re.compile(r"\s*try\s*:")


class Found(NamedTuple):
    """A match: ``nodes`` are one expression, or statements of ``block`` from index ``first`` on."""

    nodes: list[ast.AST]
    bindings: Bindings
    block: Block | None = None
    first: int = 0

    @property
    def stop(self) -> int:
        return self.first + len(self.nodes)

    @property
    def home(self) -> Block:
        """The block of matched statements; an expression has none."""
        if self.block is None:
            raise AssertionError("the match is an expression")
        return self.block


class Pattern:
    """A compiled pattern.

    :ivar statements: the pattern as statements, placeholders in it as names.
    :ivar expression: the pattern as one expression, or None when it is something else.
    :param selective: refuse a pattern that matches everything.
    """

    def __init__(self, text: str, *, what: str, selective: bool = True) -> None:
        self.text = code(text).decode("utf-8")
        self.what = what
        self.statements = _parse(self.text, what)
        self.expression: ast.expr | None = None
        only = self.statements[0]
        if len(self.statements) == 1 and isinstance(only, ast.Expr):
            self.expression = only.value
            if selective and run_name(self.expression) is not None:
                raise BadInput(f"{what}: the pattern {self.text!r} matches everything")

    @property
    def is_header(self) -> bool:
        """Whether it is one compound statement that is matched by its header alone."""
        return len(self.statements) == 1 and is_header(self.statements[0])

    def in_blocks(self, blocks: Sequence[Block], source: Source) -> list[Found]:
        """Matches as whole statements, in source order, not overlapping."""
        matcher = Matcher()
        found: list[Found] = []
        for block in blocks:
            index = 0
            while index < len(block.statements):
                match = self._at(matcher, block, index)
                if match is None or _is_elif(match.nodes, block, source):
                    index += 1
                else:
                    found.append(match)
                    index = max(match.stop, index + 1)
        return sorted(found, key=lambda match: source.start(match.nodes[0]))

    def as_statements(self, scope: Scope) -> list[Found]:
        """Matches as whole statements of a scope; a definition matches where it stands, its body is not searched."""
        return self.in_blocks(list(scope.blocks()), scope.source)

    def as_expression(self, scope: Scope) -> list[Found]:
        """Matches of an expression pattern anywhere in the scope, outer ones first."""
        if self.expression is None:
            return []
        found: list[Found] = []
        for node in scope.expressions():
            bindings: Bindings = {}
            if Matcher().match(self.expression, node, bindings):
                found.append(Found([node], bindings))
        return found

    def anywhere(self, source: Source) -> bool:
        """Whether it matches in any scope of a file."""
        if self.expression is not None:
            return any(
                isinstance(node, ast.expr) and Matcher().match(self.expression, node, {})
                for node in ast.walk(source.tree)
            )
        blocks = [
            Block(node, field, statements) for node in ast.walk(source.tree) for field, statements in blocks_of(node)
        ]
        return bool(self.in_blocks(blocks, source))

    def _at(self, matcher: Matcher, block: Block, index: int) -> Found | None:
        bindings: Bindings = {}
        stop = matcher.match_run(self.statements, block.statements, index, bindings)
        if stop is None or stop == index:
            return None
        nodes: list[ast.AST] = list(block.statements[index:stop])
        return Found(nodes, bindings, block, index)


def is_header(node: ast.AST) -> bool:
    """Whether the body of a compound pattern statement is one run."""
    body = getattr(node, "body", None)
    return isinstance(body, list) and len(body) == 1 and run_name(body[0]) is not None


def _is_elif(nodes: Sequence[ast.AST], block: Block, source: Source) -> bool:
    """An ``elif`` is an ``If`` alone in an ``orelse``, spelled so."""
    if len(nodes) != 1 or not isinstance(nodes[0], ast.If) or block.field != "orelse":
        return False
    return source.text.startswith(b"elif", source.start(nodes[0]))


def placeholders(text: str, *, what: str) -> Iterator[tuple[int, int, str, bool]]:
    """The metavariables of a pattern: byte span, name, and whether it is a run."""
    data = text.encode("utf-8")
    pending = 0
    for token in lexer.tokens(data):
        piece = data[token.start : token.end]
        if piece == b"$":
            pending += 1
            continue
        if pending:
            start = token.start - pending
            named = token.kind == lexer.NAME
            if pending not in (1, 3) or (pending == 1 and not named):
                raise BadInput("{}: {!r} is no metavariable; write $NAME or $$$NAME".format(what, "$" * pending))
            yield start, token.end if named else token.start, piece.decode("utf-8") if named else "", pending == 3
        pending = 0
    if pending:
        if pending != 3:
            raise BadInput("{}: {!r} is no metavariable; write $NAME or $$$NAME".format(what, "$" * pending))
        yield len(data) - 3, len(data), "", True


def _parse(text: str, what: str) -> list[ast.stmt]:
    """Parse a pattern; a run is written ``name``, ``*name`` or ``**name``, whichever its place allows."""
    if not text.strip():
        raise BadInput(f"{what}: the pattern is empty")
    data = text.encode("utf-8")
    spans = list(placeholders(text, what=what))
    runs = [index for index, span in enumerate(spans) if span[3]]
    failure: SyntaxError | None = None
    for tail in ("", f"\nfinally:\n    {RUN}{OPEN}") if _TRY_HEADER.match(text) else ("",):
        for stars in itertools.islice(itertools.product(("", "*", "**"), repeat=len(runs)), 729):
            star_of = dict(zip(runs, stars))
            pieces: list[bytes] = []
            position = 0
            for index, (start, end, name, is_run) in enumerate(spans):
                pieces.append(data[position:start])
                pieces.append((star_of.get(index, "") + (RUN if is_run else ONE) + name).encode("utf-8"))
                position = end
            pieces.append(data[position:])
            try:
                tree = parse(b"".join(pieces).decode("utf-8") + tail)
            except SyntaxError as error:
                failure = failure or error
            else:
                if tree.body:
                    _check_runs(tree, text, what)
                    return tree.body
    message = "it has no statement" if failure is None else reason(failure)
    raise BadInput(f"{what}: the pattern {text!r} does not parse, {message}")


def _check_runs(tree: ast.Module, text: str, what: str) -> None:
    """A run where the syntax has one thing (``return $$$``) would never match: say so."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Expr, ast.Starred, ast.keyword, ast.withitem)):
            continue
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) or run_name(value) is None:
                continue
            if isinstance(node, (ast.arg, ast.alias, ast.Name)) or field in ("slice", "vararg", "kwarg"):
                continue
            if type(node).__name__ != "Index":
                raise BadInput(f"{what}: in {text!r}, $$$ stands where one thing is meant; write $NAME")


def encloses(source: Source, outer: ast.AST | Found, inner: ast.AST) -> bool:
    """Whether ``inner`` lies within ``outer`` (by position, not the same node)."""
    start, end = span_of(source, outer)
    return inner is not outer and start <= source.start(inner) and source.end(inner) <= end


def any_nested(source: Source, found: Sequence[Found]) -> bool:
    """Whether a match lies within another one."""
    reached = -1
    for start, end in sorted(span_of(source, match) for match in found):
        if start < reached:
            return True
        reached = end
    return False


def span_of(source: Source, found: ast.AST | Found) -> tuple[int, int]:
    """Byte span of a match or a node."""
    if isinstance(found, Found):
        return source.start(found.nodes[0]), source.end(found.nodes[-1])
    return source.start(found), source.end(found)


def nearest(scope: Scope, pattern: Pattern, *, limit: int = 3) -> list[str]:
    """The statements of a scope most like a pattern, with their lines, for a message."""
    wanted = pattern.statements[0]
    scored: list[tuple[float, int, str]] = []
    for block in scope.blocks():
        for statement in block.statements:
            score = _likeness(wanted, statement)
            if score > 0.3:
                scored.append((-score, statement.lineno, first_line(scope.source, statement)))
    return [f"line {line}: {text}" for _score, line, text in sorted(scored)[:limit]]


def first_line(source: Source, node: ast.AST) -> str:
    """The first line of a node as it stands in the file, shortened."""
    start = source.keyword_start(node) if isinstance(node, DEFINITIONS) else source.start(node)
    end = min(source.end(node), lexer.line_end(source.text, start))
    line = source.text[start:end].decode("utf-8", "replace").strip()
    return line if len(line) <= 100 else line[:97] + "..."


def _likeness(wanted: ast.AST, statement: ast.AST) -> float:
    """Share of names and node types in common, from 0 to 1; headers are compared without their bodies."""
    left, right = _features(wanted), _features(statement)
    if not left or not right:
        return 0.0
    return 2.0 * len(left & right) / (len(left) + len(right))


def _features(node: ast.AST) -> frozenset[str]:
    pending: list[ast.AST] = [node]
    features: dict[str, Any] = {}
    while pending:
        current = pending.pop()
        features[type(current).__name__] = True
        for field, value in ast.iter_fields(current):
            if current is node and field in ("body", "orelse", "handlers", "finalbody", "cases"):
                continue
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, ast.AST):
                    pending.append(item)
                elif isinstance(item, (str, int)) and field not in ("ctx", "lineno"):
                    features[f"{field}={item}"] = True
    return frozenset(
        key for key in features if not key.startswith(("Load", "Store")) and ONE not in key and RUN not in key
    )


__all__ = (
    "OPEN",
    "Found",
    "Pattern",
    "placeholders",
    "is_header",
    "encloses",
    "any_nested",
    "span_of",
    "nearest",
    "first_line",
)
