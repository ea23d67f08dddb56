# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenario's tests, which look at the container from outside of Ansible and ssh."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import testinfra
import yaml

EPHEMERAL = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"])
MIXTRAL = "lib/python3.11/site-packages/sglang/srt/models/mixtral.py"
SETTER = "set_eagle3_layers_to_capture"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Each of a scenario's verify steps reports beside the others."""
    reports = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"]) / "build" / "junit"
    config.option.xmlpath = str(reports / f"molecule-{os.environ['MOLECULE_SCENARIO_NAME']}-{os.getpid()}.xml")


@pytest.fixture(scope="session")
def host() -> Any:
    instances = yaml.safe_load((EPHEMERAL / "inventory" / "instances.yml").read_text())
    (variables,) = instances["all"]["hosts"].values()
    return testinfra.get_host(f"podman://{variables['container_name']}")


class Engines:
    """What is below the role's folder."""

    def __init__(self, host: Any) -> None:
        self._host = host

    @property
    def environments(self) -> list[str]:
        """Their names, without the digest of what was asked for."""
        listed = self._host.check_output("ls -A /opt/sglang").split()
        return sorted(name if name == "current" else name.rpartition("-")[0] for name in listed)

    @property
    def current(self) -> str:
        return str(self._host.check_output("basename $(readlink /opt/sglang/current)")).rpartition("-")[0]

    def version(self, name: str) -> str:
        script = "import importlib.metadata; print(importlib.metadata.version('sglang'))"
        return str(self._host.check_output(f"/opt/sglang/{name}/bin/python -I -c %s", script))

    def patched(self, name: str) -> bool:
        return bool(self._host.run(f"grep -q {SETTER} /opt/sglang/{name}/{MIXTRAL}").rc == 0)


@pytest.fixture(scope="session")
def engines(host: Any) -> Engines:
    return Engines(host)


@pytest.fixture(autouse=True)
def _another_environment_is_left_alone(host: Any) -> None:
    assert host.check_output("find /opt/other -newer /var/lib/before-engine") == ""
