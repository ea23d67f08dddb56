# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""vLLM trees of a few lines: what is read of each shape of model, what is refused, and with which words."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, files_of, plan

MODELS = "vllm/model_executor/models"
PROTOCOL = """
class SupportsEagle3(Protocol):
    supports_eagle3 = True
    def set_aux_hidden_state_layers(self, layers): ...
    def {getter}(self): ...
class SupportsMultiModal(Protocol):
    supports_multimodal = True
class SupportsPP(Protocol):
    supports_pp = True
"""
MIXIN = """
class EagleModelMixin:
    aux_hidden_state_layers = ()
    def _set_aux_hidden_state_layers(self, layers):
        self.aux_hidden_state_layers = layers
    def _maybe_add_hidden_state(self, aux_hidden_states, layer_idx, hidden_states, residual):
        return aux_hidden_states
"""
NORMS = """
class Adding:
    def forward(self, x, residual=None):
        if residual is not None:
            x = x + residual
        return x, residual
class Fused:
    def forward(self, x, residual=None):
        return ops.fused_add_norm(x, residual)
class Keeping:
    def forward(self, x, residual=None):
        return scale(x), residual
"""
HEAD = """
from torch import nn
from .interfaces import SupportsPP
from .utils import make_layers
from ..layers.norms import Adding, Fused, Keeping
"""
BLOCK = """
class Block(nn.Module):
    def forward(self, positions, hidden, residual):
        return self.mlp(hidden + residual), residual
class Whole(nn.Module):
    def forward(self, positions, hidden, residual):
        residual = hidden
        return residual + self.mlp(hidden), residual
"""
DECODER = """
class Stack(nn.Module):
    def __init__(self, vllm_config):
        self.embed_tokens = Embedding()
        self.start_layer, self.end_layer, self.layers = make_layers(4, lambda prefix: {block}(prefix))
        self.norm = {norm}()
    def embed_input_ids(self, input_ids):
        return self.embed_tokens(input_ids)
    def forward(self, positions, intermediate_tensors, inputs_embeds):
        hidden = inputs_embeds
        residual = None
{loop}
        if not get_pp_group().is_last_rank:
            return IntermediateTensors({{"hidden": hidden, "residual": residual}})
{tail}
"""
OUTER = """
class TinyForCausalLM(nn.Module, SupportsPP):
    def __init__(self, vllm_config):
        self.model = Stack(vllm_config)
        self.lm_head = Head()
    def forward(self, positions, intermediate_tensors=None, inputs_embeds=None):
        hidden = self.model(positions, intermediate_tensors, inputs_embeds)
        return hidden
    def compute_logits(self, hidden):
        return self.lm_head(hidden)
"""
SLICED = """
for layer in islice(self.layers, self.start_layer, self.end_layer):
    hidden, residual = layer(positions, hidden, residual)
"""
SINGLE = """
for layer in islice(self.layers, self.start_layer, self.end_layer):
    hidden = layer(positions, hidden)
"""
SUM = "hidden, _ = self.norm(hidden, residual)\nreturn hidden"
ALONE = "hidden = self.norm(hidden)\nreturn hidden"


BOUNDS = "islice(self.layers, self.start_layer, self.end_layer)"
ENUMERATED = SLICED.replace("for layer in " + BOUNDS, "for number, layer in enumerate(" + BOUNDS + ")")
NUMBERED = ENUMERATED.replace("end_layer))", "end_layer), start=self.start_layer)")
SLICED_COUNT = SLICED.replace("layer in", "number, layer in").replace("(self.layers,", "(enumerate(self.layers),")
BY_NUMBER = """
for number in range(self.start_layer, self.end_layer):
    layer = self.layers[number]
    hidden, residual = layer(positions, hidden, residual)
"""
SUM_FIRST = "hidden = hidden + residual\n" + ALONE
EITHER = """
if residual is None:
    hidden = self.norm(hidden)
else:
    hidden, _ = self.norm(hidden, residual)
return hidden
"""
UNLIKE = """
if self.wide:
    hidden = self.other(hidden)
else:
    hidden = hidden + residual
return hidden
"""
SKIPPING = SLICED.replace("    hidden,", "    if layer is None:\n        continue\n    hidden,")
SCALED = SLICED.replace("    hidden,", "    hidden = hidden * 2\n    hidden,")
NESTED = "for turn in range(2):\n" + textwrap.indent(SLICED.strip("\n"), "    ")
CHANGING = OUTER.replace("        return hidden\n    def c", "        return hidden * 2\n    def c")


def source(
    *, loop: str = SLICED, tail: str = SUM, norm: str = "Adding", block: str = "Block", outer: str = OUTER
) -> str:
    decoder = DECODER.format(
        loop=textwrap.indent(loop.strip("\n"), " " * 8),
        tail=textwrap.indent(tail.strip("\n"), " " * 8),
        norm=norm,
        block=block,
    )
    return HEAD + BLOCK + decoder + outer


def tree(
    root: Path,
    model: str,
    *,
    mixin: bool = False,
    getter: str = "get_eagle3_aux_hidden_state_layers",
    more: dict[str, str] | None = None,
    multimodal: str = "",
) -> Path:
    files = {
        "vllm/__init__.py": "",
        "vllm/model_executor/__init__.py": "",
        f"{MODELS}/__init__.py": "",
        f"{MODELS}/registry.py": "_TEXT_GENERATION_MODELS = {\n"
        '    "TinyForCausalLM": ("tiny", "TinyForCausalLM"),\n}\n'
        f"_MULTIMODAL_MODELS = {{{multimodal}}}\n"
        '_SPECULATIVE_DECODING_MODELS = {"Eagle3TinyForCausalLM": ("tiny_eagle3", "Draft")}\n',
        f"{MODELS}/interfaces.py": PROTOCOL.format(getter=getter) + (MIXIN if mixin else ""),
        f"{MODELS}/tiny.py": model,
        "vllm/model_executor/layers/__init__.py": "",
        "vllm/model_executor/layers/norms.py": NORMS,
        **(more or {}),
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def ask(root: Path, name: str = "TinyForCausalLM", **keys: Any) -> dict[str, Any]:
    response = derive.run_request({"engine": "vllm", "root": str(root), "architectures": [name], **keys})
    assert response["error"] is None
    item: dict[str, Any] = response["architectures"][name]
    return item


def patch(root: Path, edits: list[dict[str, Any]]) -> None:
    """Write what the planner makes of the edits; asking again must then find nothing to do."""
    for turn in range(2):
        files: dict[str, File | None] = {}
        for name in files_of(edits):
            module = name[: -len(".py")].replace("/", ".")
            files[name] = File((root / name).read_bytes(), module)
        result = plan(edits, files)
        assert result["ok"], result["edits"]
        for name, item in result["files"].items():
            assert item["changed"] is (turn == 0)
            (root / name).write_bytes(item["after"])


SHAPES: dict[str, tuple[dict[str, str], str, str]] = {
    "sliced, a pair": ({}, "L1", "hidden + residual"),
    "a slice by brackets": (
        {"loop": SLICED.replace(BOUNDS, "self.layers[self.start_layer : self.end_layer]")},
        "L1",
        "hidden + residual",
    ),
    "a fused norm": ({"norm": "Fused"}, "L1", "hidden + residual"),
    "a sum before the norm": ({"norm": "Keeping", "tail": SUM_FIRST}, "L1", "hidden + residual"),
    "a norm without residual only where there is none": ({"tail": EITHER}, "L1", "hidden + residual"),
    "a pair whose residual no layer reads": ({"tail": ALONE, "block": "Whole"}, "L1", "hidden.clone()"),
    "one state": ({"loop": SINGLE, "tail": ALONE}, "L2", "hidden.clone()"),
    "the norm in the return": ({"loop": SINGLE, "tail": "return self.norm(hidden)"}, "L2", "hidden.clone()"),
    "counted": ({"loop": ENUMERATED}, "L3", "hidden + residual"),
    "counted from the first layer": ({"loop": NUMBERED}, "L3", "number + 1"),
    "a part of the counted": ({"loop": SLICED_COUNT}, "L3", "number + 1"),
    "by number": ({"loop": BY_NUMBER}, "L4", "number + 1"),
    "all layers": ({"loop": SLICED.replace(BOUNDS, "self.layers")}, "L5", "hidden + residual"),
}


@pytest.mark.parametrize("mixin", [False, True], ids=["without a mixin", "with a mixin"])
@pytest.mark.parametrize("name", SHAPES)
def test_shapes(tmp_path: Path, name: str, mixin: bool) -> None:
    keys, shape, value = SHAPES[name]
    root = tree(tmp_path, source(**keys), mixin=mixin)
    item = ask(root)
    assert (item["state"], item["shape"], item["reason"]) == ("patchable", shape, None)
    capture = next(edit["insert"] for edit in item["edits"] if edit["id"].endswith("captures each layer"))
    if mixin and value == "hidden + residual":
        assert "_maybe_add_hidden_state(aux_hidden_states, layer_id, hidden, residual)" in capture
    else:
        assert value in capture
    assert any(edit.get("base") == "EagleModelMixin" for edit in item["edits"]) is mixin
    patch(root, item["edits"])
    again = ask(root, last_layer=True)
    assert (again["state"], again["edits"]) == ("native", [])
    text = (root / item["file"]).read_text()
    for method in (
        "set_aux_hidden_state_layers",
        "get_eagle3_aux_hidden_state_layers",
        "get_eagle3_default_aux_hidden_state_layers",
    ):
        assert f"    def {method}(self" in text


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "the norm keeps the residual apart": ({"norm": "Keeping"}, "is given residual and is not seen to add it"),
    "the norm is of an unknown class": ({"norm": "Elsewhere"}, "is given residual and is not seen to add it"),
    "hidden alone, but layers read the residual": ({"tail": ALONE}, "Block.forward reads the residual"),
    "hidden alone, and layers of an unknown class": ({"tail": ALONE, "block": "Far"}, "the layers' class is not told"),
    "nothing tells": ({"tail": "return finish(hidden)"}, "nothing after the loop of Stack.forward tells"),
    "gathered before the norm": ({"tail": "hidden = gather(hidden)\n" + SUM}, "hidden is changed after the loop"),
    "together here and alone there": ({"tail": UNLIKE}, "used with residual in one place and alone in another"),
    "changed at the top of a step": ({"loop": SCALED}, "hidden is changed at the top of a step"),
    "three states": ({"loop": SLICED.replace("residual =", "residual, more =")}, "hands on"),
    "a step is skipped": ({"loop": SKIPPING}, "leaves a step early (continue"),
    "two loops": ({"loop": SLICED + SLICED}, "in several loops"),
    "a loop in a loop": ({"loop": NESTED}, "inside another loop"),
    "a part of the layers": (
        {"loop": SLICED.replace("self.start_layer", "self.first")},
        "is not made together with the layers",
    ),
    "backwards": ({"loop": SLICED.replace(BOUNDS, "reversed(self.layers)")}, "the order or part of self.layers"),
    "no loop": ({"loop": "hidden, residual = self.run(hidden, residual)"}, "Stack.forward has no loop over layers"),
    "another result": ({"tail": SUM + ", residual"}, "hands out something else than one hidden state"),
    "the outer class changes it": ({"outer": CHANGING}, "does not hand out unchanged"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(tmp_path: Path, name: str) -> None:
    keys, reason = REFUSED[name]
    item = ask(tree(tmp_path, source(**keys)))
    assert (item["state"], item["edits"]) == ("by_hand", [])
    assert reason in item["reason"]


def test_other_names_get_those_that_the_drafter_asks_for(tmp_path: Path) -> None:
    model = source().replace("self.layers", "self.h").replace("self.embed_tokens", "self.wte")
    root = tree(tmp_path, model.replace("self.model", "self.transformer"))
    item = ask(root)
    assert (item["state"], item["shape"]) == ("patchable", "L6")
    patch(root, item["edits"])
    text = (root / item["file"]).read_text()
    assert "    @property\n    def model(self):\n        return self.transformer\n" in text
    assert "    @property\n    def embed_tokens(self):\n        return self.wte\n" in text
    assert "len(self.transformer.h)" in text


def test_a_decoder_that_is_ready_needs_the_outer_class_only(tmp_path: Path) -> None:
    root = tree(tmp_path, source())
    patch(root, [edit for edit in ask(root)["edits"] if "Stack" in edit["id"]])
    item = ask(root)
    assert (item["state"], item["shape"]) == ("patchable", "L0")
    assert not any("Stack" in edit["id"] for edit in item["edits"])
    patch(root, item["edits"])
    assert ask(root)["state"] == "native"


def test_a_class_that_says_so_but_whose_decoder_never_captures(tmp_path: Path) -> None:
    model = source().replace("SupportsPP", "SupportsEagle3")
    root = tree(tmp_path, model)
    item = ask(root)
    assert (item["state"], item["shape"]) == ("patchable", "L1")
    assert all("Stack" in edit["id"] for edit in item["edits"])
    refused = ask(tree(tmp_path / "other", source(norm="Keeping").replace("SupportsPP", "SupportsEagle3")))
    assert refused["state"] == "by_hand"
    assert "says it supports EAGLE-3, but its decoder Stack never captures" in refused["reason"]


CHOICE = "if rocm():\n    from .amd import Chosen\nelse:\n    from .nvidia import Chosen\n"
HEIR = "from vllm.models.tiny import Chosen\n\n\nclass TinyForCausalLM(Chosen):\n    pass\n"


def test_a_subclass_elsewhere_is_served_by_the_class_that_builds_the_decoder(tmp_path: Path) -> None:
    more = {
        f"{MODELS}/base.py": source().replace("TinyForCausalLM", "BaseForCausalLM"),
        "vllm/models/__init__.py": "",
        "vllm/models/tiny/__init__.py": CHOICE,
        "vllm/models/tiny/amd.py": "class Chosen: pass\n",
        "vllm/models/tiny/nvidia.py": "from vllm.model_executor.models.base import BaseForCausalLM as Chosen\n",
    }
    root = tree(
        tmp_path, "from vllm.models.tiny import Chosen\n\n\nclass TinyForCausalLM(Chosen):\n    pass\n", more=more
    )
    item = ask(root)
    assert (item["state"], item["shape"], item["file"]) == ("patchable", "L1", f"{MODELS}/tiny.py")
    assert {edit["file"] for edit in item["edits"]} == {f"{MODELS}/base.py"}
    patch(root, item["edits"])
    assert ask(root)["state"] == "native"


WRAPPER = """
from .interfaces import SupportsMultiModal
class Wrapper(nn.Module, SupportsMultiModal):
    def __init__(self, vllm_config):
        config = vllm_config.model_config.hf_config
        self.speaker = init_vllm_registered_model(vllm_config, hf_config=config.text_config{more})
        self.image = config.img_context_token_id
    def forward(self, positions, inputs_embeds=None):
        return self.speaker{inner}(positions, inputs_embeds)
"""
WRAPPED = '"Wrapper": ("wrapper", "Wrapper")'
LITERAL = ', architectures=["TinyForCausalLM"]'


def wrapped(root: Path, *, more: str = "", inner: str = "", extra: dict[str, str] | None = None) -> Path:
    files = {f"{MODELS}/wrapper.py": WRAPPER.format(more=more, inner=inner), **(extra or {})}
    return tree(root, source(), more=files, multimodal=WRAPPED)


@pytest.mark.parametrize(("inner", "shape"), [("", "W1"), (".model", "W3")])
def test_a_wrapper_takes_its_literal_text_model_along(tmp_path: Path, inner: str, shape: str) -> None:
    root = wrapped(tmp_path, more=LITERAL, inner=inner)
    item = ask(root, "Wrapper")
    assert (item["state"], item["shape"], item["text_architectures"]) == ("patchable", shape, ["TinyForCausalLM"])
    assert {edit["file"] for edit in item["edits"]} == {f"{MODELS}/wrapper.py", f"{MODELS}/tiny.py"}
    patch(root, item["edits"])
    assert ask(root, "Wrapper")["state"] == ask(root)["state"] == "native"
    assert "self.speaker.set_aux_hidden_state_layers(layers)" in (root / f"{MODELS}/wrapper.py").read_text()


def test_a_wrapper_without_a_literal_asks_for_the_config(tmp_path: Path) -> None:
    root = wrapped(tmp_path)
    alone = ask(root, "Wrapper")
    assert (alone["state"], alone["text_architectures"]) == ("patchable", [])
    assert any("config.json" in note for note in alone["notes"])
    told = ask(root, "Wrapper", model_config={"text_config": {"architectures": ["TinyForCausalLM"]}})
    assert told["text_architectures"] == ["TinyForCausalLM"]
    assert len(told["edits"]) > len(alone["edits"])


CHOOSING = """
from .interfaces import SupportsMultiModal
class Wrapper(nn.Module, SupportsMultiModal):
    def __init__(self, vllm_config):
        config = vllm_config.model_config.hf_config
        if config.model_type in ("one", "two"):
            names = ["TinyForCausalLM"]
        elif config.model_type == "three":
            names = ["OtherForCausalLM"]
        else:
            names = None
        self.speaker = init_vllm_registered_model(vllm_config, hf_config=config.text_config, architectures=names)
        self.image = config.img_context_token_id
    def forward(self, positions, inputs_embeds=None):
        return self.speaker.model(positions, inputs_embeds)
"""


def test_a_wrapper_that_chooses_its_text_model_by_a_field_of_the_config(tmp_path: Path) -> None:
    root = wrapped(tmp_path, extra={f"{MODELS}/wrapper.py": CHOOSING})
    alone = ask(root, "Wrapper")
    assert alone["text_architectures"] == []
    assert any("the source names OtherForCausalLM, TinyForCausalLM" in note for note in alone["notes"])
    for kind, texts in (("one", ["TinyForCausalLM"]), ("two", ["TinyForCausalLM"]), ("three", []), ("four", [])):
        item = ask(root, "Wrapper", model_config={"model_type": kind, "text_config": {"model_type": "tiny_text"}})
        assert item["text_architectures"] == texts, kind
        assert any("neither the source nor this config.json" in note for note in item["notes"]) is (not texts)
    told = ask(root, "Wrapper", model_config={"model_type": "one", "text_config": {"architectures": ["Wrapper"]}})
    assert {edit["file"] for edit in told["edits"]} == {f"{MODELS}/wrapper.py", f"{MODELS}/tiny.py"}


def test_a_native_wrapper_waits_for_its_text_model(tmp_path: Path) -> None:
    root = wrapped(tmp_path, more=LITERAL)
    patch(root, [edit for edit in ask(root, "Wrapper")["edits"] if edit["file"].endswith("wrapper.py")])
    item = ask(root, "Wrapper")
    assert (item["state"], item["shape"]) == ("patchable", "L1")
    assert {edit["file"] for edit in item["edits"]} == {f"{MODELS}/tiny.py"}


def test_a_wrapper_of_a_refused_text_model_is_refused(tmp_path: Path) -> None:
    root = wrapped(tmp_path, more=LITERAL)
    (root / f"{MODELS}/tiny.py").write_text(source(norm="Keeping"))
    item = ask(root, "Wrapper")
    assert item["state"] == "by_hand"
    assert item["reason"].startswith("its text model TinyForCausalLM: self.norm is given residual")


CONFIG = """
class Speculative:
    def check(self):
        allowed = ["llama", "qwen"]
        if not any(kind in self.target.hf_text_config.model_type for kind in allowed):
            raise ValueError
"""
DRAFTER = """
class Proposer:
    def load(self, target):
        if self.name(target) in ["Seen"]:
            self.model.config.image_token_index = target.config.image_token_id
        else:
            self.model.config.image_token_index = target.config.image_token_index
"""
GATES = {
    "vllm/config/__init__.py": "",
    "vllm/config/speculative.py": CONFIG,
    "vllm/v1/spec_decode/eagle.py": DRAFTER,
}


def test_the_engines_own_lists(tmp_path: Path) -> None:
    root = wrapped(tmp_path, more=LITERAL, extra=GATES)
    config = {"model_type": "seer", "text_config": {"model_type": "tiny"}, "img_context_token_id": 7}
    item = ask(root, "Wrapper", model_config=config)
    elements = [edit["element"] for edit in item["edits"] if "element" in edit]
    assert elements == [{"to": "allowed", "value": '"tiny"'}]
    (drafter,) = [edit for edit in item["edits"] if edit["file"].endswith("eagle.py")]
    assert drafter["before"] == "if self.name(target) in [$$$]: $$$"
    assert "target.config.image_token_index = target.config.img_context_token_id" in drafter["insert"]
    patch(root, item["edits"])
    assert ask(root, "Wrapper", model_config=config)["state"] == "native"


def test_a_model_type_that_the_list_covers_needs_no_edit(tmp_path: Path) -> None:
    root = tree(tmp_path, source(), more=GATES)
    item = ask(root, model_config={"model_type": "qwen9"})
    assert not any("element" in edit for edit in item["edits"])


def test_a_class_with_support_that_the_list_leaves_out(tmp_path: Path) -> None:
    root = tree(tmp_path, source(), more=GATES)
    patch(root, ask(root, model_config={"model_type": "llama"})["edits"])
    assert ask(root, model_config={"model_type": "llama"})["state"] == "native"
    item = ask(root, model_config={"model_type": "tiny"})
    assert (item["state"], item["shape"], len(item["edits"])) == ("patchable", "whitelist", 1)


LATENT = """
class Convertor:
    def is_latent(self):
        if self.text.model_type in ("tiny", "known"):
            return self.text.kv_lora_rank is not None
        elif self.text.model_type == "eagle":
            return self.text.model.model_type in (
                "known",
            ) and self.text.kv_lora_rank is not None
        return False
"""


def test_a_draft_with_latent_attention(tmp_path: Path) -> None:
    more = {
        "vllm/transformers_utils/__init__.py": "",
        "vllm/transformers_utils/convertor.py": LATENT,
        f"{MODELS}/tiny_eagle3.py": "class Draft:\n    kv_lora_rank = 512\n",
    }
    root = tree(tmp_path, source(), more=more)
    item = ask(root, model_config={"model_type": "tiny"})
    elements = [edit["element"] for edit in item["edits"] if "element" in edit]
    assert elements == [{"to": "self.text.model.model_type in ($$$,)", "value": '"tiny"'}]
    assert not any("element" in edit for edit in ask(root, model_config={"model_type": "known"})["edits"])
    patch(root, [edit for edit in item["edits"] if "element" not in edit])
    native = ask(root, model_config={"model_type": "tiny"})
    assert (native["state"], native["edits"]) == ("native", [])
    assert any("model_type tiny is not taken for one" in note for note in native["notes"])


REACH = """
class Proposer:
    def share(self, target):
        inner = getattr(target, "trunk", None)
        if hasattr(inner, "words"):
            shared = inner.words
        elif hasattr(inner, "wte"):
            shared = inner.wte
        self.lm_head = target.lm_head
"""


def test_the_drafters_own_words_for_decoder_and_embedding(tmp_path: Path) -> None:
    model = source().replace("self.model", "self.trunk")
    root = tree(tmp_path, model, more={"vllm/v1/spec_decode/eagle.py": REACH})
    item = ask(root)
    assert item["shape"] == "L1"
    methods = [edit["method"] for edit in item["edits"] if "method" in edit]
    assert "@property\ndef words(self):\n    return self.embed_tokens\n" in methods
    assert not any("def trunk" in text for text in methods)


def test_a_file_that_does_not_parse_is_named_with_its_line(tmp_path: Path) -> None:
    root = tree(tmp_path, source() + "\n\ndef broken(:\n")
    item = ask(root)
    assert item["state"] == "by_hand"
    assert f"{MODELS}/tiny.py does not parse at line" in item["reason"]
    assert ask(root, "OtherForCausalLM")["state"] == "absent"


def test_a_broken_file_of_the_engine_stops_a_patch_but_no_survey(tmp_path: Path) -> None:
    root = tree(tmp_path, source(), more={**GATES, "vllm/config/speculative.py": "  broken\n"})
    item = ask(root)
    assert (item["state"], item["edits"]) == ("by_hand", [])
    assert "vllm/config/speculative.py does not parse at line 1" in item["reason"]
    response = derive.run_request({"engine": "vllm", "root": str(root), "architectures": None})
    assert [one["state"] for one in response["architectures"].values()] == ["patchable"]


def test_what_is_not_there(tmp_path: Path) -> None:
    root = tree(tmp_path, source())
    assert ask(root, "OtherForCausalLM")["state"] == "absent"
    assert "OtherForCausalLM" in ask(root, "OtherForCausalLM")["reason"]
    (root / f"{MODELS}/interfaces.py").write_text("")
    assert "has no SupportsEagle3" in ask(root)["reason"]
    nothing = derive.run_request({"engine": "vllm", "root": str(tmp_path / "none"), "architectures": None})
    assert "no vLLM model registry" in nothing["error"]["message"]
    unknown = derive.run_request({"engine": "other", "root": str(root), "architectures": None})
    assert "engine must be one of" in unknown["error"]["message"]


def test_a_survey_carries_no_edits(tmp_path: Path) -> None:
    response = derive.run_request({"engine": "vllm", "root": str(tree(tmp_path, source())), "architectures": None})
    (item,) = response["architectures"].values()
    assert (item["state"], item["edits"]) == ("patchable", [])


@pytest.mark.parametrize("getter", ["get_eagle3_aux_hidden_state_layers", "get_eagle3_default_aux_hidden_state_layers"])
def test_a_wrapper_asks_its_text_model_by_the_releases_name(tmp_path: Path, getter: str) -> None:
    files = {f"{MODELS}/wrapper.py": WRAPPER.format(more=LITERAL, inner="")}
    root = tree(tmp_path, source(), more=files, multimodal=WRAPPED, getter=getter)
    sources = [edit["method"] for edit in ask(root, "Wrapper")["edits"] if "method" in edit and "wrapper" in edit["id"]]
    assert sum(f"return self.speaker.{getter}()" in text for text in sources) == 2
