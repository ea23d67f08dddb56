# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real servers: what the draft hits is decided by the captured states alone. See worker/chain.py."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from corpus.patching import Patched, merged, survey

from . import plant
from .engine import ROOT, Engine
from .serve import PROMPTS, TOKENS, Served, serve
from .strip import strip

REFUSAL = "Model does not support EAGLE3 interface"
MIXTRAL, KIMI = "MixtralForCausalLM", "KimiK25ForConditionalGeneration"
CIRCLE = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.\n"
RESULTS = ROOT / "build" / "numerics"
WORKER = Path(__file__).parent / "worker"
Case = dict[str, Any]
CHANGES: dict[str, Callable[[list[Case]], list[Case]]] = {
    plant.RESIDUAL: plant.without_residual,
    plant.SHIFT: plant.off_by_one,
}


class Shape(NamedTuple):
    """A chain checkpoint, and how it is served. strip: files that support is taken out of first."""

    case: Case
    options: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    strip: tuple[str, ...] = ()


TEXT_ONLY = ("--language-model-only",)
SHAPES: dict[str, Shape] = {
    MIXTRAL: Shape({"type": "mixtral"}),
    "Qwen2MoeForCausalLM": Shape({"type": "qwen2_moe", "text": {"norm_topk_prob": True}}),
    "Exaone4ForCausalLM": Shape({"type": "exaone4", "after": "post_(attention|feedforward)_layernorm"}),
    "Glm4ForCausalLM": Shape({"type": "glm4"}),
    "StableLmForCausalLM": Shape({"type": "stablelm"}),
    "HYV3ForCausalLM": Shape(
        {
            "type": "hy_v3",
            "written": {"first_k_dense_replace": 1, "expert_hidden_dim": 64, "route_norm": True, "qk_norm": True},
        }
    ),
    "GPT2LMHeadModel": Shape({"type": "gpt2"}),
    "GPTJForCausalLM": Shape({"type": "gptj", "text": {"rotary_dim": 16}}),
    "PaddleOCRVLForConditionalGeneration": Shape(
        {
            "type": "paddleocr_vl",
            "text": {
                "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [8, 12, 12]},
            },
        },
        TEXT_ONLY,
    ),
    "LlavaNextForConditionalGeneration": Shape({"type": "llava_next"}, TEXT_ONLY),
    KIMI: Shape(
        {
            "type": "kimi_k25",
            "class": "Kimi_K25ForConditionalGeneration",
            "whole": {"projection_hidden_size": 64},
            "text": {"topk_method": "noaux_tc", "scoring_func": "sigmoid"},
            # As the releases of this model have them; transformers writes others.
            "rename": {
                "language_model.model.blocks.": "language_model.model.layers.",
                "vision_tower.encoder.patch_embed.": "vision_tower.patch_embed.",
                "model.mm_projector.": "mm_projector.",
            },
            "tokens": {
                "image_token_id": "<|media_pad|>",
                "media_placeholder_token_id": "<|media_pad|>",
                "video_token_id": "<|kimi_k25_video_placeholder|>",
                "vision_start_token_id": "<|media_begin|>",
                "vision_end_token_id": "<|media_end|>",
            },
            "files": {
                "preprocessor_config.json": {
                    "image_processor_type": "KimiK25VisionProcessor",
                    "media_proc_cfg": {
                        "patch_size": 14,
                        "merge_kernel_size": 2,
                        "in_patch_limit": 256,
                        "in_patch_limit_each_frame": 64,
                        "in_patch_limit_video": 256,
                        "patch_limit_on_one_side": 64,
                        "fixed_output_tokens": None,
                        "num_frames_each_chunk": 4,
                        "temporal_merge_kernel_size": 4,
                        "sample_fps": 2.0,
                        "timestamp_mode": "hh:mm:ss.fff",
                        "image_mean": [0.5, 0.5, 0.5],
                        "image_std": [0.5, 0.5, 0.5],
                    },
                },
            },
        },
        TEXT_ONLY,
        {"VLLM_MLA_DISABLE": "1"},
        ("vllm/model_executor/models/kimi_k25.py", "vllm/model_executor/models/deepseek_v2.py"),
    ),
}
QUICK = (MIXTRAL, KIMI)


class Bench:
    """One engine and one checkpoint, patched in one way after the other."""

    def __init__(self, engine: Engine, folder: Path, name: str, checkpoints: Path) -> None:
        self.name, self.folder = name, folder
        self.shape = SHAPES[name]
        self.model, self.draft = checkpoints / name, checkpoints / "draft"
        self.copy = engine.copy(folder / "venv")
        for file in self.shape.strip:
            strip(self.copy.site / file)
        self.config = json.loads((self.model / "config.json").read_text())

    def serve(self, log: str) -> Served:
        return serve(
            self.copy,
            self.model,
            self.draft,
            self.folder / f"{log}.log",
            options=self.shape.options,
            **self.shape.variables,
        )

    def module(self, **options: Any) -> dict[str, Any]:
        return self.copy.module("eagle3_patch", model=str(self.model), **options)

    def plant(self, mistake: str) -> None:
        found = survey(self.copy.site, [self.name], model_config=self.config)[self.name]
        assert found["state"] == "patchable", found
        tree = Patched(self.copy.site)
        tree.apply(merged([CHANGES[mistake](found["edits"])]))
        for name, data in tree.contents.items():
            (self.copy.site / name).write_bytes(data)


def mistakes_of(name: str, *, all_of_them: bool) -> tuple[str, ...]:
    return plant.PLANTS if all_of_them else plant.PLANTS[:1] if name == MIXTRAL else ()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    wanted = metafunc.config.getoption("--architectures").split()
    every = wanted == ["all"]
    names = [name for name in SHAPES if every or name in (wanted or QUICK)]
    if "shape" in metafunc.fixturenames:
        metafunc.parametrize("shape", names)
    if "planted" in metafunc.fixturenames:
        pairs = [(name, one) for name in names for one in mistakes_of(name, all_of_them=bool(wanted))]
        metafunc.parametrize("planted", pairs, ids="-".join)


@pytest.fixture(scope="session")
def checkpoints(installed: Engine, pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    wanted = pytestconfig.getoption("--architectures").split()
    names = [name for name in SHAPES if wanted == ["all"] or name in (wanted or QUICK)]
    request = folder / "request.json"
    request.write_text(json.dumps({"folder": str(folder), "cases": {name: SHAPES[name].case for name in names}}))
    copy = installed.copy(folder / "venv")
    command = [str(copy.python), "-W", "ignore", str(WORKER / "chain.py"), str(request)]
    made = subprocess.run(command, capture_output=True, text=True, env=copy.environment(), timeout=900, check=False)
    assert made.returncode == 0, made.stderr[-4000:]
    return folder


@pytest.fixture(scope="session")
def bench(installed: Engine, checkpoints: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Bench]:
    made: dict[str, Bench] = {}

    def give(name: str) -> Bench:
        if name not in made:
            made[name] = Bench(installed, tmp_path_factory.mktemp(name), name, checkpoints)
        return made[name]

    return give


def circle(prompt: str) -> str:
    start = CIRCLE.index(prompt[-1])
    return "".join(CIRCLE[(start + step) % len(CIRCLE)] for step in range(1, TOKENS + 1))


def record(name: str, how: str, served: Served) -> None:
    """For docs/architectures.md, with the results of earlier runs."""
    path = RESULTS / "served.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    known = json.loads(path.read_text()) if path.exists() else {}
    known.setdefault(name, {})[how] = [served.accepted, served.drafted]
    path.write_text(json.dumps(known, indent=1, sort_keys=True))


def check_texts(served: Served) -> None:
    assert served.started, served.log[-4000:]
    assert served.texts == [circle(prompt) for prompt in PROMPTS]
    assert served.drafted > 0


def test_refused_as_released(bench: Callable[[str], Bench]) -> None:
    """The failure that all this is about."""
    served = bench(MIXTRAL).serve("released")
    assert not served.started
    assert REFUSAL in served.log


def test_right_patch_accepts_all(shape: str, bench: Callable[[str], Bench]) -> None:
    one = bench(shape)
    patched = one.module()
    assert patched["changed"]
    assert patched["architectures"][shape]["state"] == "patched"
    try:
        served = one.serve("right")
    finally:
        assert one.module(state="absent")["changed"]
    check_texts(served)
    record(shape, "right", served)
    assert served.accepted == served.drafted


def test_wrong_patch_accepts_nothing(planted: tuple[str, str], bench: Callable[[str], Bench]) -> None:
    """The same text, for what is wrong is only guessed wrong; not one guess is right."""
    name, mistake = planted
    one = bench(name)
    files = {path: path.read_bytes() for path in (one.copy.site / "vllm/model_executor/models").glob("*.py")}
    one.plant(mistake)
    try:
        served = one.serve(mistake)
    finally:
        for path, data in files.items():
            if path.read_bytes() != data:
                path.write_bytes(data)
    check_texts(served)
    record(name, mistake, served)
    assert served.accepted == 0
