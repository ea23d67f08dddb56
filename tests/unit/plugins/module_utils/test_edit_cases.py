# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Operations, each with the cases of ``cases/<operation>.md``."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.edit_cases import Case, check, read_cases

FOLDER = Path(__file__).parent / "cases"
OPERATIONS = ("wrap", "unwrap", "parameter", "branch", "argument", "decorator", "rename")
CASES = [(name, case) for name in OPERATIONS for case in read_cases(FOLDER / f"{name}.md")]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{name}-{case.title}") for name, case in CASES if case.runs_here],
)
def test_case(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_cases_that_apply_that_are_done_and_that_are_refused(name: str) -> None:
    states = {case.state for owner, case in CASES if owner == name}
    assert {"applied", "present", "drifted", "error"} <= states
