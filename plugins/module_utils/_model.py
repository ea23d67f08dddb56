# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What serving a model takes, read from its folder: weights, attention, size of a hidden state.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import json
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._kernel import read

_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt")
Config = t.Mapping[str, t.Any]


def describe(folder: str) -> dict[str, t.Any]:
    """Facts of the model in ``folder``; ``reason`` tells why most are None where its config.json does not tell."""
    facts: dict[str, t.Any] = {
        "path": folder,
        "weights": _weights(folder),
        "architectures": None,
        "hidden_size": None,
        "layers": None,
        "attention": None,
        "active_bytes": None,
        "reason": None,
    }
    text = read(os.path.join(folder, "config.json"))
    if text is None:
        facts["reason"] = f"no config.json in {folder}"
        return facts
    try:
        config = json.loads(text)
    except ValueError as error:
        facts["reason"] = f"config.json in {folder} is not JSON: {error}"
        return facts
    if not isinstance(config, dict):
        facts["reason"] = f"config.json in {folder} is not an object"
        return facts
    inner = config.get("text_config")
    text_config: Config = {**config, **inner} if isinstance(inner, dict) else config
    facts["architectures"] = config.get("architectures")
    facts["hidden_size"] = _integer(text_config, "hidden_size")
    facts["layers"] = _integer(text_config, "num_hidden_layers")
    facts["attention"] = attention(text_config)
    facts["active_bytes"] = active_bytes(text_config)
    return facts


def attention(config: Config) -> str:
    """``mla``, ``sparse mla`` (with an indexer, as DeepSeek-V3.2 has), or ``mha``."""
    if not _integer(config, "kv_lora_rank"):
        return "mha"
    return "sparse mla" if _integer(config, "index_topk") else "mla"


def active_bytes(config: Config) -> dict[str, int] | None:
    """Bytes of weights that one step of one token reads: ``dense`` at any number of tokens, ``routed`` for each token.

    An estimate from the shapes in config.json: attention, the experts or feed-forward, and the output head. None where
    a shape is missing.
    """
    hidden, layers = _integer(config, "hidden_size"), _integer(config, "num_hidden_layers")
    vocabulary, heads = _integer(config, "vocab_size"), _integer(config, "num_attention_heads")
    if not hidden or not layers or not vocabulary or not heads:
        return None
    width, wide = _widths(config)
    rank = _integer(config, "kv_lora_rank")
    if rank:
        rope = _integer(config, "qk_rope_head_dim") or 64
        nope = _integer(config, "qk_nope_head_dim") or 128
        value = _integer(config, "v_head_dim") or 128
        query = _integer(config, "q_lora_rank")
        each = hidden * query + query * heads * (nope + rope) if query else hidden * heads * (nope + rope)
        each += hidden * (rank + rope) + rank * heads * (nope + value) + heads * value * hidden
    else:
        size = _integer(config, "head_dim") or hidden // heads
        groups = _integer(config, "num_key_value_heads") or heads
        each = 2 * hidden * size * (heads + groups)
    experts = _integer(config, "num_experts_per_tok")
    narrow = _integer(config, "moe_intermediate_size") or _integer(config, "intermediate_size")
    broad = _integer(config, "intermediate_size") or narrow
    if not narrow or not broad:
        return None
    sparse = max(0, layers - (_integer(config, "first_k_dense_replace") or 0)) if experts else 0
    shared = _integer(config, "n_shared_experts") or 0
    dense = wide * (layers * each + vocabulary * hidden + 3 * hidden * broad * (layers - sparse))
    dense += wide * 3 * hidden * narrow * shared * sparse
    routed = width * 3 * hidden * narrow * (experts or 0) * sparse
    return {"dense": int(dense), "routed": int(routed)}


def _widths(config: Config) -> tuple[float, float]:
    """Bytes of one quantised weight and of one that is not: experts are quantised first, attention often not at all."""
    plain = 4.0 if str(config.get("torch_dtype") or config.get("dtype")) == "float32" else 2.0
    quantization = config.get("quantization_config")
    if not isinstance(quantization, dict):
        return plain, plain
    method = str(quantization.get("quant_method", "")).lower()
    bits = quantization.get("bits")
    groups = quantization.get("config_groups")
    if isinstance(groups, dict):
        for group in groups.values():
            weights = group.get("weights") if isinstance(group, dict) else None
            if isinstance(weights, dict) and isinstance(weights.get("num_bits"), int):
                bits = weights["num_bits"]
    if not isinstance(bits, int):
        bits = 4 if "fp4" in json.dumps(quantization).lower() else 8 if "fp8" in method else None
    if bits is None:
        return plain, plain
    # A method that names no ignored layers quantises all that is linear.
    ignored = quantization.get("ignore") or quantization.get("modules_to_not_convert")
    return bits / 8, plain if ignored else bits / 8


def _weights(folder: str) -> dict[str, t.Any]:
    """Bytes of the weight files that are there, and of all that the index promises."""
    size = 0
    count = 0
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    for name in names:
        if name.endswith(_WEIGHTS):
            try:
                size += os.stat(os.path.join(folder, name)).st_size
                count += 1
            except OSError:
                continue
    promised = None
    missing: list[str] = []
    try:
        index = json.loads(read(os.path.join(folder, "model.safetensors.index.json")) or "null")
    except ValueError:
        index = None
    if isinstance(index, dict):
        total = (index.get("metadata") or {}).get("total_size")
        promised = int(total) if isinstance(total, (int, float)) else None
        files = set((index.get("weight_map") or {}).values())
        missing = sorted(file for file in files if not os.path.exists(os.path.join(folder, file)))
    return {"files": count, "size": size, "promised": promised, "missing": missing}


def _integer(config: Config, key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


__all__ = ("active_bytes", "attention", "describe")
