# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After revert.yml ran twice. That the bytes are the release's again is for tests/released."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="module")
def reverted(runs: Any) -> Any:
    return [run for run in runs if run.playbook == "revert.yml"]


def test_the_diff_is_the_patch_s_turned_round(runs: Any, reverted: Any) -> None:
    patched = next(run for run in runs if not run.check and run.playbook == "converge.yml")
    assert reverted[0].diffs == {path: (after, before) for path, (before, after) in patched.diffs.items()}


def test_the_second_run_changed_nothing(reverted: Any) -> None:
    first, second = reverted
    assert first.changed
    assert not second.changed


def test_python_runs_the_old_source(inside: Any, runs: Any) -> None:
    patched = next(run for run in runs if not run.check and run.playbook == "converge.yml")
    assert inside("stale_bytecode.py", *sorted(patched.diffs)) == []


def test_the_engine_was_restarted_for_it(host: Any) -> None:
    assert host.file("/var/lib/engine-starts").content_string == "started\n" * 3


def test_the_ledger_lists_no_patch(runs: Any) -> None:
    last = [task for run in runs for task in run.tasks if task["action"] == "specdec.blackwell.python_ast_edit_info"]
    assert last[-1]["result"]["patches"] == []
