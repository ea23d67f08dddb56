# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import struct
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.modules import eagle3_draft_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv, snapshot
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules import drafts
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.drafts import draft_config, draft_tensors
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Result, Runner
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.small_vllm import FILES

MODELS = "vllm/model_executor/models/"
PLAIN_DRAFT = b"""
class Eagle3PlainForCausalLM:
    def __init__(self, config):
        self.norm = getattr(config, "norm_before_residual", False)
"""
RUNNER = b"""
class Runner:
    def layers(self, hf_config):
        return hf_config.eagle_aux_hidden_state_layer_ids
"""
CONFIG = b"""
class SpeculativeConfig:
    def fill(self):
        if "eagle-" in self.draft_model_config.model.lower():
            self.method = "eagle"
        elif "eagle3" in self.draft_model_config.model.lower():
            self.method = "eagle3"
"""
ENGINE = {
    **FILES,
    MODELS + "plain_eagle3.py": PLAIN_DRAFT,
    "vllm/v1/worker/gpu_model_runner.py": RUNNER,
    "vllm/config/__init__.py": b"",
    "vllm/config/speculative.py": CONFIG,
}


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


def ask(run: Runner, root: pathlib.Path, **options: t.Any) -> Result:
    place = {"draft": str(root / "draft"), "target": str(root / "Target-1.0")}
    before = snapshot(root / "draft"), snapshot(root / "Target-1.0")
    result = run.parity(eagle3_draft_info, **{**place, **options})
    assert result["changed"] is False
    assert before == (snapshot(root / "draft"), snapshot(root / "Target-1.0"))
    return result


def severities(result: Result) -> dict[str, str]:
    return {item["id"]: item["severity"] for item in result["findings"]}


def test_a_draft_that_fits(tmp_path: pathlib.Path, run: Runner) -> None:
    drafts.target(tmp_path)
    drafts.write(tmp_path / "draft", draft_config(), draft_tensors())
    result = ask(run, tmp_path, method="eagle3")
    assert (result["ok"], result["findings"]) == (True, [])
    assert result["draft"]["eagle"] == 3
    assert result["draft"]["dtype"] == "BF16"
    assert result["draft"]["recorded_targets"] == ["org/Target-1.0"]
    assert result["target"]["layers"] == drafts.LAYERS
    assert result["engine"] is None
    assert result["layer_ids"]["default"] == result["layer_ids"]["used"] == [2, 30, 58]
    assert result["layer_ids"]["captured"] is None


BF = "BF16"
Q, K = "midlayer.self_attn.q_proj.weight", "midlayer.self_attn.k_proj.weight"
# name: (fields of the draft's config, tensors, fields of the target's config, method, what must be said)
CASES: dict[str, tuple[t.Any, t.Any, t.Any, str, dict[str, str]]] = {
    "states of another width": (
        {"target_hidden_size": 8},
        {"fc.weight": (BF, [16, 24], None)},
        {},
        "eagle3",
        {"hidden_size": "error"},
    ),
    "another width of its own, without an embedding": (
        {"hidden_size": 8, "target_hidden_size": 16, "head_dim": 4},
        {
            "embed_tokens.weight": None,
            "fc.weight": (BF, [8, 48], None),
            Q: (BF, [16, 16], None),
            "lm_head.weight": (BF, [8, 8], None),
        },
        {},
        "eagle3",
        {"embedding_missing": "error"},
    ),
    "the target's embedding is shared": ({}, {"embed_tokens.weight": None}, {}, "eagle3", {"embedding_shared": "note"}),
    "embedding of another size": (
        {},
        {"embed_tokens.weight": (BF, [31, 16], None)},
        {},
        "eagle3",
        {"embedding_shape": "error"},
    ),
    "another vocabulary": (
        {},
        {},
        {"text_config": {"hidden_size": 16, "vocab_size": 40, "num_hidden_layers": 61}},
        "eagle3",
        {"vocab_size": "error"},
    ),
    "no first layer": ({}, {"fc.weight": None}, {}, "eagle3", {"fc_missing": "error"}),
    "a first layer of no whole states": ({}, {"fc.weight": (BF, [16, 40], None)}, {}, "eagle3", {"fc_shape": "error"}),
    "four states, three ids": ({}, {"fc.weight": (BF, [16, 64], None)}, {}, "eagle3", {"aux_count": "error"}),
    "head_dim of another model": ({"head_dim": 8}, {}, {}, "eagle3", {"head_dim": "error"}),
    "head_dim of the rotary part": (
        {"head_dim": 2},
        {Q: (BF, [8, 32], None), K: (BF, [4, 32], None), "midlayer.self_attn.v_proj.weight": (BF, [4, 32], None)},
        {},
        "eagle3",
        {"head_dim_rope": "warning"},
    ),
    "head of another size": ({}, {"lm_head.weight": (BF, [9, 16], None)}, {}, "eagle3", {"lm_head_shape": "error"}),
    "no head": ({}, {"lm_head.weight": None}, {}, "eagle3", {"lm_head_missing": "error"}),
    "no d2t": ({}, {"d2t": None}, {}, "eagle3", {"d2t_missing": "error"}),
    "d2t of another size": (
        {},
        {"d2t": ("I64", [9], [2 * n for n in range(9)]), "t2d": None},
        {},
        "eagle3",
        {"d2t_shape": "error"},
    ),
    "d2t below the vocabulary": (
        {},
        {"d2t": ("I64", [8], [-1] + [2 * n for n in range(1, 8)]), "t2d": None},
        {},
        "eagle3",
        {"d2t_range": "error"},
    ),
    "d2t above the vocabulary": (
        {},
        {"d2t": ("I64", [8], [2 * n for n in range(7)] + [25]), "t2d": None},
        {},
        "eagle3",
        {"d2t_range": "error"},
    ),
    "two tokens for one": (
        {},
        {"d2t": ("I64", [8], [0, -1, 0, 0, 0, 0, 0, 0]), "t2d": None},
        {},
        "eagle3",
        {"d2t_twice": "error"},
    ),
    "d2t never written": ({}, {"d2t": ("I64", [8], [0] * 8), "t2d": None}, {}, "eagle3", {"d2t_zero": "warning"}),
    "d2t of floats": ({}, {"d2t": ("F32", [8], None)}, {}, "eagle3", {"d2t_dtype": "error"}),
    "d2t of short integers": (
        {},
        {"d2t": ("I32", [8], [2 * n for n in range(8)])},
        {},
        "eagle3",
        {"d2t_dtype": "warning"},
    ),
    "t2d of another draft": ({}, {"t2d": ("BOOL", [32], [1] * 8 + [0] * 24)}, {}, "eagle3", {"d2t_t2d": "warning"}),
    "t2d of another size": ({}, {"t2d": ("BOOL", [31], [1] * 31)}, {}, "eagle3", {"t2d_shape": "warning"}),
    "t2d of floats": ({}, {"t2d": ("F32", [32], None)}, {}, "eagle3", {"t2d_dtype": "warning"}),
    "config of another type": ({"torch_dtype": "float32"}, {}, {}, "eagle3", {"dtype_config": "note"}),
    "target in half precision": ({}, {}, {"torch_dtype": "float16"}, "eagle3", {"dtype": "warning"}),
    "quantised without a word": (
        {},
        {"fc.weight": ("I8", [16, 4800], None)},
        {},
        "eagle3",
        {"dtype_quantized": "error"},
    ),
    "EAGLE for EAGLE-3": ({}, {}, {}, "EAGLE", {"method": "error"}),
    "trained for a sibling": (
        {"target_model_name_or_path": "org/Target-1.1"},
        {},
        {},
        "eagle3",
        {"other_target": "warning"},
    ),
    "trained for nobody knows": ({"target_model_name_or_path": None}, {}, {}, "eagle3", {"target_unrecorded": "note"}),
    "verifier of another class": (
        {"speculators_config": {"verifier": {"name_or_path": "org/Target-1.0", "architectures": ["OtherForCausalLM"]}}},
        {},
        {},
        "eagle3",
        {"other_architecture": "warning"},
    ),
    "no layer ids": ({"eagle_aux_hidden_state_layer_ids": None}, {}, {}, "eagle3", {"layer_ids_default": "note"}),
    "layer ids beyond the target": (
        {"eagle_aux_hidden_state_layer_ids": [2, 30, 77]},
        {},
        {},
        "eagle3",
        {"layer_ids_range": "error"},
    ),
    "after the last layer": (
        {"eagle_aux_hidden_state_layer_ids": [2, 30, 61]},
        {},
        {},
        "eagle3",
        {"layer_ids_last": "warning"},
    ),
    "layer ids in no order": (
        {"eagle_aux_hidden_state_layer_ids": [30, 2, 58]},
        {},
        {},
        "eagle3",
        {"layer_ids_order": "warning"},
    ),
    "layer ids of two minds": (
        {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]}},
        {},
        {},
        "eagle3",
        {"layer_ids_differ": "warning"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_thing_wrong(name: str, tmp_path: pathlib.Path, run: Runner) -> None:
    config, tensors, target, method, said = CASES[name]
    drafts.target(tmp_path, **target)
    drafts.write(tmp_path / "draft", draft_config(**config), draft_tensors(**tensors))
    result = ask(run, tmp_path, method=method)
    assert severities(result) == said
    assert result["ok"] is ("error" not in said.values())


def test_ids_in_place_of_offsets_are_told_as_such(tmp_path: pathlib.Path, run: Runner) -> None:
    drafts.target(tmp_path)
    ids = [3 * number + 10 for number in range(8)]
    drafts.write(tmp_path / "draft", draft_config(), draft_tensors(d2t=("I64", [8], ids), t2d=None))
    (finding,) = ask(run, tmp_path)["findings"]
    assert finding["found"] == "2 of 8 tokens go outside, the first 6 + 28 = 34"
    assert finding["wanted"] == "0 to 31"
    assert "d2t - arange" in finding["fix"]


def _cut(folder: pathlib.Path, size: int) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:size])


def _index(folder: pathlib.Path, weights: t.Any) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))


def _damage(folder: pathlib.Path, kind: str) -> None:
    weights = folder / "model.safetensors"
    if kind == "truncated body":
        _cut(folder, -1)
    elif kind == "truncated header":
        _cut(folder, 40)
    elif kind == "empty file":
        _cut(folder, 0)
    elif kind == "no JSON in the header":
        weights.write_bytes(struct.pack("<Q", 4) + b"{,,}")
    elif kind == "header of a petabyte":
        weights.write_bytes(struct.pack("<Q", 1 << 50) + b"{}")
    elif kind == "shape against bytes":
        weights.write_bytes(weights.read_bytes().replace(b'"shape": [8]', b'"shape": [7]'))
    elif kind == "pointer":
        weights.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    elif kind == "no weights":
        weights.unlink()
    elif kind == "pickle":
        weights.rename(folder / "pytorch_model.bin")
    elif kind == "missing shard":
        _index(folder, {"fc.weight": "model-00001-of-00002.safetensors"})
    elif kind == "dangling shard":
        _index(folder, {"fc.weight": "gone.safetensors"})
        (folder / "gone.safetensors").symlink_to(folder / "blobs" / "1")
    elif kind == "index that says more":
        _index(folder, {"fc.weight": "model.safetensors", "other.weight": "model.safetensors"})
    elif kind == "index that leaves the folder":
        _index(folder, {"fc.weight": "../model.safetensors"})
    elif kind == "index without a map":
        _index(folder, [])
    elif kind == "no config":
        (folder / "config.json").unlink()
    elif kind == "config of half a file":
        (folder / "config.json").write_text('{"architectures": [')
    else:
        (folder / "config.json").write_text("[]")


@pytest.mark.parametrize(
    ("kind", "said", "severity"),
    [
        ("truncated body", "shard_truncated", "error"),
        ("truncated header", "shard_truncated", "error"),
        ("empty file", "shard_truncated", "error"),
        ("no JSON in the header", "shard_damaged", "error"),
        ("header of a petabyte", "shard_damaged", "error"),
        ("shape against bytes", "shard_damaged", "error"),
        ("pointer", "shard_damaged", "error"),
        ("no weights", "weights_missing", "error"),
        ("pickle", "weights_unread", "note"),
        ("missing shard", "shard_missing", "error"),
        ("dangling shard", "shard_missing", "error"),
        ("index that says more", "tensor_missing", "error"),
        ("index that leaves the folder", "index_broken", "error"),
        ("index without a map", "index_broken", "error"),
        ("no config", "config_missing", "error"),
        ("config of half a file", "config_unreadable", "error"),
        ("config that is a list", "config_unreadable", "error"),
    ],
)
def test_files(kind: str, said: str, severity: str, tmp_path: pathlib.Path, run: Runner) -> None:
    drafts.target(tmp_path)
    folder = drafts.write(tmp_path / "draft", draft_config(), draft_tensors())
    _damage(folder, kind)
    result = ask(run, tmp_path)
    assert severities(result) == {said: severity}
    assert result["findings"][0]["found"].startswith("draft: ")


def test_shards_are_read_through_the_index(tmp_path: pathlib.Path, run: Runner) -> None:
    drafts.target(tmp_path)
    folder = drafts.write(tmp_path / "draft", draft_config(), None)
    tensors = draft_tensors()
    first = {name: tensors[name] for name in list(tensors)[:3]}
    rest = {name: tensors[name] for name in list(tensors)[3:]}
    (folder / "a.safetensors").write_bytes(drafts.safetensors(first))
    (folder / "b.safetensors").write_bytes(drafts.safetensors(rest))
    # What no index lists is not part of the model.
    (folder / "consolidated.safetensors").write_bytes(b"half")
    _index(folder, {**dict.fromkeys(first, "a.safetensors"), **dict.fromkeys(rest, "b.safetensors")})
    assert ask(run, tmp_path)["findings"] == []


def test_the_target_is_found_in_a_model_card_and_in_a_hub_cache(tmp_path: pathlib.Path, run: Runner) -> None:
    place = tmp_path / "models--org--Target-1.0" / "snapshots" / "0123abcd"
    drafts.target(tmp_path).rename(tmp_path / "moved")
    place.parent.mkdir(parents=True)
    (tmp_path / "moved").rename(place)
    folder = drafts.write(tmp_path / "draft", draft_config(target_model_name_or_path=None), draft_tensors())
    for card in ("base_model: org/Target-1.0", "base_model:\n- org/Target-1.0\n- org/Other"):
        (folder / "README.md").write_text(f"---\n{card}\ntags: [x]\n---\n# Draft\n")
        result = run.run(eagle3_draft_info, draft=str(folder), target=str(place))
        assert result["findings"] == []
    (folder / "README.md").write_text('---\nbase_model: "org/Target-2.0"\n---\n')
    assert severities(run.run(eagle3_draft_info, draft=str(folder), target=str(place))) == {"other_target": "warning"}


def test_a_folder_that_is_not_there(tmp_path: pathlib.Path, run: Runner) -> None:
    drafts.target(tmp_path)
    result = run.fails(eagle3_draft_info, draft=str(tmp_path / "none"), target=str(tmp_path / "Target-1.0"))
    assert "there is no folder" in result["msg"]


@pytest.fixture
def venv(tmp_path: pathlib.Path) -> Venv:
    made = Venv(tmp_path / "venv")
    made.install("vllm", "0.1", ENGINE)
    return made


@pytest.mark.parametrize(
    ("config", "method", "said"),
    [
        ({"architectures": ["PlainForCausalLM"]}, "eagle3", {}),
        ({"architectures": ["PlainForCausalLM"], "norm_before_residual": True}, "eagle3", {}),
        ({"architectures": ["PlainForCausalLM"], "norm_output": True}, "eagle3", {"field_ignored": "error"}),
        ({}, "eagle3", {"architecture_absent": "error"}),
        ({"architectures": ["PlainForCausalLM"], "kv_lora_rank": 4}, "eagle3", {"mla_draft": "error"}),
        ({"architectures": ["Eagle3PlainForCausalLM"]}, None, {"method_guessed": "error"}),
        (
            {
                "architectures": ["Eagle3PlainForCausalLM"],
                "eagle_aux_hidden_state_layer_ids": None,
                "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 29, 57]},
            },
            "eagle3",
            {"layer_ids_unread": "error"},
        ),
        (
            {
                "architectures": ["Eagle3PlainForCausalLM"],
                "eagle_aux_hidden_state_layer_ids": None,
                "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 30, 58]},
            },
            "eagle3",
            {"layer_ids_unread": "note"},
        ),
        ({"speculators_model_type": "eagle3"}, None, {"format": "error"}),
    ],
)
def test_against_an_engine(
    config: dict[str, t.Any], method: str | None, said: dict[str, str], tmp_path: pathlib.Path, venv: Venv, run: Runner
) -> None:
    drafts.target(tmp_path, architectures=["ReadyForCausalLM"])
    drafts.write(tmp_path / "draft", draft_config(**config), draft_tensors())
    options = {"engine": "vllm", "python": venv.python, **({} if method is None else {"method": method})}
    before = snapshot(venv.root)
    result = ask(run, tmp_path, **options)
    assert severities(result) == said
    assert snapshot(venv.root) == before
    assert result["engine"]["drafts"] == ["Eagle3PlainForCausalLM"]
    assert result["layer_ids"]["captured"] == result["layer_ids"]["used"] == [2, 30, 58]
    assert result["layer_ids"]["corrected"] == {"inputs": [2, 30, 58], "outputs": [3, 31, 59]}


def test_a_target_that_is_yet_to_be_patched(tmp_path: pathlib.Path, venv: Venv, run: Runner) -> None:
    drafts.target(tmp_path)
    drafts.write(tmp_path / "draft", draft_config(architectures=["Eagle3PlainForCausalLM"]), draft_tensors())
    result = ask(run, tmp_path, engine="vllm", python=venv.python, method="eagle3")
    assert severities(result) == {"target_unpatched": "warning"}
