# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests on real releases: which of them share a process, and what they found, as a table of release by state."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MATRIX = "states of architectures"
Tally = Callable[[str, dict[str, int]], None]


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Tally:
    """Engine and release, and the number of architectures in each state; all of them are printed at the end."""
    return lambda release, counts: record_property(MATRIX, [release, dict(counts)])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one file on one release share what they read of it."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        params = callspec.params if callspec else {}
        release = params.get("release") or params.get("version") or ""
        item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {release}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    found = dict(value for report in reports for name, value in report.user_properties if name == MATRIX)
    if found:
        columns = sorted({column for counts in found.values() for column in counts})
        terminalreporter.section("architectures by release and state")
        terminalreporter.line(" ".join(["release".ljust(20), *(column.rjust(12) for column in columns)]))
        for release in sorted(found, key=lambda name: [part.zfill(3) for part in name.replace(" ", ".").split(".")]):
            cells = (str(found[release].get(column, 0)).rjust(12) for column in columns)
            terminalreporter.line(" ".join([release.ljust(20), *cells]))
