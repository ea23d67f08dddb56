# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which architectures: --architectures "A B", or all; else the quick set."""

from __future__ import annotations

import pytest

from .cases import CASES, QUICK
from .engine import ROOT, Engine, engine
from .states import States

RESULTS = ROOT / "build" / "numerics"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--architectures", default="", help="names between blanks, or all")


def chosen(config: pytest.Config) -> list[str]:
    wanted = config.getoption("--architectures").split()
    if wanted == ["all"]:
        return list(CASES)
    unknown = [name for name in wanted if name not in CASES]
    if unknown:
        raise pytest.UsageError(f"no case for {', '.join(unknown)}; there are {', '.join(CASES)}")
    return wanted or list(QUICK)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "architecture" in metafunc.fixturenames:
        metafunc.parametrize("architecture", chosen(metafunc.config))


@pytest.fixture(scope="session")
def installed() -> Engine:
    return engine()


@pytest.fixture(scope="session")
def states(installed: Engine, pytestconfig: pytest.Config) -> States:
    found = States(installed, RESULTS / "states", chosen(pytestconfig))
    found.run()
    found.save(RESULTS / "states.json")
    return found
