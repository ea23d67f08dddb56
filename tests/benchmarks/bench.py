# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time whole ansible-playbook processes over ssh: ours, core's and ansible.posix's way to the same result.

One container is the host; its vLLM 0.16.0 is laid anew before each first run, outside of the timing. The ways take
turns within each round, and medians are compared. After each run the installed source itself is asked whether the
result is the wanted one, so a way that is quick because it does nothing is found out.

Beside the clock's time stands the processor's, of the controller's processes and of the container: it says the same on
a machine that is busy with something else.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BUILD = ROOT / "build" / "bench"
EPHEMERAL = BUILD / "host"
INSIDE = ROOT / "molecule" / "default" / "tests" / "inside"
VENV = "/opt/engines/vllm"
PRISTINE = "/opt/engines/pristine"
SITE = f"{VENV}/lib/python3.11/site-packages"
AIM_SECOND = 1.3
AIM_FIRST = 2.8
WANTED = {
    "text is an EAGLE-3 target": True,
    "wrapper is an EAGLE-3 target": True,
    "default layers": [2, 30, 58],
    "forward": [["final", 61005], [2005, 30005, 58005]],
    "model type is let through": True,
    "image token": 163605,
}
# Name in the table -> playbook that makes the change.
WAYS = {
    "eagle3_patch": "eagle3_patch.yml",
    "python_ast_edit": "python_ast_edit.yml",
    "core, a task an edit": "core_chain.yml",
    "ansible.posix.patch, a task a file": "build/bench/posix_patch.yml",
}
# Written when ansible.posix is there: a linter of the repository could not resolve its module.
POSIX_PATCH = [
    {
        "name": "One task of ansible.posix for each file",
        "hosts": "blackwell",
        "gather_facts": False,
        "tasks": [
            {
                "name": "Apply the diff",
                "ansible.posix.patch": {"src": "{{ item }}", "basedir": "{{ site_packages }}", "strip": 1},
                "with_fileglob": "{{ patches }}/*.patch",
            }
        ],
    }
]
CORE = "core, a task an edit"


# Either layout of cgroups, seen from inside of the container; nanoseconds or microseconds.
PROCESSOR_TIME = """
if [ -e /sys/fs/cgroup/cpuacct/cpuacct.usage ]
then sed s/$/e-9/ /sys/fs/cgroup/cpuacct/cpuacct.usage
else sed -n 's/^usage_usec \\(.*\\)/\\1e-6/p' /sys/fs/cgroup/cpu.stat
fi
"""
TIME_A_PROCESS = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(["/usr/bin/python3", sys.argv[1]], check=True, stdout=subprocess.DEVNULL)
seconds = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([seconds, used.ru_utime + used.ru_stime]))
"""


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, and of the processors."""

    clock: float
    processor: float


class Wrong(Exception):
    """A way did not do what it is timed for."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Host:
    """The container, reached past ssh for everything that is not timed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shell(self, script: str, *arguments: str) -> str:
        command = ["podman", "exec", self.name, "/bin/sh", "-euc", script, "sh", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def reset(self) -> None:
        # Synced, so that the first writer does not pay for the copy.
        self.shell(f"rm -rf {VENV}; cp -a {PRISTINE} {VENV}; sync")

    def target(self) -> Any:
        source = (INSIDE / "vllm_target.py").read_text()
        return json.loads(self.shell('exec python3 -I -B -c "$1" "$2"', source, SITE))

    def processor_time(self) -> float:
        """Seconds that the container has used so far."""
        return float(self.shell(PROCESSOR_TIME))

    def read(self, path: str) -> str:
        return self.shell('exec cat "$1"', path)


@contextmanager
def running_host() -> Iterator[Host]:
    environment = {**os.environ, "MOLECULE_EPHEMERAL_DIRECTORY": str(EPHEMERAL)}
    EPHEMERAL.mkdir(parents=True, exist_ok=True)
    log = BUILD / "molecule.log"

    def molecule(action: str) -> None:
        with log.open("a") as stream:
            done = subprocess.run(
                [str(ROOT / "scripts" / "molecule"), action, "-s", "bench"],
                env=environment,
                stdout=stream,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            print(log.read_text()[-6000:], file=sys.stderr)
            raise Wrong(f"molecule {action} failed, see {log}")

    log.unlink(missing_ok=True)
    molecule("destroy")
    try:
        say("==> a host with vLLM 0.16.0 in a container")
        molecule("create")
        instances = yaml.safe_load((EPHEMERAL / "inventory" / "instances.yml").read_text())
        (variables,) = instances["all"]["hosts"].values()
        host = Host(variables["container_name"])
        # Bytecode is left out: the copy is laid anew often, and nobody imports the engine here.
        host.shell(f"mv {VENV} {PRISTINE}; find {PRISTINE} -name __pycache__ -prune -exec rm -rf {{}} +")
        host.reset()
        yield host
    finally:
        molecule("destroy")


def posix_collection() -> Path:
    """Folder with ansible.posix alone, out of the archive of the `ansible` package."""
    folder = BUILD / "collections"
    if not (folder / "ansible_collections" / "ansible" / "posix" / "MANIFEST.json").exists():
        say("==> ansible.posix out of the ansible package")
        requirements = ROOT / "requirements" / "bench.txt"
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "-d", str(BUILD), "-r", str(requirements)],
            check=True,
        )
        (archive,) = BUILD.glob("ansible-*.whl")
        with zipfile.ZipFile(archive) as stream:
            names = [name for name in stream.namelist() if name.startswith("ansible_collections/ansible/posix/")]
            stream.extractall(folder, names)
        archive.unlink()
    (BUILD / "posix_patch.yml").write_text(json.dumps(POSIX_PATCH))
    return folder


class Ansible:
    def __init__(self, collections: Path, host: Host) -> None:
        self.host = host
        self.inventory = [
            f"--inventory={EPHEMERAL / 'inventory' / 'instances.yml'}",
            f"--inventory={ROOT / 'molecule' / 'bench' / 'inventory' / 'hosts.yml'}",
        ]
        self.environment = {
            **os.environ,
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.collections'}:{collections}",
            "ANSIBLE_NOCOLOR": "1",
        }
        self.variables = {
            "engine_python": f"{VENV}/bin/python",
            "site_packages": SITE,
            "edits_file": str(BUILD / "edits.json"),
            "patches": str(BUILD / "patches"),
        }

    def run(self, playbook: str, *arguments: str, **environment: str) -> tuple[Spent, str]:
        """What the whole process took, and what it printed."""
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        command = [program, *self.inventory, "--extra-vars", json.dumps(self.variables), *arguments]
        used = self.processor_time()
        started = time.perf_counter()
        done = subprocess.run(
            [*command, str((ROOT if "/" in playbook else HERE) / playbook)],
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        spent = Spent(time.perf_counter() - started, self.processor_time() - used)
        if done.returncode:
            raise Wrong(f"{playbook} failed:\n{done.stdout}{done.stderr}")
        return spent, done.stdout

    def processor_time(self) -> float:
        on_the_host = self.host.processor_time()
        here = resource.getrusage(resource.RUSAGE_CHILDREN)
        return on_the_host + here.ru_utime + here.ru_stime

    def tasks(self, playbook: str) -> list[dict[str, Any]]:
        """What each task of the collection answered."""
        results = BUILD / "results.jsonl"
        results.unlink(missing_ok=True)
        self.run(
            playbook,
            "--diff",
            ANSIBLE_CALLBACK_PLUGINS=str(ROOT / "molecule" / "shared" / "callback_plugins"),
            ANSIBLE_CALLBACKS_ENABLED="record_results",
            SPECDEC_RESULTS=str(results),
        )
        return [json.loads(line)["result"] for line in results.read_text().splitlines()]


def changed(output: str) -> int:
    found = re.search(r"changed=(\d+)", output)
    if found is None:
        raise Wrong(f"no recap in:\n{output}")
    return int(found.group(1))


def write_the_other_ways(ansible: Ansible, host: Host) -> None:
    """The edits and the diffs that eagle3_patch made, for the ways that need them in a file."""
    (result,) = ansible.tasks("eagle3_patch.yml")
    edits = result["generated_edits"]
    (BUILD / "edits.json").write_text(json.dumps(edits, indent=2))
    patches = BUILD / "patches"
    patches.mkdir(exist_ok=True)
    for old in patches.iterdir():
        old.unlink()
    written = [entry["path"] for entry in result["files"] if entry["changed"]]
    for path in written:
        name = os.path.relpath(path, SITE)
        before = host.read(f"{PRISTINE}/lib/python3.11/site-packages/{name}").splitlines(keepends=True)
        after = host.read(f"{SITE}/{name}").splitlines(keepends=True)
        diff = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}")
        (patches / (name.replace("/", "-") + ".patch")).write_text("".join(diff))
    say(f"    {len(edits)} edits in {len(written)} files")


def check(host: Host, way: str) -> None:
    found = host.target()
    if found != WANTED:
        raise Wrong(f"{way} did not make vLLM take the draft: {found}")


def measure(ansible: Ansible, host: Host, rounds: int) -> dict[str, list[Spent]]:
    times: dict[str, list[Spent]] = {"ping": []}
    for way in WAYS:
        times[f"{way}: first"] = []
        times[f"{way}: second"] = []
    # One more than is counted: the first opens the connection that all later ones share.
    for number in range(rounds + 1):
        found = {"ping": ansible.run("ping.yml")[0]}
        for way, playbook in WAYS.items():
            host.reset()
            found[f"{way}: first"], output = ansible.run(playbook)
            if changed(output) == 0:
                raise Wrong(f"{way}: the first run changed nothing")
            check(host, way)
            found[f"{way}: second"], output = ansible.run(playbook)
            if changed(output) != 0:
                raise Wrong(f"{way}: the second run changed something:\n{output}")
            check(host, way)
        if number:
            for name, spent in found.items():
                times[name].append(spent)
        say(f"    round {number} of {rounds}: " + ", ".join(f"{spent.clock:.2f}" for spent in found.values()))
    return times


def median(values: Iterable[Spent]) -> Spent:
    values = list(values)
    return Spent(
        statistics.median(spent.clock for spent in values), statistics.median(spent.processor for spent in values)
    )


def on_host(ansible: Ansible, host: Host, playbook: str, module: str, prepare: Callable[[], None]) -> tuple[Spent, int]:
    """What the sent module takes on the host by itself, and its size in bytes."""
    host.shell("rm -rf /root/.ansible/tmp/*")
    ansible.run(playbook, ANSIBLE_KEEP_REMOTE_FILES="1", ANSIBLE_PIPELINING="0")
    (sent,) = host.shell(f"ls /root/.ansible/tmp/*/AnsiballZ_{module}.py").split()
    runs = []
    for _turn in range(5):
        prepare()
        runs.append(Spent(*json.loads(host.shell('exec python3 -c "$1" "$2"', TIME_A_PROCESS, sent))))
    return median(runs), int(host.shell('stat -c %s "$1"', sent))


def where_time_goes(ansible: Ansible, host: Host, medians: dict[str, Spent]) -> list[tuple[str, float]]:
    """Parts of one run in seconds of the processors, measured on their own, and sizes."""
    start = median(ansible.run("ping.yml", "--syntax-check")[0] for _turn in range(5))
    ping, ping_size = on_host(ansible, host, "ping.yml", "ping", lambda: None)
    host.reset()
    first, size = on_host(ansible, host, "eagle3_patch.yml", "eagle3_patch", host.reset)
    ansible.run("eagle3_patch.yml")
    second, _size = on_host(ansible, host, "eagle3_patch.yml", "eagle3_patch", lambda: None)
    whole_ping, whole_second = medians["ping"].processor, medians["eagle3_patch: second"].processor
    return [
        ("start of ansible-playbook", start.processor),
        ("ping: on the host", ping.processor),
        ("ping: the rest, that is packing and sending", whole_ping - start.processor - ping.processor),
        ("eagle3_patch: packing and sending", whole_second - start.processor - second.processor),
        ("eagle3_patch: on the host, second run", second.processor),
        ("eagle3_patch: on the host, first run", first.processor),
        ("size of ping as sent, KiB", ping_size / 1024),
        ("size of eagle3_patch as sent, KiB", size / 1024),
    ]


def table(times: dict[str, list[Spent]]) -> tuple[str, dict[str, Spent]]:
    medians = {name: median(values) for name, values in times.items()}
    width = max(map(len, medians))
    lines = [
        f"{'':{width}}  {'clock, s':^37}  {'processors, s':^23}",
        f"{'':{width}}    median    min    max  / ping / core's    median  / ping / core's",
    ]
    ping = medians["ping"]
    for name, spent in medians.items():
        clocks = [run.clock for run in times[name]]
        phase = "second" if name.endswith("second") else "first"
        core = medians[f"{CORE}: {phase}"]
        ratios = ("", "") if name == "ping" else (spent.clock / core.clock, spent.processor / core.processor)
        cells = [format(ratio, ".2f") if ratio else "" for ratio in ratios]
        lines.append(
            f"{name:{width}}  {spent.clock:8.2f} {min(clocks):6.2f} {max(clocks):6.2f} {spent.clock / ping.clock:7.2f} "
            f"{cells[0]:>8}  {spent.processor:8.2f} {spent.processor / ping.processor:7.2f} {cells[1]:>8}"
        )
    return "\n".join(lines), medians


def main() -> int:
    parser = argparse.ArgumentParser(description="Time this collection's task against other ways to the same result.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count (default: %(default)s)")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    try:
        collections = posix_collection()
        with running_host() as host:
            ansible = Ansible(collections, host)
            write_the_other_ways(ansible, host)
            say(f"==> {options.rounds} rounds and one to warm up")
            times = measure(ansible, host, options.rounds)
            text, medians = table(times)
            parts = where_time_goes(ansible, host, medians)
    except Wrong as error:
        say(f"bench: {error}")
        return 1
    ping, second = medians["ping"], medians["eagle3_patch: second"]
    first, core = medians["eagle3_patch: first"], medians[f"{CORE}: first"]
    print(f"\nWhole ansible-playbook processes over ssh, {options.rounds} rounds\n\n{text}\n")
    print(
        f"second run of eagle3_patch: {second.clock / ping.clock:.2f} x ping (aim: at most {AIM_SECOND}); "
        f"by processor time {second.processor / ping.processor:.2f} x"
    )
    print(
        f"first run of eagle3_patch: {core.clock / first.clock:.2f} x as quick as core's modules "
        f"(aim: at least {AIM_FIRST}); by processor time {core.processor / first.processor:.2f} x"
    )
    print("\nWhere the time goes, s of the processors\n")
    for name, value in parts:
        print(f"  {name:50} {value:8.2f}")
    results = {
        "rounds": {name: [asdict(run) for run in runs] for name, runs in times.items()},
        "medians": {name: asdict(spent) for name, spent in medians.items()},
        "parts": dict(parts),
    }
    (BUILD / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
