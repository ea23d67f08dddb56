# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

UNIT = "/etc/systemd/system/specdec-blackwell-shm.service"


def statuses(result: dict[str, Any]) -> dict[str, str]:
    return {row["id"]: row["status"] for row in result["results"]}


def test_both_hosts_are_in_the_report(report: Any) -> None:
    hosts = report("report")
    assert list(hosts) == ["blackwell-1", "blackwell-2"]
    for result in hosts.values():
        assert result["failed"] == []
        seen = statuses(result)
        assert {seen[name] for name in ("driver-answers", "compute-capability", "gpu-count", "mig", "dev-shm")} == {
            "ok"
        }
        assert [gpu["compute_capability"] for gpu in result["facts"]["gpus"]] == ["12.0", "12.0"]
        assert result["facts"]["nvidia_smi"] == "/opt/bin/nvidia-smi"
        assert result["facts"]["host"]["container"] == "podman"


def test_the_page_names_every_check_and_host(page: str, report: Any) -> None:
    (first, second) = report("report").values()
    for row in first["results"]:
        assert f'<a href="{row["source"]}">{row["id"]}</a>' in page
    for name in ("blackwell-1", "blackwell-2"):
        assert f"<h2>{name}</h2>" in page
    assert "<script" not in page and "<link" not in page and "src=" not in page


def test_remedies_are_there(hosts: dict[str, Any]) -> None:
    host = hosts["blackwell-2"]
    assert host.service("specdec-blackwell-shm.service").is_enabled
    assert int(host.check_output("df --block-size=1 --output=size /dev/shm | tail -1")) == 16 << 30
    assert "size=65536000 /dev/shm" in host.file(UNIT).content_string
    assert "memlock    unlimited" in host.file("/etc/security/limits.d/90-specdec-blackwell.conf").content_string
    assert host.file("/etc/modprobe.d/specdec-blackwell-uvm.conf").content_string.endswith("uvm_disable_hmm=1\n")
    assert host.service("nvidia-persistenced.service").is_running


def test_the_other_host_was_not_touched(hosts: dict[str, Any]) -> None:
    host = hosts["blackwell-1"]
    assert not host.file(UNIT).exists
    assert not host.file("/etc/modprobe.d/specdec-blackwell-uvm.conf").exists
    assert not host.service("nvidia-persistenced.service").is_running


def test_reading_changed_nothing() -> None:
    lines = (Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "results.jsonl").read_text().splitlines()
    reads = [entry for entry in map(json.loads, lines) if entry["action"] == "specdec.blackwell.nvidia_gpu_info"]
    assert {entry["check"] for entry in reads} == {True, False}
    assert not any(entry["result"]["changed"] for entry in reads)
