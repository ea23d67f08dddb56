# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is remembered is used only where it is certainly right, and then it is what asking again would say."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import time
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory, _store
from ansible_collections.specdec.blackwell.plugins.module_utils._patchset import PatchRequest, apply, apply_all
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import run_request
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import (
    BASE,
    EDITS,
    ENTRY,
    IMPORT,
    METHOD,
    MODEL_FILE,
    Venv,
)

REGISTRY_FILE = "engine/registry.py"
ABSENT_BUT_OPTIONAL = {"file": MODEL_FILE, "in": "Nowhere", "base": "SupportsDraft", "required": False}
OBSOLETE = {
    "file": MODEL_FILE,
    "in": "Outer",
    "method": "def forward(self, x):\n    return 2\n",
    "obsolete_when": {"code": 'names = ["a", "b"]', "in": "Outer"},
}
OTHER_FILE = {"any_of": [{"file": "engine/gone.py", "base": "X", "in": "Y"}, {**BASE}]}
REPLACE = {"file": MODEL_FILE, "in": "Outer", "replace": '["a", "b"]', "with": '["a", "b", "c"]'}
CASES: dict[str, list[t.Any]] = {
    "several files": EDITS,
    "one": [METHOD],
    "already there": [{"file": MODEL_FILE, "import": {"from": "engine.interfaces", "names": ["SupportsLoRA"]}}, BASE],
    "left out": [IMPORT, ABSENT_BUT_OPTIONAL],
    "an alternative": [IMPORT, OTHER_FILE],
    "a replacement": [REPLACE, ENTRY],
    "with ids": [{**IMPORT, "id": "the import"}, {**ENTRY, "id": "the entry"}],
}


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Venv:
    found = Venv(tmp_path / "venv")
    found.install(version="1.0")
    return found


def ask(home: Venv, edits: list[t.Any] | None = None, **keys: t.Any) -> PatchRequest:
    return PatchRequest(name="draft", python=home.python, package="engine", edits=edits or EDITS, **keys)


class Counted:
    """The planner, with how often it was asked."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, request: dict[str, t.Any]) -> dict[str, t.Any]:
        self.count += 1
        return run_request(request)

    def asked_by(self, request: PatchRequest, *, check_mode: bool = True) -> int:
        self.count = 0
        apply(request, self, check_mode=check_mode)
        return self.count


def memory_of(home: Venv) -> pathlib.Path:
    return home.ledger / _memory.NAME


@pytest.mark.parametrize("edits", CASES.values(), ids=CASES)
@pytest.mark.parametrize("check_mode", (True, False))
def test_an_unchanged_run_is_not_planned_and_says_what_planning_says(
    home: Venv, edits: list[t.Any], check_mode: bool
) -> None:
    first = apply(ask(home, edits), run_request, check_mode=False)
    plan = Counted()
    remembered = apply(ask(home, edits), plan, check_mode=check_mode).as_dict()
    assert (plan.count, remembered["changed"], first.changed) == (0, False, True)
    memory_of(home).unlink()
    planned = apply(ask(home, edits), plan, check_mode=check_mode).as_dict()
    assert plan.count == 1
    assert planned == remembered
    assert planned["restart_needed"] is False


def test_a_process_that_runs_old_code_is_seen_by_a_remembered_run(home: Venv) -> None:
    apply(ask(home), check_mode=False)
    ledger = json.loads((home.ledger / "ledger.json").read_text())
    ledger["writes"] = {key: time.time() + 3600 for key in ledger["writes"]}
    (home.ledger / "ledger.json").write_text(json.dumps(ledger))
    import subprocess

    with subprocess.Popen(
        [home.python, "-c", f"import time; time.sleep(60)  # {home.root}", f"{home.root}/x"]
    ) as child:
        try:
            end = time.monotonic() + 10
            while not (found := apply(ask(home), check_mode=True)).older_processes and time.monotonic() < end:
                time.sleep(0.05)
        finally:
            child.kill()
    assert (found.older_processes, found.restart_needed, found.changed) == ([child.pid], True, False)


def test_two_patches_on_one_file_are_remembered_side_by_side(home: Venv) -> None:
    requests = [ask(home), PatchRequest(name="two", python=home.python, package="engine", edits=[METHOD])]
    plan = Counted()
    apply_all(requests, plan, check_mode=False)
    plan.count = 0
    remembered = [result.as_dict() for result in apply_all(requests, plan, check_mode=True)]
    assert plan.count == 0
    memory_of(home).unlink()
    assert [result.as_dict() for result in apply_all(requests, plan, check_mode=True)] == remembered
    assert plan.count == 2


def changes() -> dict[str, t.Callable[[Venv, PatchRequest, pytest.MonkeyPatch], PatchRequest]]:
    def a_byte(home: Venv, request: PatchRequest, patch: pytest.MonkeyPatch) -> PatchRequest:
        with (home.site / MODEL_FILE).open("ab") as stream:
            stream.write(b"# by hand\n")
        return request

    def the_spec(home: Venv, request: PatchRequest, patch: pytest.MonkeyPatch) -> PatchRequest:
        return ask(home, [*EDITS, METHOD])

    def the_code(home: Venv, request: PatchRequest, patch: pytest.MonkeyPatch) -> PatchRequest:
        patch.setattr(_memory, "shipped_code", lambda: "another")
        return request

    def no_known_code(home: Venv, request: PatchRequest, patch: pytest.MonkeyPatch) -> PatchRequest:
        patch.setattr(_memory, "shipped_code", lambda: None)
        return request

    def the_release(home: Venv, request: PatchRequest, patch: pytest.MonkeyPatch) -> PatchRequest:
        home.install(version="1.1")
        return request

    return {"a byte": a_byte, "spec": the_spec, "code": the_code, "unknown code": no_known_code, "release": the_release}


@pytest.mark.parametrize("change", changes().values(), ids=changes())
def test_whatever_differs_is_planned_anew(
    home: Venv, change: t.Callable[..., PatchRequest], monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(ask(home), check_mode=False)
    plan = Counted()
    assert plan.asked_by(ask(home)) == 0
    assert plan.asked_by(change(home, ask(home), monkeypatch)) > 0


def broken() -> dict[str, t.Callable[[bytes], bytes]]:
    def with_sections(change: t.Callable[[t.Any], t.Any]) -> t.Callable[[bytes], bytes]:
        def damage(data: bytes) -> bytes:
            sections = change(json.loads(data)["sections"])
            return json.dumps({"sha256": _memory.digest(sections), "sections": sections}).encode()

        return damage

    def answers(value: t.Any) -> t.Callable[[t.Any], t.Any]:
        def change(sections: t.Any) -> t.Any:
            for name in ("names", "plans"):
                for item in sections[name].values():
                    item["answer"] = value
            return sections

        return change

    return {
        "empty": lambda data: b"",
        "torn": lambda data: data[: len(data) // 2],
        "not JSON": lambda data: b"\xff{",
        "a list": lambda data: b"[]",
        "a changed answer": lambda data: data.replace(b'"present"', b'"missing"'),
        "no sections": with_sections(lambda sections: {}),
        "sections of another form": with_sections(lambda sections: {name: [] for name in sections}),
        "items of another form": with_sections(lambda sections: {name: {"x": 1} for name in sections}),
        "answers that are text": with_sections(answers("present")),
        "answers that are nothing": with_sections(answers(None)),
        "answers with too little": with_sections(answers([{}])),
        "answers of numbers": with_sections(answers([1, 2, 3])),
    }


@pytest.mark.parametrize("damage", broken().values(), ids=broken())
def test_a_damaged_memory_decides_nothing_and_is_made_anew(home: Venv, damage: t.Callable[[bytes], bytes]) -> None:
    apply(ask(home), check_mode=False)
    right = apply(ask(home), check_mode=True).as_dict()
    sound = memory_of(home).read_bytes()
    memory_of(home).write_bytes(damage(sound))
    plan = Counted()
    assert apply(ask(home), plan, check_mode=True).as_dict() == right
    assert plan.count == 1
    assert apply(ask(home), plan, check_mode=False).as_dict() == right
    assert plan.asked_by(ask(home)) == 0


@pytest.mark.parametrize("kind", ("folder", "link", "pipe"))
def test_what_is_no_file_in_its_place_is_no_memory(home: Venv, kind: str, tmp_path: pathlib.Path) -> None:
    apply(ask(home), check_mode=False)
    right = apply(ask(home), check_mode=True).as_dict()
    elsewhere = tmp_path / "elsewhere"
    shutil.move(str(memory_of(home)), str(elsewhere))
    if kind == "folder":
        memory_of(home).mkdir()
    elif kind == "link":
        memory_of(home).symlink_to(elsewhere)
    else:
        os.mkfifo(memory_of(home))
    for check_mode in (True, False):
        assert apply(ask(home), check_mode=check_mode).as_dict() == right


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can play several users")
def test_root_does_not_go_by_what_another_user_remembers(home: Venv) -> None:
    apply(ask(home), check_mode=False)
    plan = Counted()
    assert plan.asked_by(ask(home)) == 0
    for path in [home.ledger, *home.ledger.rglob("*")]:
        os.chown(path, 65534, 65534)
    with _store.Store(str(home.ledger), create=False) as store:
        assert store.owner == 65534
    assert plan.asked_by(ask(home)) == 1


def test_the_last_patch_takes_its_memory_along(home: Venv) -> None:
    apply(ask(home), check_mode=False)
    assert memory_of(home).exists()
    apply(PatchRequest(name="draft", python=home.python, package="engine", state="absent"), check_mode=False)
    assert not memory_of(home).exists()
