# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``import``: names of a from-import, or a plain import."""

from __future__ import annotations

import ast
from typing import NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils import _import_layout as layout
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._imports import (
    Import,
    absolute_module,
    imports_in,
    resolve_relative,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import DEFINITIONS

MODIFIERS = ()
ABSENT = True


class Name(NamedTuple):
    """One imported name, as in ``name as alias``."""

    name: str
    alias: str | None

    @property
    def bound(self) -> str:
        return self.alias or self.name

    def __str__(self) -> str:
        return f"{self.name} as {self.alias}" if self.alias else self.name


class FromImport(Operation):
    """``from module import names``."""

    def __init__(self, module: str, names: Sequence[Name], *, absent: bool) -> None:
        self.module = module
        self.names = names
        self.absent = absent

    def examine(self, scope: Scope, context: Context) -> Verdict:
        wanted = self._absolute(self.module, context)
        same: list[Import] = []
        bound: dict[str, tuple[str | None, str, int]] = {}
        for item in imports_in(scope.node.body):
            module = None
            if isinstance(item.node, ast.ImportFrom):
                module = absolute_module(item.node, context.module, is_package=context.is_package)
                spelled = "." * item.node.level + (item.node.module or "")
                if (module is not None and module == wanted) or spelled == self.module:
                    module = wanted
                    same.append(item)
            for alias in item.node.names:
                local = alias.asname or alias.name.split(".")[0]
                bound[local] = (module or "", alias.name, item.node.lineno)
        there = [name for name in self.names if bound.get(name.bound, ("", "", 0))[:2] == (wanted, name.name)]
        lines = [item.node.lineno for item in same]
        if self.absent:
            if not there:
                return present(lines[0] if lines else None)
            return pristine(
                layout.without_names(scope, [item.node for item in same], [str(name) for name in there]), lines[0]
            )
        missing = [name for name in self.names if name not in there]
        if not missing:
            return present(lines[0])
        for name in missing:
            if name.bound in bound:
                origin, original, at = bound[name.bound]
                other = f"{origin}.{original}" if origin else original
                return drifted(
                    f"{name.bound} is imported from somewhere else already ({other}, line {at}); "
                    "import it under another name",
                    line=at,
                )
            for node in scope.node.body:
                if isinstance(node, DEFINITIONS) and node.name == name.bound:
                    return drifted(f"{name.bound} is defined in the file itself, line {node.lineno}", line=node.lineno)
        joinable = [item.node for item in same if item.joinable and item.node.names[0].name != "*"]
        texts = [str(name) for name in missing]
        if joinable:
            node = joinable[-1]
            return pristine(layout.with_names(scope.source, node, texts), node.lineno)
        line, splices = layout.new_import(scope, self._statement(texts), self.module)
        return pristine(splices, line)

    def _statement(self, names: Sequence[str]) -> str:
        line = "from {} import {}".format(self.module, ", ".join(names))
        if len(line) <= 88:
            return line
        return "from {} import (\n    {},\n)".format(self.module, ",\n    ".join(names))

    def _absolute(self, module: str, context: Context) -> str | None:
        level = len(module) - len(module.lstrip("."))
        if not level:
            return module
        return resolve_relative(level, module[level:], context.module, is_package=context.is_package) or module


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
        if self.absent:
            if not found:
                return present()
            return pristine(layout.without_names(scope, found, [str(self.name)]), found[0].lineno)
        if found:
            return present(found[0].lineno)
        line, splices = layout.new_import(scope, "import " + str(self.name), self.name.name)
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
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        raise BadInput(f"{what}: {text!r} is no import statement") from None
    if len(body) != 1:
        raise BadInput(f"{what}: {text!r} is more than one statement")
    return body[0]
