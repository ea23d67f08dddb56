# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""SGLangs whose models have other names: classes, attributes and variables renamed, every file moved.

The patch of the mutated copy must be the mutated patch: it makes no difference whether a model is patched and then
renamed, or renamed and then patched.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan

MODELS = "sglang/srt/models"
PACKAGE = "sglang.srt.models"
PREFIX = "other_"
# Attributes of the models' own classes, and variables that are no parameters. What the engine itself reaches for stays.
ATTRIBUTES = {
    "layers": "storeys",
    "h": "floors",
    "norm": "closing",
    "input_layernorm": "opening",
    "model": "trunk",
    "language_model": "speaker",
    "llm": "mouth",
    "transformer": "stack",
    "lm_head": "output_matrix",
    "output": "last_matrix",
    "embed_tokens": "words",
    "wte": "vectors",
    "logits_processor": "to_logits",
    "start_layer": "lowest",
    "end_layer": "beyond",
    "attn_boundary": "gate",
}
VARIABLES = {"hidden_states": "stream", "residual": "carry", "layer": "storey", "i": "step", "decoder_layer": "floor"}


class Renamer(ast.NodeTransformer):
    """One file under other names."""

    def __init__(self, classes: set[str], modules: set[str]) -> None:
        self.classes, self.modules = classes, modules
        self.kept: list[set[str]] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self._class(node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        spec = node.args
        self.kept.append({item.arg for item in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)})
        self.generic_visit(node)
        self.kept.pop()
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self.kept.append({item.arg for item in node.args.args})
        self.generic_visit(node)
        self.kept.pop()
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.classes:
            return ast.Name(self._class(node.id), node.ctx)
        inside = bool(self.kept) and not any(node.id in names for names in self.kept)
        return ast.Name(VARIABLES.get(node.id, node.id) if inside else node.id, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        head: ast.expr = node
        while isinstance(head, (ast.Attribute, ast.Subscript)):
            head = head.value
        own = isinstance(head, ast.Name) and head.id in ("self", *VARIABLES.values())
        if own:
            node.attr = ATTRIBUTES.get(node.attr, node.attr)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        origin = node.module or ""
        if origin.startswith(PACKAGE + "."):
            parts = origin.split(".")
            if parts[3] in self.modules:
                parts[3] = PREFIX + parts[3]
            node.module = ".".join(parts)
            for alias in node.names:
                alias.name = self._class(alias.name)
                alias.asname = self._class(alias.asname) if alias.asname else None
        return node

    def _class(self, name: str) -> str:
        return f"Other{name}" if name in self.classes else name


class Mutant:
    """The copy, and the renaming that made it."""

    def __init__(self, version: str, at: Path) -> None:
        self.original = releases.tree("sglang", version)
        self.root = at
        folder = self.original / MODELS
        self.stems = {path.stem for path in folder.glob("*.py") if path.stem not in ("__init__", "registry", "utils")}
        self.trees = {stem: ast.parse((folder / f"{stem}.py").read_bytes()) for stem in self.stems}
        self.classes = {
            node.name for tree in self.trees.values() for node in tree.body if isinstance(node, ast.ClassDef)
        }
        link_all_but(self.original, at, MODELS)
        for path in folder.iterdir():
            if path.suffix == ".py" and path.stem in self.stems:
                source = self.renamed(path.read_bytes())
                (at / MODELS / f"{PREFIX}{path.name}").write_text(source)
            else:
                (at / MODELS / path.name).symlink_to(path)

    def renamed(self, source: bytes) -> str:
        tree = ast.parse(source)
        known = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE + "."):
                known.update(alias.asname or alias.name for alias in node.names)
        return ast.unparse(ast.fix_missing_locations(Renamer(known & self.classes, self.stems).visit(tree)))

    def file(self, name: str, data: bytes) -> tuple[str, str]:
        """A file's name and text there; what lies deeper is as it was."""
        folder, base = os.path.split(name)
        if folder != MODELS or base.removesuffix(".py") not in self.stems:
            return name, data.decode()
        return f"{folder}/{PREFIX}{base}", self.renamed(data)


def link_all_but(source: Path, target: Path, name: str) -> None:
    """``target`` reads like ``source``, but for an empty folder ``name``."""
    here, there = target, source
    here.mkdir()
    for part in name.split("/"):
        for item in there.iterdir():
            if item.name != part:
                (here / item.name).symlink_to(item)
        here, there = here / part, there / part
        here.mkdir()


def survey(root: Path, names: list[str] | None) -> dict[str, dict[str, Any]]:
    response = derive.run_request({"engine": "sglang", "root": str(root), "architectures": names})
    assert response["error"] is None, response["error"]
    found: dict[str, dict[str, Any]] = response["architectures"]
    return found


def patch(root: Path, edits: list[dict[str, Any]]) -> dict[str, bytes]:
    files: dict[str, File | None] = {
        name: File((root / name).read_bytes(), name.removesuffix(".py").replace("/", "."))
        for name in {edit["file"] for edit in edits}
    }
    result = plan(edits, files)
    assert result["ok"], [item for item in result["edits"] if item["state"] not in ("pristine", "present")]
    return {name: item["after"] for name, item in result["files"].items()}


@pytest.mark.parametrize("version", ["0.5.2", "0.5.9", "0.5.20", "0.5.23"])
def test_a_mutated_copy_gets_the_mutated_patch(version: str, tmp_path: Path) -> None:
    mutant = Mutant(version, tmp_path / "mutant")
    names = sorted(survey(mutant.original, None))
    before = survey(mutant.original, names)
    renamed = {name: f"Other{name}" if name in mutant.classes else name for name in names}
    after = survey(mutant.root, list(renamed.values()))
    shapes = set()
    for name, entry in before.items():
        other = after[renamed[name]]
        for key in ("state", "shape"):
            assert other[key] == entry[key], (name, key, entry["reason"], other["reason"])
        assert other["layer_ids"] == entry["layer_ids"], name
        if entry["state"] != "patchable":
            continue
        shapes.add(entry["shape"])
        assert len(other["edits"]) == len(entry["edits"])
        wanted = dict(mutant.file(file, data) for file, data in patch(mutant.original, entry["edits"]).items())
        found = patch(mutant.root, other["edits"])
        assert set(found) == set(wanted), name
        for file, data in found.items():
            assert ast.dump(ast.parse(data)) == ast.dump(ast.parse(wanted[file])), (name, file)
    assert {"methods", "delegate", "delegate+", "classic", "single"} <= shapes
    assert ("stage" in shapes) == (version == "0.5.23")
