# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The command-line flags that an installed engine's server defines, read from its source.

Follows the functions that are handed the parser. Nothing is imported, so flags that a plugin adds are not seen.
"""

from __future__ import annotations

import ast
import re
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils import _arguments_pipeline
from ansible_collections.specdec.blackwell.plugins.module_utils._arguments_types import Field, Types
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, Module
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    FUNCTIONS,
    called,
    dotted,
    index_of,
    keyword_value,
    targets,
    text_constant,
    text_list,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused

# Where the server's parser is made, and flags that every release has: without them the reading has failed.
_ENTRIES = {
    "vllm": ("vllm.entrypoints.cli.serve", "ServeSubcommand", "subparser_init"),
    "sglang": ("sglang.srt.server_args", "ServerArgs", "add_cli_args"),
}
_CERTAIN = {
    "vllm": ("model", "host", "tensor-parallel-size", "speculative-config"),
    "sglang": ("model-path", "host", "tensor-parallel-size", "speculative-algorithm"),
}
_DEPRECATED = re.compile(r"^\W*(note:\s*)?(--[\w-]+\W+(is|has been)\W+)?deprecated\b", re.IGNORECASE)
_MOST = 8


def run_request(request: Dict[str, Any]) -> Dict[str, Any]:
    """The flags of ``engine`` below ``root``, by name, and whether speculation goes with pipeline parallelism."""
    reader = _Reader(request["root"], request["engine"])
    flags = reader.read()
    return {"flags": flags, "pipeline": _arguments_pipeline.read(request["root"], request["engine"])}


class _Place:
    """The function being read, the class it belongs to, and the classes whose fields its dictionaries hold."""

    def __init__(self, module: Module, owner: Optional[ClassRef], function: ast.AST) -> None:
        self.module = module
        self.owner = owner
        self.function = function
        self.tables: Dict[str, ClassRef] = {}


class _Reader:
    def __init__(self, root: str, engine: str) -> None:
        self.engine = engine
        self.index = Index(root, [engine])
        self.types = Types(self.index)
        self.flags: Dict[str, Dict[str, Any]] = {}
        self._seen: Set[Tuple[str, str, str]] = set()

    def read(self) -> Dict[str, Dict[str, Any]]:
        name, owner, function = _ENTRIES[self.engine]
        module = self.index.module(name)
        ref = None if module is None else self.index.resolve(module, owner)
        method = None if ref is None else self.index.method(ref, function)
        if module is not None and ref is not None and method is not None:
            self._function(_Place(method.owner.module, ref, method.node), 0)
        missing = [flag for flag in _CERTAIN[self.engine] if flag not in self.flags]
        if missing:
            broken = "; ".join(self.index.broken.values())
            raise Refused(
                f"the arguments of this {self.engine} cannot be read: starting from {name}, no --{missing[0]} was found"
                f"{' (' + broken + ')' if broken else ''}. Its source is laid out in a way that is not known here.",
                missing=missing,
            )
        return self.flags

    def _function(self, place: _Place, depth: int) -> None:
        owner = "" if place.owner is None else place.owner.name
        key = place.module.name, owner, getattr(place.function, "name", "")
        if key in self._seen or depth > _MOST:
            return
        self._seen.add(key)
        self._tables(place)
        for call, loop in _calls(place.function):
            name = called(call)
            if name == "add_argument":
                self._added(place, call, loop)
            elif name == "add_cli_args_from_dataclass":
                self._annotated(place)
            else:
                self._follow(place, call, depth)

    def _follow(self, place: _Place, call: ast.Call, depth: int) -> None:
        """Goes on in a function of the engine that is handed the parser."""
        if not any(isinstance(arg, ast.Name) and "parser" in arg.id for arg in call.args):
            return
        name = dotted(call.func)
        if name is None:
            return
        if "." not in name:
            found = self._named(place.module, name)
            if found is not None:
                self._function(_Place(found[0], None, found[1]), depth + 1)
            return
        head, tail = name.rsplit(".", 1)
        ref = place.owner if head in ("cls", "self") else self.index.resolve(place.module, head)
        method = None if ref is None else self.index.method(ref, tail)
        if method is not None:
            self._function(_Place(method.owner.module, ref, method.node), depth + 1)

    def _named(self, module: Module, name: str) -> Optional[Tuple[Module, ast.AST]]:
        if name in module.functions:
            return module, module.functions[name]
        for origin, original in module.imports.get(name, ()):
            inner = self.index.module(origin)
            if inner is not None and original in inner.functions:
                return inner, inner.functions[original]
        return None

    def _tables(self, place: _Place) -> None:
        """``model_kwargs = get_kwargs(ModelConfig)``: the arguments of the fields of a class, by field."""
        for node in ast.walk(place.function):
            value = getattr(node, "value", None)
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(value, ast.Call):
                continue
            if called(value) != "get_kwargs" or not value.args:
                continue
            name = dotted(value.args[0])
            ref = place.owner if name == "cls" else self.index.resolve(place.module, name or "")
            for target in targets(node):
                if ref is not None and isinstance(target, ast.Name):
                    place.tables[target.id] = ref

    def _added(self, place: _Place, call: ast.Call, loop: Optional[ast.For]) -> None:
        names = [text for text in (text_constant(arg) for arg in call.args) if text is not None]
        if names:
            self._literal(place, call, names)
        elif loop is not None:
            # One flag for each field of the class.
            table = next((place.tables[dotted(n) or ""] for n in ast.walk(loop.iter) if _names(n, place.tables)), None)
            for field in [] if table is None else self.types.fields(table):
                self._put([f"--{field.name}"], self.types.described(field), field.source)

    def _literal(self, place: _Place, call: ast.Call, names: List[str]) -> None:
        said: Dict[str, Any] = {}
        for keyword in call.keywords:
            for node in ast.walk(keyword.value) if keyword.arg is None else ():
                key = text_constant(index_of(node)) if isinstance(node, ast.Subscript) else None
                if isinstance(node, ast.Subscript) and _names(node.value, place.tables) and key is not None:
                    field = self.types.field(place.tables[dotted(node.value) or ""], key)
                    said = {} if field is None else self.types.described(field)
                    said.update(self._replaced(place, node))
        action = dotted(keyword_value(call, "action")) or ""
        if action.endswith("BooleanOptionalAction"):
            said["boolean"] = True
        choices = keyword_value(call, "choices")
        if choices is not None:
            said["choices"] = self.types.values(place.module, choices, place.function)
        note = self.types.text(place.module, keyword_value(call, "help"))
        flag = keyword_value(call, "deprecated")
        marked = isinstance(flag, ast.Constant) and flag.value is True
        if "Deprecated" in action or marked or _DEPRECATED.match(note):
            said["deprecated"] = note or "deprecated"
        fatal = self.types.text(place.module, keyword_value(call, "error_message"))
        if fatal:
            said["deprecated"], said["fatal"] = fatal, True
        self._put(names, said, f"{place.module.path}:{call.lineno}")

    def _replaced(self, place: _Place, table: ast.Subscript) -> Dict[str, Any]:
        """Choices that the function itself sets in, or takes out of, a field's arguments."""
        wanted = ast.dump(table.value), ast.dump(index_of(table))
        for node in ast.walk(place.function):
            places = targets(node) if isinstance(node, ast.Assign) else getattr(node, "targets", [])
            for item in places if isinstance(node, (ast.Assign, ast.Delete)) else ():
                inner = item.value if isinstance(item, ast.Subscript) else None
                if not isinstance(item, ast.Subscript) or not isinstance(inner, ast.Subscript):
                    continue
                if text_constant(index_of(item)) != "choices":
                    continue
                if (ast.dump(inner.value), ast.dump(index_of(inner))) == wanted:
                    value = node.value if isinstance(node, ast.Assign) else None
                    values = None if value is None else self.types.values(place.module, value, place.function)
                    return {"choices": values}
        return {}

    def _annotated(self, place: _Place) -> None:
        """One flag for each field annotated with its help or with Arg(...)."""
        if place.owner is None:
            return
        owners = [place.owner]
        module = place.owner.module
        for call in (node for node in ast.walk(module.tree) if called(node) == "collect_input_fields"):
            for arg in getattr(call, "args", ()):
                for value in module.values.get(dotted(arg) or "", ()):
                    refs = (self.index.resolve(module, dotted(item) or "") for item in getattr(value, "elts", ()))
                    owners += [ref for ref in refs if ref is not None]
        for owner in owners:
            for field in self.types.fields(owner):
                self._marked(field)

    def _marked(self, field: Field) -> None:
        parts = self.types.annotated(field)
        for part in parts:
            text = text_constant(part)
            if text is None and called(part) != "Arg":
                continue
            said = self.types.described(field)
            names = [f"--{field.name.replace('_', '-')}"]
            if isinstance(part, ast.Call):
                hidden = keyword_value(part, "no_cli")
                if isinstance(hidden, ast.Constant) and hidden.value is True:
                    return
                names = [text_constant(keyword_value(part, "cli_name")) or names[0]]
                names += text_list(keyword_value(part, "aliases")) or []
                choices = keyword_value(part, "choices")
                if choices is not None:
                    said["choices"] = self.types.values(field.owner.module, choices, None)
                text = self.types.text(field.owner.module, keyword_value(part, "help"))
                if "Deprecated" in (dotted(keyword_value(part, "action")) or ""):
                    said["deprecated"] = text or "deprecated"
            said["boolean"] = False
            if _DEPRECATED.match(text or ""):
                said["deprecated"] = text
            self._put(names, said, field.source)
            return

    def _put(self, names: List[str], said: Dict[str, Any], source: str) -> None:
        names = [name[2:].replace("_", "-") for name in names if name.startswith("--")]
        for name in names:
            base = {"choices": None, "boolean": False, "deprecated": None, "fatal": False, "keys": None}
            self.flags[name] = {**base, **said, "name": names[0], "source": source}


def _names(node: ast.AST, tables: Dict[str, ClassRef]) -> bool:
    return isinstance(node, ast.Name) and node.id in tables


def _calls(function: ast.AST) -> Iterator[Tuple[ast.Call, Optional[ast.For]]]:
    """Calls in a function in source order, each with the innermost loop around it."""
    todo: List[Tuple[ast.AST, Optional[ast.For]]] = [(function, None)]
    while todo:
        node, loop = todo.pop()
        if isinstance(node, ast.Call):
            yield node, loop
        inside = node if isinstance(node, ast.For) else loop
        children = [item for item in ast.iter_child_nodes(node) if not isinstance(item, FUNCTIONS)]
        todo += [(child, inside) for child in reversed(children)]


__all__ = ("run_request",)
