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
from typing import Dict, Iterator, List, NamedTuple, Optional, Set, Tuple, Union

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import Index
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source

Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]


class Signature(NamedTuple):
    """What a call may and must give, apart from ``self``."""

    positional: List[str]
    names: Set[str]
    required: Set[str]
    open: bool


def find(index: Index, module: str, name: str, depth: int = 0) -> Tuple[str, Optional[ast.AST]]:
    """``(verdict, definition)`` of a name in a module: the verdict is ``found``, ``gone`` or ``unknown``."""
    place = index.module(module)
    if place is None:
        return ("gone" if index.path_of(module) is None else "unknown"), None
    if depth > 8 or "__getattr__" in place.functions:
        return "unknown", None
    if name in place.classes or name in place.functions:
        return "found", place.classes[name][0] if name in place.classes else place.functions[name]
    for origin, original in place.imports.get(name, ()):
        if original is None or origin.split(".")[0] not in index.packages:
            return "found", None
        verdict, hit = find(index, origin, original, depth + 1)
        return ("found" if verdict == "gone" and index.path_of(f"{origin}.{original}") else verdict), hit
    if name in place.values or index.path_of(f"{module}.{name}") is not None:
        return "found", None
    for origin in place.stars:
        verdict, hit = find(index, origin, name, depth + 1)
        if verdict != "gone":
            return verdict, hit
    return "gone", None


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
        item.arg == "init" and isinstance(item.value, ast.Constant) and item.value.value is False
        for item in value.keywords
    )


def signature(node: Optional[ast.AST]) -> Optional[Signature]:
    """Of a function, of a class's ``__init__``, or of a dataclass's fields; None where the source does not tell."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _of_function(node, bound=False)
    if not isinstance(node, ast.ClassDef):
        return None
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            return _of_function(item, bound=True)
    if not node.decorator_list or any(
        not _mentions(base, "Generic") and not _mentions(base, "object") for base in node.bases
    ):
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
        yield f"{where}: {name}(...) is given {_quoted(unknown)}, which this vLLM does not take (TypeError)"
    if missing:
        yield f"{where}: {name}(...) is not given {_quoted(missing)}, which this vLLM requires (TypeError)"


def _at(source: Source, node: ast.stmt | ast.expr) -> str:
    return f"{source.path}:{node.lineno}"


def _imports(tree: ast.Module) -> Iterator[Tuple[ast.ImportFrom, ast.alias]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "vllm":
            for alias in node.names:
                yield node, alias


def interface_notes(index: Index, source: Source) -> Iterator[str]:
    """Imports that are gone, and calls that do not fit."""
    wanted: Dict[str, Signature] = {}
    for node, alias in _imports(source.tree):
        module = node.module or ""
        verdict, hit = find(index, module, alias.name)
        if verdict == "gone":
            yield f"{_at(source, node)}: this vLLM has no {module}.{alias.name} (ImportError)"
        found = signature(hit)
        if found is not None:
            wanted[alias.asname or alias.name] = found
    for call in ast.walk(source.tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in wanted:
            yield from _check_call(call, call.func.id, wanted[call.func.id], _at(source, call))


def _method(index: Index, module: str, name: str) -> Optional[Function]:
    place = index.module(module)
    for node in ast.walk(place.tree) if place is not None else ():
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
        if (
            isinstance(node, ast.Subscript)
            and _is_first(node)
            and isinstance(node.value, ast.Name)
            and node.value.id in asked
        ):
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


def _default(index: Index, module: str, class_name: str, field: str) -> Optional[ast.expr]:
    _verdict, node = find(index, module, class_name)
    for item in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == field:
            return item.value
    return None


def habit_notes(index: Index, source: Source) -> Iterator[str]:
    """What the generator relies on beyond signatures."""
    executor = "vllm.v1.executor.multiproc_executor"
    steps = list(_calls(source.tree, "execute_model"))
    if (
        steps
        and not any(_calls(source.tree, "sample_tokens"))
        and _method(index, "vllm.v1.executor.abstract", "sample_tokens")
    ):
        yield (
            f"{_at(source, steps[0])}: this vLLM splits a step in two: execute_model() must be followed by "
            "sample_tokens(), else the second step fails with a state error"
        )
    for line in _first_replies(source.tree):
        if _replies_alone(_method(index, executor, "collective_rpc")):
            yield (
                f"{source.path}:{line}: collective_rpc(unique_reply_rank=...) gives the one reply, not a list of one: "
                "[0] of it is the first layer only"
            )
    caching = _default(index, "vllm.config", "CacheConfig", "enable_prefix_caching")
    caches = [call for call in _named_calls(source.tree, "CacheConfig") if not _given(call, "enable_prefix_caching")]
    if not (caches and isinstance(caching, ast.Constant) and caching.value is True):
        return
    yield f"{_at(source, caches[0])}: CacheConfig(...) leaves prefix caching on: cached prefixes are never recorded"
    wanted = signature(find(index, "vllm.v1.request", "Request")[1])
    for call in _named_calls(source.tree, "Request"):
        if wanted and "block_hasher" in wanted.names and not _given(call, "block_hasher"):
            yield f"{_at(source, call)}: Request(...) has no block_hasher: its blocks cannot be cached (assertion)"


def forward_notes(index: Index, path: str, forward: ast.FunctionDef) -> Iterator[str]:
    """The recording forward against what this vLLM's models have and are given."""
    protocol = "vllm.model_executor.models.interfaces_base"
    where = f"{path}:{forward.lineno}"
    renamed = _method(index, protocol, "embed_input_ids")
    for call in _calls(forward, "get_input_embeddings"):
        if renamed is not None:
            yield f"{path}:{call.lineno}: models of this vLLM embed by embed_input_ids(), not get_input_embeddings()"
    models = index.path_of("vllm.model_executor.models")
    if forward.args.kwarg is None and models is not None:
        for file in sorted(Path(index.root, models[0]).parent.glob("*.py")):
            if b"deepstack_input_embeds=" in file.read_bytes().replace(b" ", b""):
                yield f"{where}: {forward.name} takes no further keywords, multimodal models here pass some (TypeError)"
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
                f"{_at(source, runs[0])}: WRONG DATA for batches, without any error: states are cut by the order of "
                "the input, while vLLM orders and chunks requests itself (speculators issue 279). One sequence at a "
                "time, shorter than a chunk, is right; use a later release for anything else"
            )
    if forward is not None and _records_output(forward):
        yield (
            f"{forward.name} records the output of layer i under id i; vLLM's own extraction and serving mean the "
            "input of layer i: id i here is id i+1 there. Never mix such data with a draft or cache made the other way"
        )


def notes(root: Path, worker: str, forward: Optional[ast.FunctionDef], vllm: Optional[str]) -> List[str]:
    """Every finding for the worker's folder, against the vLLM under ``root`` where there is one."""
    siblings: List[Source] = []
    for path in sorted((root / worker).parent.glob("*.py")):
        data = path.read_bytes()
        if b"vllm" in data:
            siblings.append(Source.parse(data, path=path.relative_to(root).as_posix()))
    result = list(data_notes(siblings, forward))
    index = Index(str(root), ("vllm",))
    if index.path_of("vllm") is None:
        if vllm:
            result.append(f"vLLM {vllm} has no source under {root}: it was not compared with what speculators expects")
        return result
    found: List[str] = []
    for source in siblings:
        found.extend(interface_notes(index, source))
        found.extend(habit_notes(index, source))
    if forward is not None:
        found.extend(forward_notes(index, worker, forward))
    if found and vllm:
        result.append(f"installed vLLM {vllm}: {len(found)} breaks below, which the chain does not mend")
    return result + found


__all__ = ("Signature", "find", "notes", "signature")
