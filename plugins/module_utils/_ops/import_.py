# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``import``: names of a from-import, or a plain import."""

from __future__ import annotations

import ast
from typing import Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _import_layout as layout
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._imports import imports_in, resolve_relative
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._import_names import Binding, Name, bindings, taken
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse as parse_python
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope

MODIFIERS = ()
ABSENT = True


class FromImport(Operation):
    """``from module import names``."""

    def __init__(self, module: str, names: Sequence[Name], *, absent: bool) -> None:
        self.module = module
        self.names = names
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        wanted = self._absolute(context)
        bound = bindings(scope, context, self.module, wanted)
        alike = [item for item in bound if item.module == wanted]
        there = [name for name in self.names if any(_is(item, name) for item in alike)]
        line = alike[0].node.lineno if alike else None
        if self.absent:
            if not there:
                return present(line)
            nodes = list({id(item.node): item.node for item in alike}.values())
            return pristine(layout.without_names(scope, nodes, [str(name) for name in there]), line)
        missing = [name for name in self.names if name not in there]
        for name in missing:
            other = taken(scope, bound, name.bound)
            if other:
                return other
        if not missing:
            return present(line)
        joinable = [item.node for item in alike if item.joinable and item.name != "*"]
        texts = [str(name) for name in missing]
        if joinable:
            return pristine(layout.with_names(scope.source, joinable[-1], texts), joinable[-1].lineno)
        line, splices = layout.new_import(scope, self._statement(texts), self.module)
        return pristine(splices, line)

    def _statement(self, names: Sequence[str]) -> str:
        line = f"from {self.module} import {', '.join(names)}"
        if len(line) <= 88:
            return line
        inner = ",\n    ".join(names)
        return f"from {self.module} import (\n    {inner},\n)"

    def _absolute(self, context: Context) -> str:
        name = self.module.lstrip(".")
        level = len(self.module) - len(name)
        full = resolve_relative(level, name, context.module, is_package=context.is_package) if level else None
        return full or self.module


def _is(item: Binding, name: Name) -> bool:
    return (item.name, item.local) == (name.name, name.bound)


class PlainImport(Operation):
    """``import module``, or ``import module as alias``."""

    def __init__(self, name: Name, *, absent: bool) -> None:
        self.name = name
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        found = [
            item.node
            for item in imports_in(scope.node.body)
            if isinstance(item.node, ast.Import)
            and any((alias.name, alias.asname) == (self.name.name, self.name.alias) for alias in item.node.names)
        ]
        if self.absent and found:
            return pristine(layout.without_names(scope, found, [str(self.name)]), found[0].lineno)
        if self.absent:
            return present()
        if found:
            return present(found[0].lineno)
        if self.name.alias:
            other = taken(scope, bindings(scope, context, "", ""), self.name.alias)
            if other:
                return other
        line, splices = layout.new_import(scope, f"import {self.name}", self.name.name)
        return pristine(splices, line)


def parse(fields: Fields, *, absent: bool) -> Operation:
    inner = Fields(fields.values["import"], fields.what)
    inner.only(("from", "names", "module"))
    if "module" in inner:
        if "from" in inner or "names" in inner:
            raise BadInput(f"{fields.what}: import takes `from` and `names`, or `module`")
        text = "import " + inner.text("module")
        node = _parsed(text, fields.what)
        if not isinstance(node, ast.Import) or len(node.names) != 1:
            raise BadInput(f"{fields.what}: `module` must be one dotted name, `x.y` or `x.y as z`")
        return PlainImport(Name(node.names[0].name, node.names[0].asname), absent=absent)
    module = inner.text("from").strip()
    names: list[Name] = []
    for item in inner.texts("names"):
        node = _parsed(f"from {module} import {item}", fields.what)
        if not isinstance(node, ast.ImportFrom) or len(node.names) != 1 or node.names[0].name == "*":
            raise BadInput(f'{fields.what}: {item!r} is no single name; write A or "B as C"')
        names.append(Name(node.names[0].name, node.names[0].asname))
    return FromImport(module, names, absent=absent)


def _parsed(text: str, what: str) -> ast.stmt:
    try:
        body = parse_python(text).body
    except SyntaxError:
        raise BadInput(f"{what}: {text!r} is no import statement") from None
    if len(body) != 1:
        raise BadInput(f"{what}: {text!r} is more than one statement")
    return body[0]
