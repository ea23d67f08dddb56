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


REAL = read_cases(FOLDER / "real_edits.md")


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in REAL if case.runs_here])
def test_edit_found_in_a_public_patch(case: Case) -> None:
    check(case)


def test_all_of_the_edits_found_in_public_patches_have_a_case() -> None:
    # The 48th is an edit of files that are not Python.
    assert {int(case.title.split()[1]) for case in REAL} == set(range(1, 48))


PAGE = Path(__file__).resolve().parents[4] / "docs" / "edit-language.md"
EXAMPLES = read_cases(PAGE)


@pytest.mark.parametrize("case", [pytest.param(case, id=case.title) for case in EXAMPLES if case.runs_here])
def test_example_of_the_page_that_teaches_the_language(case: Case) -> None:
    check(case)


def test_every_yaml_of_the_page_is_an_example_and_every_operation_has_one() -> None:
    fences = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("```yaml")]
    assert len(fences) == len(EXAMPLES) and {line.split()[1] for line in fences} == {"edits", "task"}
    shown = {key for case in EXAMPLES if case.after is not None for edit in case.edits for key in edit}
    assert set(OPERATIONS) | {"import", "base", "method", "insert", "replace", "remove", "element"} <= shown
