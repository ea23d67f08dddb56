# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures of the scenario's tests, which look at the containers from outside of Ansible and ssh."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import testinfra
import yaml

INSIDE = Path(__file__).parent / "inside"
EPHEMERAL = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"])


@dataclass(frozen=True)
class Engine:
    """A release in an environment of the container, and the same release in the controller's cache."""

    name: str
    version: str
    venv: str
    tree: Path

    @property
    def site_packages(self) -> str:
        return f"{self.venv}/lib/python3.11/site-packages"

    @property
    def twin(self) -> str:
        return f"{self.venv}-twin/lib/python3.11/site-packages"


def all_engines() -> list[Engine]:
    entries = json.loads((EPHEMERAL / "engines.json").read_text())
    return [Engine(entry["name"], entry["version"], entry["venv"], Path(entry["tree"])) for entry in entries]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Each of a scenario's verify steps reports beside the others."""
    reports = Path(os.environ["MOLECULE_PROJECT_DIRECTORY"]) / "build" / "junit"
    config.option.xmlpath = str(reports / f"molecule-{os.environ['MOLECULE_SCENARIO_NAME']}-{os.getpid()}.xml")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        engines = all_engines()
        metafunc.parametrize("engine", engines, ids=[f"{engine.name}-{engine.version}" for engine in engines])


@pytest.fixture(scope="session")
def container() -> str:
    instances = yaml.safe_load((EPHEMERAL / "inventory" / "instances.yml").read_text())
    (variables,) = instances["all"]["hosts"].values()
    return str(variables["container_name"])


@pytest.fixture(scope="session")
def host(container: str) -> Any:
    return testinfra.get_host(f"podman://{container}")


@pytest.fixture(scope="session")
def engines() -> list[Engine]:
    return all_engines()


class Inside:
    """Runs one of the scripts in inside/ with the container's own Python and returns what it printed as JSON."""

    def __init__(self, host: Any) -> None:
        self._host = host

    def __call__(self, script: str, *arguments: str) -> Any:
        source = (INSIDE / script).read_text()
        words = " ".join(["%s"] * len(arguments))
        return json.loads(self._host.check_output(f"/usr/bin/python3 -I -B -c %s {words}", source, *arguments))


@pytest.fixture(scope="session")
def inside(host: Any) -> Inside:
    return Inside(host)


@pytest.fixture(scope="session")
def files(inside: Inside) -> Any:
    """Digests of all files of a folder in the container: {path: [sha256, links]}, bytecode left out."""
    seen: dict[str, dict[str, tuple[str, int]]] = {}

    def read(folder: str) -> dict[str, tuple[str, int]]:
        if folder not in seen:
            seen[folder] = {path: (digest, links) for path, (digest, links) in inside("digests.py", folder).items()}
        return seen[folder]

    return read


@dataclass(frozen=True)
class Run:
    """One run of a playbook: what each task of the collection answered."""

    playbook: str
    check: bool
    tasks: list[dict[str, Any]]

    @property
    def changed(self) -> bool:
        return any(task["result"].get("changed") for task in self.tasks)

    @property
    def diffs(self) -> dict[str, tuple[str, str]]:
        """Path in the container -> text before and after."""
        found: dict[str, tuple[str, str]] = {}
        for task in self.tasks:
            entries = task["result"].get("diff") or []
            for entry in entries if isinstance(entries, list) else [entries]:
                if entry.get("before") != entry.get("after"):
                    found[entry["after_header"]] = (entry["before"], entry["after"])
        return found


@pytest.fixture(scope="session")
def runs() -> list[Run]:
    grouped: dict[int, Run] = {}
    for line in (EPHEMERAL / "results.jsonl").read_text().splitlines():
        entry = json.loads(line)
        run = grouped.setdefault(entry["run"], Run(entry["playbook"], entry["check"], []))
        run.tasks.append(entry)
    return [grouped[key] for key in sorted(grouped)]
