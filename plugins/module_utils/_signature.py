# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The signature of a function: its parameters as written, and changes as splices."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils import _listing as listing
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
POSITIONAL, SLASH, NORMAL, VARARG, STAR, KEYWORD_ONLY, KWARG = (
    "positional",
    "/",
    "normal",
    "*",
    "bare",
    "keyword_only",
    "**",
)


class Parameter(NamedTuple):
    """One item of a signature; ``/`` and a bare ``*`` are items too. ``start``, ``end``: byte span, stars included."""

    kind: str
    name: str
    node: ast.arg | None
    default: ast.expr | None
    start: int
    end: int


class Signature(NamedTuple):
    """The items between a function's brackets, ``start`` just after the opening one, ``end`` at the closing one."""

    start: int
    end: int
    items: list[Parameter]

    def find(self, name: str) -> int | None:
        for index, item in enumerate(self.items):
            if item.name and item.name == name:
                return index
        return None

    def first(self, *kinds: str) -> int:
        """Index of the first item of one of ``kinds``, else the number of items."""
        return next((index for index, item in enumerate(self.items) if item.kind in kinds), len(self.items))

    @property
    def listing(self) -> listing.Listing:
        return listing.Listing(self.start, self.end, [(item.start, item.end) for item in self.items])


class Parts(NamedTuple):
    """The text of a parameter: stars and name, annotation, default."""

    name: bytes
    annotation: bytes | None
    default: bytes | None

    def compose(self) -> bytes:
        text = self.name
        if self.annotation is not None:
            text += b": " + self.annotation
        if self.default is not None:
            text += (b"=" if self.annotation is None else b" = ") + self.default
        return text


def read(source: Source, node: Function) -> Signature:
    """The signature of a function."""
    position = source.keyword_start(node)
    for token in lexer.significant(source.text, position):
        position = token.end
        if source.text[token.start : token.end] == b"def":
            break
    position = next(lexer.significant(source.text, position)).end
    for parameter in getattr(node, "type_params", []):
        position = max(position, source.text.index(b"]", source.end(parameter)) + 1)
    inside = listing.brackets(source, position, source.start(node.body[0]))
    if inside is None:
        raise AssertionError("inside is not None")
    start, end = inside
    found = _elements(source, node.args, start)
    spans = listing.split(source, start, end, [offset for _kind, _arg, _default, offset in found])
    items = [
        Parameter(kind, arg.arg if arg is not None else "", arg, default, first, last)
        for (kind, arg, default, _offset), (first, last) in zip(found, spans)
    ]
    return Signature(start, end, items)


def _elements(source: Source, args: ast.arguments, start: int) -> list[tuple[str, ast.arg | None, Any, int]]:
    """Kind, node, default and an offset inside of each item, in source order."""
    found: list[tuple[str, ast.arg | None, Any, int]] = []
    positional = list(args.posonlyargs) + list(args.args)
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    end = start
    for index, (arg, default) in enumerate(zip(positional, defaults)):
        found.append((POSITIONAL if index < len(args.posonlyargs) else NORMAL, arg, default, source.start(arg)))
        end = source.end(arg if default is None else default)
        if index == len(args.posonlyargs) - 1:
            end = _sign(source, end, b"/")
            found.append((SLASH, None, None, end))
            end += 1
    if args.vararg is not None:
        found.append((VARARG, args.vararg, None, source.start(args.vararg)))
    elif args.kwonlyargs:
        found.append((STAR, None, None, _sign(source, end, b"*")))
    for arg, default in zip(args.kwonlyargs, args.kw_defaults):
        found.append((KEYWORD_ONLY, arg, default, source.start(arg)))
    if args.kwarg is not None:
        found.append((KWARG, args.kwarg, None, source.start(args.kwarg)))
    return found


def _sign(source: Source, position: int, sign: bytes) -> int:
    return next(
        token.start
        for token in lexer.significant(source.text, position)
        if source.text[token.start : token.end] == sign
    )


def parts(source: Source, item: Parameter) -> Parts:
    """The text of a parameter, taken apart."""
    if item.node is None:
        raise AssertionError("item.node is not None")
    name_end = source.start(item.node) + len(item.name.encode("utf-8"))
    name = source.text[item.start : name_end]
    equals = item.end
    if item.default is not None:
        position = name_end if item.node.annotation is None else source.end(item.node.annotation)
        equals = _sign(source, position, b"=")
    annotation = None
    if item.node.annotation is not None:
        annotation = source.text[_sign(source, name_end, b":") + 1 : equals].strip()
    default = None if item.default is None else source.text[equals + 1 : item.end].strip()
    return Parts(name, annotation, default)


def has_comment(source: Source, signature: Signature, index: int, *, behind: bool) -> bool:
    """Whether a comment stands inside a parameter, where composing it anew loses it, or ``behind`` it on its line."""
    item = signature.items[index]
    end = min(lexer.line_end(source.text, item.end), signature.end) if behind else item.end
    return any(token.kind == lexer.COMMENT for token in lexer.tokens(source.text, item.start, end))


def place(found: Signature, kind: str, after: str) -> int | str:
    """Index before which a new parameter of a kind goes, behind ``after`` where that is given; or why there is none."""
    items = found.items
    if kind in (VARARG, KWARG):
        other = found.first(kind)
        if other < len(items):
            return f"it has {kind}{items[other].name} already"
        return len(items) if kind == KWARG else found.first(KWARG)
    if not after:
        return found.first(KWARG) if kind == KEYWORD_ONLY else found.first(VARARG, STAR, KEYWORD_ONLY, KWARG)
    index = found.find(after)
    if index is None:
        return f"it has no parameter {after} to stand after"
    before = items[index].kind
    if kind == KEYWORD_ONLY:
        if before in (VARARG, KEYWORD_ONLY):
            return index + 1
        return f"a keyword_only parameter stands after `*`, so it cannot stand right after {after}"
    if before == POSITIONAL:
        if items[index + 1].kind == SLASH:
            return index + 2
        return f"after {after} it would be positional-only; name the last one before `/`"
    if before == NORMAL:
        return index + 1
    return f"a normal parameter cannot stand after {after}; say kind: keyword_only"


def add(source: Source, found: Signature, index: int, kind: str, text: bytes) -> list[Splice]:
    """A parameter before item ``index``, or at the end; a first keyword-only one brings its bare ``*``."""
    kinds = [item.kind for item in found.items]
    places = found.listing
    if kind == VARARG and STAR in kinds:
        star = found.items[kinds.index(STAR)]
        return [Splice(star.start, star.end, text)]
    if kind == KEYWORD_ONLY and STAR not in kinds and VARARG not in kinds:
        stacked = places.items and listing.stacks(source, places, index)
        text = b"*," + (b"\n" if stacked else b" ") + text
    return listing.add(source, places, index, text)


def drop(source: Source, signature: Signature, index: int) -> list[Splice]:
    """Take a parameter out; the last keyword-only one takes its ``*`` along, the last positional-only one its ``/``."""
    items = signature.items
    kind = items[index].kind
    alike = sum(item.kind == kind for item in items)
    if kind == VARARG and any(item.kind == KEYWORD_ONLY for item in items):
        return [Splice(items[index].start, items[index].end, b"*")]
    spans = signature.listing.items
    if kind == KEYWORD_ONLY and alike == 1 and items[index - 1].kind == STAR:
        spans = spans[: index - 1] + [(spans[index - 1][0], spans[index][1])] + spans[index + 1 :]
        index -= 1
    elif kind == POSITIONAL and alike == 1:
        spans = [(spans[0][0], spans[1][1])] + spans[2:]
    return listing.drop(source, signature.listing._replace(items=spans), index)


def order_problem(found: Signature, index: int, name: str, *, has_default: bool, gone: int | None) -> str:
    """Why a normal parameter cannot stand before item ``index`` (with item ``gone`` taken out); '' when it can."""
    listed: list[tuple[str, bool]] = []
    for number, item in enumerate(found.items):
        if number == index:
            listed.append((name, has_default))
        if number != gone and item.kind in (NORMAL, POSITIONAL):
            listed.append((item.name, item.default is not None))
    if index >= len(found.items):
        listed.append((name, has_default))
    before = ""
    for other, defaulted in listed:
        if before and not defaulted:
            return f"{other} would have no default, but stands after {before}, which has one"
        before = other if defaulted else before
    return ""


def returns(source: Source, node: Function, text: bytes | None) -> list[Splice]:
    """Write the return annotation; None takes it away."""
    close = read(source, node).end + 1
    if node.returns is None:
        return [] if text is None else [Splice(close, close, b" -> " + text)]
    if text is not None:
        return [Splice(source.start(node.returns), source.end(node.returns), text)]
    return [Splice(close, _sign(source, source.end(node.returns), b":"), b"")]


def at(source: Source, start: int) -> Function:
    """The function whose ``def`` or ``async`` stands at an offset."""
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and source.keyword_start(node) == start:
            return node
    raise AssertionError(f"no function at byte {start}")


def difference(before: bytes, after: bytes) -> Splice:
    """The one splice that makes ``after`` of ``before``."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < min(len(before), len(after)) - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return Splice(start, len(before) - tail, after[start : len(after) - tail])


__all__ = (
    "KEYWORD_ONLY",
    "KWARG",
    "NORMAL",
    "POSITIONAL",
    "SLASH",
    "STAR",
    "VARARG",
    "Function",
    "Parameter",
    "Parts",
    "Signature",
    "add",
    "at",
    "difference",
    "drop",
    "has_comment",
    "order_problem",
    "parts",
    "place",
    "read",
    "returns",
)
