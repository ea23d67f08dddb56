# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After the tests on real releases: what they found, as a table of release by state."""

from __future__ import annotations

from collections import Counter

import pytest

MATRIX = pytest.StashKey[dict[str, Counter[str]]]()


@pytest.fixture(scope="session")
def matrix(pytestconfig: pytest.Config) -> dict[str, Counter[str]]:
    """Engine and release to the number of architectures in each state; printed at the end."""
    return pytestconfig.stash.setdefault(MATRIX, {})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    found = config.stash.get(MATRIX, {})
    if found:
        columns = sorted({column for counts in found.values() for column in counts})
        terminalreporter.section("architectures by release and state")
        terminalreporter.line(" ".join(["release".ljust(20), *(column.rjust(12) for column in columns)]))
        for release, counts in found.items():
            cells = (str(counts.get(column, 0)).rjust(12) for column in columns)
            terminalreporter.line(" ".join([release.ljust(20), *cells]))
