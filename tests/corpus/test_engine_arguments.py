# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What real releases say of the arguments that serve with a draft; the expectations were read by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils import _arguments_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv

VLLM = {
    "model": "/models/Kimi-K2.5",
    "tensor-parallel-size": 8,
    "max-model-len": 32768,
    "gpu-memory-utilization": 0.9,
    "kv-cache-dtype": "fp8",
    "disable-custom-all-reduce": True,
    "no-enable-prefix-caching": True,
    "reasoning-parser": "kimi_k2",
    "tool-call-parser": "kimi_k2",
    "enable-auto-tool-choice": True,
    "trust-remote-code": True,
    "nnodes": 2,
    "node-rank": 0,
    "master-addr": "192.0.2.1",
    "speculative-config": {"method": "eagle3", "model": "/models/draft", "num_speculative_tokens": 3},
}
SGLANG = {
    "model-path": "/models/Kimi-K2.5",
    "tp-size": 8,
    "attention-backend": "triton",
    "disable-custom-all-reduce": True,
    "mem-fraction-static": 0.88,
    "kv-cache-dtype": "auto",
    "trust-remote-code": True,
    "nnodes": 2,
    "node-rank": 0,
    "dist-init-addr": "192.0.2.1:25000",
    "enable-metrics": True,
    "speculative-algorithm": "EAGLE3",
    "speculative-draft-model-path": "/models/draft",
    "speculative-num-steps": 3,
    "speculative-eagle-topk": 1,
    "speculative-num-draft-tokens": 4,
}
VLLM_RELEASES = ("0.16.0", "0.17.1", "0.18.0", "0.20.0", "0.21.0", "0.24.0", "0.28.0", "0.30.0", "0.33.0")
SGLANG_RELEASES = ("0.5.2", "0.5.4.post3", "0.5.9", "0.5.10", "0.5.13", "0.5.17", "0.5.20", "0.5.21", "0.5.23")


def ask(tmp_path: Path, engine: str, version: str, arguments: dict[str, Any]) -> dict[str, Any]:
    venv = Venv(tmp_path / "venv")
    for entry in releases.tree(engine, version).iterdir():
        (venv.site / entry.name).symlink_to(entry)
    params = {"engine": engine, "python": venv.python, "arguments": arguments}
    return _arguments_info.info(params, check_mode=False)


def names(result: dict[str, Any], kind: str) -> list[str]:
    return [item["name"] for item in result[kind]]


@pytest.mark.parametrize("version", VLLM_RELEASES)
def test_vllm_knows_what_serves(version: str, tmp_path: Path) -> None:
    result = ask(tmp_path, "vllm", version, VLLM)
    assert (result["unknown"], result["choices"], result["deprecated"]) == ([], [], [])
    assert result["ok"] and result["facts"]["release"] == version


@pytest.mark.parametrize("version", SGLANG_RELEASES)
def test_sglang_knows_what_serves(version: str, tmp_path: Path) -> None:
    result = ask(tmp_path, "sglang", version, SGLANG)
    assert (result["unknown"], result["choices"], result["deprecated"]) == ([], [], [])
    assert result["ok"] and result["facts"]["release"] == version


@pytest.mark.parametrize(
    ("engine", "version", "argument", "known"),
    [
        ("sglang", "0.5.4.post3", "speculative-draft-model-quantization", False),
        ("sglang", "0.5.9", "speculative-draft-model-quantization", True),
        ("sglang", "0.5.4.post3", "speculative-draft-attention-backend", False),
        ("sglang", "0.5.9", "speculative-draft-attention-backend", True),
        ("sglang", "0.5.10", "speculative-draft-window-size", False),
        ("sglang", "0.5.13", "speculative-draft-window-size", True),
        ("sglang", "0.5.23", "enable-pcie-oneshot-allreduce", False),
        ("vllm", "0.18.0", "speculative-config.attention_backend", False),
        ("vllm", "0.21.0", "speculative-config.attention_backend", True),
        ("vllm", "0.16.0", "speculative-algorithm", False),
    ],
)
def test_when_an_argument_came(engine: str, version: str, argument: str, known: bool, tmp_path: Path) -> None:
    result = ask(tmp_path, engine, version, {argument: None})
    assert names(result, "unknown") == ([] if known else [argument])


@pytest.mark.parametrize(
    ("engine", "version", "argument", "value"),
    [
        ("vllm", "0.16.0", "kv-cache-dtype", "fp9"),
        ("vllm", "0.33.0", "dtype", "bf16"),
        ("sglang", "0.5.2", "attention-backend", "tritn"),
        ("sglang", "0.5.17", "attention-backend", "tritn"),
        ("sglang", "0.5.23", "attention-backend", "tritn"),
        ("sglang", "0.5.23", "speculative-attention-mode", "both"),
    ],
)
def test_values_outside_the_choices(engine: str, version: str, argument: str, value: str, tmp_path: Path) -> None:
    result = ask(tmp_path, engine, version, {argument: value})
    assert names(result, "choices") == [argument]
    assert not result["ok"]


@pytest.mark.parametrize(
    ("engine", "version", "argument"),
    [
        ("vllm", "0.33.0", "disable-cascade-attn"),
        ("sglang", "0.5.2", "enable-ep-moe"),
        ("sglang", "0.5.23", "enable-dp-attention"),
    ],
)
def test_deprecated(engine: str, version: str, argument: str, tmp_path: Path) -> None:
    assert names(ask(tmp_path, engine, version, {argument: True}), "deprecated") == [argument]


@pytest.mark.parametrize(
    ("engine", "version", "state", "file"),
    [
        ("vllm", "0.16.0", "unsupported", None),
        ("vllm", "0.18.0", "refused", "vllm/v1/worker/gpu/model_runner.py"),
        ("vllm", "0.28.0", "refused", "vllm/v1/worker/gpu/model_runner.py"),
        ("vllm", "0.30.0", "by_model", "vllm/v1/worker/gpu/spec_decode/eagle/eagle3_utils.py"),
        ("vllm", "0.33.0", "by_model", "vllm/v1/worker/gpu/spec_decode/eagle/eagle3_utils.py"),
        ("sglang", "0.5.2", "refused", "sglang/srt/server_args.py"),
        ("sglang", "0.5.17", "refused", "sglang/srt/server_args.py"),
        ("sglang", "0.5.23", "refused", "sglang/srt/arg_groups/validation_hook.py"),
    ],
)
def test_pipeline_parallelism(engine: str, version: str, state: str, file: str | None, tmp_path: Path) -> None:
    facts = ask(tmp_path, engine, version, {})["facts"]
    assert facts["pp_spec"]["state"] == state
    source = facts["pp_spec"]["source"]
    assert (None if source is None else source.rpartition(":")[0]) == file
    assert facts["has_pp_spec"] is (None if state == "by_model" else False)
