# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What an installed speculators expects of vLLM and the installed vLLM does not give.

Both sides are read from their source: names imported, calls against signatures, and the few habits of vLLM that the
generator relies on without naming them. Each finding is one sentence for a person.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
Top = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign]


class Signature(NamedTuple):
    """What a call may and must give, apart from ``self``."""

    positional: List[str]
    names: Set[str]
    required: Set[str]
    open: bool


class Engine:
    """Lazily read modules of one import package."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._trees: Dict[str, Optional[ast.Module]] = {}

    def path(self, module: str) -> Optional[Path]:
        base = self.root.joinpath(*module.split("."))
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                return path
        return None

    def tree(self, module: str) -> Optional[ast.Module]:
        if module not in self._trees:
            path = self.path(module)
            tree: Optional[ast.Module] = None
            if path is not None:
                try:
                    tree = Source.parse(path.read_bytes(), path=str(path)).tree
                except SpecdecError:
                    tree = None
            self._trees[module] = tree
        return self._trees[module]

    def _absolute(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        path = self.path(module)
        parts = module.split(".")
        if path is None or path.name != "__init__.py":
            parts = parts[:-1]
        parts = parts[: len(parts) - node.level + 1]
        return ".".join(parts + ([node.module] if node.module else []))

    def find(self, module: str, name: str, depth: int = 0) -> Tuple[str, Optional[Top]]:
        """``(verdict, definition)``: verdict is ``found``, ``gone`` or ``unknown``."""
        tree = self.tree(module)
        if tree is None:
            return ("unknown" if self.path(module) else "gone"), None
        if depth > 8:
            return "unknown", None
        for node in _top_level(tree.body):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if node.name == name:
                    return "found", node
                if node.name == "__getattr__":
                    return "unknown", None
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(item, ast.Name) and item.id == name for target in targets for item in ast.walk(target)):
                    return "found", node
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name == "*":
                        verdict, hit = self.find(self._absolute(module, node), name, depth + 1)
                        if verdict != "gone":
                            return verdict, hit
                    elif (alias.asname or alias.name) == name:
                        origin = self._absolute(module, node)
                        if origin.split(".")[0] != module.split(".")[0]:
                            return "found", None
                        verdict, hit = self.find(origin, alias.name, depth + 1)
                        return ("found" if verdict == "gone" and self.path(origin + "." + alias.name) else verdict), hit
            elif isinstance(node, ast.Import) and any((item.asname or item.name) == name for item in node.names):
                return "found", None
        return ("found" if self.path(module + "." + name) else "gone"), None


def _top_level(body: List[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            yield from _top_level(node.body)
            yield from _top_level(node.orelse)
            if isinstance(node, ast.Try):
                for handler in node.handlers:
                    yield from _top_level(handler.body)


def _of_function(function: Function, bound: bool) -> Signature:
    arguments = function.args
    ordered = list(getattr(arguments, "posonlyargs", [])) + list(arguments.args)
    required = ordered[: len(ordered) - len(arguments.defaults)]
    if bound:
        ordered, required = ordered[1:], required[1:]
    must = {item.arg for item in required}
    must |= {item.arg for item, default in zip(arguments.kwonlyargs, arguments.kw_defaults) if default is None}
    names = {item.arg for item in ordered} | {item.arg for item in arguments.kwonlyargs}
    return Signature([item.arg for item in ordered], names, must, bool(arguments.kwarg or arguments.vararg))


def _mentions(node: Optional[ast.expr], name: str) -> bool:
    return node is not None and any(
        (isinstance(item, ast.Name) and item.id == name) or (isinstance(item, ast.Attribute) and item.attr == name)
        for item in ast.walk(node)
    )


def _never_given(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and any(
        item.arg == "init" and isinstance(item.value, ast.Constant) and item.value.value is False for item in value.keywords
    )


def signature(node: Optional[Top]) -> Optional[Signature]:
    """Of a function, of a class's ``__init__``, or of a dataclass's fields; None where the source does not tell."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _of_function(node, bound=False)
    if not isinstance(node, ast.ClassDef):
        return None
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return _of_function(item, bound=True)
    if not node.decorator_list or any(not _mentions(base, "Generic") and not _mentions(base, "object") for base in node.bases):
        return None
    order: List[str] = []
    must: Set[str] = set()
    for field in node.body:
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if _mentions(field.annotation, "ClassVar") or (field.value is not None and _never_given(field.value)):
            continue
        order.append(field.target.id)
        if field.value is None:
            must.add(field.target.id)
    return Signature(order, set(order), must, False)


def _quoted(names: Set[str]) -> str:
    return ", ".join(sorted(names))


def _check_call(call: ast.Call, name: str, wanted: Signature, where: str) -> Iterator[str]:
    if any(item.arg is None for item in call.keywords) or any(isinstance(item, ast.Starred) for item in call.args):
        return
    given = {item.arg for item in call.keywords if item.arg} | set(wanted.positional[: len(call.args)])
    unknown = set() if wanted.open else given - wanted.names
    missing = wanted.required - given
    if unknown:
        yield "%s: %s(...) is given %s, which this vLLM does not take (TypeError)" % (where, name, _quoted(unknown))
    if missing:
        yield "%s: %s(...) is not given %s, which this vLLM requires (TypeError)" % (where, name, _quoted(missing))


def _imports(tree: ast.Module) -> Iterator[Tuple[ast.ImportFrom, ast.alias]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "vllm":
            for alias in node.names:
                yield node, alias


def interface_notes(engine: Engine, source: Source) -> Iterator[str]:
    """Imports that are gone, and calls that do not fit."""
    wanted: Dict[str, Signature] = {}
    for node, alias in _imports(source.tree):
        module = node.module or ""
        verdict, hit = engine.find(module, alias.name)
        if verdict == "gone":
            yield "%s:%d: this vLLM has no %s.%s (ImportError)" % (source.path, node.lineno, module, alias.name)
        found = signature(hit)
        if found is not None:
            wanted[alias.asname or alias.name] = found
    for call in ast.walk(source.tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in wanted:
            where = "%s:%d" % (source.path, call.lineno)
            for note in _check_call(call, call.func.id, wanted[call.func.id], where):
                yield note


def _method(engine: Engine, module: str, name: str) -> Optional[Function]:
    tree = engine.tree(module)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            return node
    return None


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            yield node


def _named_calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _given(call: ast.Call, name: str) -> bool:
    return any(item.arg == name for item in call.keywords)


def _is_first(node: ast.AST) -> bool:
    """``x[0]``; the index is wrapped in ast.Index up to Python 3.8."""
    index = getattr(node, "slice", None)
    index = getattr(index, "value", None) if type(index).__name__ == "Index" else index
    return isinstance(node, ast.Subscript) and isinstance(index, ast.Constant) and index.value == 0


def _first_replies(tree: ast.AST) -> Iterator[int]:
    """Lines that ask one rank and then take the first of what comes."""
    asked: Dict[str, int] = {}
    for node in ast.walk(tree):
        value = node.value if isinstance(node, (ast.Assign, ast.Subscript)) else None
        if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
            continue
        if value.func.attr != "collective_rpc" or not _given(value, "unique_reply_rank"):
            continue
        if isinstance(node, ast.Assign):
            asked.update({target.id: value.lineno for target in node.targets if isinstance(target, ast.Name)})
        elif _is_first(node):
            yield value.lineno
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and _is_first(node) and isinstance(node.value, ast.Name) and node.value.id in asked:
            yield asked[node.value.id]


def _replies_alone(function: Optional[Function]) -> bool:
    """Whether a lone rank's reply comes back by itself: ``x[0] if rank is not None else x``."""
    return any(
        isinstance(node, ast.IfExp)
        and isinstance(node.body, ast.Subscript)
        and isinstance(node.test, ast.Compare)
        and isinstance(node.test.ops[0], ast.IsNot)
        for node in (ast.walk(function) if function else ())
    )


def _default(engine: Engine, module: str, class_name: str, field: str) -> Optional[ast.expr]:
    _verdict, node = engine.find(module, class_name)
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == field:
            return item.value
    return None


def habit_notes(engine: Engine, source: Source) -> Iterator[str]:
    """What the generator relies on beyond signatures."""
    executor = "vllm.v1.executor.multiproc_executor"
    steps = list(_calls(source.tree, "execute_model"))
    if steps and not any(_calls(source.tree, "sample_tokens")) and _method(engine, "vllm.v1.executor.abstract", "sample_tokens"):
        yield (
            "%s:%d: this vLLM splits a step in two: execute_model() must be followed by sample_tokens(), else the second "
            "step fails with a state error" % (source.path, steps[0].lineno)
        )
    for line in _first_replies(source.tree):
        if _replies_alone(_method(engine, executor, "collective_rpc")):
            yield (
                "%s:%d: collective_rpc(unique_reply_rank=...) gives the one reply, not a list of one: [0] of it is the "
                "first layer only" % (source.path, line)
            )
    caching = _default(engine, "vllm.config", "CacheConfig", "enable_prefix_caching")
    caches = [call for call in _named_calls(source.tree, "CacheConfig") if not _given(call, "enable_prefix_caching")]
    if not (caches and isinstance(caching, ast.Constant) and caching.value is True):
        return
    yield "%s:%d: CacheConfig(...) leaves prefix caching on: cached prefixes are never recorded" % (
        source.path,
        caches[0].lineno,
    )
    wanted = signature(engine.find("vllm.v1.request", "Request")[1])
    for call in _named_calls(source.tree, "Request"):
        if wanted and "block_hasher" in wanted.names and not _given(call, "block_hasher"):
            yield "%s:%d: Request(...) has no block_hasher, and its blocks cannot be cached without (assertion)" % (
                source.path,
                call.lineno,
            )


def forward_notes(engine: Engine, path: str, forward: ast.FunctionDef) -> Iterator[str]:
    """The recording forward against what this vLLM's models have and are given."""
    protocol = "vllm.model_executor.models.interfaces_base"
    where = "%s:%d" % (path, forward.lineno)
    renamed = _method(engine, protocol, "embed_input_ids")
    for call in _calls(forward, "get_input_embeddings"):
        if renamed is not None:
            yield "%s:%d: models of this vLLM embed by embed_input_ids(), not get_input_embeddings()" % (path, call.lineno)
    models = engine.path("vllm.model_executor.models")
    if forward.args.kwarg is None and models is not None:
        for file in sorted(models.parent.glob("*.py")):
            if b"deepstack_input_embeds=" in file.read_bytes().replace(b" ", b""):
                yield "%s: %s takes no further keywords, and multimodal models here pass some (TypeError)" % (where, forward.name)
                break


def _records_output(forward: ast.FunctionDef) -> bool:
    """Whether states are appended after the layer of the same turn has run."""
    for loop in ast.walk(forward):
        if isinstance(loop, ast.For):
            ran = False
            for statement in loop.body:
                if ran and any(_calls(statement, "append")):
                    return True
                ran = ran or (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call))
    return False


def data_notes(siblings: List[Source], forward: Optional[ast.FunctionDef]) -> Iterator[str]:
    """What is wrong, or different, in the data itself, whichever vLLM is there."""
    for source in siblings:
        runs = list(_calls(source.tree, "schedule"))
        matched = any("metadata" in getattr(node, "attr", "") for node in ast.walk(source.tree)) or any(
            isinstance(node, ast.Constant) and isinstance(node.value, str) and "request_metadata" in node.value
            for node in ast.walk(source.tree)
        )
        if runs and not matched:
            yield (
                "%s:%d: WRONG DATA for batches, without any error: states are cut by the order of the input, while vLLM orders "
                "and chunks requests itself (speculators issue 279). One sequence at a time, shorter than a chunk, is "
                "right; use a later release for anything else" % (source.path, runs[0].lineno)
            )
    if forward is not None and _records_output(forward):
        yield (
            "%s records the output of layer i under id i; vLLM's own extraction and serving mean the input of layer i: id i "
            "here is id i+1 there. Never mix such data with a draft or cache made the other way" % forward.name
        )


def notes(root: Path, worker: str, forward: Optional[ast.FunctionDef], vllm: Optional[str]) -> List[str]:
    """Every finding for the worker's folder, against the vLLM under ``root`` where there is one."""
    siblings: List[Source] = []
    for path in sorted((root / worker).parent.glob("*.py")):
        data = path.read_bytes()
        if b"vllm" in data:
            siblings.append(Source.parse(data, path=path.relative_to(root).as_posix()))
    result = list(data_notes(siblings, forward))
    engine = Engine(root)
    if engine.path("vllm") is None:
        if vllm:
            result.append("vLLM %s has no source under %s: it was not compared with what speculators expects" % (vllm, root))
        return result
    found: List[str] = []
    for source in siblings:
        found.extend(interface_notes(engine, source))
        found.extend(habit_notes(engine, source))
    if forward is not None:
        found.extend(forward_notes(engine, worker, forward))
    if found and vllm:
        result.append("installed vLLM %s: %d breaks below, which the chain does not mend" % (vllm, len(found)))
    return result + found


__all__ = ("Engine", "Signature", "notes", "signature")
