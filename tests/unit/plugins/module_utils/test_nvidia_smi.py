# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _nvidia_smi as smi
from ansible_collections.specdec.blackwell.tests.fixtures.nvidia_smi import replay
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.recorded_host import FOLDER

GIB = 1 << 30


def recorded(variant: str, *arguments: str) -> str:
    code, output = replay.answer(FOLDER, variant, arguments)
    assert code == 0
    return output


def test_the_recorded_xml() -> None:
    told = smi.from_xml(recorded("h200-x2", "-q", "-x"))
    assert (told["driver"], told["cuda"], len(told["gpus"])) == ("580.159.04", "13.0", 2)
    gpu = told["gpus"][1]
    assert gpu == {
        "index": 1,
        "uuid": "GPU-00000002-0000-0000-0000-000000000002",
        "name": "NVIDIA H200",
        "architecture": "Hopper",
        "bus_id": "0000:00:07.0",
        "compute_capability": None,
        "memory": {"total": 143771 << 20, "used": 0, "free": 143156 << 20, "bar1": 256 * GIB},
        "persistence_mode": True,
        "ecc": {"enabled": True, "pending": True, "remap_pending": False, "remap_failed": False},
        "mig": {"enabled": False, "devices": 0},
        "power": {"limit": 700.0, "default": 700.0, "max": 700.0},
        "pcie": {
            "generation": 5,
            "generation_max": 5,
            "generation_gpu": 5,
            "width": 16,
            "width_max": 16,
            "replays": gpu["pcie"]["replays"],
        },
        "addressing_mode": "None",
        "recovery_action": "None",
        "fabric_state": "Completed",
        "virtualization": "Pass-Through",
        "processes": [],
    }
    assert isinstance(gpu["pcie"]["replays"], int)


def test_processes_as_recorded() -> None:
    first, second = smi.from_xml(recorded("busy", "-q", "-x"))["gpus"]
    assert first["processes"] == [{"pid": 807, "name": "python3", "type": "C", "memory": 1634 << 20}]
    assert second["processes"] == []


@pytest.mark.parametrize(
    ("variant", "driver", "missing"),
    [
        ("driver-525", "525.147.05", {"addressing_mode"}),
        ("driver-535", "535.183.01", {"addressing_mode", "recovery_action"}),
        ("h200-x2", "580.159.04", set()),
    ],
)
def test_series(variant: str, driver: str, missing: set[str]) -> None:
    """Older series print less and under other names; what all of them print is understood in all of them."""
    told = smi.from_xml(recorded(variant, "-q", "-x"))
    assert told["driver"] == driver
    for gpu in told["gpus"]:
        assert {key for key in ("addressing_mode", "recovery_action", "uuid", "name") if gpu[key] is None} == missing
        assert gpu["power"]["limit"] in (600.0, 700.0)
        assert gpu["memory"]["total"] and gpu["pcie"]["width"] == 16


def test_the_recorded_csv_agrees_with_the_xml() -> None:
    xml, table = (
        smi.from_xml(recorded("h200-x2", "-q", "-x")),
        smi.from_csv(recorded("h200-x2", f"--query-gpu={smi.QUERY}", "--format=csv")),
    )
    assert (table["driver"], table["cuda"]) == (xml["driver"], None)
    for one, other in zip(xml["gpus"], table["gpus"]):
        assert other["compute_capability"] == "9.0"
        for key in ("index", "uuid", "name", "bus_id", "persistence_mode"):
            assert one[key] == other[key]
        assert {**one["memory"], "bar1": None} == other["memory"]
        assert [one["pcie"][key] for key in ("generation", "width")] == [
            other["pcie"][key] for key in ("generation", "width")
        ]
        assert (other["ecc"]["enabled"], other["mig"]["enabled"], other["processes"]) == (True, False, None)


def test_csv_with_fewer_columns() -> None:
    (gpu,) = smi.from_csv(recorded("h200-x1", "--query-gpu=anything"))["gpus"]
    assert (gpu["compute_capability"], gpu["bus_id"], gpu["memory"]["free"]) == ("9.0", None, None)


def test_matrices() -> None:
    table = smi.matrix(recorded("h200-x2", "topo", "-m"))
    assert table == {
        "gpus": [["X", "NV18"], ["NV18", "X"]],
        "nics": {},
        "affinity": [{"cpus": "0-31", "numa": 0}, {"cpus": "0-31", "numa": 0}],
    }
    assert smi.links(table["gpus"]) == ["NV18"]
    assert smi.matrix(recorded("h200-x1", "topo", "-m"))["gpus"] == [["X"]]
    assert smi.matrix(recorded("h200-x2", "topo", "-p2p", "r"))["gpus"] == [["X", "OK"], ["OK", "X"]]
    assert smi.matrix(recorded("p2p-blocked", "topo", "-p2p", "r"))["gpus"] == [["X", "CNS"], ["CNS", "X"]]


# Typed by hand in the layout of the recorded one, with network cards: no recording of such a host is at hand.
WITH_NICS = (
    "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tSYS\tPIX\t0-63,128-191\t0\t\tN/A\n"
    "GPU1\tSYS\t X \tSYS\t64-127\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
)


def test_network_cards_beside_the_gpus() -> None:
    table = smi.matrix(WITH_NICS)
    assert table["gpus"] == [["X", "SYS"], ["SYS", "X"]]
    assert table["nics"] == {"NIC0": ["PIX", "SYS"]}
    assert table["affinity"] == [{"cpus": "0-63,128-191", "numa": 0}, {"cpus": "64-127", "numa": 1}]


@pytest.mark.parametrize(
    ("read", "output"),
    [
        (smi.from_xml, ""),
        (smi.from_xml, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."),
        (smi.from_xml, "<nvidia_smi_log><gpu>"),
        (smi.from_csv, ""),
        (smi.from_csv, 'Field "nonsense" is not a valid field to query.'),
        (smi.matrix, ""),
        (smi.matrix, "Failed to initialize NVML: Driver/library version mismatch"),
        (smi.matrix, "\tGPU0\tGPU1\nGPU0\t X \n"),
    ],
)
def test_anything_else_is_unreadable(read: t.Any, output: str) -> None:
    with pytest.raises(smi.Unreadable):
        read(output)


@pytest.mark.parametrize(
    ("function", "value", "expected"),
    [
        (smi.text, " N/A ", None),
        (smi.text, "[Not Supported]", None),
        (smi.text, "Requested functionality has been deprecated", None),
        (smi.text, "[GPU requires reset]", None),
        (smi.text, "None", "None"),
        (smi.number, "700.00 W", 700.0),
        (smi.number, "N/A", None),
        (smi.whole, "16x", 16),
        (smi.size, "97887 MiB", 97887 << 20),
        (smi.size, "808 KB/s", None),
        (smi.size, "12", None),
        (smi.flag, "Not Active", False),
        (smi.flag, "perhaps", None),
        (smi.bus_id, "00000000:C1:00.0", "0000:c1:00.0"),
        (smi.bus_id, "00010000:C1:00.0", None),
        (smi.bus_id, None, None),
    ],
)
def test_values(function: t.Any, value: t.Any, expected: t.Any) -> None:
    assert function(value) == expected


def test_an_edit_that_finds_nothing_is_a_mistake() -> None:
    """A variant whose edit matches nothing would test the recording a second time."""
    with pytest.raises(ValueError, match="nothing in q-x matches"):
        replay.edited("text", "q-x", [{"name": "wrong", "edits": [{"file": "q-x", "find": "absent", "put": ""}]}])
