# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the upgrade, run twice: the new release is in use and patched again by itself, the old one is as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def test_the_new_one_is_in_use_and_the_old_one_kept(engines: Any) -> None:
    assert engines.environments == ["current", "sglang-0.5.10", "sglang-0.5.9"]
    assert engines.current == "sglang-0.5.10"
    assert engines.version("current") == "0.5.10"
    assert engines.version("sglang-0.5.9-*") == "0.5.9"


def test_it_was_installed_by_pip(host: Any) -> None:
    assert (
        host.check_output("cat /opt/sglang/current/lib/python3.11/site-packages/sglang-*.dist-info/INSTALLER") == "pip"
    )


def test_both_are_patched(engines: Any) -> None:
    assert engines.patched("current")
    assert engines.patched("sglang-0.5.9-*")


def test_the_upgrade_was_patched_at_once_and_the_second_run_had_nothing_to_do() -> None:
    lines = (Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "results.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    patches = [entry for entry in entries if entry["action"] == "specdec.blackwell.eagle3_patch"]
    upgrades = [entry for entry in patches if entry["playbook"] == "upgrade.yml"]
    assert [entry["result"]["changed"] for entry in upgrades] == [True, False]
    assert [entry["result"]["version"] for entry in upgrades] == ["0.5.10", "0.5.10"]
