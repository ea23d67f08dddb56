# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import shutil
import sys

import pytest
import yaml

from ansible_collections.specdec.blackwell.plugins.modules import nvidia_gpu_info
from ansible_collections.specdec.blackwell.tests.fixtures.nvidia_smi import replay
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.recorded_host import FOLDER
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Result, Runner


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


def tool(folder: pathlib.Path, variant: str) -> str:
    """The program that stands for nvidia-smi, as a file that can be started."""
    place = folder / "nvidia-smi"
    source = pathlib.Path(FOLDER, "replay.py").read_text()
    place.write_text(f"#!{sys.executable}\n{source}")
    place.chmod(0o755)
    (folder / "replay.json").write_text(json.dumps({"folder": FOLDER, "variant": variant}))
    return str(place)


def asked(run: Runner, folder: pathlib.Path, variant: str, **more: object) -> Result:
    return run.run(nvidia_gpu_info, nvidia_smi=tool(folder, variant), **more)


def test_a_started_tool(run: Runner, tmp_path: pathlib.Path) -> None:
    result = asked(run, tmp_path, "h200-x2", ports=[1], paths=[str(tmp_path / "later")])
    assert result["changed"] is False
    assert [gpu["compute_capability"] for gpu in result["gpus"]] == ["9.0", "9.0"]
    assert result["driver"]["cuda"] == "13.0"
    assert result["topology"]["links"] == ["NV18"]
    assert result["topology"]["p2p_write"] == [["X", "OK"], ["OK", "X"]]
    assert result["disks"][0]["free"] > 0
    assert [port["port"] for port in result["ports"]] == [1]
    # The address is that of another machine.
    assert "gpus[].pci" in result["unknown"]


def test_check_mode_tells_the_same(run: Runner, tmp_path: pathlib.Path) -> None:
    told = asked(run, tmp_path, "h200-x2")
    foretold = asked(run, tmp_path, "h200-x2", check=True)
    for key in ("gpus", "driver", "topology", "cuda", "engines"):
        assert told[key] == foretold[key]


def test_what_it_returns_is_documented(run: Runner, tmp_path: pathlib.Path) -> None:
    documented = yaml.safe_load(nvidia_gpu_info.RETURN)
    result = asked(run, tmp_path, "busy", pythons=[str(tmp_path / "none")], model=str(tmp_path))
    assert set(documented) == set(result) - {"changed", "invocation", "warnings", "deprecations"}
    assert set(documented["gpus"]["contains"]) == set(result["gpus"][0])
    assert set(documented["driver"]["contains"]) == set(result["driver"])
    assert set(documented["engines"]["contains"]) == set(result["engines"][0])


def test_no_tool(run: Runner, tmp_path: pathlib.Path) -> None:
    result = run.run(nvidia_gpu_info, nvidia_smi=str(tmp_path / "gone"))
    assert result.get("failed") is None or result["failed"] is False
    assert (result["nvidia_smi"], result["gpus"], result["topology"]) == (None, None, None)
    reason = f"{tmp_path / 'gone'} is not a program that this user may run"
    assert (result["unknown"]["nvidia_smi"], result["unknown"]["gpus"]) == (reason, reason)


def test_a_driver_that_does_not_answer(run: Runner, tmp_path: pathlib.Path) -> None:
    result = asked(run, tmp_path, "no-module")
    assert result["gpus"] is None
    assert "exit code 9: the driver does not answer" in result["unknown"]["gpus"]
    assert "Make sure that the latest NVIDIA driver is installed" in result["unknown"]["gpus"]


@pytest.mark.skipif(shutil.which("timeout") is None, reason="there is no program timeout here")
def test_a_driver_that_hangs(run: Runner, tmp_path: pathlib.Path) -> None:
    place = tmp_path / "nvidia-smi"
    place.write_text("#!/bin/sh\necho started >> " + str(tmp_path / "starts") + "\nexec sleep 60\n")
    place.chmod(0o755)
    result = run.run(nvidia_gpu_info, nvidia_smi=str(place), timeout=1)
    assert "no answer within 1 s: the driver hangs" in result["unknown"]["gpus"]
    # Asked once: a driver that hung would hang each time.
    assert (tmp_path / "starts").read_text() == "started\n"


def test_a_tool_that_prints_no_xml(run: Runner, tmp_path: pathlib.Path) -> None:
    csv = replay.answer(FOLDER, "h200-x2", ["--query-gpu=all", "--format=csv"])[1]
    (tmp_path / "csv").write_text(csv)
    place = tmp_path / "nvidia-smi"
    place.write_text(f'#!/bin/sh\ncase "$1" in --query-gpu*) cat {tmp_path}/csv ;; *) echo broken ;; esac\n')
    place.chmod(0o755)
    result = run.run(nvidia_gpu_info, nvidia_smi=str(place))
    assert [gpu["memory"]["total"] for gpu in result["gpus"]] == [143771 << 20] * 2
    assert result["driver"]["version"] == "580.159.04"
    assert result["unknown"]["driver.cuda"].startswith("not XML")
    assert result["unknown"]["gpus[].processes"] == "only the XML of nvidia-smi lists them"
