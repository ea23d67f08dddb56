# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. How an installed speculators finds the decoder whose hidden states it records.

Its worker extension binds a forward of its own to the decoder of the model that vLLM has loaded. A release whose worker
asks vLLM's EAGLE-3 interface, and takes one fixed attribute, loses every multimodal wrapper and every model without the
interface: there the fixed place becomes a chain of places. Nothing is imported; all is read from the source.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import _speculators_vllm
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source

ARCHITECTURE = "custom_worker"
_BIND = b"MethodType"
_CLIENT = (b"kv_transfer_params", b"hidden_states_path")
_WRAPPED = "language_model"


class Worker(NamedTuple):
    """The function that binds the recording forward, and where it stands."""

    path: str
    source: Source
    scope: str
    function: ast.FunctionDef
    base: str
    forward: Optional[ast.FunctionDef]


def python_files(package: Path) -> Iterator[Path]:
    for path in sorted(package.rglob("*.py")):
        if path.is_file():
            yield path


def _functions(tree: ast.Module) -> Iterator[Tuple[str, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    yield f"{node.name}.{item.name}", item


def _last_name(node: ast.expr) -> Optional[str]:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _binding(function: ast.FunctionDef) -> Optional[Tuple[str, Optional[str]]]:
    """``(base, f)`` of a statement ``base.forward = types.MethodType(f, base)``."""
    for node in ast.walk(function):
        if not (isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.Call)):
            continue
        target, call = node.targets[0], node.value
        if not (isinstance(target, ast.Attribute) and target.attr == "forward" and isinstance(target.value, ast.Name)):
            continue
        if _last_name(call.func) != "MethodType" or len(call.args) != 2:
            continue
        bound = call.args[1]
        if isinstance(bound, ast.Name) and bound.id == target.value.id:
            return bound.id, _last_name(call.args[0])
    return None


def find_worker(root: Path, package: Path) -> Optional[Worker]:
    """The worker of the package, or None.

    :raises SpecdecError: a file does not parse, or two places bind a forward.
    """
    found: List[Worker] = []
    for path in python_files(package):
        data = path.read_bytes()
        if _BIND not in data:
            continue
        relative = path.relative_to(root).as_posix()
        source = Source.parse(data, path=relative)
        functions = dict(_functions(source.tree))
        for scope, function in functions.items():
            binding = _binding(function)
            if binding:
                base, name = binding
                found.append(Worker(relative, source, scope, function, base, functions.get(name or "")))
    if len(found) > 1:
        raise SpecdecError(
            f"{package.name} binds a forward in {len(found)} places: cannot tell which of them records hidden states ("
            + ", ".join(f"{item.path} {item.scope}" for item in found)
            + ")"
        )
    return found[0] if found else None


def _assigns(worker: Worker) -> List[ast.Assign]:
    return [
        node
        for node in ast.walk(worker.function)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == worker.base for target in node.targets)
    ]


def _from_vllm(tree: ast.Module, name: str) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] == "vllm"
        and any((alias.asname or alias.name) == name for alias in node.names)
        for node in ast.walk(tree)
    )


class Gate(NamedTuple):
    """``if not asks(model): raise error`` and, next, ``base = model.attribute``."""

    test: ast.If
    assign: ast.Assign
    asks: str
    model: str
    attribute: str


def find_gate(worker: Worker) -> Optional[Gate]:
    body = worker.function.body
    for first, second in zip(body, body[1:]):
        if not (isinstance(first, ast.If) and not first.orelse and isinstance(second, ast.Assign)):
            continue
        test, value = first.test, second.value
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Call)):
            continue
        call = test.operand
        if not (isinstance(call.func, ast.Name) and len(call.args) == 1 and isinstance(call.args[0], ast.Name)):
            continue
        raises = len(first.body) == 1 and isinstance(first.body[0], ast.Raise)
        model = call.args[0].id
        taken = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == model
        if raises and taken and second in _assigns(worker) and _from_vllm(worker.source.tree, call.func.id):
            if not isinstance(value, ast.Attribute):
                raise AssertionError("isinstance(value, ast.Attribute)")
            return Gate(first, second, call.func.id, model, value.attr)
    return None


def _layers_attribute(worker: Worker) -> str:
    """The attribute of the decoder over whose layers the recording forward goes."""
    for node in ast.walk(worker.forward) if worker.forward else ():
        if isinstance(node, ast.For):
            names = [
                item.attr
                for item in ast.walk(node.iter)
                if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id == "self"
            ]
            if names:
                return names[0]
    return "layers"


def _free(function: ast.FunctionDef, wanted: str) -> str:
    taken = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    while wanted in taken:
        wanted += "_"
    return wanted


_CHAIN = """\
{inner} = getattr({model}, "{wrapped}", None)
if {asks}({model}) and hasattr(getattr({model}, "{attribute}", None), "{layers}"):
    {base} = {model}.{attribute}
elif hasattr(getattr({inner}, "{attribute}", None), "{layers}"):
    {base} = {inner}.{attribute}
elif hasattr({inner}, "{layers}"):
    {base} = {inner}
elif hasattr(getattr({model}, "{attribute}", None), "{layers}"):
    {base} = {model}.{attribute}
else:
    raise $ERROR"""

_GATE = """\
if not {asks}({model}):
    raise $ERROR
{base} = {model}.{attribute}"""


def chain_edits(worker: Worker, gate: Gate) -> List[Dict[str, Any]]:
    """The fixed place becomes: interface, wrapper's decoder, wrapper's own layers, plain decoder, the old error."""
    names = {
        "inner": _free(worker.function, "inner"),
        "wrapped": _WRAPPED,
        "asks": gate.asks,
        "model": gate.model,
        "attribute": gate.attribute,
        "layers": _layers_attribute(worker),
        "base": worker.base,
    }
    return [
        {
            "file": worker.path,
            "in": worker.scope,
            "id": "fallback-chain",
            "replace": _GATE.format(**names),
            "with": _CHAIN.format(**names),
        }
    ]


def _chosen(worker: Worker) -> Optional[str]:
    """How a worker that chooses among several places does it; None: it does not."""
    assigns = _assigns(worker)
    if len(assigns) < 2:
        return None
    places = []
    for node in assigns:
        text = worker.source.segment(node.value).decode("utf-8")
        if text not in places:
            places.append(text)
    return "{} takes the first that fits of {}".format(worker.scope, ", ".join(places))


def _client(root: Path, package: Path) -> Optional[str]:
    for path in python_files(package):
        data = path.read_bytes()
        if all(mark in data for mark in _CLIENT):
            return path.relative_to(root).as_posix()
    return None


def _entry(state: str, file: Optional[str], reason: Optional[str]) -> Dict[str, Any]:
    return {
        "state": state,
        "shape": None,
        "file": file,
        "text_architectures": [],
        "reason": reason,
        "notes": [],
        "edits": [],
    }


def _classify(root: Path, package: Path, others: Dict[str, Any]) -> Dict[str, Any]:
    worker = find_worker(root, package)
    if worker is None:
        client = _client(root, package)
        if client:
            return _entry(
                "native",
                client,
                f"this release binds no forward in a worker: {client} asks vLLM itself for hidden states, for any "
                "model that vLLM supports",
            )
        return _entry("absent", None, "this release neither binds a forward nor asks vLLM for hidden states")
    chosen = _chosen(worker)
    if chosen:
        entry = _entry("native", worker.path, chosen)
    else:
        gate = find_gate(worker)
        if gate:
            entry = _entry("patchable", worker.path, None)
            entry["shape"] = "fallback_chain"
            entry["edits"] = chain_edits(worker, gate)
        else:
            entry = _entry(
                "by_hand",
                worker.path,
                f"{worker.scope} neither chooses among several places nor asks vLLM's interface before it takes one",
            )
    entry["notes"] = _speculators_vllm.notes(root, worker.path, worker.forward, others.get("vllm"))
    return entry


def derive(request: Dict[str, Any]) -> Dict[str, Any]:
    """The state of the one pseudo-architecture ``custom_worker``; request and response as in ``derive.py``."""
    root = Path(request["root"])
    package = root / "speculators"
    if not package.is_dir():
        message = f"no folder speculators in {root}"
        return {"architectures": {}, "error": {"message": message, "kind": "SpecdecError"}}
    try:
        entry = _classify(root, package, request.get("others") or {})
    except SpecdecError as error:
        return {"architectures": {}, "error": error.as_dict()}
    return {"architectures": {ARCHITECTURE: entry}, "error": None}


__all__ = ("ARCHITECTURE", "Worker", "derive", "find_gate", "find_worker")
