# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release, the edits derived for it, and the tree that they make."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
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


def merged(lists: Iterable[list[Item]]) -> list[Item]:
    """All the edits of several patches, those that they share once."""
    found: dict[str, Item] = {}
    for edits in lists:
        for edit in edits:
            assert found.setdefault(edit["id"], edit) == edit, "two edits of one name differ"
    return list(found.values())


class Patched:
    """A tree with files of its own in memory in place of those on disk."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.contents: dict[str, bytes] = {}

    def load(self, edits: list[Item]) -> dict[str, File | None]:
        files: dict[str, File | None] = {}
        for name in files_of(edits):
            path = self.root / name
            data = self.contents.get(name) or (path.read_bytes() if path.is_file() else None)
            module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            files[name] = None if data is None else File(data, module, name.endswith("/__init__.py"))
        return files

    def apply(self, edits: list[Item]) -> list[str]:
        """The names of the files that changed. Edits without a place fail the test."""
        result = plan(edits, self.load(edits))
        assert result["ok"], [item for item in result["edits"] if item["state"] not in ("pristine", "present")]
        changed = {name: item["after"] for name, item in result["files"].items() if item["changed"]}
        for data in changed.values():
            compile(data, "patched", "exec", dont_inherit=True)
        self.contents.update(changed)
        return sorted(changed)

    @contextlib.contextmanager
    def view(self, package: str = "vllm") -> Iterator[Path]:
        with release_view(str(self.root), package, self.contents) as view:
            yield Path(view)


__all__ = ("Item", "Patched", "merged", "survey")
