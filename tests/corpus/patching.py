# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release, the edits derived for it, and the tree that they make."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, files_of, plan
from ansible_collections.specdec.blackwell.plugins.module_utils._release_view import release_view

Item = dict[str, Any]


def survey(root: Path, architectures: list[str] | None, *, engine: str = "vllm", **keys: Any) -> dict[str, Item]:
    """What the knowledge says of a tree; a failure of the whole request fails the test."""
    response = derive.run_request({"engine": engine, "root": str(root), "architectures": architectures, **keys})
    assert response["error"] is None, response["error"]
    found: dict[str, Item] = response["architectures"]
    return found


def load(root: Path, edits: list[Item]) -> dict[str, File | None]:
    files: dict[str, File | None] = {}
    for name in files_of(edits):
        path = root / name
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        files[name] = File(path.read_bytes(), module, name.endswith("/__init__.py")) if path.is_file() else None
    return files


def apply(root: Path, edits: list[Item]) -> tuple[dict[str, bytes], list[Item]]:
    """The changed files (name to bytes) and the planner's word on each edit; a drifted edit fails the test."""
    result = plan(edits, load(root, edits))
    assert result["ok"], [item for item in result["edits"] if item["state"] not in ("pristine", "present")]
    changed = {name: item["after"] for name, item in result["files"].items() if item["changed"]}
    return changed, result["edits"]


@contextlib.contextmanager
def patched(root: Path, contents: dict[str, bytes]) -> Iterator[Path]:
    """The tree with those files in place of its own."""
    with release_view(str(root), "vllm", contents) as view:
        yield Path(view)


__all__ = ("Item", "apply", "load", "patched", "survey")
