# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell whether this machine can run the test containers, and write the podman settings that it needs.

podman's own defaults fail on three kinds of machine, each with a message that names neither the cause nor the cure:
crun cannot start a container where cgroup v1 and v2 are mounted together; without CAP_SYS_RESOURCE the default limits
of open files and of processes are refused; and podman lowers its own process limit to kernel.pid_max first, so the
caller's limit is too high as well. All three are found here before a container is started.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

CAP_SYS_RESOURCE = 24
# What podman asks for when nothing else is said.
PODMAN_NOFILE = 1048576
PODMAN_NPROC = 1048576
PACKAGES = "requirements/apt-tests.txt"

Which = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Machine:
    """What was found. Limits are hard limits; -1 is no limit."""

    podman: str | None
    podman_version: str | None
    runtimes: tuple[str, ...]
    tools: Mapping[str, str | None]
    root: bool
    cgroups: str
    named_systemd: bool
    nofile: int
    nproc: int
    pid_max: int
    may_raise_limits: bool


@dataclass(frozen=True)
class Plan:
    """How to run podman here. `problems` says what is missing, each with its cure; empty: containers can run."""

    runtime: str | None
    nofile: int
    nproc: int
    problems: tuple[str, ...] = field(default=())


def cgroup_layout(mounts: str) -> tuple[str, bool]:
    """Layout and presence of the name=systemd hierarchy, from the text of /proc/self/mounts.

    The layout is `v2` (one cgroup2 tree), `hybrid` (v1 controllers with a cgroup2 tree beside them), `v1` or `none`.
    """
    v1 = v2 = named = False
    for line in mounts.splitlines():
        columns = line.split()
        if len(columns) < 4 or not columns[1].startswith("/sys/fs/cgroup"):
            continue
        if columns[2] == "cgroup2":
            v2 = True
        elif columns[2] == "cgroup":
            v1 = True
            named = named or "name=systemd" in columns[3].split(",")
    if v1:
        return ("hybrid" if v2 else "v1"), named
    return ("v2" if v2 else "none"), named


def has_capability(status: str, number: int) -> bool:
    """Whether the effective set in the text of /proc/self/status holds the capability."""
    for line in status.splitlines():
        name, _mark, value = line.partition(":")
        if name == "CapEff":
            return bool(int(value.strip(), 16) >> number & 1)
    return False


def limit_of(limits: str, name: str) -> int:
    """Hard limit of that name in the text of /proc/PID/limits; -1 is no limit."""
    for line in limits.splitlines():
        if line.startswith(name):
            hard = line[len(name) :].split()[1]
            return -1 if hard == "unlimited" else int(hard)
    raise ValueError(f"no limit called {name!r}")


def inspect_machine(root: Path = Path("/"), which: Which = shutil.which, uid: int | None = None) -> Machine:
    """Read the machine. `root` holds the proc tree to read."""
    proc = root / "proc"
    layout, named = cgroup_layout((proc / "self/mounts").read_text())
    limits = (proc / "self/limits").read_text()
    podman = which("podman")
    version = None
    if podman is not None:
        # podman stops at once when CONTAINERS_CONF names a file that is yet to be written.
        settings = {name: value for name, value in os.environ.items() if name != "CONTAINERS_CONF"}
        said = subprocess.run([podman, "--version"], capture_output=True, text=True, check=False, env=settings)
        version = said.stdout.split()[-1] if said.returncode == 0 and said.stdout.split() else None
    tools = ("mmdebstrap", "ssh", "ssh-keygen")
    return Machine(
        podman=podman,
        podman_version=version,
        runtimes=tuple(name for name in ("crun", "runc") if which(name) is not None),
        tools={name: which(name) for name in tools},
        root=(os.getuid() if uid is None else uid) == 0,
        cgroups=layout,
        named_systemd=named,
        nofile=limit_of(limits, "Max open files"),
        nproc=limit_of(limits, "Max processes"),
        pid_max=int((proc / "sys/kernel/pid_max").read_text()),
        may_raise_limits=has_capability((proc / "self/status").read_text(), CAP_SYS_RESOURCE),
    )


def _capped(wanted: int, limit: int) -> int:
    return wanted if limit < 0 else min(wanted, limit)


def make_plan(machine: Machine) -> Plan:
    """Choose the runtime and the limits, and list what stands in the way."""
    problems = []
    install = "apt-get install {0} (all that the container tests need is listed in " + PACKAGES + ")"
    if machine.podman is None:
        problems.append("podman is not installed: " + install.format("podman"))
    elif machine.podman_version is None:
        problems.append(f"{machine.podman} does not answer `podman --version`: run it by hand to see why")

    runtime = None
    if machine.cgroups in ("hybrid", "v1"):
        # crun stops with "cannot set up cgroup: drop all controllers from cgroupv2" on a hybrid layout.
        if "runc" in machine.runtimes:
            runtime = "runc"
        else:
            problems.append(
                f"cgroups here are {machine.cgroups}, where only runc works and it is missing: "
                + install.format("runc")
            )
        if not machine.named_systemd:
            problems.append(
                "no name=systemd cgroup hierarchy, which systemd needs as a container's first process: "
                "mkdir /sys/fs/cgroup/systemd && mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd"
            )
    elif machine.cgroups == "v2":
        if machine.runtimes:
            runtime = machine.runtimes[0]
        else:
            problems.append("neither crun nor runc is installed: " + install.format("runc"))
    else:
        problems.append("no cgroups are mounted on /sys/fs/cgroup: this machine cannot run systemd in a container")

    if machine.tools["mmdebstrap"] is None:
        problems.append("mmdebstrap, which makes the image, is missing: " + install.format("mmdebstrap"))
    for tool in ("ssh", "ssh-keygen"):
        if machine.tools[tool] is None:
            problems.append("{} is missing: {}".format(tool, install.format("openssh-client")))

    nofile, nproc = PODMAN_NOFILE, PODMAN_NPROC
    if not machine.may_raise_limits:
        nofile = _capped(nofile, machine.nofile)
        nproc = min(_capped(nproc, machine.nproc), machine.pid_max)
    if nofile < 1024:
        problems.append(f"at most {nofile} open files are allowed, systemd needs 1024: raise `ulimit -Hn`")
    if nproc < 512:
        problems.append(f"at most {nproc} processes are allowed, 512 are needed: raise `ulimit -Hu`")
    return Plan(runtime=runtime, nofile=nofile, nproc=nproc, problems=tuple(problems))


def containers_conf(plan: Plan) -> str:
    """Text of a containers.conf for the CONTAINERS_CONF variable."""
    return (
        "[containers]\n"
        f'default_ulimits = ["nofile={plan.nofile}:{plan.nofile}", "nproc={plan.nproc}:{plan.nproc}"]\n'
        "\n"
        "[engine]\n"
        f'runtime = "{plan.runtime}"\n'
    )


def describe(machine: Machine, plan: Plan) -> str:
    """The findings for a person."""
    lines = [
        "podman {}, runtime {}, cgroups {}, {}, limits nofile={} nproc={}".format(
            machine.podman_version or "missing",
            plan.runtime or "missing",
            machine.cgroups,
            "as root" if machine.root else "rootless",
            plan.nofile,
            plan.nproc,
        )
    ]
    if plan.problems:
        lines.append("The container tests cannot run on this machine:")
        lines.extend("  - " + problem for problem in plan.problems)
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Check that this machine can run the test containers.")
    parser.add_argument("--write-conf", metavar="FILE", type=Path, help="write podman's settings for CONTAINERS_CONF")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    options = parser.parse_args(argv)
    machine = inspect_machine()
    plan = make_plan(machine)
    if options.json:
        print(json.dumps({"machine": asdict(machine), "plan": asdict(plan)}, indent=2))
    else:
        print(describe(machine, plan), file=sys.stderr if plan.problems else sys.stdout)
    if plan.problems:
        return 1
    if options.write_conf is not None:
        options.write_conf.parent.mkdir(parents=True, exist_ok=True)
        options.write_conf.write_text(containers_conf(plan))
    return 0


if __name__ == "__main__":
    sys.exit(main())
