# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""speculators as released: which one needs the chain, that the chained function chooses rightly, what else breaks."""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A site-packages with a speculators and, where asked, a vLLM beside it."""

    def make(speculators: str, vllm: str | None = None) -> Path:
        root = tmp_path / f"{speculators}-{vllm}"
        root.mkdir()
        (root / "speculators").symlink_to(releases.tree("speculators", speculators) / "speculators")
        if vllm:
            (root / "vllm").symlink_to(releases.tree("vllm", vllm) / "vllm")
        return root

    return make


def survey(root: Path, vllm: str | None = None) -> dict[str, Any]:
    others = {"vllm": vllm} if vllm else {}
    response = derive.run_request({"engine": "speculators", "root": str(root), "architectures": None, "others": others})
    assert response["error"] is None, response["error"]
    assert set(response["architectures"]) == {"custom_worker"}
    entry: dict[str, Any] = response["architectures"]["custom_worker"]
    return entry


def patch(root: Path, edits: list[dict[str, Any]]) -> tuple[str, bytes]:
    (name,) = {edit["file"] for edit in edits}
    module = name.removesuffix(".py").replace("/", ".")
    result = plan(edits, {name: File((root / name).read_bytes(), module)})
    assert result["ok"], result["edits"]
    after: bytes = result["files"][name]["after"]
    again = plan(edits, {name: File(after, module)})
    assert again["ok"] and again["files"][name]["after"] == after
    return name, after


def overlay(root: Path, at: Path, name: str, data: bytes) -> Path:
    """A tree of links to ``root`` with one file of its own."""
    parts = Path(name).parts
    here, there = at, root
    here.mkdir()
    for part in parts:
        for item in there.iterdir():
            if item.name != part:
                (here / item.name).symlink_to(item)
        here, there = here / part, there / part
        if part != parts[-1]:
            here.mkdir()
    here.write_bytes(data)
    return at


def test_the_chain_is_derived_applied_and_then_native(tree: Tree, tmp_path: Path) -> None:
    root = tree("0.3.0", "0.16.0")
    entry = survey(root, "0.16.0")
    assert (entry["state"], entry["shape"]) == ("patchable", "fallback_chain")
    name, after = patch(root, entry["edits"])
    assert entry["file"] == name
    done = survey(overlay(root, tmp_path / "patched", name, after))
    assert done["state"] == "native" and done["edits"] == []
    assert "model.model, inner.model, inner" in done["reason"]


@pytest.mark.parametrize("release", ["0.4.0", "0.9.0"])
def test_later_releases_are_native_and_say_why(tree: Tree, release: str) -> None:
    entry = survey(tree(release))
    assert entry["state"] == "native" and entry["edits"] == []
    says = {"0.4.0": "get_language_model", "0.9.0": "vllm_client.py asks vLLM itself"}
    assert says[release] in entry["reason"]


# the patched function, run


class Object:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def decoder(name: str) -> Object:
    return Object(layers=["layer"], name=name)


def setup(source: bytes, scope: str, supports: bool) -> Callable[[Any, list[int]], None]:
    """The worker's method, taken from the file and run with the names it needs."""
    class_name, method = scope.split(".")
    module = ast.parse(source)
    (owner,) = [node for node in module.body if isinstance(node, ast.ClassDef) and node.name == class_name]
    (function,) = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == method]
    names: dict[str, Any] = {
        "supports_eagle3": lambda model: supports,
        "types": types,
        "_patched_forward": lambda self: self.name,
        "logger": Object(info=lambda text: None),
    }
    code = compile(ast.Module([function], []), scope, "exec", flags=annotations_flag())
    exec(code, names)
    found: Callable[[Any, list[int]], None] = names[method]
    return found


def annotations_flag() -> int:
    import __future__

    return __future__.annotations.compiler_flag


CASES: list[tuple[str, bool, Callable[[], Object], str]] = [
    ("interface", True, lambda: Object(model=decoder("own"), language_model=Object(model=decoder("wrong"))), "own"),
    ("interface, but a wrapper", True, lambda: Object(language_model=Object(model=decoder("inner"))), "inner"),
    ("wrapper", False, lambda: Object(language_model=Object(model=decoder("inner"))), "inner"),
    ("wrapper with a model of another kind", False, lambda: Object(model=Object(), language_model=decoder("it")), "it"),
    ("wrapper of a bare decoder", False, lambda: Object(language_model=decoder("bare")), "bare"),
    (
        "wrapper goes before",
        False,
        lambda: Object(model=decoder("no"), language_model=Object(model=decoder("yes"))),
        "yes",
    ),
    ("plain", False, lambda: Object(model=decoder("plain")), "plain"),
]


@pytest.mark.parametrize(("supports", "model", "chosen"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_branch_of_the_chain(tree: Tree, supports: bool, model: Callable[[], Object], chosen: str) -> None:
    root = tree("0.3.0")
    (edit,) = survey(root)["edits"]
    _name, after = patch(root, [edit])
    built = model()
    worker = Object(model_runner=Object(model=built))
    setup(after, edit["in"], supports)(worker, [1, 2])
    bound = [
        item
        for item in (getattr(built, "model", None), built.__dict__.get("language_model"), inner_of(built))
        if item is not None and hasattr(item, "_extension")
    ]
    assert [item.name for item in bound] == [chosen]
    assert bound[0]._extension is worker
    assert bound[0].forward() == chosen


def inner_of(model: Object) -> Any:
    return getattr(model.__dict__.get("language_model"), "model", None)


@pytest.mark.parametrize("supports", [True, False])
def test_a_model_without_layers_gets_the_old_error(tree: Tree, supports: bool) -> None:
    root = tree("0.3.0")
    (edit,) = survey(root)["edits"]
    _name, after = patch(root, [edit])
    worker = Object(model_runner=Object(model=Object(model=Object(), language_model=Object())))
    with pytest.raises(ValueError, match="Model Object does not support hidden state extraction"):
        setup(after, edit["in"], supports)(worker, [1])


def test_before_the_patch_the_wrapper_fails(tree: Tree) -> None:
    root = tree("0.3.0")
    (edit,) = survey(root)["edits"]
    worker = Object(model_runner=Object(model=Object(language_model=Object(model=decoder("inner")))))
    with pytest.raises(ValueError, match="does not support"):
        setup((root / edit["file"]).read_bytes(), edit["in"], False)(worker, [1])


# what else breaks

ALWAYS = ["WRONG DATA for batches", "id i here is id i+1 there"]
BREAKS = {
    "0.11.0": ["takes no further keywords"],
    "0.16.0": [
        "given kv_cache_specs, which this vLLM does not take",
        "Scheduler(...) is not given block_size",
        "SchedulerConfig(...) is not given is_encoder_decoder",
        "followed by sample_tokens()",
        "collective_rpc(unique_reply_rank=...) gives the one reply",
        "leaves prefix caching on",
        "Request(...) has no block_hasher",
        "embed by embed_input_ids()",
        "takes no further keywords",
    ],
    "0.33.0": [
        "no vllm.v1.core.kv_cache_utils.get_kv_cache_config_from_groups (ImportError)",
        "no vllm.v1.core.kv_cache_utils.unify_hybrid_kv_cache_specs (ImportError)",
        "no vllm.v1.core.kv_cache_utils._get_kv_cache_groups_uniform_spec (ImportError)",
        "Request(...) is given eos_token_id",
        "Scheduler(...) is not given block_size",
        "SchedulerConfig(...) is not given is_encoder_decoder",
        "followed by sample_tokens()",
        "collective_rpc(unique_reply_rank=...) gives the one reply",
        "leaves prefix caching on",
        "Request(...) has no block_hasher",
        "embed by embed_input_ids()",
        "takes no further keywords",
    ],
}


@pytest.mark.parametrize("vllm", sorted(BREAKS))
def test_the_notes_list_every_other_break_against_the_vllm_there(tree: Tree, vllm: str) -> None:
    notes = survey(tree("0.3.0", vllm), vllm)["notes"]
    wanted = [*ALWAYS, f"installed vLLM {vllm}: {len(BREAKS[vllm])} breaks", *BREAKS[vllm]]
    assert len(notes) == len(wanted)
    for says in wanted:
        assert sum(says in note for note in notes) == 1, (says, notes)
    for note in notes[3:]:
        place = re.match(r"speculators/data_generation/\w+\.py:(\d+): ", note)
        assert place is not None and int(place.group(1)) > 1


def test_a_vllm_that_cannot_be_read_is_said(tree: Tree) -> None:
    notes = survey(tree("0.3.0"), "0.16.0")["notes"]
    assert [note for note in notes if "no source" in note] == [notes[-1]]
    assert "vLLM 0.16.0 has no source under" in notes[-1]


def test_the_chained_release_has_no_breaks_with_the_vllm_it_was_made_for(tree: Tree) -> None:
    notes = survey(tree("0.4.0", "0.16.0"), "0.16.0")["notes"]
    assert len(notes) == 1 and "id i here is id i+1 there" in notes[0]


# other spellings of the same release

RENAMED = {
    "HiddenStatesWorkerExtension": "CaptureExtension",
    "base_model": "chosen",
    "model": "network",
    "_layer_ids": "_wanted",
    "_patched_forward": "_recording_forward",
}


class Renamer(ast.NodeTransformer):
    """Other names for classes, locals and the worker's own attributes."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(RENAMED.get(node.id, node.id), node.ctx)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = RENAMED.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = RENAMED.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr.startswith("_"):
            node.attr = RENAMED.get(node.attr, node.attr)
        return node


def test_a_mutated_copy_derives_the_same_edit(tree: Tree, tmp_path: Path) -> None:
    root = tree("0.3.0")
    before = survey(root)["edits"]
    source = ast.unparse(Renamer().visit(ast.parse((root / before[0]["file"]).read_bytes())))
    copy = tmp_path / "mutated"
    moved = copy / "speculators" / "capture" / "recorder.py"
    moved.parent.mkdir(parents=True)
    moved.write_text(source)
    (edit,) = survey(copy)["edits"]

    def renamed(text: str) -> str:
        return ast.unparse(Renamer().visit(ast.parse(text.replace("$ERROR", "ERROR_")))).replace("ERROR_", "$ERROR")

    assert edit["file"] == "speculators/capture/recorder.py"
    assert edit["in"] == f"CaptureExtension.{before[0]['in'].split('.')[1]}"
    for key in ("replace", "with"):
        assert ast.dump(ast.parse(edit[key].replace("$", ""))) == ast.dump(
            ast.parse(renamed(before[0][key]).replace("$", ""))
        )
    patch(copy, [edit])


def test_a_worker_of_another_make_is_left_to_a_person(tree: Tree, tmp_path: Path) -> None:
    root = tree("0.3.0")
    (edit,) = survey(root)["edits"]
    source = (root / edit["file"]).read_text()
    other = source.replace("base_model = model.model", "base_model = find(model)")
    assert other != source
    target = tmp_path / "other" / "speculators" / "custom.py"
    target.parent.mkdir(parents=True)
    target.write_text(other)
    entry = survey(tmp_path / "other")
    assert entry["state"] == "by_hand" and entry["edits"] == []
    assert "neither chooses among several places" in entry["reason"]


def test_two_workers_are_an_error_that_names_both(tree: Tree, tmp_path: Path) -> None:
    root = tree("0.3.0")
    source = (root / survey(root)["file"]).read_text()
    package = tmp_path / "two" / "speculators"
    package.mkdir(parents=True)
    for name in ("one.py", "two.py"):
        (package / name).write_text(source)
    response = derive.run_request({"engine": "speculators", "root": str(tmp_path / "two"), "architectures": None})
    message = response["error"]["message"]
    assert "one.py" in message and "two.py" in message
