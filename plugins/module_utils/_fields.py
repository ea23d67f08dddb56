# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Reading an edit's values: right type or a message that says how to write it."""

from __future__ import annotations

import ast
from typing import Any, Sequence, cast

from ansible_collections.specdec.blackwell.plugins.module_utils import _lexer as lexer
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._indent import code
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse, reason


class Fields:
    """The keys and values of one edit, or of a dictionary in it; ``what`` names it in messages."""

    def __init__(self, values: Any, what: str) -> None:
        if not isinstance(values, dict):
            raise BadInput(f"{what}: expected a dictionary, got {describe(values)}")
        self.values: dict[str, Any] = values
        self.what = what

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def only(self, allowed: Sequence[str]) -> None:
        """Refuse keys that are not ``allowed``."""
        for key in self.values:
            if key not in allowed:
                raise BadInput(
                    "{}: unknown key {!r}; known here: {}".format(self.what, key, ", ".join(sorted(allowed))),
                    key=str(key),
                )

    def text(self, key: str, default: str | None = None) -> str:
        """A string that must be there, or ``default``."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise BadInput(f"{self.what}: `{key}` is required")
            return default
        if not isinstance(value, str):
            raise BadInput(
                f"{self.what}: `{key}` must be text; YAML read {describe(value)}. "
                f'Put it in quotes: {key}: "{_as_python(value)}"'
            )
        if not value.strip():
            raise BadInput(f"{self.what}: `{key}` is empty")
        return value

    def optional(self, key: str) -> str | None:
        """A string, or None when the key is left out."""
        return self.text(key) if key in self else None

    def texts(self, key: str) -> list[str]:
        """A list of strings; one string alone is taken as a list of one."""
        value = self.values.get(key)
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, list) or not value:
            raise BadInput(f"{self.what}: `{key}` must be a list of text, got {describe(value)}")
        return [Fields({key: item}, self.what).text(key) for item in value]

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        value = self.text(key, default)
        if value not in choices:
            raise BadInput("{}: `{}` must be one of {}, not {!r}".format(self.what, key, ", ".join(choices), value))
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key)
        if value is None:
            return default
        if isinstance(value, str) and value.lower() in ("true", "yes", "false", "no"):
            return value.lower() in ("true", "yes")
        if not isinstance(value, bool):
            raise BadInput(f"{self.what}: `{key}` must be true or false, got {describe(value)}")
        return value

    def number(self, key: str) -> int | None:
        """A whole number from 1, or None when the key is left out."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise BadInput(f"{self.what}: `{key}` must be a whole number from 1, got {describe(value)}")
        return value

    def count(self) -> int | str:
        """``count``: a number from 1, or 'all'."""
        if self.values.get("count") == "all":
            return "all"
        return self.number("count") or 1

    def expression(self, key: str) -> Snippet:
        """A value that is one Python expression; a tuple without its parentheses gets them."""
        text = self.text(key).strip()
        data = text.encode("utf-8")
        if any(token.kind == lexer.COMMENT for token in lexer.tokens(data)):
            raise BadInput(f"{self.what}: `{key}` must be an expression without a comment: {text!r}")
        try:
            body = parse(text).body
        except SyntaxError as error:
            raise BadInput(f"{self.what}: `{key}` is no Python expression, {reason(error)}: {text!r}") from None
        if len(body) != 1 or not isinstance(body[0], ast.Expr) or isinstance(body[0].value, ast.Starred):
            raise BadInput(f"{self.what}: `{key}` is no Python expression: {text!r}")
        bare = isinstance(body[0].value, (ast.Tuple, ast.Yield, ast.YieldFrom))
        if bare and not (data.startswith(b"(") and lexer.closing(data, 0) == len(data)):
            data = b"(" + data + b")"
        return Snippet(data, body)

    def statements(self, key: str) -> Snippet:
        """A value that is Python statements, brought to column 0."""
        text = code(self.text(key))
        try:
            tree = parse(text.decode("utf-8"))
        except SyntaxError as error:
            raise BadInput(f"{self.what}: `{key}` does not parse, {reason(error)}") from None
        if not tree.body:
            raise BadInput(f"{self.what}: `{key}` has no statement")
        return Snippet(text, tree.body)


class Snippet:
    """Python given in an edit: its bytes, unindented, and its statements."""

    def __init__(self, text: bytes, statements: list[ast.stmt]) -> None:
        self.text = text
        self.tree = statements

    @property
    def expression(self) -> ast.expr:
        return cast(ast.Expr, self.tree[0]).value


def describe(value: Any) -> str:
    """A value as a message shows it."""
    names = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a dictionary"}
    if value is None:
        return "nothing"
    return f"{names.get(type(value), type(value).__name__)} ({value!r})"


def _as_python(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


__all__ = ("Fields", "Snippet", "code", "describe")
