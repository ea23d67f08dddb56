# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiny checkpoints of random weights, by transformers' own config classes. Runs in the engine's environment."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import CONFIG_MAPPING

LAYERS = 4
VOCABULARY = 320
# Every size is one that the engine's kernels for CPUs take: heads of 32, latent attention of 512 + 64, experts of 64.
TEXT: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 128,
    "intermediate_size": 128,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 512,
    "moe_intermediate_size": 64,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "num_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
    "shared_expert_intermediate_size": 64,
    "shared_intermediate_size": 64,
    "num_nextn_predict_layers": 0,
    "sliding_window": 512,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LATENT: dict[str, Any] = {
    "num_key_value_heads": 4,
    "q_lora_rank": 64,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
}
TOWER: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "depth": 2,
    "num_attention_heads": 2,
    "num_heads": 2,
    "num_key_value_heads": 2,
    "encoder_layers": 2,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "d_model": 64,
    "embed_dim": 64,
    "image_size": 56,
    "patch_size": 14,
}


def fitting(config: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Those of the values that a config of this class has a place for."""
    known = {*config.to_dict(), *config.attribute_map}
    return {name: value for name, value in values.items() if name in known}


def text_values(config: Any) -> dict[str, Any]:
    if not hasattr(config, "kv_lora_rank"):
        return fitting(config, TEXT)
    values = fitting(config, {**TEXT, **LATENT})
    values.pop("head_dim", None)
    return values


def tiny_config(architecture: str, case: dict[str, Any]) -> Any:
    cls = CONFIG_MAPPING[case["type"]]
    whole = cls()
    text = whole.get_text_config()
    if text is whole:
        return cls(**{**text_values(whole), **case.get("text", {})}, architectures=[architecture])
    parts: dict[str, Any] = {}
    for name in cls.sub_configs:
        part = getattr(whole, name, None)
        if part is None:
            continue
        if type(part) is type(text):
            own = {**text_values(part), **case.get("text", {})}
        else:
            own = {**fitting(part, TOWER), **case.get("tower", {})}
        parts[name] = {**part.to_dict(), **own} if case.get("keep") else {"model_type": part.model_type, **own}
    return cls(**{**parts, **case.get("whole", {})}, architectures=[architecture])


def fill(model: torch.nn.Module, seed: int) -> None:
    """Weights under which every layer changes the state by about as much as it is large."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in sorted(model.named_parameters()):
            noise = torch.randn(value.shape, generator=generator)
            if value.ndim < 2:
                value.add_(0.1 * noise)
            elif "embed" in name or "wte" in name or "wpe" in name:
                value.copy_(noise)
            elif "correction_bias" in name:
                value.zero_()
            elif name.endswith("A_log") or "conv" in name:
                value.add_(0.05 * noise)
            else:
                value.copy_(0.8 * noise / math.sqrt(value.shape[-1]))


def rename(path: Path, starts: dict[str, str], drop: str | None) -> None:
    """Give weights other names, by how their names start, and leave out some."""
    if not starts and drop is None:
        return
    weights = load_file(path)
    for old, new in starts.items():
        weights = {new + name[len(old) :] if name.startswith(old) else name: one for name, one in weights.items()}
    weights = {name: one for name, one in weights.items() if drop is None or not re.search(drop, name)}
    save_file(weights, path, metadata={"format": "pt"})


def make(architecture: str, case: dict[str, Any], folder: Path, seed: int) -> torch.nn.Module:
    """Write the checkpoint; returns the model, in float32 and ready to run."""
    config = tiny_config(architecture, case)
    config._attn_implementation = "eager"
    cls = getattr(transformers, case.get("class", architecture))
    model = cls(config).float().eval()
    fill(model, seed)
    save(architecture, case, model, folder)
    return model


def save(architecture: str, case: dict[str, Any], model: torch.nn.Module, folder: Path) -> None:
    """Write a checkpoint as a release of the model has it."""
    model.save_pretrained(folder)
    rename(folder / "model.safetensors", case.get("rename", {}), case.get("drop"))
    path = folder / "config.json"
    written = json.loads(path.read_text())
    written["architectures"] = [architecture]
    for name, value in case.get("written", {}).items():
        part, _dot, key = name.rpartition(".")
        (written[part] if part else written)[key] = value
    path.write_text(json.dumps(written, indent=1))
