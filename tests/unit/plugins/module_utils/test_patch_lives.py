# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random lives of a venv: whatever happened, the bytes are those that a fresh host would have."""

from __future__ import annotations

import os
import pathlib
import random
import shutil
import tempfile
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Drift, Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._patch_status import status
from ansible_collections.specdec.blackwell.plugins.module_utils._patchset import PatchRequest, apply, apply_all
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import run_request
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import (
    BASE,
    ENTRY,
    FILES,
    IMPORT,
    METHOD,
    MODEL,
    MODEL_FILE,
    REGISTRY_FILE,
    Venv,
)

Edits = t.List[t.Dict[str, t.Any]]


def method(name: str, value: int) -> dict[str, t.Any]:
    return {"file": MODEL_FILE, "in": "Outer", "method": f"def {name}(self):\n    return {value}\n"}


# Patches that share edits, that stand on each other, and of which some have two specs.
SPECS: dict[str, list[Edits]] = {
    "a": [[IMPORT, BASE], [IMPORT, BASE, ENTRY]],
    "b": [[IMPORT, METHOD], [METHOD, ENTRY]],
    "c": [[method("one", 1)], [method("one", 2)], [method("one", 1), method("two", 2)]],
    "d": [[{"file": MODEL_FILE, "in": "Outer.draft", "insert": "y = 2", "at": "start"}]],
    "e": [[{"file": MODEL_FILE, "in": "Outer.one", "replace": "return $X", "with": "return [$X]"}]],
    "f": [
        [{"file": REGISTRY_FILE, "insert": "EXTRA = 1", "at": "end"}],
        [{"file": REGISTRY_FILE, "insert": "EXTRA = 2", "at": "end"}],
    ],
}
RELEASES = [
    ("1.0", dict(FILES)),
    ("2.0", {**FILES, MODEL_FILE: MODEL.replace(b"return x", b"return x + 1")}),
    ("3.0", {**FILES, MODEL_FILE: MODEL.replace(b'names = ["a", "b"]', b'names = ["a", "b", "c"]')}),
]


class Life:
    """A venv and what it should be: the release, and the patches on it in the order of their first application."""

    def __init__(self, root: pathlib.Path, seed: int) -> None:
        self.root = root
        self.chance = random.Random(seed)
        self.home = Venv(root / "venv")
        self.release = RELEASES[0]
        self.home.install("engine", *self.release)
        self.patches: dict[str, Edits] = {}
        self.log: list[str] = []
        self.counts: dict[str, int] = {}

    def request(self, home: Venv, name: str, edits: Edits | None) -> PatchRequest:
        state = "present" if edits is not None else "absent"
        return PatchRequest(name=name, edits=edits, python=home.python, package="engine", state=state)

    def step(self) -> None:
        kind = self.chance.choice(["on", "on", "on", "off", "off", "upgrade", "several"])
        before = self.home.tree()
        try:
            getattr(self, kind)()
        except (Drift, Refused) as error:
            self.log.append(f"  refused: {error.message[:150]}")
            self.count("refused")
            assert self.home.tree() == before

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def on(self) -> None:
        name = self.chance.choice(sorted(SPECS))
        edits = self.chance.choice(SPECS[name])
        self.log.append(f"on {name} {SPECS[name].index(edits)}")
        apply(self.request(self.home, name, edits), run_request, check_mode=False)
        self.count("revised" if self.patches.get(name, edits) != edits else "on")
        self.patches[name] = edits

    def several(self) -> None:
        names = self.chance.sample(sorted(SPECS), 3)
        chosen = {name: self.chance.choice(SPECS[name]) for name in names}
        self.log.append(f"several {[(name, SPECS[name].index(chosen[name])) for name in names]}")
        requests = [self.request(self.home, name, edits) for name, edits in chosen.items()]
        apply_all(requests, run_request, check_mode=False)
        self.patches.update(chosen)
        self.count("several")

    def off(self) -> None:
        name = self.chance.choice(sorted(SPECS))
        self.log.append(f"off {name}")
        apply(self.request(self.home, name, None), run_request, check_mode=False)
        self.patches.pop(name, None)
        self.count("off")

    def upgrade(self) -> None:
        """The installer wipes all patches; the play then applies them again, in its order."""
        self.release = self.chance.choice(RELEASES)
        self.log.append(f"upgrade to {self.release[0]}")
        self.home.install("engine", *self.release)
        wanted, self.patches = self.patches, {}
        for name, edits in wanted.items():
            apply(self.request(self.home, name, edits), run_request, check_mode=False)
            self.patches[name] = edits
        self.count("upgrade")

    def fresh(self, number: int) -> dict[str, bytes]:
        """A host that never had anything but this release and these patches, in the ledger's order."""
        other = Venv(self.root / f"fresh{number}")
        other.install("engine", *self.release)
        for name in [patch["name"] for patch in status(python=self.home.python)["patches"]]:
            apply(self.request(other, name, self.patches[name]), run_request, check_mode=False)
        return other.tree()


@pytest.fixture
def place() -> t.Iterator[pathlib.Path]:
    """In memory where that is to be had: these runs are many, and what a sync costs is not their matter."""
    memory = "/dev/shm"
    found = tempfile.mkdtemp(prefix="specdec-tests-", dir=memory if os.access(memory, os.W_OK) else None)
    yield pathlib.Path(found).resolve()
    shutil.rmtree(found)


@pytest.mark.parametrize("seed", range(8))
def test_a_random_life(place: pathlib.Path, seed: int) -> None:
    life = Life(place, seed)
    for number in range(20):
        life.step()
        patches = status(python=life.home.python)["patches"]
        assert {patch["name"]: patch["state"] for patch in patches} == dict.fromkeys(life.patches, "whole"), life.log
        if number % 5 == 4:
            assert life.home.tree() == life.fresh(number), life.log
            for name, edits in life.patches.items():
                assert not apply(life.request(life.home, name, edits), run_request, check_mode=False).changed, life.log
    # What stands on another goes first: the latest, then the one before it.
    for name in [patch["name"] for patch in reversed(status(python=life.home.python)["patches"])]:
        apply(life.request(life.home, name, None), run_request, check_mode=False)
    assert {path: life.home.read(path) for path in FILES} == life.release[1], life.log
    assert life.counts.get("on") and life.counts.get("off")
