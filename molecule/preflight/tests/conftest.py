# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenario's tests, which look at the containers from outside of Ansible and ssh."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import testinfra
import yaml

EPHEMERAL = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"])


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Each of a scenario's verify steps reports beside the others."""
    reports = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"]) / "build" / "junit"
    config.option.xmlpath = str(reports / f"molecule-{os.environ['MOLECULE_SCENARIO_NAME']}-{os.getpid()}.xml")


@pytest.fixture(scope="session")
def hosts() -> dict[str, Any]:
    instances = yaml.safe_load((EPHEMERAL / "inventory" / "instances.yml").read_text())["all"]["hosts"]
    return {name: testinfra.get_host(f"podman://{said['container_name']}") for name, said in instances.items()}


@pytest.fixture(scope="session")
def report() -> Callable[[str], dict[str, Any]]:
    """What a run wrote on the controller: host to its result."""

    def read(folder: str) -> dict[str, Any]:
        hosts: dict[str, Any] = json.loads((EPHEMERAL / folder / "preflight.json").read_text())["hosts"]
        return hosts

    return read


@pytest.fixture(scope="session")
def page() -> str:
    return (EPHEMERAL / "report" / "preflight.html").read_text()
