# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine computes and captures, in process. Runs in the engine's environment.

capture.py REQUEST ANSWER: REQUEST is JSON with `folder`, `cases` (architecture to case) and `capture` (whether to ask
for states); ANSWER gets one JSON line a case. An error of a state is the largest over the tokens of |got - wanted| /
|wanted|, both Euclidean.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

os.environ.update(
    VLLM_ENABLE_V1_MULTIPROCESSING="0",
    VLLM_CPU_KVCACHE_SPACE="1",
    VLLM_NO_USAGE_STATS="1",
    HF_HUB_OFFLINE="1",
    VLLM_LOGGING_LEVEL="WARNING",
)

import torch
from safetensors.torch import load_file
from vllm import LLM, SamplingParams
from vllm.distributed import cleanup_dist_env_and_memory
from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbeddingBase
from vllm.model_executor.models import ModelRegistry


class Collector:
    """Takes the captured states off the model's result, so that the rest of the engine sees what it knows."""

    def __init__(self, model: torch.nn.Module) -> None:
        self.finals: list[torch.Tensor] = []
        self.captured: list[list[torch.Tensor]] = []
        model.register_forward_hook(self)

    def clear(self) -> None:
        self.finals.clear()
        self.captured.clear()

    def __call__(self, _model: Any, _args: Any, result: Any) -> Any:
        if isinstance(result, tuple):
            result, captured = result
            self.captured.append([one.detach().clone() for one in captured])
        self.finals.append(result.detach().clone())
        return result


def error(got: torch.Tensor, wanted: torch.Tensor) -> float:
    if got.shape != wanted.shape:
        return float("inf")
    return float(((got - wanted).norm(dim=-1) / wanted.norm(dim=-1)).max())


def inspect_here(architecture: str) -> None:
    """Look at a class of the registry in this process. Else the engine starts another one for each class."""
    if architecture in ModelRegistry.models:
        ModelRegistry.register_model(architecture, ModelRegistry.models[architecture].load_model_cls())


@contextmanager
def plain_rotary(model: torch.nn.Module) -> Iterator[None]:
    """See TURNS of the cases. Other models of this process may share the modules."""
    changed = [(one, one._forward_method) for one in model.modules() if isinstance(one, RotaryEmbeddingBase)]
    for module, _method in changed:
        module._forward_method = module.forward_native
    try:
        yield
    finally:
        for module, method in changed:
            module._forward_method = method


def answer(architecture: str, folder: Path, case: dict[str, Any], capture: bool) -> dict[str, Any]:
    for name in (architecture, *case.get("texts", ())):
        inspect_here(name)
    gc.freeze()
    reference = load_file(folder / "reference.st")
    tokens = reference["tokens"].tolist()
    layers = sum(name.startswith("state") for name in reference) - 1
    prompt, steps = tokens[: case["prompt"]], len(tokens) - case["prompt"] + 1
    engine: LLM | None = None
    mended = ExitStack()
    try:
        engine = LLM(
            model=str(folder),
            dtype="float32",
            enforce_eager=True,
            skip_tokenizer_init=True,
            max_model_len=128,
            max_num_seqs=2,
            max_num_batched_tokens=128,
            enable_prefix_caching=False,
            disable_log_stats=True,
            kv_cache_memory_bytes=64 << 20,
            language_model_only=case.get("wrapper", False),
            **case.get("engine", {}),
        )
        model = engine.llm_engine.model_executor.driver_worker.worker.get_model()
        collector = Collector(model)
        sampling = SamplingParams(max_tokens=steps, temperature=0, ignore_eos=True, detokenize=False)

        def ask(*ids: int) -> list[float] | int:
            """Errors of the captured states, or how many there were where that is not as many as were asked for."""
            assert engine is not None
            collector.clear()
            model.set_aux_hidden_state_layers(ids)
            engine.generate([{"prompt_token_ids": prompt}], sampling, use_tqdm=False)
            counts = {len(one) for one in collector.captured} or {0}
            if counts != {len(ids)}:
                return max(counts)
            return [
                error(torch.cat([one[place] for one in collector.captured]), reference[f"state{number}"])
                for place, number in enumerate(ids)
            ]

        found: dict[str, Any] = {}
        if case.get("plain_rotary"):
            engine.generate([{"prompt_token_ids": prompt}], sampling, use_tqdm=False)
            found["kernel"] = error(torch.cat(collector.finals), reference["final"])
            collector.clear()
            mended.enter_context(plain_rotary(model))
        result = engine.generate([{"prompt_token_ids": prompt}], sampling, use_tqdm=False)
        said = list(result[0].outputs[0].token_ids)
        found["tokens"] = said[: steps - 1] == tokens[case["prompt"] :]
        found["final"] = error(torch.cat(collector.finals), reference["final"])
        if capture:
            found["alone"] = [ask(number) for number in range(layers + 1)]
            found["together"] = ask(0, layers // 2, layers - 1, layers)
        return found
    finally:
        mended.close()
        engine = None
        cleanup_dist_env_and_memory()
        gc.collect()


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    # The engine collects garbage some ten times a model, and what was imported is never any.
    gc.freeze()
    with Path(sys.argv[2]).open("a") as stream:
        for architecture, case in request["cases"].items():
            started = time.monotonic()
            try:
                said = answer(architecture, Path(request["folder"], architecture), case, request["capture"])
            except Exception as problem:
                said = {"error": f"{type(problem).__name__}: {problem}", "trace": traceback.format_exc()}
            said["seconds"] = round(time.monotonic() - started, 1)
            stream.write(json.dumps({"architecture": architecture, **said}) + "\n")
            stream.flush()


if __name__ == "__main__":
    main()
