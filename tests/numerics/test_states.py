# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Captured states against those of transformers, on the same weights, in float32."""

from __future__ import annotations

import pytest

from . import plant
from .cases import APART, CASES
from .states import ORIGINAL, PATCHED, States

# Largest |got - wanted| / |wanted| of a token. What is right differs by about 1e-6, what is wrong by more than 1e-1.
TOLERANCE = 1e-3


def test_engine_as_released(architecture: str, states: States) -> None:
    """First of all the engine itself: its final state, and the tokens it chooses, are those of transformers."""
    answer = states.answers[architecture][ORIGINAL]
    if architecture in APART:
        reason = APART[architecture][1]
        right = reason is None and answer.get("final", 0) > TOLERANCE or reason and reason in answer.get("error", "")
        assert right, f"not what the list of those apart says: {answer}"
        return
    assert "error" not in answer, answer
    assert answer["tokens"]
    assert answer["final"] <= TOLERANCE
    if CASES[architecture].get("plain_rotary"):
        assert answer["kernel"] > TOLERANCE, "the kernel can do it now: take plain_rotary off the case"


def test_patched(architecture: str, states: States) -> None:
    """Each state from 0 to N, and first, middle, last and N together; the rest of the engine is as it was."""
    if architecture in APART:
        return
    assert states.derived[architecture]["state"] == "patchable"
    assert states.module["architectures"][architecture]["state"] == "patched"
    answer = states.answers[architecture][PATCHED]
    assert "error" not in answer, answer
    assert answer["final"] <= TOLERANCE
    assert all(isinstance(one, list) for one in (*answer["alone"], answer["together"])), answer
    assert max(one[0] for one in answer["alone"]) <= TOLERANCE
    assert max(answer["together"]) <= TOLERANCE


@pytest.mark.parametrize("mistake", plant.PLANTS)
def test_wrong_patch_is_seen(architecture: str, mistake: str, states: States) -> None:
    """At every layer between the first and the last, at the same tolerance."""
    if architecture in APART:
        return
    answer = states.answers[architecture][mistake]
    assert "error" not in answer, answer
    for number, found in enumerate(answer["alone"]):
        if 0 < number < len(answer["alone"]) - 1:
            assert isinstance(found, list), f"state {number}: {found} states"
            assert found[0] > TOLERANCE, f"state {number}"
