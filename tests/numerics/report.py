# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes docs/architectures.md from the results of the runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numerics.cases import APART, CASES
from numerics.engine import HERE, ROOT
from numerics.plant import PLANTS, RESIDUAL, SHIFT
from numerics.test_states import TOLERANCE

RESULTS = ROOT / "build" / "numerics"
TARGET = ROOT / "docs" / "architectures.md"
TEXT = """<!--
Copyright (c) 2026 The specdec.blackwell authors
GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later
-->

# Architectures, and how their patches were verified

Speculative decoding does not change what a model says, so equal text proves nothing about a patch. Two other things do,
and `make numerics` measures both on a machine without a GPU, with the real {engine} patched by `eagle3_patch`:

- **states**: a tiny checkpoint of random weights, made by transformers' own classes. What the patched engine captures
  for each id from 0 to N, alone and together, is compared with the states that transformers has between its layers,
  over 24 tokens of prefill and 2 of decoding, in float32. The error is the largest of any token, the norm of the
  difference over the norm of the wanted state; right is below {tolerance}. Two patches that are wrong on purpose are
  held to the same: the residual left out, and ids off by one. The table has their smallest error over inner layers.
- **served**: a checkpoint made by hand whose draft is right only if all three captured states are the whole sum of what
  the layers wrote, after just the layers asked for (`tests/numerics/worker/chain.py`). A real server counts accepted of
  drafted tokens.

The shapes are those of `docs/eagle3.md`: L are decoders, W are models around one. This file is written by
`scripts/numerics --write`.

{count} classes by their states, {served} by a server. {kimi}

| class | shape | states | residual left out | off by one | served | residual left out | off by one |
| --- | --- | --- | --- | --- | --- | --- | --- |
{rows}

## What the engine itself does on a CPU

Before a patch is judged, the engine as released is compared with transformers. These cannot be judged here:

| class | why |
| --- | --- |
{apart}

{engine} has a rotary kernel for CPUs that is wrong when the queries have three dimensions (tokens, heads, size), which
latent attention (MLA) and some norms of heads hand it: all tokens after the first get wrong states, with or without a
patch. With the engine's own Python form of the same all of these agree with transformers: {rotary}. Their states were
compared so. To serve them right on a CPU: `--compilation-config '{{"custom_ops": ["all", "-rotary_embedding"]}}'`.
"""


def _load(name: str) -> dict[str, Any]:
    path = RESULTS / name
    assert path.exists(), f"no {path}; run: make numerics"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def _errors(answer: dict[str, Any]) -> list[float]:
    return [one[0] if isinstance(one, list) else float("inf") for one in answer["alone"]]


def _states(answers: dict[str, Any]) -> list[str]:
    """The right patch's largest error, and the smallest of each wrong one; nothing for what does not hold."""
    right = max(_errors(answers["patched"]) + answers["patched"]["together"])
    wrong = [min(_errors(answers[one])[1:-1]) for one in PLANTS]
    assert right <= TOLERANCE < min(wrong), answers
    return [f"{right:.0e}", *(f"{one:.2f}" for one in wrong)]


def _served(found: dict[str, list[int]]) -> list[str]:
    return ["{} of {}".format(*found[one]) if one in found else "" for one in ("right", RESIDUAL, SHIFT)]


def write(target: Path) -> None:
    states, served = _load("states.json"), _load("served.json")
    rows = []
    verified = [name for name in CASES if name not in APART]
    missing = [name for name in verified if name not in states]
    assert not missing, f"no results for {', '.join(missing)}; run: make numerics"
    for name in sorted({*verified, *served}):
        cells = _states(states[name]["answers"]) if name in verified else ["", "", ""]
        shape = states[name]["shape"] if name in verified else "W1, its own support taken out first"
        rows.append([name, shape, *cells, *(_served(served[name]) if name in served else ["", "", ""])])
    pinned = (HERE / "requirements.txt").read_text().split()[-1].replace("==", " ")
    rotary = [name for name in verified if CASES[name].get("plain_rotary")]
    outside = [name for name in served if name not in verified]
    target.write_text(
        TEXT.format(
            engine=pinned,
            tolerance=TOLERANCE,
            count=len(verified),
            served=len(served),
            kimi=f"{', '.join(outside)}: the engine supports it by itself, so its support is taken out before.",
            rows="\n".join(f"| {' | '.join(row)} |" for row in rows),
            apart="\n".join(f"| {name} | {reason} |" for name, (reason, _error) in sorted(APART.items())),
            rotary=", ".join(rotary),
        )
    )


if __name__ == "__main__":
    write(TARGET)
