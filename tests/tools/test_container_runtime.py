# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detection of what the test containers need: proc trees as data, and this machine."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "container_runtime.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("container_runtime", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


container_runtime = load()

TMPFS = "tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0\n"
V1 = "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0\n"
NAMED = "cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0\n"
BESIDE = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n"
V2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n"
ELSEWHERE = "cgroup2 /run/other cgroup2 rw 0 0\ncgroup /run/more cgroup rw,name=systemd 0 0\n"
UNRELATED = "proc /proc proc rw 0 0\n/dev/vda / ext4 rw 0 0\nbroken\n"

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max processes             1024                 {nproc:<20} processes
Max open files            1024                 {nofile:<20} files
"""
ALL_CAPABILITIES = "Name:\tpython\nCapEff:\t000001ffffffffff\n"
WITHOUT_SYS_RESOURCE = "Name:\tpython\nCapPrm:\t000001ffffffffff\nCapEff:\t000001fffeffffff\n"


@pytest.mark.parametrize(
    ("mounts", "layout"),
    [
        pytest.param(UNRELATED, ("none", False), id="none"),
        pytest.param(UNRELATED + ELSEWHERE, ("none", False), id="only elsewhere"),
        pytest.param(UNRELATED + V2, ("v2", False), id="v2"),
        pytest.param(TMPFS + V1 + NAMED, ("v1", True), id="v1"),
        pytest.param(TMPFS + V1, ("v1", False), id="v1 without systemd"),
        pytest.param(TMPFS + V1 + NAMED + BESIDE, ("hybrid", True), id="hybrid"),
        pytest.param(TMPFS + BESIDE + V1, ("hybrid", False), id="hybrid without systemd"),
    ],
)
def test_cgroup_layout(mounts: str, layout: tuple[str, bool]) -> None:
    assert container_runtime.cgroup_layout(mounts) == layout


@pytest.mark.parametrize(
    ("status", "number", "has"),
    [
        pytest.param(ALL_CAPABILITIES, 24, True, id="all"),
        pytest.param(WITHOUT_SYS_RESOURCE, 24, False, id="dropped"),
        pytest.param(WITHOUT_SYS_RESOURCE, 23, True, id="its neighbour"),
        pytest.param("Name:\tpython\n", 24, False, id="not said"),
    ],
)
def test_has_capability(status: str, number: int, has: bool) -> None:
    assert container_runtime.has_capability(status, number) is has


def test_limit_of() -> None:
    limits = LIMITS.format(nproc=96365, nofile="unlimited")
    assert container_runtime.limit_of(limits, "Max processes") == 96365
    assert container_runtime.limit_of(limits, "Max open files") == -1
    with pytest.raises(ValueError, match="no limit called 'Max nonsense'"):
        container_runtime.limit_of(limits, "Max nonsense")


def executable(folder: Path, name: str, text: str) -> str:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def machine(tmp_path: Path) -> Any:
    """A machine of the hardest kind: hybrid cgroups, limits that may not be raised."""
    for name, text in {
        "self/mounts": UNRELATED + TMPFS + V1 + NAMED + BESIDE,
        "self/limits": LIMITS.format(nproc=96365, nofile=20000),
        "self/status": WITHOUT_SYS_RESOURCE,
        "sys/kernel/pid_max": "32768\n",
    }.items():
        path = tmp_path / "proc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tools = {
        name: executable(tmp_path / "bin", name, "echo podman version 4.3.1\n")
        for name in ("podman", "crun", "runc", "mmdebstrap", "ssh", "ssh-keygen")
    }
    return container_runtime.inspect_machine(tmp_path, which=tools.get, uid=0)


def test_inspect_machine(machine: Any) -> None:
    assert machine.podman_version == "4.3.1"
    assert machine.runtimes == ("crun", "runc")
    assert (machine.cgroups, machine.named_systemd) == ("hybrid", True)
    assert (machine.nofile, machine.nproc, machine.pid_max) == (20000, 96365, 32768)
    assert (machine.root, machine.may_raise_limits) == (True, False)


def test_podman_that_does_not_start(tmp_path: Path, machine: Any) -> None:
    podman = executable(tmp_path / "bin", "podman", "echo cannot start >&2; exit 125\n")
    found = container_runtime.inspect_machine(tmp_path, which={"podman": podman}.get)
    assert found.podman == podman
    assert found.podman_version is None
    assert any("does not answer" in problem for problem in container_runtime.make_plan(found).problems)


def test_settings_of_an_earlier_run_do_not_stop_podman(
    tmp_path: Path, machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTAINERS_CONF", str(tmp_path / "gone.conf"))
    podman = executable(tmp_path / "bin", "podman", 'test -z "$CONTAINERS_CONF" && echo podman version 5.4.2\n')
    found = container_runtime.inspect_machine(tmp_path, which={"podman": podman}.get)
    assert found.podman_version == "5.4.2"


@pytest.mark.parametrize(
    ("changes", "runtime", "nofile", "nproc"),
    [
        pytest.param({}, "runc", 20000, 32768, id="hybrid"),
        pytest.param({"cgroups": "v1"}, "runc", 20000, 32768, id="v1"),
        pytest.param({"cgroups": "v2", "named_systemd": False}, "crun", 20000, 32768, id="v2"),
        pytest.param({"cgroups": "v2", "runtimes": ("runc",)}, "runc", 20000, 32768, id="v2 with runc only"),
        pytest.param({"may_raise_limits": True}, "runc", 1048576, 1048576, id="limits may be raised"),
        pytest.param({"nofile": -1, "nproc": -1}, "runc", 1048576, 32768, id="no limits"),
        pytest.param({"nproc": 4096}, "runc", 20000, 4096, id="few processes"),
        pytest.param({"nofile": 4194304, "pid_max": 4194304}, "runc", 1048576, 96365, id="many of all"),
    ],
)
def test_plan(machine: Any, changes: dict[str, Any], runtime: str, nofile: int, nproc: int) -> None:
    plan = container_runtime.make_plan(replace(machine, **changes))
    assert plan.problems == ()
    assert (plan.runtime, plan.nofile, plan.nproc) == (runtime, nofile, nproc)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"podman": None, "podman_version": None}, "apt-get install podman", id="podman"),
        pytest.param({"runtimes": ("crun",)}, "apt-get install runc", id="runc on hybrid cgroups"),
        pytest.param({"runtimes": (), "cgroups": "v2"}, "neither crun nor runc", id="runtime"),
        pytest.param({"named_systemd": False}, "name=systemd", id="systemd's hierarchy"),
        pytest.param({"cgroups": "none"}, "no cgroups are mounted", id="cgroups"),
        pytest.param({"nofile": 256}, "ulimit -Hn", id="open files"),
        pytest.param({"nproc": 100}, "ulimit -Hu", id="processes"),
    ],
)
def test_what_is_missing(machine: Any, changes: dict[str, Any], said: str) -> None:
    found = replace(machine, **changes)
    plan = container_runtime.make_plan(found)
    (problem,) = plan.problems
    assert said in problem
    assert problem in container_runtime.describe(found, plan)


@pytest.mark.parametrize(
    ("tool", "package"), [("mmdebstrap", "mmdebstrap"), ("ssh", "openssh-client"), ("ssh-keygen", "openssh-client")]
)
def test_missing_tool(machine: Any, tool: str, package: str) -> None:
    plan = container_runtime.make_plan(replace(machine, tools={**machine.tools, tool: None}))
    (problem,) = plan.problems
    assert tool in problem
    assert f"apt-get install {package}" in problem


def test_named_packages_are_in_the_list(machine: Any) -> None:
    empty = replace(machine, podman=None, runtimes=(), tools={"mmdebstrap": None, "ssh": None, "ssh-keygen": None})
    listed = (SCRIPT.parents[1] / container_runtime.PACKAGES).read_text().split("\n")
    problems = container_runtime.make_plan(empty).problems
    named = {problem.split("apt-get install ")[1].split()[0] for problem in problems}
    assert named == {"podman", "runc", "mmdebstrap", "openssh-client"}
    assert named <= set(listed)


def test_containers_conf(machine: Any) -> None:
    text = container_runtime.containers_conf(container_runtime.make_plan(machine))
    assert 'default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]\n' in text
    assert '[engine]\nruntime = "runc"\n' in text


def test_on_this_machine(tmp_path: Path) -> None:
    settings = tmp_path / "new" / "containers.conf"
    said = subprocess.run(
        [sys.executable, str(SCRIPT), f"--write-conf={settings}"], capture_output=True, text=True, check=False
    )
    plan = container_runtime.make_plan(container_runtime.inspect_machine())
    if plan.problems:
        assert said.returncode == 1
        assert not settings.exists()
        assert all(problem in said.stderr for problem in plan.problems)
    else:
        assert said.returncode == 0, said.stderr
        assert settings.read_text() == container_runtime.containers_conf(plan)


def test_without_podman_on_this_machine() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CONTAINERS_CONF"}
    environment["PATH"] = str(SCRIPT.parent)
    said = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False, env=environment)
    assert said.returncode == 1
    assert said.stdout == ""
    assert "podman is not installed: apt-get install podman" in said.stderr
