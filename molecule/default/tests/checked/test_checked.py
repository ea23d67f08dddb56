# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After --check: a change was announced, and nothing was done."""

from __future__ import annotations

from typing import Any


def test_changes_were_announced(runs: Any) -> None:
    (run,) = runs
    assert run.check
    assert run.changed
    assert {path.rsplit("/", 1)[-1] for path in run.diffs} == {
        "custom_worker.py",
        "deepseek_v2.py",
        "eagle.py",
        "kimi_k25.py",
        "speculative.py",
    }


def test_no_file_was_written(host: Any) -> None:
    newer = host.check_output("find /opt/engines /var/lib/specdec -newer /var/lib/engine-starts 2>/dev/null || true")
    assert newer == ""


def test_the_engine_was_not_restarted(host: Any) -> None:
    assert host.file("/var/lib/engine-starts").content_string == "started\n"
