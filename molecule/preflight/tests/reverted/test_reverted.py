# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any


def test_remedies_are_gone(hosts: dict[str, Any]) -> None:
    host = hosts["blackwell-2"]
    for path in (
        "/etc/systemd/system/specdec-blackwell-shm.service",
        "/etc/security/limits.d/90-specdec-blackwell.conf",
        "/etc/modprobe.d/specdec-blackwell-uvm.conf",
        "/var/lib/specdec-blackwell/preflight/persistence-mode",
    ):
        assert not host.file(path).exists
    assert int(host.check_output("df --block-size=1 --output=size /dev/shm | tail -1")) == 65536000
    assert not host.service("nvidia-persistenced.service").is_running
    assert not host.service("nvidia-persistenced.service").is_enabled


def test_without_rights_there_are_fewer_facts(report: Any) -> None:
    (result,) = report("unprivileged").values()
    facts = result["facts"]
    assert facts["host"]["privileged"] is False
    assert len(facts["gpus"]) == 2
    assert "kernel.xids" in facts["unknown"]
    assert {row["id"]: row["status"] for row in result["results"]}["xid-errors"] == "unknown"
    assert result["failed"] == []
