# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What a draft and its target say of themselves, in the terms that the checks compare."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3.drafts import IDS, NESTED, TOP
from ansible_collections.specdec.blackwell.plugins.module_utils._model_folder import Config, Folder
from ansible_collections.specdec.blackwell.plugins.module_utils._safetensors import Tensor

FLOATS = ("F32", "BF16", "F16")
DTYPES = {"float32": "F32", "float": "F32", "bfloat16": "BF16", "float16": "F16", "half": "F16"}
_TEXT_CONFIGS = ("text_config", "llm_config", "language_config")
_TARGET_KEYS = ("target_model_name_or_path", "target_model_path", "target_model", "base_model_name_or_path")
_README_LIMIT = 1024 * 1024


def _is_number(value: t.Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def integer(config: t.Mapping[str, t.Any], key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def plain_name(name: str) -> str:
    """How two spellings of one model's name compare: its last part, in lower case, with dashes alone.

    A snapshot in a Hugging Face cache is named by the folder two above it.
    """
    parts = [part for part in name.replace(os.sep, "/").split("/") if part]
    for part in reversed(parts):
        if part.startswith("models--"):
            parts = part.split("--")
            break
    return re.sub(r"[^a-z0-9]+", "-", parts[-1].lower()).strip("-") if parts else ""


class Target:
    """The model that verifies. Numbers are None where its config.json does not tell."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        config: Config = folder.config or {}
        text = next((config[name] for name in _TEXT_CONFIGS if isinstance(config.get(name), dict)), None)
        self.config = config
        self.text: Config = {**config, **text} if text is not None else config
        self.hidden = integer(self.text, "hidden_size")
        self.vocabulary = integer(self.text, "vocab_size")
        self.layers = integer(self.text, "num_hidden_layers")
        self.dtype = dtype_of(self.text)
        self.architectures = texts(config.get("architectures"))

    @property
    def names(self) -> list[str]:
        """Names that this model goes by, as they compare."""
        said = self.config.get("_name_or_path")
        places = [self.folder.path, os.path.realpath(self.folder.path), said if isinstance(said, str) else ""]
        return list(dict.fromkeys(name for name in map(plain_name, places) if name))

    def said(self) -> dict[str, t.Any]:
        return {
            "path": self.folder.path,
            "architectures": self.architectures,
            "hidden_size": self.hidden,
            "vocab_size": self.vocabulary,
            "layers": self.layers,
            "dtype": self.dtype,
            "size": self.folder.size,
        }


class Draft:
    """The draft. ``config`` is flat: what a speculators-format file keeps for the layer is beside the rest."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        given: Config = folder.config or {}
        inner = given.get("transformer_layer_config")
        self.speculators = "speculators_model_type" in given
        self.config: Config = {**inner, **given} if isinstance(inner, dict) else given
        if self.speculators and isinstance(inner, dict):
            self.config["model_type"] = inner.get("model_type")
        self.architecture = next(iter(texts(given.get("architectures"))), None)
        self.model_type = self.config.get("model_type")
        self.hidden = integer(self.config, "hidden_size")
        self.target_hidden = integer(self.config, "target_hidden_size")
        self.vocabulary = integer(self.config, "vocab_size")
        said = integer(self.config, "draft_vocab_size")
        self.draft_vocabulary = self.vocabulary if said is None else said
        self.dtype = dtype_of(self.config)
        self.latent = bool(integer(self.config, "kv_lora_rank")) or self.tensor("kv_a_proj_with_mqa.weight") is not None
        self.ids_at = self._ids()

    def tensor(self, suffix: str) -> Tensor | None:
        """The tensor whose name is, or ends with a dot and, ``suffix``."""
        for name, tensor in self.folder.tensors.items():
            if name == suffix or name.endswith("." + suffix):
                return tensor
        return None

    def _ids(self) -> dict[str, list[int]]:
        """Layer ids by the place where config.json has them; the place that servers look at first comes first."""
        found = {}
        for place, source in ((TOP, self.config), (NESTED, self.config.get(NESTED))):
            ids = source.get(IDS) if isinstance(source, dict) else None
            if (
                isinstance(ids, list)
                and ids
                and all(isinstance(item, int) and not isinstance(item, bool) for item in ids)
            ):
                found[place] = list(ids)
        return found

    @property
    def ids(self) -> list[int] | None:
        return next(iter(self.ids_at.values()), None)

    @property
    def states(self) -> int | None:
        """How many hidden states its first layer takes, as its weights tell."""
        fc, width = self.tensor("fc.weight"), self.target_hidden or self.hidden
        if fc is None or not width or len(fc.shape) != 2 or fc.dtype not in FLOATS or fc.shape[1] % width:
            return None
        return fc.shape[1] // width

    @property
    def generation(self) -> int | None:
        """3 for EAGLE-3, 1 for EAGLE and EAGLE-2, None where nothing tells."""
        kind = str(self.config.get("speculators_model_type", ""))
        query = self.tensor("q_proj.weight")
        if "eagle3" in (self.architecture or "").lower() or kind == "eagle3" or self.tensor("d2t") is not None:
            return 3
        if query is not None and self.hidden and len(query.shape) == 2:
            return 3 if query.shape[1] == 2 * self.hidden else 1 if query.shape[1] == self.hidden else None
        return 3 if "draft_vocab_size" in self.config or self.ids is not None else None

    @property
    def heads(self) -> tuple[int, int, int] | None:
        """Query heads, key heads, and the size of one."""
        heads = integer(self.config, "num_attention_heads")
        if not heads or not self.hidden:
            return None
        size = integer(self.config, "head_dim") or self.hidden // heads
        return heads, integer(self.config, "num_key_value_heads") or heads, size

    @property
    def stored_dtype(self) -> str | None:
        """The type of most of its weights' bytes."""
        sizes: dict[str, int] = {}
        for name, tensor in self.folder.tensors.items():
            if name.rpartition(".")[2] not in ("d2t", "t2d"):
                sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.end - tensor.start
        return max(sizes, key=lambda name: sizes[name]) if sizes else None

    @property
    def recorded_targets(self) -> list[str]:
        """Names of the model it was trained for, as its files have them."""
        found = [self.config.get(key) for key in _TARGET_KEYS]
        settings = self.config.get("speculators_config")
        verifier = settings.get("verifier") if isinstance(settings, dict) else None
        if isinstance(verifier, dict):
            found.append(verifier.get("name_or_path"))
        found += _base_models(os.path.join(self.folder.path, "README.md"))
        return list(dict.fromkeys(item for item in found if isinstance(item, str) and item))

    @property
    def recorded_architectures(self) -> list[str]:
        settings = self.config.get("speculators_config")
        verifier = settings.get("verifier") if isinstance(settings, dict) else None
        return texts(verifier.get("architectures")) if isinstance(verifier, dict) else []

    def said(self) -> dict[str, t.Any]:
        heads = self.heads
        return {
            "path": self.folder.path,
            "format": "speculators" if self.speculators else "transformers",
            "architecture": self.architecture,
            "eagle": self.generation,
            "attention": "mla" if self.latent else "mha",
            "hidden_size": self.hidden,
            "vocab_size": self.vocabulary,
            "draft_vocab_size": self.draft_vocabulary,
            "head_dim": None if heads is None or self.latent else heads[2],
            "dtype": self.stored_dtype,
            "size": self.folder.size,
            "recorded_targets": self.recorded_targets,
        }


def texts(value: t.Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def dtype_of(config: t.Mapping[str, t.Any]) -> str | None:
    """The type that a config names, as safetensors spells it."""
    said = config.get("torch_dtype") or config.get("dtype")
    return DTYPES.get(said.rpartition(".")[2]) if isinstance(said, str) else None


def _base_models(path: str) -> list[str]:
    """``base_model`` of a model card's front matter: a name, or a list of them."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            lines = stream.read(_README_LIMIT).splitlines()
    except OSError:
        return []
    if not lines or lines[0].strip() != "---":
        return []
    found: list[str] = []
    inside = False
    for line in lines[1:]:
        if line.strip() == "---":
            break
        key, colon, value = line.partition(":")
        if colon and key == "base_model":
            inside = not value.strip()
            found.append(value)
        elif inside and line.lstrip().startswith("- "):
            found.append(line.lstrip()[2:])
        elif inside:
            inside = False
    return [item.strip().strip("\"'") for item in found if item.strip().strip("\"'")]


__all__ = ("DTYPES", "Draft", "FLOATS", "Target", "dtype_of", "integer", "plain_name", "texts")
