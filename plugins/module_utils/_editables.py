# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an editable install's finder module maps, read from its source and never run.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import ast
import os
import typing as t


class Finder:
    """One finder module that a .pth file starts. ``known`` is false where its kind was not recognised."""

    def __init__(self, path: str, mapping: dict[str, str], known: bool) -> None:
        self.path = path
        self.mapping = mapping
        self.known = known


def pth_lines(path: str) -> t.Iterator[str]:
    """The lines of a .pth file that site.py acts on."""
    try:
        with open(path, "rb") as stream:
            text = stream.read().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return
    for line in text.splitlines():
        line = line.rstrip()
        if line.strip() and not line.startswith("#"):
            yield line


def finder_of(folder: str, line: str) -> Finder | None:
    """The editable finder that a .pth line such as ``import __editable___x_finder; ...install()`` starts.

    None for a line that imports something else (``_virtualenv``, ``distutils-precedence``).
    """
    names = [part.strip() for part in line.split(";")[0].partition("import")[2].split(",")]
    for name in names:
        if name.isidentifier() and "editable" in name:
            path = os.path.join(folder, name + ".py")
            if os.path.isfile(path):
                return _read(path)
    return None


def _read(path: str) -> Finder:
    try:
        with open(path, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError):
        return Finder(path, {}, False)
    mapping: dict[str, str] = {}
    known = False
    for node in tree.body:
        # setuptools: MAPPING: dict[str, str] = {"pkg": "/src/pkg"}
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "MAPPING" for target in targets):
                mapping.update(_strings(node.value))
                known = True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            # editables (hatch, poetry): F.map_module("pkg", "/src/pkg/__init__.py")
            if isinstance(call.func, ast.Attribute) and call.func.attr == "map_module" and len(call.args) == 2:
                pair = _literal(call.args[0]), _literal(call.args[1])
                if isinstance(pair[0], str) and isinstance(pair[1], str):
                    mapping[pair[0]] = pair[1]
                    known = True
            # scikit-build-core: install({"pkg": "/src/pkg/__init__.py", ...}, ...)
            if isinstance(call.func, ast.Name) and call.func.id == "install" and call.args:
                found = _strings(call.args[0])
                mapping.update(found)
                known = known or bool(found)
    return Finder(path, {name: _folder(place) for name, place in mapping.items() if "." not in name}, known)


def _folder(place: str) -> str:
    return os.path.dirname(place) if os.path.basename(place) == "__init__.py" else place


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _strings(node: ast.expr) -> dict[str, str]:
    value = _literal(node)
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if isinstance(key, str) and isinstance(item, str)}


__all__ = ("Finder", "finder_of", "pth_lines")
