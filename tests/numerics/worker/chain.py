# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints made by hand whose draft is right only if it gets the right states. Runs in the engine's environment.

The first dimensions of a state are one for each token: the embedding sets that of the current token, and the head names
the token after it in a fixed circle. The next dimensions are one for each layer: a layer writes its mark there. All
else that a layer computes is small noise in the dimensions left over. The draft takes the token from the first, second
or third captured state, by the token's number. It says something else when the mark of the layer that a state shall
come after is missing, or when that of the layer after it is there. So it needs the sum of all that the layers wrote, in
all three states, after just those layers.

chain.py REQUEST: REQUEST is JSON with `folder` and `cases` (name to case); makes `folder`/NAME for each, and
`folder`/draft.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import tiny
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

LAYERS, HIDDEN, HEADS, HEAD = 8, 384, 6, 64
IDS = (2, 4, 5)
MARK, NOISE, PENALTY = 0.5, 2e-5, 5.0
SPECIAL = ("<s>", "</s>", "<pad>", "<unk>")
MEDIA = ("<|media_begin|>", "<|media_content|>", "<|media_end|>", "<|media_pad|>", "<|kimi_k25_video_placeholder|>")
CIRCLES = (
    "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.\n",
    "!\"#$%&'()*+,-/:;<=>?@[\\]^_`{|}~",
)
TEXT: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": HEADS,
    "head_dim": HEAD,
    "tie_word_embeddings": False,
}
# Norms of what a part of a layer has made, before it is added to the stream.
AFTER = r"post_(self_attn|mlp)_layernorm"
# Weights whose result is added to the stream, and those of them that belong to a feed-forward part.
WRITES = re.compile(r"(o_proj|out_proj|down_proj|c_proj|dense_4h_to_h|fc_out|fc2|w2|output_linear|dense)\.?\w*$")
FEEDS = re.compile(r"(mlp|moe|expert|feed_?forward|ffn)")


class Alphabet:
    """Bytes as tokens, and which token follows which."""

    def __init__(self) -> None:
        letters = sorted(pre_tokenizers.ByteLevel.alphabet())
        self.tokenizer = Tokenizer(models.BPE(vocab={one: place for place, one in enumerate(letters)}, merges=[]))
        self.tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self.tokenizer.decoder = decoders.ByteLevel()
        self.tokenizer.add_special_tokens([AddedToken(one, special=True) for one in SPECIAL + MEDIA])
        self.size = self.tokenizer.get_vocab_size()
        circles = [[self.tokenizer.encode(one).ids[0] for one in circle] for circle in CIRCLES]
        self.next = [circles[0][token % 26] for token in range(self.size)]
        for circle in circles:
            for token, after in zip(circle, [*circle[1:], circle[0]], strict=True):
                self.next[token] = after
        self.draft = sorted(token for circle in circles for token in circle)
        self.wrong = circles[1][0]

    def id(self, special: str) -> int:
        found = self.tokenizer.token_to_id(special)
        assert found is not None
        return int(found)

    def save(self, folder: Path) -> None:
        self.tokenizer.save(str(folder / "tokenizer.json"))
        config = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "pad_token": "<pad>",
            "model_max_length": 512,
            "clean_up_tokenization_spaces": False,
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(config))


def stack_of(model: torch.nn.Module) -> torch.nn.ModuleList:
    """The layers of the language model: the stack next to the embedding of tokens."""
    embedding = model.get_input_embeddings()
    for owner in model.modules():
        children = list(owner.children())
        if embedding in children:
            for child in children:
                if isinstance(child, torch.nn.ModuleList) and len(child) == LAYERS:
                    return child
    raise AssertionError("no stack of layers beside the embedding")


class Target:
    """A model of transformers, given these weights."""

    def __init__(self, model: torch.nn.Module, alphabet: Alphabet, after: str, seed: int) -> None:
        self.model, self.alphabet, self.after = model, alphabet, re.compile(after)
        self.generator = torch.Generator().manual_seed(seed)
        self.layers = stack_of(model)
        self.inputs: list[torch.Tensor] = []
        for layer in self.layers:
            layer.register_forward_pre_hook(
                lambda _layer, args, kwargs: self.inputs.append(args[0] if args else kwargs["hidden_states"]),
                with_kwargs=True,
            )
        self.layers[-1].register_forward_hook(
            lambda _layer, _args, result: self.inputs.append(result[0] if isinstance(result, tuple) else result)
        )

    def noise(self, shape: Any, scale: float) -> torch.Tensor:
        return torch.randn(shape, generator=self.generator) * scale

    def states(self) -> list[torch.Tensor]:
        self.inputs.clear()
        tokens = torch.tensor([[self.alphabet.next[one] for one in range(64, 80)]])
        with torch.no_grad():
            self.model(input_ids=tokens, use_cache=False)
        return [one[0] for one in self.inputs]

    def fill(self) -> None:
        size = self.alphabet.size
        model = self.model
        with torch.no_grad():
            for name, value in model.named_parameters():
                if "wpe" in name:
                    value.zero_()
            embedding = model.get_input_embeddings().weight
            embedding.copy_(torch.eye(size, HIDDEN))
            head = model.get_output_embeddings().weight
            head.copy_(
                torch.cat([torch.zeros(size, size + LAYERS), self.noise((size, HIDDEN - size - LAYERS), 0.1)], 1)
            )
            for token, after in enumerate(self.alphabet.next):
                head[after, token] = 1
            marks = [self._layer(number, layer) for number, layer in enumerate(self.layers)]
            embedding.div_(self.states()[0].max())
            for number, places in enumerate(marks):
                found = self.states()[number + 1][:, size + number]
                assert found.abs().min() > 1e-6, f"layer {number} makes no mark"
                for place in places:
                    place.mul_(MARK / found.mean())
            self._check()

    def _layer(self, number: int, layer: torch.nn.Module) -> list[torch.Tensor]:
        """Fill one layer; returns the numbers that make its mark."""
        size = self.alphabet.size
        marks: list[torch.Tensor] = []
        after: list[torch.Tensor] = []
        for name, value in layer.named_parameters():
            if value.ndim < 2:
                if name.endswith("bias") or self.after.search(name):
                    value.zero_()
                if self.after.search(name) and FEEDS.search(name):
                    value[size + number] = 1
                    after.append(value[size + number])
                continue
            if not WRITES.search(name):
                value.copy_(self.noise(value.shape, 0.02))
                continue
            by_result = value.transpose(-2, -1) if self._transposed(layer, name, -2) else value
            by_result.copy_(self.noise(by_result.shape, NOISE))
            by_result[..., : size + LAYERS, :] = 0
            if FEEDS.search(name) and "shared" not in name:
                by_result[..., 0] = 0
                by_result[..., size + number, 0] = 1
                marks.append(by_result[..., size + number, 0])
        for name, value in layer.named_parameters():
            if value.ndim >= 2 and FEEDS.search(name) and "shared" not in name and not WRITES.search(name):
                self._mark_reads(layer, name, value)
        return after or marks

    def _mark_reads(self, layer: torch.nn.Module, name: str, value: torch.Tensor) -> None:
        """The first inner number of a feed-forward part is the same whatever the token is."""
        size = self.alphabet.size
        if re.search(r"(router|gate)(\.weight)?$", name) and "proj" not in name:
            return
        rows = value.transpose(-2, -1) if self._transposed(layer, name, -1) else value
        places = [0, rows.shape[-2] // 2] if re.search(r"gate_up|input_linear|experts\.fc1", name) else [0]
        for place in places:
            rows[..., place, :] = 0
            rows[..., place, :size] = 1
            # Whatever a norm subtracts from all dimensions cancels out.
            rows[..., place, size + LAYERS :] = -size / (HIDDEN - size - LAYERS)

    @staticmethod
    def _transposed(layer: torch.nn.Module, name: str, axis: int) -> bool:
        """Whether the stream is not along the axis of a weight where a fully connected layer of torch has it."""
        value = layer.get_parameter(name)
        if type(layer.get_submodule(name.rpartition(".")[0])).__name__ == "Conv1D":
            return True
        return value.shape[axis] != HIDDEN and value.shape[-3 - axis] == HIDDEN

    def _check(self) -> None:
        states = self.states()
        size = self.alphabet.size
        for number, state in enumerate(states):
            wanted = torch.tensor([MARK] * number + [0.0] * (LAYERS - number))
            marks = state[:, size : size + LAYERS]
            assert (marks - wanted).abs().max() < 0.05, f"marks after {number} layers: {marks[0].tolist()}"
            assert (state[:, :size].max(-1).values - 1).abs().max() < 0.01, f"the token after {number} layers"


def target(name: str, case: dict[str, Any], folder: Path, alphabet: Alphabet) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    special = {
        f"{one}_token_id": alphabet.id(token) for one, token in zip(("bos", "eos", "pad"), SPECIAL[:3], strict=True)
    }
    values = {**TEXT, "vocab_size": alphabet.size, **special}
    base = tiny.tiny_config(name, {"type": case["type"], **{k: case[k] for k in ("tower", "whole") if k in case}})
    known = {*base.get_text_config().to_dict(), *base.get_text_config().attribute_map}
    latent = hasattr(base.get_text_config(), "kv_lora_rank")
    own = {key: value for key, value in values.items() if key in known and not (latent and key == "head_dim")}
    config = tiny.tiny_config(name, {**case, "text": {**own, **case.get("text", {})}})
    config.tie_word_embeddings = False
    for key, token in case.get("tokens", {}).items():
        setattr(config, key, alphabet.id(token))
    config._attn_implementation = "eager"
    model = getattr(transformers, case.get("class", name))(config).float().eval()
    Target(model, alphabet, case.get("after", AFTER), 0).fill()
    tiny.save(name, case, model, folder)
    for file, content in case.get("files", {}).items():
        (folder / file).write_text(json.dumps(content))
    alphabet.save(folder)


def draft(folder: Path, alphabet: Alphabet) -> None:
    """An EAGLE-3 head of one Llama layer: from the current token to the next one, from that to the one after it."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(1)
    size, inner = alphabet.size, HEADS * HEAD

    def noise(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.02

    take = torch.zeros(HIDDEN, 3 * HIDDEN)
    for place, number in enumerate(IDS):
        start = place * HIDDEN
        for token, after in enumerate(alphabet.next):
            if token % len(IDS) == place:
                take[after, start + token] = 1
        take[alphabet.wrong, start : start + size] += PENALTY
        take[alphabet.wrong, start + size + number - 1] -= PENALTY / MARK
        take[alphabet.wrong, start + size + number] += PENALTY / MARK
    out = noise(HIDDEN, inner) * NOISE
    out[: size + LAYERS] = 0
    # The norm makes of one 1 the square root of the size; the gate makes this of that.
    given = 0.5 * math.sqrt(HIDDEN)
    made = given / (1 + math.exp(-given)) * given
    gate, step = torch.eye(size, HIDDEN) * 0.5, torch.zeros(HIDDEN, size)
    for token, after in enumerate(alphabet.next):
        step[after, token] += 1 / made
        step[token, token] -= 1 / made
    head = torch.zeros(len(alphabet.draft), HIDDEN)
    head[range(len(alphabet.draft)), alphabet.draft] = 1
    known = torch.zeros(size, dtype=torch.bool)
    known[alphabet.draft] = True
    weights = {
        "fc.weight": take,
        "midlayer.self_attn.q_proj.weight": noise(inner, 2 * HIDDEN),
        "midlayer.self_attn.k_proj.weight": noise(inner, 2 * HIDDEN),
        "midlayer.self_attn.v_proj.weight": noise(inner, 2 * HIDDEN),
        "midlayer.self_attn.o_proj.weight": out,
        "midlayer.mlp.gate_proj.weight": gate,
        "midlayer.mlp.up_proj.weight": gate.clone(),
        "midlayer.mlp.down_proj.weight": step,
        "midlayer.input_layernorm.weight": torch.ones(HIDDEN),
        "midlayer.hidden_norm.weight": torch.ones(HIDDEN),
        "midlayer.post_attention_layernorm.weight": torch.ones(HIDDEN),
        "norm.weight": torch.ones(HIDDEN),
        "lm_head.weight": head,
        "d2t": torch.tensor([token - place for place, token in enumerate(alphabet.draft)]),
        "t2d": known,
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "vocab_size": size,
        "draft_vocab_size": len(alphabet.draft),
        "hidden_size": HIDDEN,
        "intermediate_size": size,
        "num_hidden_layers": 1,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "head_dim": HEAD,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 512,
        "hidden_act": "silu",
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "float32",
        "eagle_config": {"eagle_aux_hidden_state_layer_ids": list(IDS), "use_aux_hidden_state": True},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1))


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    alphabet = Alphabet()
    draft(Path(request["folder"], "draft"), alphabet)
    for name, case in request["cases"].items():
        target(name, case, Path(request["folder"], name), alphabet)


if __name__ == "__main__":
    main()
