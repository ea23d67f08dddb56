# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What transformers says: checkpoints, and the states between the layers. Runs in the engine's environment.

reference.py REQUEST ANSWER: REQUEST is JSON with `folder` and `cases` (architecture to case); ANSWER gets one JSON line
a case.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import Any

import tiny
import torch
from safetensors.torch import save_file
from transformers import GenerationConfig

PROMPT, STEPS = 24, 3


def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.Tensor:
    found = args[0] if args else kwargs["hidden_states"]
    assert isinstance(found, torch.Tensor)
    return found


def first(value: Any) -> torch.Tensor:
    found = value[0] if isinstance(value, tuple) else value
    assert isinstance(found, torch.Tensor)
    return found


class Trace:
    """What goes into each stack of layers at the bottom, and comes out at the top."""

    def __init__(self, model: torch.nn.Module, layers: int) -> None:
        self.stacks: list[tuple[str, list[torch.Tensor]]] = []
        for name, stack in model.named_modules():
            if isinstance(stack, torch.nn.ModuleList) and len(stack) == layers:
                seen: list[torch.Tensor] = []
                self.stacks.append((name, seen))
                for layer in stack:
                    layer.register_forward_pre_hook(
                        lambda _layer, args, kwargs, seen=seen: seen.append(given(args, kwargs)), with_kwargs=True
                    )
                stack[-1].register_forward_hook(
                    lambda _layer, _args, result, seen=seen: seen.append(first(result)), always_call=False
                )

    def clear(self) -> None:
        for _name, seen in self.stacks:
            seen.clear()


def states(model: torch.nn.Module, tokens: torch.Tensor, layers: int) -> dict[str, torch.Tensor]:
    """The states 0 to N as two ways say them, and the one after the final norm."""
    trace = Trace(model, layers)
    with torch.no_grad():
        result = model(input_ids=tokens, output_hidden_states=True, use_cache=False)
    reported = result.hidden_states
    assert len(reported) == layers + 1, f"transformers reports {len(reported)} states of {layers} layers"
    for _name, seen in trace.stacks:
        # Most report what layers are given, some what they give; the last one is always after the final norm.
        ways = (seen[:-1], seen[1:]) if len(seen) == layers + 1 else ()
        if any(all(map(torch.equal, way, reported)) for way in ways):
            found = {f"state{number}": value[0] for number, value in enumerate(seen)}
            return {**found, "final": reported[-1][0], "logits": result.logits[0]}
    raise AssertionError(f"no stack of layers has the reported states: {[(n, len(s)) for n, s in trace.stacks]}")


def answer(architecture: str, case: dict[str, Any], folder: Path, seed: int) -> dict[str, Any]:
    model = tiny.make(architecture, case, folder, seed)
    layers = case.get("layers", tiny.LAYERS)
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(8, tiny.VOCABULARY, (1, PROMPT), generator=generator)
    model.generation_config = GenerationConfig()
    with torch.no_grad():
        for _step in range(STEPS - 1):
            logits = model(input_ids=tokens, use_cache=False).logits
            tokens = torch.cat([tokens, logits[:, -1:].argmax(-1)], dim=1)
    found = states(model, tokens, layers)
    save_file(
        {name: value.contiguous().clone() for name, value in {**found, "tokens": tokens[0]}.items()},
        folder / "reference.st",
    )
    return {"layers": layers, "prompt": PROMPT, "class": type(model).__name__}


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    torch.set_num_threads(2)
    with Path(sys.argv[2]).open("a") as stream:
        for seed, (architecture, case) in enumerate(request["cases"].items()):
            folder = Path(request["folder"], architecture)
            folder.mkdir(parents=True, exist_ok=True)
            try:
                said = answer(architecture, case, folder, seed)
            except Exception as error:
                said = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
            stream.write(json.dumps({"architecture": architecture, **said}) + "\n")
            stream.flush()


if __name__ == "__main__":
    main()
