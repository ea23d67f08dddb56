# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Folders of drafts and targets, with real safetensors files written by the standard library."""

from __future__ import annotations

import json
import pathlib
import struct
import typing as t

HIDDEN, VOCABULARY, LAYERS, DRAFT_VOCABULARY = 16, 32, 61, 8
CODES = {"I64": "q", "I32": "i", "BOOL": "B", "F32": "f"}
WIDTHS = {"I64": 8, "I32": 4, "BOOL": 1, "F32": 4, "BF16": 2, "F16": 2, "I8": 1, "U8": 1}

Tensors = t.Dict[str, t.Tuple[str, t.List[int], t.Optional[t.List[int]]]]


def safetensors(tensors: Tensors) -> bytes:
    """A file of ``name: (dtype, shape, values or None for zeros)``."""
    header: dict[str, t.Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, (dtype, shape, values) in tensors.items():
        size = WIDTHS[dtype]
        for item in shape:
            size *= item
        data = bytes(size) if values is None else struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def target_config(**more: t.Any) -> dict[str, t.Any]:
    text = {"hidden_size": HIDDEN, "vocab_size": VOCABULARY, "num_hidden_layers": LAYERS, "qk_rope_head_dim": 2}
    base = {"architectures": ["PlainForCausalLM"], "torch_dtype": "bfloat16", "text_config": text}
    return {**base, **more}


def draft_config(**more: t.Any) -> dict[str, t.Any]:
    base: dict[str, t.Any] = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_size": HIDDEN,
        "vocab_size": VOCABULARY,
        "draft_vocab_size": DRAFT_VOCABULARY,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 4,
        "torch_dtype": "bfloat16",
        "eagle_aux_hidden_state_layer_ids": [2, 30, 58],
        "target_model_name_or_path": "org/Target-1.0",
    }
    base.update(more)
    return {key: value for key, value in base.items() if value is not None}


def draft_tensors(**more: t.Any) -> Tensors:
    """The draft says every third token of the target."""
    offsets = [2 * number for number in range(DRAFT_VOCABULARY)]
    said = {number + offset for number, offset in enumerate(offsets)}
    base: dict[str, t.Any] = {
        "embed_tokens.weight": ("BF16", [VOCABULARY, HIDDEN], None),
        "fc.weight": ("BF16", [HIDDEN, 3 * HIDDEN], None),
        "midlayer.self_attn.q_proj.weight": ("BF16", [16, 2 * HIDDEN], None),
        "midlayer.self_attn.k_proj.weight": ("BF16", [8, 2 * HIDDEN], None),
        "midlayer.self_attn.v_proj.weight": ("BF16", [8, 2 * HIDDEN], None),
        "lm_head.weight": ("BF16", [DRAFT_VOCABULARY, HIDDEN], None),
        "d2t": ("I64", [DRAFT_VOCABULARY], offsets),
        "t2d": ("BOOL", [VOCABULARY], [int(number in said) for number in range(VOCABULARY)]),
    }
    base.update(more)
    return {key: value for key, value in base.items() if value is not None}


def write(folder: pathlib.Path, config: t.Any, tensors: Tensors | None) -> pathlib.Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    if tensors is not None:
        (folder / "model.safetensors").write_bytes(safetensors(tensors))
    return folder


def target(root: pathlib.Path, **more: t.Any) -> pathlib.Path:
    weights: Tensors = {"lm_head.weight": ("BF16", [VOCABULARY, HIDDEN], None)}
    return write(root / "Target-1.0", target_config(**more), weights)


__all__ = ("DRAFT_VOCABULARY", "HIDDEN", "LAYERS", "VOCABULARY", "Tensors", "draft_config", "draft_tensors")
__all__ += ("safetensors", "target", "target_config", "write")
