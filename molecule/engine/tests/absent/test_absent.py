# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After --check on a host without the engine: announced, and not done."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def test_nothing_was_made(host: Any) -> None:
    assert not host.file("/opt/sglang").exists


def test_what_would_be_done_was_said() -> None:
    lines = (Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "results.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    (entry,) = [entry for entry in entries if entry["action"] == "specdec.blackwell.eagle3_patch"]
    assert entry["check"]
    assert entry["result"]["installed"] is False
