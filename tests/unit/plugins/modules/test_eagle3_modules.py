# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import pathlib
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.modules import (
    eagle3_info,
    eagle3_patch,
    python_ast_edit,
    python_ast_edit_info,
)
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv, snapshot
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Runner
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.small_vllm import FILES, NEXT

PLAIN, OTHER, OPAQUE, READY = "PlainForCausalLM", "OtherForCausalLM", "OpaqueForCausalLM", "ReadyForCausalLM"
SEEING = "SeeingForConditionalGeneration"
MODELS = "vllm/model_executor/models/"
VERIFIED = {"compiled": True, "imported": True, "supports_eagle3": True, "reason": None}


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


@pytest.fixture
def venv(tmp_path: pathlib.Path) -> Venv:
    made = Venv(tmp_path / "venv")
    made.install("vllm", "0.1", FILES)
    return made


def asked(venv: Venv, *architectures: str, **more: t.Any) -> dict[str, t.Any]:
    given: dict[str, t.Any] = {"engine": "vllm", "python": venv.python, **more}
    if architectures:
        given["architectures"] = list(architectures)
    return given


def states(result: dict[str, t.Any]) -> dict[str, str]:
    return {name: item["state"] for name, item in result["architectures"].items()}


def changed(venv: Venv, before: dict[str, bytes]) -> set[str]:
    now = venv.tree()
    return {path for path in {*before, *now} if before.get(path) != now.get(path)}


def test_info_on_the_whole_registry_changes_nothing(venv: Venv, run: Runner) -> None:
    before = snapshot(venv.root)
    result = run.run(eagle3_info, **asked(venv))
    assert states(result) == {
        PLAIN: "patchable",
        OTHER: "patchable",
        OPAQUE: "by_hand",
        READY: "native",
        SEEING: "patchable",
    }
    assert (result["engine"], result["distribution"], result["version"]) == ("vllm", "vllm", "0.1")
    seeing = result["architectures"][SEEING]
    assert (seeing["file"], seeing["text_architectures"]) == (f"{MODELS}seeing.py", [PLAIN])
    assert set(seeing) == {"state", "shape", "file", "text_architectures", "reason", "notes"}
    assert snapshot(venv.root) == before


def test_patch_twice_and_back(venv: Venv, run: Runner) -> None:
    release = venv.tree()
    first = run.parity(eagle3_patch, **asked(venv, SEEING))
    assert first["changed"] is True
    assert states(first) == {SEEING: "patched"}
    assert first["verified"] == VERIFIED
    assert len(first["edits"]) == len(first["generated_edits"]) > 0
    assert changed(venv, release) == {f"{MODELS}plain.py", f"{MODELS}seeing.py"}
    after = venv.tree()

    second = run.parity(eagle3_patch, **asked(venv, SEEING))
    assert second["changed"] is False
    assert "verified" not in second
    assert second["generated_edits"] == first["generated_edits"]
    assert venv.tree() == after
    assert states(run.run(eagle3_info, **asked(venv))) == {
        PLAIN: "patched",
        OTHER: "patchable",
        OPAQUE: "by_hand",
        READY: "native",
        SEEING: "patched",
    }
    (patch,) = run.run(python_ast_edit_info, python=venv.python)["patches"]
    assert (patch["name"], patch["state"], patch["ours"]) == (f"eagle3-vllm-{SEEING}", "whole", True)

    back = run.parity(eagle3_patch, **asked(venv, SEEING, state="absent"))
    assert back["changed"] is True
    assert states(back) == {SEEING: "patchable"}
    assert venv.tree() == release
    assert run.parity(eagle3_patch, **asked(venv, SEEING, state="absent"))["changed"] is False


def test_check_mode_writes_nothing(venv: Venv, run: Runner) -> None:
    before = snapshot(venv.root)
    result = run.run(eagle3_patch, check=True, **asked(venv, PLAIN))
    assert (result["changed"], states(result)) == (True, {PLAIN: "patched"})
    assert snapshot(venv.root) == before


def test_what_two_share_stays_until_the_last_goes(venv: Venv, run: Runner) -> None:
    release = venv.tree()
    run.run(eagle3_patch, **asked(venv, SEEING))
    assert run.parity(eagle3_patch, **asked(venv, PLAIN))["changed"] is False
    run.parity(eagle3_patch, **asked(venv, SEEING, state="absent"))
    assert states(run.run(eagle3_info, **asked(venv, SEEING, PLAIN))) == {SEEING: "patchable", PLAIN: "patched"}
    assert changed(venv, release) == {f"{MODELS}plain.py"}
    run.parity(eagle3_patch, **asked(venv, PLAIN, state="absent"))
    assert venv.tree() == release


def test_several_at_once_and_all_back(venv: Venv, run: Runner) -> None:
    release = venv.tree()
    first = run.parity(eagle3_patch, **asked(venv, PLAIN, OTHER))
    assert states(first) == {PLAIN: "patched", OTHER: "patched"}
    assert first["verified"] == VERIFIED
    assert run.parity(eagle3_patch, **asked(venv, OTHER, PLAIN))["changed"] is False
    assert run.parity(eagle3_patch, **asked(venv, state="absent"))["changed"] is True
    assert venv.tree() == release


@pytest.mark.parametrize("good", [[], [PLAIN]], ids=["alone", "beside-a-good-one"])
@pytest.mark.parametrize(
    ("bad", "state", "said"),
    [
        pytest.param(OPAQUE, "by_hand", "the class of self.model", id="by_hand"),
        pytest.param("NoSuchModel", "absent", "registry has no NoSuchModel", id="absent"),
    ],
)
def test_what_cannot_be_derived_fails_and_nothing_is_written(
    venv: Venv, run: Runner, good: list[str], bad: str, state: str, said: str
) -> None:
    before = snapshot(venv.root)
    for check in (True, False):
        result = run.fails(eagle3_patch, check=check, **asked(venv, *good, bad))
        assert said in result["msg"]
        assert "Nothing was written" in result["msg"]
        assert states(result)[bad] == state
    assert snapshot(venv.root) == before


def test_native_never_changes_a_byte(venv: Venv, run: Runner) -> None:
    before = snapshot(venv.root)
    result = run.parity(eagle3_patch, **asked(venv, READY))
    assert (result["changed"], states(result), result["generated_edits"]) == (False, {READY: "native"}, [])
    assert snapshot(venv.root) == before


def test_an_upgrade_that_has_it_retires_the_patch(venv: Venv, run: Runner) -> None:
    run.run(eagle3_patch, **asked(venv, PLAIN))
    venv.install("vllm", "0.2", NEXT)
    upgraded = venv.tree()
    assert states(run.run(eagle3_info, **asked(venv, PLAIN))) == {PLAIN: "native"}
    result = run.parity(eagle3_patch, **asked(venv, PLAIN))
    assert (result["changed"], states(result), result["version"]) == (False, {PLAIN: "native"}, "0.2")
    assert any("retired" in warning for warning in result["warnings"])
    assert run.run(python_ast_edit_info, python=venv.python)["patches"] == []
    assert venv.tree() == upgraded


def test_an_upgrade_that_wiped_it_gets_it_again(venv: Venv, run: Runner) -> None:
    run.run(eagle3_patch, **asked(venv, PLAIN))
    patched = venv.tree()
    venv.install("vllm", "0.1.post1", FILES)
    release = venv.tree()
    assert states(run.run(eagle3_info, **asked(venv, PLAIN))) == {PLAIN: "patchable"}
    assert run.parity(eagle3_patch, **asked(venv, PLAIN))["changed"] is True
    assert venv.read(f"{MODELS}plain.py") == patched[f"{MODELS}plain.py"]
    run.parity(eagle3_patch, **asked(venv, PLAIN, state="absent"))
    assert venv.tree() == release


def test_support_that_somebody_else_put_there_is_patched_and_left_alone(venv: Venv, run: Runner) -> None:
    venv.put({f"{MODELS}plain.py": NEXT[f"{MODELS}plain.py"]})
    before = snapshot(venv.root)
    result = run.parity(eagle3_patch, **asked(venv, PLAIN))
    assert (result["changed"], states(result)) == (False, {PLAIN: "patched"})
    assert "not the release's own" in result["architectures"][PLAIN]["reason"]
    assert snapshot(venv.root) == before


def test_without_record_what_is_there_counts_as_native_with_a_note(tmp_path: pathlib.Path, run: Runner) -> None:
    venv = Venv(tmp_path / "venv")
    venv.install("vllm", "0.1", FILES, record=False)
    item = run.run(eagle3_info, **asked(venv, READY))["architectures"][READY]
    assert item["state"] == "native"
    assert any("RECORD" in note for note in item["notes"])


def test_a_patch_that_breaks_the_import_is_taken_back(tmp_path: pathlib.Path, run: Runner) -> None:
    refuses = FILES[f"{MODELS}interfaces.py"].replace(
        b"    supports_eagle3: ClassVar",
        b"    def __init_subclass__(cls):\n        raise TypeError('not here')\n\n    supports_eagle3: ClassVar",
    )
    venv = Venv(tmp_path / "venv")
    venv.install("vllm", "0.1", {**FILES, f"{MODELS}interfaces.py": refuses})
    release = venv.tree()
    result = run.fails(eagle3_patch, **asked(venv, PLAIN))
    assert "TypeError: not here" in result["msg"]
    assert "taken back" in result["msg"]
    assert (result["verified"]["compiled"], result["verified"]["imported"]) == (True, False)
    assert venv.tree() == release
    assert run.run(python_ast_edit_info, python=venv.python)["patches"] == []


def test_a_class_that_the_engine_does_not_take_is_taken_back(tmp_path: pathlib.Path, run: Runner) -> None:
    wants_more = FILES[f"{MODELS}interfaces.py"].replace(
        b"    return isinstance(model, SupportsEagle3)", b"    return hasattr(model, 'something_else')"
    )
    venv = Venv(tmp_path / "venv")
    venv.install("vllm", "0.1", {**FILES, f"{MODELS}interfaces.py": wants_more})
    release = venv.tree()
    result = run.fails(eagle3_patch, **asked(venv, PLAIN))
    assert f"does not take these as EAGLE-3 targets: {PLAIN}" in result["msg"]
    assert venv.tree() == release


def test_an_engine_that_could_not_be_imported_before_is_patched_all_the_same(
    tmp_path: pathlib.Path, run: Runner
) -> None:
    venv = Venv(tmp_path / "venv")
    venv.install("vllm", "0.1", {**FILES, "vllm/__init__.py": b"import a_device_library\n"})
    result = run.parity(eagle3_patch, **asked(venv, PLAIN))
    assert (result["changed"], result["verified"]["compiled"], result["verified"]["imported"]) == (True, True, False)
    assert "a_device_library" in result["verified"]["reason"]
    assert run.run(eagle3_patch, **asked(venv, PLAIN))["changed"] is False


def model(folder: pathlib.Path, text: str) -> str:
    folder.mkdir()
    (folder / "config.json").write_text(text, encoding="utf-8")
    return str(folder)


def test_a_model_folder_tells_the_architecture(venv: Venv, run: Runner, tmp_path: pathlib.Path) -> None:
    config = {"architectures": [SEEING], "model_type": "seeing", "text_config": {"architectures": [PLAIN]}}
    folder = model(tmp_path / "model", json.dumps(config))
    result = run.parity(eagle3_patch, **asked(venv, model=folder))
    assert (result["changed"], states(result)) == (True, {SEEING: "patched"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(None, "cannot read", id="no-config"),
        pytest.param("{", "is no JSON", id="no-json"),
        pytest.param("[]", "holds no object", id="no-object"),
        pytest.param("{}", "names no architectures", id="no-architectures"),
        pytest.param('{"architectures": "Plain"}', "names no architectures", id="no-list"),
    ],
)
def test_a_model_folder_that_does_not_tell(
    venv: Venv, run: Runner, tmp_path: pathlib.Path, text: str | None, said: str
) -> None:
    folder = str(tmp_path / "nothing") if text is None else model(tmp_path / "model", text)
    for module in (eagle3_patch, eagle3_info):
        result = run.fails(module, **asked(venv, model=folder))
        assert said in result["msg"]
        assert folder in result["msg"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param({}, "give 'model' or 'architectures'", id="neither"),
        pytest.param({"model": "/m", "architectures": [PLAIN]}, "mutually exclusive", id="both"),
        pytest.param({"engine": "speculators", "architectures": [PLAIN]}, "takes neither", id="speculators-with-one"),
        pytest.param({"engine": "other"}, "value of engine must be one of", id="engine"),
    ],
)
def test_bad_options(venv: Venv, run: Runner, more: dict[str, t.Any], said: str) -> None:
    assert said in run.fails(eagle3_patch, **{**asked(venv), **more})["msg"]


@pytest.mark.parametrize(
    "given", [{"engine": "sglang"}, {"python": "/nowhere/bin/python"}], ids=["no-package", "no-interpreter"]
)
def test_no_engine_there(venv: Venv, run: Runner, given: dict[str, t.Any]) -> None:
    options = asked(venv, PLAIN, **given)
    for module in (eagle3_patch, eagle3_info):
        assert run.fails(module, **options)["installed"] is False
    foretold = run.run(eagle3_patch, check=True, **options)
    assert (foretold["changed"], foretold["installed"]) == (False, False)
    assert foretold["msg"].startswith("engine would be installed first: ")
    assert run.parity(eagle3_patch, **options, state="absent")["changed"] is False


def test_edits_of_the_user_on_the_same_file_are_left_in_place(venv: Venv, run: Runner) -> None:
    """The derived edits are those for the release, whatever else this collection put into the file."""
    release = venv.tree()
    own: dict[str, t.Any] = {
        "name": "own",
        "python": venv.python,
        "package": "vllm",
        "edits": [{"file": f"{MODELS}plain.py", "insert": "OWN = True", "at": "end"}],
    }
    generated = run.run(eagle3_patch, check=True, **asked(venv, PLAIN))["generated_edits"]
    run.run(python_ast_edit, **own)
    only_own = venv.tree()
    assert run.parity(eagle3_patch, **asked(venv, PLAIN))["generated_edits"] == generated
    run.parity(eagle3_patch, **asked(venv, PLAIN, state="absent"))
    assert venv.tree() == only_own
    run.parity(python_ast_edit, **own, state="absent")
    assert venv.tree() == release
