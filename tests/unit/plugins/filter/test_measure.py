# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the program that measures makes of its numbers; the measuring itself needs GPUs. The numbers were measured."""

from __future__ import annotations

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import time
import types
import typing as t

import pytest

PROGRAM = pathlib.Path(__file__).parents[4] / "roles/blackwell_preflight/files/measure.py"
RECORDED = pathlib.Path(__file__).parents[3] / "fixtures/nvidia_smi/h200-x2/measured.json"


@pytest.fixture(scope="module")
def program() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("preflight_measure", str(PROGRAM))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def recorded() -> dict[str, t.Any]:
    read: dict[str, t.Any] = json.loads(RECORDED.read_text())
    return read


def options(**more: float) -> argparse.Namespace:
    given: dict[str, float] = {
        "hidden_size": 7168,
        "layers": 61,
        "dense_bytes": 20763246592,
        "routed_bytes": 10569646080,
    }
    given.update(decode_ms=0, draft_tokens=3, draft_cost=0.1)
    given.update(more)
    return argparse.Namespace(**given)


def test_the_prediction_follows_from_what_was_measured(program: types.ModuleType, recorded: dict[str, t.Any]) -> None:
    times = recorded["all_reduce"]["with_p2p"]["times"]
    told = program.predict(times, recorded["memory_gb_per_s"] * 1e9, options(), 2)
    assert told == {
        **recorded["prediction"],
        "step_us": pytest.approx(recorded["prediction"]["step_us"], rel=1e-4),
        "verify_step_us": pytest.approx(recorded["prediction"]["verify_step_us"], rel=1e-4),
    }
    assert program.summary(recorded) == recorded["summary"]


def test_p2p_made_all_reduce_faster(recorded: dict[str, t.Any]) -> None:
    times = recorded["all_reduce"]
    for size, microseconds in times["with_p2p"]["times"].items():
        assert microseconds < times["without_p2p"]["times"][size]


@pytest.mark.parametrize(
    ("size", "expected"), [(1, 10.0), (10, 10.0), (15, 15.0), (20, 20.0), (30, 25.0), (40, 30.0), (80, 60.0)]
)
def test_sizes_between(program: types.ModuleType, size: float, expected: float) -> None:
    assert program.at_size({"10": 10.0, "20": 20.0, "40": 30.0}, size) == pytest.approx(expected)


def test_a_given_time_of_a_step_counts(program: types.ModuleType) -> None:
    times = {str(12 << 10): 205.0, str(1 << 20): 400.0}
    told = program.predict(times, None, options(decode_ms=50), 8)
    assert told["basis"] == "the given time of a step"
    assert told["all_reduce_share"] == pytest.approx(122 * program.at_size(times, 14336) / 50000, abs=1e-3)
    # Half of the step is all-reduce, which four tokens do not make four times as long.
    assert 1 < told["break_even_tokens"] < 2.5 and told["worth"] is True


def test_where_speculation_cannot_pay(program: types.ModuleType) -> None:
    told = program.predict({"12288": 1.0, "1048576": 2.0}, 3e12, options(dense_bytes=1, draft_cost=1.0), 1)
    assert told["worth"] is False and told["break_even_tokens"] > 4


def test_without_model_and_time_there_is_no_share(program: types.ModuleType) -> None:
    told = program.predict({"12288": 10.0, "1048576": 20.0}, 3e12, options(dense_bytes=0, routed_bytes=0), 2)
    assert (told["all_reduce_share"], told["reason"]) == (None, "no model, no step time")


def test_without_gpus_it_says_so() -> None:
    """As a program, in this Python: with or without torch there is nothing to measure on a host without a GPU."""
    done = subprocess.run([sys.executable, "-B", str(PROGRAM)], capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    if answer.get("gpus") is None:
        assert (answer["copies"], answer["all_reduce"], answer["prediction"]) == (None, None, None)
        assert answer["not_measured"][0].startswith("nothing: torch ")
    assert answer["summary"]


def write_after(seconds: float, result: str) -> None:
    time.sleep(seconds)
    pathlib.Path(result).write_text("[1]")


def die(result: str) -> None:
    sys.exit(3)


def test_children_that_hang_or_die_are_told(program: types.ModuleType, tmp_path: pathlib.Path) -> None:
    one, two, three = (str(tmp_path / name) for name in ("one", "two", "three"))
    assert program.children(write_after, [(0, one)], 60, one) == {"value": [1], "reason": None}
    hung = program.children(write_after, [(60, two)], 0.5, two)
    assert (hung["value"], hung["reason"]) == (None, "no end within 0 s: P2P hangs (checks iommu and acs-redirect)")
    assert program.children(die, [(three,)], 60, three) == {"value": None, "reason": "exit codes [3]"}
