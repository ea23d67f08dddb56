# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What an installed engine does with an EAGLE-3 draft: classes, fields it reads, layer ids.

Read from its source, never from a table of releases. A field counts as read where the draft's module names it.
"""

from __future__ import annotations

import ast
import os
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import Index, Module
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import FUNCTIONS, text_constant
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_registry import Registry
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3.sglang import graph_note

IDS = "eagle_aux_hidden_state_layer_ids"
NESTED = "eagle_config"
TOP = "config"
_LATENT = "kv_lora_rank"
_RUNNERS = {"vllm": ("vllm/v1/worker",), "sglang": ("sglang/srt/model_executor",)}
_CONVERSION = "vllm.transformers_utils.configs.speculators.algos"
_LATENT_TYPES = ("vllm.transformers_utils.model_arch_config_convertor", "vllm.config.model")


def run_request(request: Dict[str, Any]) -> Dict[str, Any]:
    """Reads the engine below a root; nothing of it is imported.

    :param request: ``engine`` (vllm or sglang) and ``root``, the folder that holds its import package.
    :return: ``drafts`` (architecture to file, latent, names), ``ids_from`` (config, eagle_config: where layer ids are
        read), ``converted`` (names that a speculators-format config keeps; null: the format is not known),
        ``latent_types`` (model types of a latent draft that are seen as one; null: not asked), ``rewritten`` (model
        types that become those of an MTP draft), ``names_method`` (a folder's name decides the method),
        ``graphs`` (a note where CUDA graphs capture the default layers whatever the draft names; else null).
    """
    root = request["root"]
    vllm = request["engine"] == "vllm"
    index = Index(root, [request["engine"]])
    return {
        "drafts": _vllm_drafts(index) if vllm else _sglang_drafts(root),
        "ids_from": sorted(_ids_from(root, _RUNNERS[request["engine"]])),
        "converted": _converted(index) if vllm else None,
        "latent_types": _latent_types(index) if vllm else None,
        "rewritten": sorted(_rewritten(index)) if vllm else [],
        "names_method": vllm and _names_method(index),
        "graphs": None if vllm else graph_note(root),
    }


def _described(module: Module) -> Dict[str, Any]:
    names = _names(module.tree)
    return {"file": module.path, "latent": _LATENT in names, "names": sorted(names)}


def _names(tree: ast.AST) -> Set[str]:
    """Attributes and plain strings: the ways in which a field of a config is read."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        text = text_constant(node) if isinstance(node, ast.Constant) else None
        if text is not None and text.isidentifier():
            found.add(text)
    return found


def _vllm_drafts(index: Index) -> Dict[str, Any]:
    found = {}
    for entry in Registry(index).drafts:
        module = index.module(entry.module)
        if module is not None:
            found[entry.architecture] = _described(module)
    return found


def _sglang_drafts(root: str) -> Dict[str, Any]:
    reader = Reader(root)
    found = {}
    for name, ref in reader.registered(["Eagle3"]).items():
        if "Eagle3" in name:
            found[name] = _described(ref.module)
    return found


def _parsed(root: str, folders: Tuple[str, ...], word: str) -> Iterator[ast.AST]:
    """The trees of the files below ``folders`` that spell ``word``."""
    for start in folders:
        for folder, _folders, names in sorted(os.walk(os.path.join(root, *start.split("/")))):
            for name in sorted(names):
                if not name.endswith(".py"):
                    continue
                with open(os.path.join(folder, name), "rb") as stream:
                    data = stream.read()
                if word.encode() in data:
                    try:
                        yield ast.parse(data)
                    except (SyntaxError, ValueError):
                        continue


def _ids_from(root: str, folders: Tuple[str, ...]) -> Set[str]:
    found = set()
    for tree in _parsed(root, folders, IDS):
        for function in ast.walk(tree):
            if not isinstance(function, FUNCTIONS):
                continue
            names = _names(function)
            if IDS not in names:
                continue
            for node in ast.walk(function):
                if _reads_attribute(node):
                    found.add(TOP)
                elif NESTED in names and _reads_item(node):
                    found.add(NESTED)
    return found


def _reads_attribute(node: ast.AST) -> bool:
    """``config.IDS`` of a plain name, or getattr(config, IDS)."""
    if isinstance(node, ast.Attribute) and node.attr == IDS and isinstance(node.ctx, ast.Load):
        return isinstance(node.value, ast.Name) and node.value.id not in ("self", "cls")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        return len(node.args) > 1 and text_constant(node.args[1]) == IDS
    return False


def _reads_item(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript):
        return any(text_constant(item) == IDS for item in ast.walk(node.slice) if isinstance(item, ast.Constant))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        return bool(node.args) and text_constant(node.args[0]) == IDS
    return False


def _converted(index: Index) -> Optional[List[str]]:
    """The names in the function that is registered for eagle3."""
    module = index.module(_CONVERSION)
    for function in module.functions.values() if module is not None else ():
        for mark in getattr(function, "decorator_list", ()):
            if isinstance(mark, ast.Call) and mark.args and text_constant(mark.args[0]) == "eagle3":
                return sorted(_names(function))
    return None


def _latent_types(index: Index) -> Optional[List[str]]:
    """Model types that ``is_deepseek_mla`` takes inside a draft's own config, whose type is ``eagle``."""
    for name in _LATENT_TYPES:
        module = index.module(name)
        for node in ast.walk(module.tree) if module is not None else ():
            if not isinstance(node, FUNCTIONS) or node.name != "is_deepseek_mla":
                continue
            for branch in ast.walk(node):
                if isinstance(branch, ast.If) and "eagle" in _strings(branch.test):
                    inside = [item for part in branch.body for item in ast.walk(part)]
                    compared = [
                        item for item in inside if isinstance(item, ast.Compare) and isinstance(item.ops[0], ast.In)
                    ]
                    return sorted({text for item in compared for text in _strings(item)})
    return None


def _strings(tree: ast.AST) -> Set[str]:
    found = (text_constant(node) for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {text for text in found if text is not None}


def _rewritten(index: Index) -> Set[str]:
    module = index.module("vllm.config.speculative") or index.module("vllm.config")
    found: Set[str] = set()
    for node in ast.walk(module.tree) if module is not None else ():
        if not isinstance(node, ast.If) or not _assigns_mtp(node.body):
            continue
        test = node.test
        while isinstance(test, ast.BoolOp):
            test = test.values[0]
        if isinstance(test, ast.Compare) and getattr(test.left, "attr", None) == "model_type":
            found |= _strings(test)
    return found


def _assigns_mtp(body: List[ast.stmt]) -> bool:
    for item in body:
        for node in ast.walk(item):
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(target, ast.Attribute) and target.attr == "model_type":
                return any(text.endswith("_mtp") for text in _strings(node.value))
    return False


def _names_method(index: Index) -> bool:
    """The configuration looks for ``eagle3`` in the lower-case name of the draft."""
    module = index.module("vllm.config.speculative") or index.module("vllm.config")
    for node in ast.walk(module.tree) if module is not None else ():
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In):
            called = node.comparators[0]
            lowered = isinstance(called, ast.Call) and getattr(called.func, "attr", None) == "lower"
            if lowered and "eagle3" in _strings(node.left):
                return True
    return False


__all__ = ("IDS", "NESTED", "TOP", "run_request")
