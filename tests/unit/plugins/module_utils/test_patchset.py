# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The life of patches in a real venv, with the real planner."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory, _patch_status, _store
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Drift, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._patch_status import status
from ansible_collections.specdec.blackwell.plugins.module_utils._patchset import (
    PatchRequest,
    PatchResult,
    apply,
    apply_all,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import run_request
from ansible_collections.specdec.blackwell.plugins.module_utils._processes import older_processes
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import (
    BASE,
    EDITS,
    ENTRY,
    FILES,
    IMPORT,
    METHOD,
    MODEL,
    MODEL_FILE,
    REGISTRY,
    REGISTRY_FILE,
    Venv,
    in_child,
    sha,
    snapshot,
)

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can play several users")


@pytest.fixture
def home(tmp_path: pathlib.Path) -> Venv:
    found = Venv(tmp_path / "venv")
    found.install(version="1.0")
    return found


def ask(home: Venv, **keys: t.Any) -> PatchRequest:
    given: dict[str, t.Any] = {"name": "draft", "python": home.python, "package": "engine", "edits": EDITS}
    if keys.get("state") == "absent":
        del given["edits"]
    given.update(keys)
    return PatchRequest(**given)


def put_on(home: Venv, **keys: t.Any) -> PatchResult:
    """A run, after its check mode, which must write nothing and foresee the same; and a second run that has no work."""
    request = ask(home, **keys)
    before = snapshot(home.root.parent)
    foreseen = apply(request, run_request, check_mode=True)
    assert snapshot(home.root.parent) == before
    result = apply(request, run_request, check_mode=False)
    for key in ("changed", "skipped", "edits", "diff", "files", "distribution", "version"):
        assert getattr(foreseen, key) == getattr(result, key), key
    json.dumps(result.as_dict())
    assert result.changed == bool(result.diff) == any(item["changed"] for item in result.files)
    after = snapshot(home.site)
    again = apply(request, run_request, check_mode=False)
    assert not again.changed
    assert snapshot(home.site) == after
    says_the_same_without_memory(home, request)
    return result


def says_the_same_without_memory(home: Venv, request: PatchRequest) -> None:
    remembered = apply(request, run_request, check_mode=True).as_dict()
    kept = {path: path.with_name("aside") for path in home.root.parent.rglob(_memory.NAME)}
    for path, aside in kept.items():
        path.rename(aside)
    assert apply(request, run_request, check_mode=True).as_dict() == remembered
    for path, aside in kept.items():
        aside.rename(path)


def take_back(home: Venv, **keys: t.Any) -> PatchResult:
    return put_on(home, state="absent", **keys)


def fails(home: Venv, kind: type[SpecdecError], said: str, **keys: t.Any) -> SpecdecError:
    """A run that fails, in check mode with the same words, and changes nothing but at most the lock."""
    before = home.tree(), ledger_text(home)
    messages = []
    for check_mode in (True, False):
        with pytest.raises(kind, match=said) as caught:
            apply(ask(home, **keys), run_request, check_mode=check_mode)
        messages.append(caught.value.message)
    assert messages[0] == messages[1]
    assert (home.tree(), ledger_text(home)) == before
    json.dumps(caught.value.details)
    return caught.value


def ledger_text(home: Venv) -> str | None:
    path = home.ledger / "ledger.json"
    return path.read_text() if path.exists() else None


def ledger_of(home: Venv) -> t.Any:
    return json.loads(ledger_text(home) or "null")


def states(result: PatchResult) -> list[str]:
    return [edit["state"] for edit in result.edits]


def listed(home: Venv) -> dict[str, str]:
    return {patch["name"]: patch["state"] for patch in status(python=home.python)["patches"]}


# --- on and off


def test_on_and_off(home: Venv) -> None:
    original = home.tree()
    result = put_on(home, reason="why", upstream="https://example.org/1", drop_when=">=2")
    assert (result.changed, result.distribution, result.version) == (True, "engine", "1.0")
    assert states(result) == ["applied"] * 3
    assert b"class Outer(SupportsLoRA, SupportsDraft):" in home.read(MODEL_FILE)
    assert b'"draft": "engine.draft"' in home.read(REGISTRY_FILE)
    assert [item["path"] for item in result.files] == [str(home.site / MODEL_FILE), str(home.site / REGISTRY_FILE)]
    assert result.files[0]["before_sha256"] == sha(MODEL)
    assert result.files[0]["after_sha256"] == sha(home.read(MODEL_FILE))
    assert result.diff[0]["before"] == MODEL.decode()
    assert result.diff[0]["after"] == home.read(MODEL_FILE).decode()
    assert result.restart_needed

    (record,) = ledger_of(home)["patches"].values()
    expected = {
        "reason": "why",
        "upstream": "https://example.org/1",
        "drop_when": ">=2",
        "version": "1.0",
        "edits": EDITS,
    }
    assert {key: record[key] for key in expected} == expected
    assert [state["ours"] for state in record["states"]] == [True] * 3
    assert record["who"] and record["when"].endswith("Z")
    assert listed(home) == {"draft": "whole"}

    result = take_back(home)
    assert states(result) == ["reverted"] * 3
    assert home.tree() == original
    assert listed(home) == {}
    assert os.listdir(home.ledger / "originals") == []


def test_the_file_runs(home: Venv) -> None:
    put_on(home)
    code = (
        "from engine.model import Outer; from engine.interfaces import SupportsDraft as s; print(issubclass(Outer, s))"
    )
    assert subprocess.check_output([home.python, "-c", code]).decode().strip() == "True"


def test_nothing_is_left_in_the_package(home: Venv) -> None:
    before = set(home.tree())
    put_on(home)
    assert set(home.tree()) == before


def test_a_path_instead_of_a_package(home: Venv, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "app" / "config.py"
    path.parent.mkdir()
    path.write_bytes(MODEL)
    edit = {key: value for key, value in METHOD.items() if key != "file"}
    keys: dict[str, t.Any] = {"package": None, "path": str(path)}
    result = put_on(home, edits=[edit], **keys)
    assert [item["path"] for item in result.files] == [str(path)]
    assert b"def draft" in path.read_bytes()
    assert (result.version, result.distribution) == (None, None)
    assert listed(home) == {"draft": "whole"}
    take_back(home, **keys)
    assert path.read_bytes() == MODEL


def test_one_name_for_several_paths(home: Venv, tmp_path: pathlib.Path) -> None:
    edit = {key: value for key, value in METHOD.items() if key != "file"}
    paths = [tmp_path / "a.py", tmp_path / "b.py"]
    for path in paths:
        path.write_bytes(MODEL)
        put_on(home, edits=[edit], package=None, path=str(path))
    take_back(home, package=None, path=str(paths[0]))
    assert paths[0].read_bytes() == MODEL
    assert b"def draft" in paths[1].read_bytes()


def test_the_given_plan_is_what_runs(home: Venv) -> None:
    asked = []

    def plan(request: dict[str, t.Any]) -> dict[str, t.Any]:
        asked.append(request)
        return run_request(request)

    apply(ask(home), plan, check_mode=False)
    # Once to write, and once for what the next run will find.
    request, _after = asked
    assert set(request["files"]) == {MODEL_FILE, REGISTRY_FILE}
    assert request["files"][MODEL_FILE]["module"] == "engine.model"
    assert not apply(ask(home), plan, check_mode=False).changed
    assert len(asked) == 2
    apply(ask(home, name="other"), check_mode=False)


# --- the version gate


def test_outside_of_its_versions_it_is_skipped(home: Venv) -> None:
    result = put_on(home, version=">=0.16,<0.18")
    assert (result.changed, result.skipped, result.skip_reason) == (
        False,
        True,
        "engine 1.0 is not within >=0.16,<0.18",
    )
    assert not home.ledger.exists()


def test_within_its_versions(home: Venv) -> None:
    assert put_on(home, version=">=0.16,<2").changed
    assert take_back(home, version="<0.1").changed


def test_a_version_that_nobody_states(home: Venv) -> None:
    shutil.rmtree(home.site / "engine-1.0.dist-info")
    fails(home, SpecdecError, "no distribution says that it owns engine", version=">=1")


# --- what is there already


def test_native_changes_no_byte_and_is_noted_as_not_ours(home: Venv) -> None:
    put_on(home)
    patched = {MODEL_FILE: home.read(MODEL_FILE), REGISTRY_FILE: home.read(REGISTRY_FILE)}
    shutil.rmtree(home.ledger)
    home.install(version="2.0", files={**FILES, **patched})
    inodes = snapshot(home.site)
    result = put_on(home)
    assert (result.changed, states(result)) == (False, ["present"] * 3)
    assert snapshot(home.site) == inodes
    (patch,) = status(python=home.python)["patches"]
    assert (patch["state"], patch["ours"]) == ("obsolete", False)
    result = take_back(home)
    assert (result.changed, states(result)) == (False, ["skipped"] * 3)
    assert snapshot(home.site) == inodes


def test_what_a_person_did_before_stays(home: Venv) -> None:
    by_hand = MODEL.replace(b"Outer(SupportsLoRA)", b"Outer( SupportsLoRA,SupportsDraft )")
    home.put({MODEL_FILE: by_hand})
    result = put_on(home)
    assert states(result) == ["applied", "present", "applied"]
    result = take_back(home)
    assert states(result) == ["reverted", "skipped", "reverted"]
    assert home.read(MODEL_FILE) == by_hand


@needs_root
def test_a_ledger_that_cannot_note_what_was_there_is_a_warning(shared: Venv) -> None:
    put_on(shared)
    shutil.rmtree(shared.ledger)

    def run() -> None:
        result = apply(ask(shared), run_request, check_mode=False)
        assert (result.changed, states(result)) == (False, ["present"] * 3)
        assert any("the ledger could not note that" in warning for warning in result.warnings)

    assert in_child(run, uid=NOBODY) == 0
    assert not shared.ledger.exists()


# --- drift


def test_drift_writes_nothing_at_all(home: Venv) -> None:
    edits = [*EDITS, {"file": MODEL_FILE, "in": "Outr", "base": "X"}]
    error = fails(home, Drift, "draft: 1 of 4 edits cannot be applied to engine 1.0; nothing was written", edits=edits)
    assert [edit["state"] for edit in error.details["edits"]] == ["pristine"] * 3 + ["drifted"]
    assert not home.ledger.exists()


def test_drift_of_an_optional_edit_is_said(home: Venv) -> None:
    result = put_on(home, edits=[*EDITS, {"file": MODEL_FILE, "in": "Outr", "base": "X", "required": False}])
    assert states(result) == ["applied"] * 3 + ["drifted"]
    assert any("was left out (required: false)" in warning for warning in result.warnings)
    assert listed(home) == {"draft": "whole"}


def test_a_file_that_does_not_parse(home: Venv) -> None:
    home.put({MODEL_FILE: MODEL + b"  broken = (\n"})
    fails(home, BadInput, MODEL_FILE)


# --- bad input


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"name": ""}, "'name' is the patch's key"),
        ({"name": "two\nlines"}, "one line of text"),
        ({"path": "/x.py"}, "either 'package' or 'path'"),
        ({"package": None}, "either 'package' or 'path'"),
        ({"state": "gone"}, "present or absent"),
        ({"edits": []}, "needs 'edits'"),
        ({"package": None, "path": "/x.py", "version": ">=1"}, "'version' is that of the distribution"),
        ({"package": "nothing"}, "has no package 'nothing'"),
        ({"python": "/nowhere/python"}, "there is no interpreter"),
        ({"version": "latest"}, "not a version specifier"),
        ({"ledger_dir": "SITE/engine/ledger"}, "'ledger_dir' is inside the package engine"),
        (
            {"package": None, "path": "/nowhere/x.py", "edits": [{"in": "A", "base": "B"}]},
            "there is no file /nowhere/x.py",
        ),
    ],
)
def test_bad_input(home: Venv, keys: dict[str, t.Any], said: str) -> None:
    keys = {key: value.replace("SITE", str(home.site)) if key == "ledger_dir" else value for key, value in keys.items()}
    fails(home, SpecdecError, said, **keys)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("other/x.py", "is not in engine"),
        ("/etc/passwd", "path below"),
        ("engine/../../x.py", "without '..'"),
        ("engine//model.py", "path below"),
        ("", "needs 'file'|every edit"),
        ("engine", "not a regular file"),
    ],
)
def test_a_file_outside_of_the_package(home: Venv, file: str, said: str) -> None:
    fails(home, SpecdecError, said, edits=[{"file": file, "in": "A", "base": "B"}])


def test_a_compiled_twin_makes_the_source_idle(home: Venv) -> None:
    home.put({"engine/model.cpython-311-x86_64-linux-gnu.so": b""})
    fails(home, Refused, "is never run: .*so is what Python imports")


# --- links


def test_a_linked_file_is_written_through(home: Venv, tmp_path: pathlib.Path) -> None:
    (home.site / MODEL_FILE).rename(tmp_path / "real.py")
    (home.site / MODEL_FILE).symlink_to(tmp_path / "real.py")
    fails(home, Refused, "'follow' is false", follow=False)
    assert put_on(home).links == [f"{home.site / MODEL_FILE} -> {tmp_path / 'real.py'}"]
    assert (home.site / MODEL_FILE).is_symlink()
    assert b"SupportsDraft" in (tmp_path / "real.py").read_bytes()
    take_back(home)
    assert (tmp_path / "real.py").read_bytes() == MODEL
    assert (home.site / MODEL_FILE).is_symlink()


def test_a_linked_package_is_written_through(home: Venv, tmp_path: pathlib.Path) -> None:
    (home.site / "engine").rename(tmp_path / "engine")
    (home.site / "engine").symlink_to(tmp_path / "engine")
    fails(home, Refused, "'follow' is false", follow=False)
    assert put_on(home).links == [f"{home.site / 'engine'} -> {tmp_path / 'engine'}"]
    assert b"SupportsDraft" in (tmp_path / MODEL_FILE).read_bytes()
    take_back(home)
    assert (tmp_path / MODEL_FILE).read_bytes() == MODEL


def test_two_names_of_one_file(home: Venv) -> None:
    (home.site / "engine" / "alias.py").symlink_to("model.py")
    fails(home, BadInput, "are one file", edits=[BASE, {**METHOD, "file": "engine/alias.py"}])


def test_hard_links_are_broken(home: Venv, tmp_path: pathlib.Path) -> None:
    """As uv makes them: the cache and a second venv keep their bytes."""
    second = Venv(tmp_path / "second")
    second.install()
    for path in FILES:
        (second.site / path).unlink()
        os.link(home.site / path, second.site / path)
        os.link(home.site / path, tmp_path / path.replace("/", "-"))
    before = second.tree()
    result = put_on(home)
    assert [item["hard_links"] for item in result.files] == [3, 3]
    assert second.tree() == before
    assert (tmp_path / "engine-model.py").read_bytes() == MODEL
    take_back(home)
    assert second.tree() == before == {**home.tree()}


# --- revision


def test_a_changed_spec_takes_the_old_one_back_first(home: Venv) -> None:
    put_on(home)
    result = put_on(home, edits=[METHOD])
    assert result.changed
    assert b"def draft" in home.read(MODEL_FILE)
    assert b"SupportsDraft" not in home.read(MODEL_FILE)
    assert home.read(REGISTRY_FILE) == REGISTRY
    assert list(ledger_of(home)["files"]) == [str(home.site / MODEL_FILE)]
    take_back(home)
    assert home.read(MODEL_FILE) == MODEL


def test_a_revised_value(home: Venv) -> None:
    """What a text patch leaves behind: the value changed, so neither old nor new text is found."""
    put_on(home, edits=[ENTRY])
    revised = {"file": REGISTRY_FILE, "element": {"to": "MODELS", "key": '"draft"', "value": '"engine.better"'}}
    put_on(home, edits=[revised])
    assert home.read(REGISTRY_FILE).count(b'"draft"') == 1
    assert b"engine.better" in home.read(REGISTRY_FILE)
    take_back(home)
    assert home.read(REGISTRY_FILE) == REGISTRY


def test_only_the_reason_changes(home: Venv) -> None:
    put_on(home, reason="one")
    inodes = snapshot(home.site)
    result = put_on(home, reason="two")
    assert not result.changed
    assert snapshot(home.site) == inodes
    (record,) = ledger_of(home)["patches"].values()
    assert record["reason"] == "two"
    assert [state["ours"] for state in record["states"]] == [True] * 3


def test_a_second_run_does_not_touch_the_ledger(home: Venv) -> None:
    put_on(home)
    before = snapshot(home.ledger)
    time.sleep(1.1)
    put_on(home)
    assert {path: item for path, item in snapshot(home.ledger).items() if not path.endswith("/lock")} == {
        path: item for path, item in before.items() if not path.endswith("/lock")
    }


def test_a_revision_that_does_not_apply_leaves_the_old_one(home: Venv) -> None:
    put_on(home)
    fails(home, Drift, "cannot be applied", edits=[{"file": MODEL_FILE, "in": "Nowhere", "base": "X"}])
    assert listed(home) == {"draft": "whole"}


# --- several patches on one file


def test_two_patches_go_in_any_order(tmp_path: pathlib.Path) -> None:
    names = {"one": [IMPORT, BASE], "two": [METHOD, ENTRY], "three": [{"file": MODEL_FILE, "import": {"module": "os"}}]}
    for order in (["one", "two", "three"], ["three", "one", "two"], ["two", "three", "one"], ["three", "two", "one"]):
        home = Venv(tmp_path / "-".join(order))
        home.install()
        original = home.tree()
        for name, edits in names.items():
            put_on(home, name=name, edits=edits)
        left = dict(names)
        for name in order:
            take_back(home, name=name)
            del left[name]
            assert listed(home) == dict.fromkeys(sorted(left, key=list(names).index), "whole")
        assert home.tree() == original


def test_a_revision_keeps_its_place_so_what_stands_on_it_goes_on_standing(home: Venv) -> None:
    put_on(home, name="under", edits=[METHOD])
    over = {"file": MODEL_FILE, "in": "Outer.draft", "insert": "y = 2", "at": "start"}
    put_on(home, name="over", edits=[over])
    put_on(home, name="under", edits=[METHOD, IMPORT])
    assert listed(home) == {"under": "whole", "over": "whole"}
    fails(home, Refused, "the former under cannot be taken back alone: over was applied", name="under", edits=[IMPORT])
    take_back(home, name="over")
    take_back(home, name="under")
    assert home.read(MODEL_FILE) == MODEL


def test_hosts_converge_whatever_they_had_before(home: Venv, tmp_path: pathlib.Path) -> None:
    """A revised host and a fresh one end with the same bytes."""
    put_on(home, name="one", edits=[METHOD])
    put_on(home, name="two", edits=[IMPORT, BASE])
    revised = [{"file": MODEL_FILE, "in": "Outer", "method": "def draft(self):\n    return 2\n"}]
    put_on(home, name="one", edits=revised)
    fresh = Venv(tmp_path / "fresh")
    fresh.install()
    put_on(fresh, name="one", edits=revised)
    put_on(fresh, name="two", edits=[IMPORT, BASE])
    assert home.tree() == fresh.tree()


def test_what_is_left_is_as_if_the_other_had_never_been(home: Venv, tmp_path: pathlib.Path) -> None:
    put_on(home, name="one", edits=[IMPORT, BASE])
    put_on(home, name="two", edits=[METHOD])
    take_back(home, name="one")
    alone = Venv(tmp_path / "alone")
    alone.install()
    put_on(alone, name="two", edits=[METHOD])
    assert home.tree() == alone.tree()


def test_a_patch_on_top_of_another_holds_it(home: Venv) -> None:
    put_on(home, name="under", edits=[METHOD])
    over = {"file": MODEL_FILE, "in": "Outer.draft", "replace": "return 1", "with": "return 2"}
    put_on(home, name="over", edits=[over])
    error = fails(
        home, Refused, "under cannot be taken back alone: over was applied on top of it", name="under", state="absent"
    )
    assert error.details["blocked_by"] == "over"
    take_back(home, name="over")
    take_back(home, name="under")
    assert home.read(MODEL_FILE) == MODEL


def test_a_shared_edit_goes_with_the_last(home: Venv) -> None:
    put_on(home, name="one", edits=[IMPORT, BASE])
    result = put_on(home, name="two", edits=[IMPORT, METHOD])
    assert states(result) == ["present", "applied"]
    result = take_back(home, name="one")
    assert states(result) == ["skipped", "reverted"]
    assert b"SupportsDraft" in home.read(MODEL_FILE)
    two = next(record for record in ledger_of(home)["patches"].values() if record["name"] == "two")
    assert [state["ours"] for state in two["states"]] == [True, True]
    take_back(home, name="two")
    assert home.read(MODEL_FILE) == MODEL


def test_a_patch_that_found_all_of_it_there_keeps_it(home: Venv) -> None:
    put_on(home, name="one", edits=[IMPORT, BASE])
    assert not put_on(home, name="two", edits=[IMPORT, BASE]).changed
    assert not take_back(home, name="one").changed
    assert listed(home) == {"two": "whole"}
    take_back(home, name="two")
    assert home.read(MODEL_FILE) == MODEL


# --- several patches in one go


def test_a_set_of_patches_goes_on_in_one_transaction(home: Venv) -> None:
    requests = [
        ask(home, name="one", edits=[IMPORT, BASE]),
        ask(home, name="two", edits=[IMPORT, METHOD]),
        ask(home, name="three", edits=[ENTRY], version=">=9"),
    ]
    before = snapshot(home.root)
    foreseen = apply_all(requests, run_request, check_mode=True)
    assert snapshot(home.root) == before
    results = apply_all(requests, run_request, check_mode=False)
    assert [result.diff for result in foreseen] == [result.diff for result in results]
    assert [states(result) for result in results] == [["applied", "applied"], ["present", "applied"], []]
    assert [result.skipped for result in results] == [False, False, True]
    # Each shows its own part, on what those before it made.
    assert results[1].diff[0]["before"] == results[0].diff[0]["after"]
    assert results[1].diff[0]["after"] == home.read(MODEL_FILE).decode()
    assert not any(result.changed for result in apply_all(requests, run_request, check_mode=False))
    assert listed(home) == {"one": "whole", "two": "whole"}
    back = [ask(home, name=name, state="absent") for name in ("one", "two")]
    apply_all(back, run_request, check_mode=False)
    assert home.read(MODEL_FILE) == MODEL
    assert ledger_of(home)["files"] == {}


def test_a_set_of_patches_is_all_or_nothing(home: Venv) -> None:
    before = home.tree()
    requests = [ask(home, name="one"), ask(home, name="two", edits=[{"file": MODEL_FILE, "in": "No", "base": "X"}])]
    for check_mode in (True, False):
        with pytest.raises(Drift, match="two: the edit cannot be applied"):
            apply_all(requests, run_request, check_mode=check_mode)
    assert home.tree() == before
    assert not home.ledger.exists()


def test_a_set_names_each_patch_once_and_one_ledger(home: Venv, tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadInput, match="two patches of one name"):
        apply_all([ask(home), ask(home)], run_request, check_mode=False)
    with pytest.raises(BadInput, match="one ledger"):
        apply_all([ask(home), ask(home, name="x", ledger_dir=str(tmp_path))], run_request, check_mode=False)
    assert apply_all([], run_request, check_mode=False) == []


# --- upgrades


def test_an_upgraded_engine_is_patched_anew_and_never_gets_the_old_backup(home: Venv) -> None:
    put_on(home)
    upgraded = {**FILES, MODEL_FILE: MODEL.replace(b"return x", b"return x + 1")}
    home.install(version="2.0", files=upgraded)
    assert listed(home) == {"draft": "gone"}
    result = put_on(home)
    assert (result.changed, result.version, states(result)) == (True, "2.0", ["applied"] * 3)
    assert b"return x + 1" in home.read(MODEL_FILE)
    take_back(home)
    assert home.read(MODEL_FILE) == upgraded[MODEL_FILE]


def test_taking_back_after_an_upgrade_changes_nothing(home: Venv) -> None:
    put_on(home)
    upgraded = {**FILES, MODEL_FILE: MODEL.replace(b"return x", b"return x + 1")}
    home.install(version="2.0", files=upgraded)
    before = home.tree()
    result = take_back(home)
    assert not result.changed
    assert any("was replaced since" in warning for warning in result.warnings) or listed(home) == {}
    assert home.tree() == before


def test_a_reinstall_of_the_same_release(home: Venv) -> None:
    put_on(home)
    home.install(version="1.0")
    assert put_on(home).changed
    take_back(home)
    assert home.read(MODEL_FILE) == MODEL


def test_one_file_reinstalled(home: Venv) -> None:
    put_on(home)
    home.put({MODEL_FILE: MODEL})
    assert listed(home) == {"draft": "drifted"}
    result = put_on(home)
    assert states(result) == ["applied", "applied", "present"]
    (record,) = ledger_of(home)["patches"].values()
    assert [state["ours"] for state in record["states"]] == [True] * 3
    take_back(home)
    assert (home.read(MODEL_FILE), home.read(REGISTRY_FILE)) == (MODEL, REGISTRY)


def test_an_upgrade_that_has_it_natively(home: Venv) -> None:
    put_on(home)
    native = {path: home.read(path) + b"\n# more\n" for path in (MODEL_FILE, REGISTRY_FILE)}
    home.install(version="2.0", files={**FILES, **native})
    assert listed(home) == {"draft": "obsolete"}
    result = put_on(home)
    assert (result.changed, states(result)) == (False, ["present"] * 3)
    take_back(home)
    assert home.read(MODEL_FILE) == native[MODEL_FILE]


def test_a_checkout_in_the_tree_of_an_editable_install(home: Venv, tmp_path: pathlib.Path) -> None:
    """The version says nothing there; that nothing of ours is left does."""
    home.uninstall()
    tree = tmp_path / "src"
    for path, data in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(data)
    (home.site / "__editable__.engine.pth").write_text(f"{tree}\n")
    home.metadata("engine", "1.0", {"__editable__.engine.pth": b""})
    put_on(home)
    assert b"SupportsDraft" in (tree / MODEL_FILE).read_bytes()
    (tree / MODEL_FILE).write_bytes(MODEL.replace(b"return x", b"return -x"))
    assert put_on(home).changed
    take_back(home)
    assert (tree / MODEL_FILE).read_bytes() == MODEL.replace(b"return x", b"return -x")


def test_an_alternative_in_another_file_is_taken_after_an_upgrade(home: Venv) -> None:
    """Part of the engine moved: the edit moves along, and the place where it was is given back."""
    edits: list[dict[str, t.Any]] = [
        {"any_of": [{"file": "engine/better.py", "in": "Outer", "base": "New"}, {**BASE, "base": "New"}]}
    ]
    put_on(home, edits=edits)
    assert b"New" in home.read(MODEL_FILE)
    home.put({"engine/better.py": MODEL})
    result = put_on(home, edits=edits)
    assert {os.path.basename(item["path"]) for item in result.files if item["changed"]} == {"better.py", "model.py"}
    assert home.read(MODEL_FILE) == MODEL
    assert b"New" in home.read("engine/better.py")
    take_back(home)
    assert home.read("engine/better.py") == MODEL
    assert ledger_of(home)["files"] == {}


def test_the_engine_moves_within_its_venv(home: Venv, tmp_path: pathlib.Path) -> None:
    """As from one Python's lib to the next's, or to an editable tree: the old place is given back."""
    put_on(home)
    shutil.copytree(home.site / "engine", tmp_path / "src" / "engine")
    for path, data in FILES.items():
        (tmp_path / "src" / path).write_bytes(data)
    shutil.move(str(home.site / "engine"), str(home.site / "engine_old"))
    (home.site / "engine").mkdir()
    shutil.move(str(home.site / "engine_old" / "model.py"), str(home.site / "engine" / "model.py"))
    (home.site / "a.pth").write_text(f"{tmp_path / 'src'}\n")
    put_on(home)
    assert home.read(MODEL_FILE) == MODEL
    assert b"SupportsDraft" in (tmp_path / "src" / MODEL_FILE).read_bytes()
    take_back(home)
    assert (tmp_path / "src" / MODEL_FILE).read_bytes() == MODEL
    assert ledger_of(home)["files"] == {}
    assert status(python=home.python)["ledger_state"] == "ok"


# --- edited by hand


def edit_by_hand(home: Venv) -> bytes:
    edited = home.read(MODEL_FILE).replace(b"return x", b"return x  # mine")
    home.put({MODEL_FILE: edited})
    return edited


def test_a_hand_edit_elsewhere_is_no_reason_to_fail_when_there_is_nothing_to_do(home: Venv) -> None:
    put_on(home)
    edited = edit_by_hand(home)
    result = put_on(home)
    assert (result.changed, states(result)) == (False, ["present"] * 3)
    assert any("changed by hand" in warning for warning in result.warnings)
    assert home.read(MODEL_FILE) == edited


def test_a_hand_edit_is_not_overwritten(home: Venv) -> None:
    put_on(home)
    edit_by_hand(home)
    for keys in ({"state": "absent"}, {"edits": [METHOD]}):
        error = fails(home, Refused, "changed by hand after the last run; nothing was written", **keys)
        (change,) = error.details["changed_by_hand"]
        assert "-        return x\n+        return x  # mine" in change


def test_force_overwrites_a_hand_edit_and_the_diff_says_what_goes(home: Venv) -> None:
    put_on(home)
    patched = home.read(MODEL_FILE)
    edited = edit_by_hand(home)
    result = put_on(home, force=True)
    assert result.changed
    assert (result.diff[0]["before"], result.diff[0]["after"]) == (edited.decode(), patched.decode())
    assert home.read(MODEL_FILE) == patched
    edit_by_hand(home)
    take_back(home, force=True)
    assert home.read(MODEL_FILE) == MODEL


def test_our_edit_undone_by_hand_in_a_file_that_has_another(home: Venv) -> None:
    put_on(home)
    home.put({MODEL_FILE: home.read(MODEL_FILE).replace(b", SupportsDraft)", b")")})
    fails(home, Refused, "changed by hand")
    assert listed(home) == {"draft": "drifted"}
    put_on(home, force=True)
    assert listed(home) == {"draft": "whole"}


# --- the ledger itself


def test_a_lost_ledger_the_state_is_read_from_the_code(home: Venv) -> None:
    put_on(home)
    patched = home.tree()
    shutil.rmtree(home.ledger)
    result = put_on(home)
    assert (result.changed, states(result)) == (False, ["present"] * 3)
    assert home.tree() == patched


def test_a_lost_ledger_cannot_give_anything_back(home: Venv) -> None:
    put_on(home)
    shutil.rmtree(home.ledger)
    fails(
        home,
        Refused,
        "is in the code, but the ledger .* does not exist.*reinstall engine 1.0",
        state="absent",
        edits=EDITS,
    )
    assert not take_back(home).changed


def test_absent_where_nothing_ever_was(home: Venv) -> None:
    result = take_back(home, edits=EDITS)
    assert (result.changed, states(result)) == (False, ["skipped"] * 3)
    assert not home.ledger.exists()


def test_absent_on_a_release_that_has_it_natively(home: Venv) -> None:
    put_on(home)
    native = {path: home.read(path) for path in (MODEL_FILE, REGISTRY_FILE)}
    shutil.rmtree(home.ledger)
    home.install(version="2.0", files={**FILES, **native})
    assert not take_back(home, edits=EDITS).changed


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"format": 1}', '{"format": 1, "patches": {"x": {}}, "files": {}, "writes": {}}']
)
def test_a_damaged_ledger(home: Venv, text: str) -> None:
    put_on(home)
    (home.ledger / "ledger.json").write_text(text)
    assert status(python=home.python)["ledger_state"] == "corrupt"
    fails(home, Refused, "is damaged, so what draft changed is not known", state="absent")
    fails(home, Refused, "is in the code, but the ledger .* is damaged", state="absent", edits=EDITS)
    result = put_on(home)
    assert (result.changed, states(result)) == (False, ["present"] * 3)
    assert any("damaged" in warning for warning in result.warnings)
    kept = [path.read_text() for path in home.ledger.glob("ledger.json.damaged-*")]
    assert kept == [text]
    # The originals of before stay for whoever mends it.
    assert sha(MODEL) in os.listdir(home.ledger / "originals")
    assert listed(home) == {"draft": "whole"}


def test_a_ledger_of_a_newer_release(home: Venv) -> None:
    put_on(home)
    (home.ledger / "ledger.json").write_text('{"format": 99}')
    fails(home, SpecdecError, "written by a newer release")


def test_a_lost_original(home: Venv) -> None:
    put_on(home)
    (home.ledger / "originals" / sha(MODEL)).unlink()
    fails(home, SpecdecError, "is lost, so the file it belongs to cannot be given back. Reinstall", state="absent")


def test_a_damaged_original(home: Venv) -> None:
    put_on(home)
    (home.ledger / "originals" / sha(MODEL)).write_bytes(b"evil")
    fails(home, SpecdecError, "is damaged", state="absent")
    home.install()
    put_on(home)
    assert (home.ledger / "originals" / sha(MODEL)).read_bytes() == MODEL


def test_an_original_is_no_more_readable_than_its_file(home: Venv) -> None:
    (home.site / MODEL_FILE).chmod(0o600)
    put_on(home)
    assert os.stat(home.ledger / "originals" / sha(MODEL)).st_mode & 0o777 == 0o600
    assert os.stat(home.ledger / "originals" / sha(REGISTRY)).st_mode & 0o777 == 0o644


def test_a_ledger_elsewhere(home: Venv, tmp_path: pathlib.Path) -> None:
    elsewhere = str(tmp_path / "state" / "ledger")
    put_on(home, ledger_dir=elsewhere)
    assert not home.ledger.exists()
    assert [patch["state"] for patch in status(ledger_dir=elsewhere)["patches"]] == ["whole"]
    take_back(home, ledger_dir=elsewhere)
    assert home.read(MODEL_FILE) == MODEL


def test_where_the_ledger_is(home: Venv, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import probe

    assert _store.default_folder(probe(home.python)) == str(home.ledger)
    base = probe(os.path.join(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert _store.default_folder(base) == "/var/lib/specdec"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert _store.default_folder(base) == str(tmp_path / "specdec")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/x")
    assert _store.default_folder(base) == "/home/x/.local/state/specdec"


# --- the engine is gone


def test_after_the_engine_was_removed(home: Venv) -> None:
    put_on(home)
    home.uninstall()
    (patch,) = status(python=home.python)["patches"]
    assert (patch["state"], patch["why"]) == ("gone", "the package engine is not installed any more")
    assert patch["version"] == {"then": "1.0", "now": None}
    result = apply(ask(home, state="absent"), run_request, check_mode=False)
    assert not result.changed
    assert [edit["message"] for edit in result.edits] == ["the file is gone or was replaced since"] * 3
    assert len(result.warnings) == 2
    assert listed(home) == {}


def test_after_the_interpreter_was_removed(home: Venv) -> None:
    put_on(home)
    shutil.rmtree(home.root / "bin")
    shutil.rmtree(home.root / "lib")
    (patch,) = status(python=home.python)["patches"]
    assert (patch["state"], patch["why"]) == ("gone", f"there is no interpreter {home.python} any more")
    assert not apply(ask(home, state="absent"), run_request, check_mode=False).changed
    assert status(python=home.python)["patches"] == []


def test_the_files_come_back_even_without_an_interpreter(home: Venv) -> None:
    put_on(home)
    shutil.rmtree(home.root / "bin")
    assert apply(ask(home, state="absent"), check_mode=False).changed
    assert home.read(MODEL_FILE) == MODEL


def test_after_the_whole_venv_was_removed(home: Venv) -> None:
    put_on(home)
    shutil.rmtree(home.root)
    assert not apply(ask(home, state="absent"), run_request, check_mode=False).changed
    with pytest.raises(BadInput, match="there is no interpreter"):
        status(python=home.python)


def test_a_leftover_folder_after_the_uninstall(home: Venv) -> None:
    put_on(home)
    (home.site / "engine" / "junk.txt").write_text("")
    home.uninstall()
    assert not apply(ask(home, state="absent"), run_request, check_mode=False).changed


# --- status


def test_status_of_nothing(home: Venv) -> None:
    before = snapshot(home.root)
    answer = status(python=home.python)
    assert (answer["ledger_state"], answer["patches"]) == ("none", [])
    assert snapshot(home.root) == before


def test_status_tells_when_it_is_time_to_drop(home: Venv) -> None:
    put_on(home, drop_when=">=2", reason="why")
    (patch,) = status(python=home.python)["patches"]
    assert (patch["drop_due"], patch["reason"]) == (False, "why")
    home.install(version="2.1")
    (patch,) = status(python=home.python)["patches"]
    assert (patch["drop_due"], patch["version"]) == (True, {"then": "1.0", "now": "2.1"})


def test_status_of_a_shared_ledger_lists_all_and_one_environment_its_own(home: Venv, tmp_path: pathlib.Path) -> None:
    other = Venv(tmp_path / "other")
    other.install(version="3.0")
    shared = str(tmp_path / "shared")
    put_on(home, ledger_dir=shared)
    put_on(other, ledger_dir=shared)
    patches = status(ledger_dir=shared)["patches"]
    assert [patch["version"]["now"] for patch in patches] == ["1.0", "3.0"]
    assert [patch["state"] for patch in patches] == ["whole", "whole"]


def test_status_of_a_file_that_does_not_parse(home: Venv) -> None:
    put_on(home)
    home.put({MODEL_FILE: b"def broken(:\n"})
    (patch,) = status(python=home.python)["patches"]
    assert patch["state"] == "drifted"
    assert MODEL_FILE in patch["why"]


def test_status_plans_in_the_environments_interpreter(home: Venv) -> None:
    put_on(home)
    asked = []

    def plan(env: t.Any, request: dict[str, t.Any]) -> dict[str, t.Any]:
        asked.append(env.python)
        return run_request(request)

    assert [patch["state"] for patch in status(python=home.python, plan=plan)["patches"]] == ["whole"]
    assert asked == [home.python]
    assert _patch_status.status is status


# --- restart


def serve(home: Venv) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [home.python, "-c", "import time; print(1, flush=True); time.sleep(60)"], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    return child


def test_restart_is_needed_for_as_long_as_an_older_process_runs(home: Venv) -> None:
    with serve(home) as child:
        try:
            time.sleep(0.05)
            put_on(home)
            result = apply(ask(home), run_request, check_mode=False)
            assert (result.changed, result.restart_needed, result.older_processes) == (False, True, [child.pid])
            (patch,) = status(python=home.python)["patches"]
            assert patch["restart_needed"]
            assert apply(ask(home, state="absent"), run_request, check_mode=False).restart_needed
            assert apply(ask(home, state="absent"), run_request, check_mode=False).restart_needed
        finally:
            child.kill()
            child.wait()
    time.sleep(0.05)
    with serve(home) as child:
        try:
            result = apply(ask(home, state="absent"), run_request, check_mode=False)
            assert (result.restart_needed, result.older_processes) == (False, [])
        finally:
            child.kill()
            child.wait()


def test_a_process_that_changed_its_title_is_known_by_its_libraries(home: Venv) -> None:
    import _ctypes
    import ctypes

    assert ctypes
    library = home.site / "engine" / "fast.so"
    shutil.copy(_ctypes.__file__, library)
    base = os.path.realpath(sys.executable)
    code = f"import ctypes, time; ctypes.CDLL({str(library)!r}); print(1, flush=True); time.sleep(60)"
    with subprocess.Popen(["VLLM::EngineCore", "-c", code], executable=base, stdout=subprocess.PIPE) as child:
        try:
            assert child.stdout is not None
            child.stdout.readline()
            assert older_processes([str(home.root)], [], time.time() + 1) == [child.pid]
            assert older_processes([str(home.root)], [], time.time() - 1000) == []
        finally:
            child.kill()
            child.wait()


def test_of_a_shared_interpreter_only_what_runs_the_package_counts(tmp_path: pathlib.Path) -> None:
    code = "import time; print(1, flush=True); time.sleep(60)"
    (tmp_path / "engine").write_text(code)
    base = os.path.realpath(sys.executable)
    started = []
    try:
        for arguments in ([str(tmp_path / "engine"), "serve"], ["-c", code]):
            child = subprocess.Popen([base, *arguments], stdout=subprocess.PIPE)
            started.append(child)
            assert child.stdout is not None
            child.stdout.readline()
        assert older_processes([], ["engine"], time.time() + 1) == [started[0].pid]
    finally:
        for child in started:
            child.kill()
            child.communicate()


# --- users


@pytest.fixture
def shared() -> t.Iterator[Venv]:
    """A venv that other users can reach."""
    place = pathlib.Path(tempfile.mkdtemp(prefix="specdec-tests-")).resolve()
    place.chmod(0o755)
    found = Venv(place / "venv")
    # Where the base interpreter lies others may not go.
    (found.root / "bin" / "python").unlink()
    shutil.copy(os.path.realpath(sys.executable), found.python)
    found.install()
    yield found
    shutil.rmtree(place)


def give(home: Venv, uid: int) -> None:
    for folder, folders, names in os.walk(home.root):
        for name in [folder, *(os.path.join(folder, item) for item in folders + names)]:
            os.chown(name, uid, uid, follow_symlinks=False)


@needs_root
def test_root_patches_a_users_venv_and_the_user_takes_it_back(shared: Venv) -> None:
    give(shared, NOBODY)
    put_on(shared)
    assert {item[2] for item in snapshot(shared.root).values()} == {NOBODY}

    def take() -> None:
        assert apply(ask(shared, state="absent"), run_request, check_mode=False).changed

    assert in_child(take, uid=NOBODY) == 0
    assert shared.read(MODEL_FILE) == MODEL


@needs_root
def test_a_user_cannot_patch_roots_venv_and_check_mode_knows(shared: Venv) -> None:
    def attempt() -> None:
        fails(shared, SpecdecError, "nobody cannot write in .*which belongs to root.*become_user: root")

    assert in_child(attempt, uid=NOBODY) == 0


@needs_root
def test_a_forged_ledger_does_not_make_root_write_elsewhere(shared: Venv) -> None:
    """The venv is nobody's, but its package directory is root's: the ledger there is not believed."""
    put_on(shared)
    give(shared, NOBODY)
    for path in (shared.site / "engine", *(shared.site / "engine").iterdir()):
        os.chown(path, 0, 0)
    patched = shared.tree()
    with pytest.raises(Refused, match="belongs to nobody, but .*engine does not"):
        apply(ask(shared, state="absent"), run_request, check_mode=False)
    assert shared.tree() == patched


# --- races


def test_eight_runs_of_one_patch(home: Venv) -> None:
    children = []
    for _number in range(8):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                apply(ask(home), run_request, check_mode=False)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    assert home.read(MODEL_FILE).count(b"SupportsDraft") == 2
    assert listed(home) == {"draft": "whole"}
    take_back(home)
    assert (home.read(MODEL_FILE), home.read(REGISTRY_FILE)) == (MODEL, REGISTRY)


def test_eight_patches_on_one_file(home: Venv) -> None:
    """No edit is lost, whatever the order."""
    children = []
    for number in range(8):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                edit = {"file": MODEL_FILE, "in": "Outer", "method": f"def m{number}(self):\n    return {number}\n"}
                apply(ask(home, name=f"p{number}", edits=[edit]), run_request, check_mode=False)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
    data = home.read(MODEL_FILE)
    assert [data.count(f"def m{number}(".encode()) for number in range(8)] == [1] * 8
    assert sorted(listed(home)) == [f"p{number}" for number in range(8)]
    assert set(listed(home).values()) == {"whole"}
    for number in (3, 0, 7, 1, 6, 2, 5, 4):
        take_back(home, name=f"p{number}")
    assert home.read(MODEL_FILE) == MODEL
