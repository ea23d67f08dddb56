# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM's tables: which class an architecture name means, and which model types a config may carry."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Set, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index, Module
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    dotted,
    last_part,
    parameters,
    text_constant,
)

MODELS = "vllm.model_executor.models"
REGISTRY = MODELS + ".registry"
TEXT_TABLE = "_TEXT_GENERATION_MODELS"
MULTIMODAL_TABLE = "_MULTIMODAL_MODELS"
DRAFT_TABLE = "_SPECULATIVE_DECODING_MODELS"
# How transformers names the class of a causal text model: file, table of (model type, class name).
AUTO_MODELS = "transformers/models/auto/modeling_auto.py"
AUTO_CONFIGS = ("transformers/models/auto/configuration_auto.py", "transformers/models/auto/auto_mappings.py")


@dataclass(frozen=True)
class Entry:
    """One line of the registry."""

    architecture: str
    multimodal: bool
    module: str
    class_name: str


class Registry:
    """The registry of an installed vLLM, read from its dict displays."""

    def __init__(self, index: Index) -> None:
        self.index = index
        module = index.module(REGISTRY)
        self.found = module is not None
        self.entries: Dict[str, Entry] = {}
        self.drafts: List[Entry] = []
        if module is None:
            return
        for table, multimodal in ((TEXT_TABLE, False), (MULTIMODAL_TABLE, True)):
            for entry in _entries(module, table, multimodal):
                self.entries.setdefault(entry.architecture, entry)
        self.drafts = [
            entry for entry in _entries(module, DRAFT_TABLE, False) if "eagle3" in entry.architecture.lower()
        ]
        self._pairs: Optional[Tuple[List[Tuple[str, str]], List[Tuple[str, str]]]] = None

    def class_of(self, entry: Entry) -> Optional[ClassRef]:
        module = self.index.module(entry.module)
        return None if module is None else self.index.resolve(module, entry.class_name)

    def loads_latent_drafts(self) -> bool:
        """One of the release's drafts has latent attention."""
        for name in sorted({entry.module for entry in self.drafts}):
            place = self.index.path_of(name)
            if place is not None:
                with open(os.path.join(self.index.root, place[0]), "rb") as stream:
                    if b"kv_lora_rank" in stream.read():
                        return True
        return False

    def architecture_of(self, ref: ClassRef) -> Optional[str]:
        """The first registered name of a class."""
        for entry in self.entries.values():
            if entry.class_name == ref.name and self.class_of(entry) == ref:
                return entry.architecture
        return None

    def _auto(self) -> Tuple[List[Tuple[str, str]], List[Tuple[str, str]]]:
        """(model type, class) pairs of the transformers beside the engine: models, then configs."""
        if self._pairs is None:
            configs: List[Tuple[str, str]] = []
            for path in AUTO_CONFIGS:
                configs.extend(_string_pairs(os.path.join(self.index.root, path)))
            self._pairs = (_string_pairs(os.path.join(self.index.root, AUTO_MODELS)), configs)
        return self._pairs

    def text_architecture(self, model_type: Optional[str]) -> Optional[str]:
        """The registered text architecture of a model type, where the installed transformers says it."""
        for kind, name in self._auto()[0]:
            entry = self.entries.get(name)
            if kind == model_type and entry is not None and not entry.multimodal:
                return name
        return None

    def model_types(self, architecture: Optional[str], classes: List[ClassRef]) -> List[str]:
        """Model types that configs of these model classes carry, as far as source beside the engine tells."""
        found: List[str] = []
        models, configs = self._auto()
        for kind, name in models:
            if name == architecture and kind not in found:
                found.append(kind)
        for ref in classes:
            for module, name in config_classes(self.index, ref):
                for kind in self._types_of(module, name, configs):
                    if kind not in found:
                        found.append(kind)
        return found

    def _types_of(self, module: Module, name: str, configs: List[Tuple[str, str]]) -> List[str]:
        ref = self.index.resolve(module, name)
        if ref is not None:
            value = self.index.class_value(ref, "model_type")
            text = None if value is None else text_constant(value.node)
            return [] if text is None else [text]
        plain = last_part(name)
        origin = self.index.origin(module, plain)
        plain = plain if origin is None else origin[1]
        listed = [kind for kind, known in configs if known == plain]
        return listed or [snake(plain[: -len("Config")])]


def _entries(module: Module, table: str, multimodal: bool) -> List[Entry]:
    found = []
    for value in module.values.get(table, ()):
        if not isinstance(value, ast.Dict):
            continue
        for key, item in zip(value.keys, value.values):
            name = text_constant(key)
            if name is None or not isinstance(item, ast.Tuple) or len(item.elts) < 2:
                continue
            where, class_name = text_constant(item.elts[0]), text_constant(item.elts[1])
            if where is None or class_name is None:
                continue
            full = where if where.split(".")[0] in module.name.split(".")[:1] else MODELS + "." + where
            found.append(Entry(name, multimodal, full, class_name))
    return found


def _string_pairs(path: str) -> List[Tuple[str, str]]:
    """Every two-string tuple, and every string-to-string dict item, of a file; none when it cannot be read."""
    try:
        with open(path, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        pairs: List[Tuple[Optional[ast.AST], ast.AST]] = []
        if isinstance(node, ast.Tuple) and len(node.elts) == 2:
            pairs = [(node.elts[0], node.elts[1])]
        elif isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values))
        for left, right in pairs:
            one, other = text_constant(left), text_constant(right)
            if one is not None and other is not None:
                found.append((one, other))
    return found


def snake(name: str) -> str:
    """``DeepseekV3`` to ``deepseek_v3``: how transformers derives a model type's spelling."""
    text = ""
    for place, letter in enumerate(name):
        if letter.isupper() and place and (name[place - 1].islower() or name[place - 1].isdigit()):
            text += "_"
        text += letter.lower()
    return text


def config_classes(index: Index, ref: ClassRef) -> List[Tuple[Module, str]]:
    """Model config classes that annotate a parameter or field in the module that defines a model class."""
    module = ref.module
    found: List[Tuple[Module, str]] = []
    seen: Set[str] = set()
    for node in ast.walk(module.tree):
        marks: List[Optional[ast.expr]] = []
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            marks = [item.annotation for item in parameters(node)]
        elif isinstance(node, ast.AnnAssign):
            marks = [node.annotation]
        for mark in marks:
            for item in ast.walk(mark) if mark is not None else ():
                name = dotted(item) if isinstance(item, (ast.Name, ast.Attribute)) else None
                if name is not None and name not in seen:
                    seen.add(name)
                    if name.endswith("Config") and _is_model_config(module, name):
                        found.append((module, name))
    return found


def _is_model_config(module: Module, name: str) -> bool:
    """It comes from transformers, or from vLLM's folder of what transformers lacks; not the base of all."""
    for origin, original in module.imports.get(name.split(".")[0], ()):
        if origin.split(".")[0] == "transformers" or "transformers_utils" in origin.split("."):
            return (original or name).lower() != "pretrainedconfig"
    return False


def text_config(config: Optional[Dict[str, Any]], path: Tuple[str, ...]) -> Optional[Dict[str, Any]]:
    """The part of a parsed config.json that the text model is built from."""
    if config is None:
        return None
    part: Any = config
    for name in path:
        part = part.get(name) if isinstance(part, dict) else None
    if isinstance(part, dict) and part is not config:
        return part
    for name in ("text_config", "llm_config", "language_config"):
        inner = config.get(name)
        if isinstance(inner, dict):
            return inner
    return None


__all__ = ("Entry", "MODELS", "Registry", "config_classes", "snake", "text_config")
