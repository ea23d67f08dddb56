# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An engine in the shape of vLLM, small enough to import anywhere: an interface, a registry, models, a wrapper."""

from __future__ import annotations

import textwrap
import typing as t

INTERFACES = """
from typing import ClassVar, Literal, Protocol, runtime_checkable


@runtime_checkable
class SupportsPP(Protocol):
    supports_pp: ClassVar[Literal[True]] = True


@runtime_checkable
class SupportsMultiModal(Protocol):
    supports_multimodal: ClassVar[Literal[True]] = True


@runtime_checkable
class SupportsEagle3(Protocol):
    supports_eagle3: ClassVar[Literal[True]] = True

    def set_aux_hidden_state_layers(self, layers: tuple) -> None:
        ...

    def get_eagle3_aux_hidden_state_layers(self) -> tuple:
        ...


def supports_eagle3(model):
    return isinstance(model, SupportsEagle3)


def supports_multimodal(model):
    return getattr(model, "supports_multimodal", False)
"""
REGISTRY = """
import importlib

_TEXT_GENERATION_MODELS = {
    "PlainForCausalLM": ("plain", "PlainForCausalLM"),
    "OtherForCausalLM": ("plain", "OtherForCausalLM"),
    "OpaqueForCausalLM": ("opaque", "OpaqueForCausalLM"),
    "ReadyForCausalLM": ("ready", "ReadyForCausalLM"),
}
_MULTIMODAL_MODELS = {
    "SeeingForConditionalGeneration": ("seeing", "SeeingForConditionalGeneration"),
}
_SPECULATIVE_DECODING_MODELS = {
    "Eagle3PlainForCausalLM": ("plain_eagle3", "Eagle3PlainForCausalLM"),
}
"""
PLAIN = '''
from itertools import islice

from vllm.distributed import get_pp_group
from vllm.model_executor.layers.layernorm import RMSNorm
from vllm.sequence import IntermediateTensors

from .interfaces import SupportsPP


class PlainModel:
    def __init__(self, *, vllm_config, prefix=""):
        self.start_layer, self.end_layer, self.layers = 0, 3, [Layer(), Layer(), Layer()]
        self.embed_tokens = vllm_config.embedding
        self.norm = RMSNorm()

    def embed_input_ids(self, input_ids):
        return self.embed_tokens(input_ids)

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        if get_pp_group().is_first_rank:
            hidden_states = self.embed_input_ids(input_ids)
            residual = None
        else:
            hidden_states = intermediate_tensors["hidden_states"]
            residual = intermediate_tensors["residual"]
        for layer in islice(self.layers, self.start_layer, self.end_layer):
            hidden_states, residual = layer(positions, hidden_states, residual)
        if not get_pp_group().is_last_rank:
            return IntermediateTensors({"hidden_states": hidden_states, "residual": residual})
        hidden_states, _ = self.norm(hidden_states, residual)
        return hidden_states


class Layer:
    def __init__(self):
        self.input_layernorm = RMSNorm()
        self.post_attention_layernorm = RMSNorm()

    def forward(self, positions, hidden_states, residual):
        if residual is None:
            residual = hidden_states
            hidden_states = self.input_layernorm(hidden_states)
        else:
            hidden_states, residual = self.input_layernorm(hidden_states, residual)
        hidden_states = self.self_attn(positions=positions, hidden_states=hidden_states)
        hidden_states, residual = self.post_attention_layernorm(hidden_states, residual)
        hidden_states = self.mlp(hidden_states)
        return hidden_states, residual


class PlainForCausalLM(SupportsPP):
    def __init__(self, *, vllm_config, prefix=""):
        self.model = PlainModel(vllm_config=vllm_config, prefix=prefix)
        self.lm_head = vllm_config.head

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        hidden_states = self.model(input_ids, positions, intermediate_tensors, inputs_embeds)
        return hidden_states


class OtherForCausalLM(SupportsPP):
    """Another class on the same decoder: what both need is shared."""

    def __init__(self, *, vllm_config, prefix=""):
        self.model = PlainModel(vllm_config=vllm_config, prefix=prefix)
        self.lm_head = vllm_config.head

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        hidden_states = self.model(input_ids, positions, intermediate_tensors, inputs_embeds)
        return hidden_states
'''
OPAQUE = '''
class OpaqueForCausalLM:
    """It runs its layers where the source does not show how."""

    def __init__(self, *, vllm_config, prefix=""):
        self.model = vllm_config.build(prefix)

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        return self.model.run(input_ids)
'''
LAYERNORM = """
class RMSNorm:
    def forward(self, x, residual=None):
        if residual is not None:
            x = x + residual
            return x, x
        return x
"""
CAPTURE = """\
        aux_hidden_states = []
        for idx, layer in enumerate(islice(self.layers, self.start_layer, self.end_layer), start=self.start_layer):
            if idx in self.aux_hidden_state_layers:
                aux_hidden_states.append(hidden_states + residual)
            hidden_states, residual = layer(positions, hidden_states, residual)
"""
LOOP = """\
        for layer in islice(self.layers, self.start_layer, self.end_layer):
            hidden_states, residual = layer(positions, hidden_states, residual)
"""
RETURN = """
        if aux_hidden_states:
            return hidden_states, aux_hidden_states
        return hidden_states


class Layer"""
SETTER = """
    def set_aux_hidden_state_layers(self, layers):
        self.model.aux_hidden_state_layers = layers

    def get_eagle3_aux_hidden_state_layers(self):
        return (0, 1, 2)
"""


def _ready() -> str:
    """The plain model as an upstream that supports it would write it."""
    text = PLAIN[: PLAIN.index("class OtherForCausalLM")].rstrip() + "\n" + SETTER
    for old, new in (
        ("Plain", "Ready"),
        ("import SupportsPP", "import SupportsEagle3, SupportsPP"),
        ("(SupportsPP):", "(SupportsPP, SupportsEagle3):"),
        (LOOP, CAPTURE),
        ("\n        return hidden_states\n\n\nclass Layer", RETURN),
        ("        self.norm = RMSNorm()", "        self.aux_hidden_state_layers = ()\n        self.norm = RMSNorm()"),
    ):
        assert old in text
        text = text.replace(old, new)
    return text


SEEING = """
from vllm.model_executor.models.interfaces import SupportsMultiModal, SupportsPP
from vllm.utils import init_vllm_registered_model


class SeeingForConditionalGeneration(SupportsMultiModal, SupportsPP):
    def __init__(self, *, vllm_config, prefix=""):
        self.language_model = init_vllm_registered_model(
            vllm_config=vllm_config,
            hf_config=vllm_config.text_config,
            prefix=prefix,
            architectures=["PlainForCausalLM"],
        )

    def forward(self, input_ids, positions, intermediate_tensors=None, inputs_embeds=None):
        hidden_states = self.language_model(input_ids, positions, intermediate_tensors, inputs_embeds)
        return hidden_states
"""


def _files(**sources: str) -> dict[str, bytes]:
    models = "vllm/model_executor/models/"
    found = {f"{models}{name}.py": textwrap.dedent(source).encode() for name, source in sources.items()}
    for package in ("vllm/", "vllm/model_executor/", models):
        found[f"{package}__init__.py"] = b""
    found["vllm/model_executor/layers/__init__.py"] = b""
    found["vllm/model_executor/layers/layernorm.py"] = LAYERNORM.encode()
    found["vllm/distributed.py"] = b"def get_pp_group():\n    raise NotImplementedError\n"
    found["vllm/sequence.py"] = b"class IntermediateTensors(dict):\n    pass\n"
    found["vllm/utils.py"] = b"def init_vllm_registered_model(**given):\n    raise NotImplementedError\n"
    return found


FILES: t.Mapping[str, bytes] = _files(
    interfaces=INTERFACES, registry=REGISTRY, plain=PLAIN, opaque=OPAQUE, ready=_ready(), seeing=SEEING
)
# A later release, in which the plain model's file is the upstream's own support.
NEXT: t.Mapping[str, bytes] = {
    **FILES,
    "vllm/model_executor/models/plain.py": _ready().replace("Ready", "Plain").encode(),
}

__all__ = ("FILES", "NEXT")
