# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What real releases make of a draft of Kimi-K2.5, as told; the expectations were read by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils import _draft_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules import drafts

KIMI = {
    "architectures": ["KimiK25ForConditionalGeneration"],
    "text_config": {
        "architectures": ["DeepseekV3ForCausalLM"],
        "hidden_size": drafts.HIDDEN,
        "vocab_size": drafts.VOCABULARY,
        "num_hidden_layers": drafts.LAYERS,
    },
}
IDS = "eagle_aux_hidden_state_layer_ids"
NESTED = {IDS: None, "eagle_config": {IDS: [2, 30, 58]}}
LATENT = {"architectures": ["Eagle3DeepseekV2ForCausalLM"], "model_type": "kimi_k2", "kv_lora_rank": 4}
# speculators' own defaults.
TRAINED = {
    "architectures": ["Eagle3Speculator"],
    "speculators_model_type": "eagle3",
    "transformer_layer_config": {"model_type": "llama"},
    "norm_before_residual": True,
    "norm_before_fc": True,
    "norm_output": True,
}


def ask(tmp_path: Path, engine: str, version: str, config: dict[str, Any]) -> dict[str, Any]:
    venv = Venv(tmp_path / "venv")
    tree = releases.tree(engine, version)
    for entry in tree.iterdir():
        (venv.site / entry.name).symlink_to(entry)
    place = drafts.write(tmp_path / "Kimi-K2.5", KIMI, {"lm_head.weight": ("BF16", [drafts.VOCABULARY], None)})
    draft = drafts.write(tmp_path / "draft", drafts.draft_config(**config), drafts.draft_tensors())
    params = {"draft": str(draft), "target": str(place), "engine": engine, "python": venv.python}
    return _draft_info.info({**params, "method": "eagle3"}, check_mode=False)


def ids(result: dict[str, Any]) -> list[str]:
    return sorted(item["id"] for item in result["findings"] if item["id"] != "other_target")


@pytest.mark.parametrize(
    ("version", "found", "captured", "inputs"),
    [
        ("0.5.9", ["layer_ids_graphs", "layer_ids_shifted", "target_unpatched"], [3, 31, 59], [1, 29, 57]),
        ("0.5.10", ["layer_ids_graphs", "layer_ids_shifted"], [3, 31, 59], [1, 29, 57]),
        ("0.5.13", [], [2, 30, 58], [2, 30, 58]),
        ("0.5.23", [], [2, 30, 58], [2, 30, 58]),
    ],
)
def test_layer_ids_in_sglang(
    version: str, found: list[str], captured: list[int], inputs: list[int], tmp_path: Path
) -> None:
    result = ask(tmp_path, "sglang", version, NESTED)
    assert ids(result) == found
    assert result["layer_ids"]["captured"] == captured
    assert result["layer_ids"]["corrected"]["inputs"] == inputs
    assert result["engine"]["layer_ids_read_from"] == ["eagle_config"]


@pytest.mark.parametrize(
    ("engine", "version", "found"),
    [
        ("vllm", "0.16.0", ["mla_draft", "target_unpatched"]),
        ("vllm", "0.18.0", ["mla_model_type"]),
        ("vllm", "0.33.0", ["mla_model_type"]),
        ("sglang", "0.5.10", ["layer_ids_unread", "mla_draft"]),
        ("sglang", "0.5.23", ["layer_ids_unread"]),
    ],
)
def test_a_draft_with_latent_attention(engine: str, version: str, found: list[str], tmp_path: Path) -> None:
    assert ids(ask(tmp_path, engine, version, LATENT)) == found


def test_a_latent_draft_that_vllm_renames(tmp_path: Path) -> None:
    assert ids(ask(tmp_path, "vllm", "0.33.0", {**LATENT, "model_type": "deepseek_v3"})) == ["mla_renamed"]


@pytest.mark.parametrize(
    ("engine", "version", "found"),
    [
        ("vllm", "0.16.0", ["norm_before_fc", "norm_output"]),
        # The class reads norm_before_fc, the conversion of speculators' format does not hand it on.
        ("vllm", "0.18.0", ["norm_before_fc", "norm_output"]),
        ("vllm", "0.21.0", ["norm_output"]),
        ("vllm", "0.33.0", []),
        ("sglang", "0.5.23", None),
    ],
)
def test_what_speculators_trains_by_default(engine: str, version: str, found: list[str] | None, tmp_path: Path) -> None:
    result = ask(tmp_path, engine, version, TRAINED)
    ignored = [item["found"].split()[0] for item in result["findings"] if item["id"] == "field_ignored"]
    if found is None:
        assert "format" in ids(result)
    else:
        assert ignored == found
        assert result["ok"] is (not found)


def test_where_vllm_reads_layer_ids(tmp_path: Path) -> None:
    read = {}
    for version in ("0.16.0", "0.33.0"):
        shifted = {IDS: None, "eagle_config": {IDS: [1, 29, 57]}}
        result = ask(tmp_path / version, "vllm", version, shifted)
        read[version] = result["engine"]["layer_ids_read_from"], result["layer_ids"]["captured"]
    assert read == {"0.16.0": (["config"], [2, 30, 58]), "0.33.0": (["config", "eagle_config"], [1, 29, 57])}
