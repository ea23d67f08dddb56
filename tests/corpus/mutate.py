# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release under other names: classes, attributes and variables renamed all over its models, model files moved.

What is read from the source must not depend on what it is called. Names that are the engine's own interface (those of
interfaces.py, and the few by which its runner and drafter reach into a model) stay.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils._release_view import release_view

MODELS = "vllm/model_executor/models"
FOLDERS = (MODELS, "vllm/models", "vllm/v1/spec_decode")
# Files whose classes and functions are the engine's interface to its models.
KEPT = ("interfaces.py", "interfaces_base.py", "utils.py", "adapters.py")
ATTRIBUTES = {
    "layers": "storeys",
    "start_layer": "lowest",
    "end_layer": "beyond",
    "norm": "closing",
    "language_model": "speaker",
}
VARIABLES = {
    "hidden_states": "stream",
    "residual": "carry",
    "layer": "storey",
    "idx": "floor",
    "i": "step",
    "config": "settings",
    "target_model": "served",
}
FOLDER = "relocated"
_MODULE = re.compile(r"((?:^|\n)[ \t]*(?:from|import)[ \t]+[\w.]+)")
_WORD = re.compile(r"(\.\s*)?(?<![\w$])([A-Za-z_]\w*)")
_IMPORT = re.compile(r"^(\s*from\s+)(\.[\w.]*|vllm[\w.]*)(\s+import\b)", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """The other tree, and how a text or path of the first reads there."""

    root: Path
    classes: Mapping[str, str]
    moved: Mapping[str, str]

    def text(self, source: str) -> str:
        """With all names but those of modules in imports."""
        parts = _MODULE.split(source)
        parts[::2] = [_WORD.sub(self._word, part) for part in parts[::2]]
        return "".join(parts)

    def _word(self, match: re.Match[str]) -> str:
        dot, word = match.group(1) or "", match.group(2)
        return dot + (self.classes.get(word) or (ATTRIBUTES if dot else VARIABLES).get(word, word))

    def edit(self, edit: dict[str, Any]) -> dict[str, Any]:
        """The edit that the mutant needs where the release needs this one."""
        told: dict[str, Any] = {}
        for key, value in edit.items():
            if key == "file":
                told[key] = self.moved.get(value, value)
            elif key == "import":
                told[key] = value
            elif key == "element":
                told[key] = {name: self.text(text) for name, text in value.items()}
            else:
                told[key] = self.text(value) if isinstance(value, str) else value
        return told


def class_names(root: Path) -> list[str]:
    """Classes of the models that the rest of the engine defines under no such name, nor its interface mentions."""
    models = {path for path in _files(root) if path.name not in KEPT and "spec_decode" not in path.parts}
    found: set[bytes] = set()
    taken: set[bytes] = set()
    for path in sorted((root / "vllm").rglob("*.py")):
        if path.name in KEPT and path.parent == root / MODELS:
            taken.update(re.findall(rb"\b[A-Za-z_]\w*\b", path.read_bytes()))
        else:
            (found if path in models else taken).update(re.findall(rb"^class (\w+)", path.read_bytes(), re.MULTILINE))
    return sorted(name.decode() for name in found - taken)


def _files(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((root / folder).rglob("*.py"))


@contextlib.contextmanager
def mutant(root: Path, move: Iterable[str]) -> Iterator[Mutant]:
    """``move``: model files (as in RECORD) that get another place, with the registry and all imports following."""
    classes = {name: f"Renamed{number}" for number, name in enumerate(class_names(root))}
    moved = {
        path: f"{path.rpartition('/')[0]}/{FOLDER}/{path.rpartition('/')[2]}"
        for path in move
        if path.startswith(MODELS + "/") and path.rpartition("/")[2] not in KEPT
    }
    modules = {_module(path): _module(place) for path, place in moved.items()}
    draft = Mutant(root, classes, moved)
    contents: dict[str, bytes] = {}
    new: dict[str, bytes] = {f"{place.rpartition('/')[0]}/__init__.py": b"" for place in moved.values()}
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        source = path.read_text(encoding="utf-8")
        if path.name not in KEPT:
            source = _registry(source, modules) if path.name == "registry.py" else source
            source = draft.text(_imports(source, name, modules))
        (new if name in moved else contents)[moved.get(name, name)] = source.encode()
    with release_view(str(root), "vllm", contents) as view:
        for name in moved:
            (Path(view) / name).unlink()
        for name, data in new.items():
            (Path(view) / name).parent.mkdir(exist_ok=True)
            (Path(view) / name).write_bytes(data)
        yield Mutant(Path(view), classes, moved)


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports(source: str, path: str, modules: Mapping[str, str]) -> str:
    """Relative imports made absolute, and the moved modules under their new names."""
    package = _module(path).split(".") + ([""] if path.endswith("/__init__.py") else [])

    def absolute(match: re.Match[str]) -> str:
        name = match.group(2)
        level = len(name) - len(name.lstrip("."))
        if level:
            name = ".".join(package[: len(package) - level] + [name.lstrip(".")]).rstrip(".")
        return match.group(1) + modules.get(name, name) + match.group(3)

    return _IMPORT.sub(absolute, source)


def _registry(source: str, modules: Mapping[str, str]) -> str:
    """The first string of each pair is a module below the models' package."""
    base = MODELS.replace("/", ".") + "."
    for old, new in modules.items():
        short, other = old.removeprefix(base), new.removeprefix(base)
        source = re.sub(rf'(\(\s*)"{re.escape(short)}"(\s*,)', rf'\1"{other}"\2', source)
    ast.parse(source)
    return source


__all__ = ("Mutant", "class_names", "mutant")
