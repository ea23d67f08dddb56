# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kill the module at every write, rename, link, unlink and sync, and at random instants, and look at what is left.

Each kill is SIGKILL to the real module's process, by strace at the entry of one recorded system call. Between two of
them nothing changes on the disk, so together they are every state that a kill can leave.
"""

from __future__ import annotations

import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._locks import hold
from ansible_collections.specdec.blackwell.plugins.module_utils._patchset import PatchRequest, apply
from ansible_collections.specdec.blackwell.plugins.module_utils._store import open_store
from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import recover
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import FILES, MODEL, Venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULE = ROOT / "plugins" / "modules" / "python_ast_edit.py"
CALLS = "write,pwrite64,rename,renameat,renameat2,link,linkat,unlink,unlinkat,fsync,fdatasync,mkdirat,ftruncate"
RANDOM_KILLS = 60
MODULES = ["alpha", "beta", "gamma", "delta"]
PACKAGE = {**FILES, **{f"engine/{name}.py": MODEL for name in MODULES}}

Edits = t.List[t.Dict[str, t.Any]]


def patch(value: str) -> Edits:
    """Two edits in each of four files; another value is a revision."""
    edits: Edits = []
    for name in MODULES:
        file = f"engine/{name}.py"
        edits.append({"file": file, "import": {"from": "engine.interfaces", "names": ["SupportsDraft"]}})
        edits.append({"file": file, "in": "Outer", "method": f"def draft(self):\n    return {value}\n"})
    return edits


class Step(t.NamedTuple):
    """A run of the module, and those that go before it."""

    name: str
    before: list[dict[str, t.Any]]
    arguments: dict[str, t.Any]


ONE: dict[str, t.Any] = {"name": "one", "edits": patch("1")}
TWO: dict[str, t.Any] = {
    "name": "two",
    "edits": [{"file": "engine/alpha.py", "in": "Outer", "method": "def two(self): ...\n"}],
}
STEPS = [
    Step("first", [], ONE),
    Step("revise", [ONE], {"name": "one", "edits": patch("2")}),
    Step("take back", [ONE], {"name": "one", "state": "absent"}),
    Step("take back from under another", [ONE, TWO], {"name": "one", "state": "absent"}),
]


class Bench:
    """A venv with the package in it, brought to where a step begins as often as needed."""

    def __init__(self, root: pathlib.Path) -> None:
        self.home = Venv(root / "venv")
        self.home.install(files=PACKAGE)
        self._arguments = root / "arguments.json"
        self._kept = root / "kept"

    def request(self, arguments: dict[str, t.Any]) -> PatchRequest:
        return PatchRequest(python=self.home.python, package="engine", **arguments)

    def begin(self, step: Step) -> None:
        """Where the step begins, remembered for ``reset``."""
        shutil.rmtree(self.home.ledger, ignore_errors=True)
        self.home.install(files=PACKAGE)
        for arguments in step.before:
            apply(self.request(arguments), check_mode=False)
        subprocess.run([self.home.python, "-m", "compileall", "-q", str(self.home.site)], check=True)
        shutil.rmtree(self._kept, ignore_errors=True)
        self._kept.mkdir()
        shutil.copytree(self.home.site, self._kept / "site")
        if self.home.ledger.exists():
            shutil.copytree(self.home.ledger, self._kept / "ledger")
        self.write_arguments(step.arguments)

    def reset(self) -> None:
        for source, target in ((self._kept / "site", self.home.site), (self._kept / "ledger", self.home.ledger)):
            shutil.rmtree(target, ignore_errors=True)
            if source.exists():
                shutil.copytree(source, target)

    def write_arguments(self, arguments: dict[str, t.Any]) -> None:
        given = {"python": self.home.python, "package": "engine", **arguments}
        self._arguments.write_text(json.dumps({"ANSIBLE_MODULE_ARGS": given}))

    def start(self, *prefix: str) -> subprocess.Popen[bytes]:
        command = [*prefix, sys.executable, "-B", str(MODULE), str(self._arguments)]
        variables = {**os.environ, "PYTHONPATH": str(ROOT / ".collections")}
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=variables)

    def files(self) -> dict[str, bytes]:
        return {name: self.home.read(f"engine/{name}.py") for name in MODULES}

    def debris(self) -> list[str]:
        inside = [str(path) for path in (self.home.site / "engine").rglob(".specdec*")]
        ledger = os.listdir(self.home.ledger) if self.home.ledger.exists() else []
        return inside + [name for name in ledger if name not in ("lock", "ledger.json", "memory.json", "originals")]

    def next_run_recovers(self) -> None:
        """The first thing that any next run does."""
        store = open_store(str(self.home.ledger), create=False)
        if store is not None:
            with store, hold(store, "the next run"):
                recover(store)


class Reader(threading.Thread):
    """Reads the files all the time; each must be whole in one of the known versions."""

    def __init__(self, bench: Bench, known: t.Mapping[str, set[bytes]]) -> None:
        super().__init__(daemon=True)
        self._bench = bench
        self._known = known
        self._end = threading.Event()
        self.reads = 0
        self.torn: list[str] = []

    def run(self) -> None:
        while not self._end.is_set():
            for name in MODULES:
                data = self._bench.home.read(f"engine/{name}.py")
                self.reads += 1
                if data not in self._known[name]:
                    self.torn.append(f"{name}: {data[:60]!r} of {len(data)} bytes")
            time.sleep(0.002)

    def __enter__(self) -> Reader:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._end.set()
        self.join()


class Tally:
    def __init__(self) -> None:
        self.kills = 0
        self.open_journals = 0
        self.old = 0
        self.new = 0
        self.reads = 0


def recorded(bench: Bench, log: pathlib.Path) -> list[tuple[str, int]]:
    """Every state-changing system call of an undisturbed run: its name and its number among those of that name."""
    output, _none = bench.start("strace", "-f", "-y", "-e", f"trace={CALLS}", "-o", str(log)).communicate(timeout=120)
    assert json.loads(output.decode().strip().splitlines()[-1])["changed"], output
    seen: collections.Counter[str] = collections.Counter()
    points = []
    for line in log.read_text().splitlines():
        match = re.match(r"\d+\s+(\w+)\((.*)", line)
        if match is None:
            continue
        call, rest = match.groups()
        seen[call] += 1
        # Output, and what strace or Python write outside of the venv, are no kill points.
        if str(bench.home.root) in rest:
            points.append((call, seen[call]))
    return points


def check(bench: Bench, old: dict[str, bytes], new: dict[str, bytes], step: Step, tally: Tally) -> None:
    """After a kill: the next run's recovery leaves the set whole, and the step can then be brought about."""
    tally.kills += 1
    tally.open_journals += (bench.home.ledger / "journal").exists()
    bench.next_run_recovers()
    left = bench.files()
    assert left in (old, new), {name: "old" if left[name] == old[name] else "new" for name in MODULES}
    assert bench.debris() == []
    tally.old += left == old
    tally.new += left == new
    result = apply(bench.request(step.arguments), check_mode=False)
    assert result.changed == (left == old)
    assert bench.files() == new
    assert bench.debris() == []


def versions(old: dict[str, bytes], new: dict[str, bytes]) -> dict[str, set[bytes]]:
    return {name: {old[name], new[name]} for name in MODULES}


@pytest.fixture(scope="module")
def tally() -> t.Iterator[Tally]:
    found = Tally()
    yield found
    print(
        f"\n{found.kills} kills: {found.open_journals} left an open journal; after recovery {found.old} sets were old "
        f"and {found.new} new; {found.reads} reads meanwhile, none torn"
    )


@pytest.mark.parametrize("step", STEPS, ids=[step.name.replace(" ", "-") for step in STEPS])
def test_every_call_is_a_kill_point(step: Step, tmp_path: pathlib.Path, tally: Tally) -> None:
    bench = Bench(tmp_path)
    bench.begin(step)
    old = bench.files()
    points = recorded(bench, tmp_path / "log")
    new = bench.files()
    assert old != new
    assert len(points) > 30
    for call, number in points:
        bench.reset()
        inject = f"inject={call}:signal=KILL:when={number}"
        with Reader(bench, versions(old, new)) as reader:
            run = bench.start("strace", "-f", "-qq", "-e", f"trace={call}", "-e", inject, "-o", "/dev/null")
            run.communicate(timeout=120)
        assert run.returncode != 0, f"{call} {number} did not kill"
        assert reader.torn == []
        tally.reads += reader.reads
        check(bench, old, new, step, tally)


def test_random_instants(tmp_path: pathlib.Path, tally: Tally) -> None:
    """Kills by the clock, spread over the part of a run in which it writes."""
    step = STEPS[1]
    bench = Bench(tmp_path)
    bench.begin(step)
    old = bench.files()
    begun = time.monotonic()
    bench.start().communicate(timeout=120)
    whole = time.monotonic() - begun
    new = bench.files()
    chance = random.Random(20_261_130)
    killed = 0
    for _number in range(RANDOM_KILLS):
        bench.reset()
        with Reader(bench, versions(old, new)) as reader, bench.start() as run:
            time.sleep(chance.uniform(0.5, 1.05) * whole)
            run.kill()
            run.communicate(timeout=120)
        assert reader.torn == []
        tally.reads += reader.reads
        if run.returncode == -9:
            killed += 1
        check(bench, old, new, step, tally)
    assert killed > RANDOM_KILLS / 3


def test_there_were_enough(tally: Tally) -> None:
    assert tally.kills >= 200
    assert tally.open_journals * 2 >= tally.kills
    assert tally.old and tally.new
    assert tally.reads > 1000
