# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a former answer of ``derive`` is still the right one.

PRIVATE to the collection: it can have breaking changes at any time.

``derive`` is a pure reader. Its answer follows from the request and from the source files below a few folders, which
are told by their status without being read. Files that this collection has patched are told by the digests of their
release's bytes, which is what ``derive`` gets to see of them.
"""

from __future__ import annotations

import os
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory
from ansible_collections.specdec.blackwell.plugins.module_utils._store import sha256

# What each engine's knowledge reads, relative to the folder that holds the package.
READS = {
    "vllm": ("vllm", "transformers/models/auto"),
    "sglang": ("sglang", "transformers/models/auto"),
    "speculators": ("speculators", "vllm"),
}
# Two changes within a tick of a file system's clock look alike; the coarsest tick in use, in nanoseconds.
_TICK = 1_100_000_000


class Tree:
    """The source files at one moment, each with its status; ``told`` is false where that would tell too little."""

    def __init__(self, root: str, engine: str) -> None:
        self.root = root
        self.files: dict[str, list[int]] = {}
        self.told = True
        self._taken = time.time_ns()
        try:
            for name in READS[engine]:
                place = os.path.join(root, *name.split("/"))
                if os.path.exists(place + ".py"):
                    self.files[name + ".py"] = _status(place + ".py")
                if os.path.isdir(place):
                    self._walk(place, name)
        except OSError:
            self.told = False

    def _walk(self, folder: str, name: str) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                inner = f"{name}/{entry.name}"
                if entry.name.endswith(".py"):
                    self.files[inner] = _status(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        self._walk(entry.path, inner)
                elif entry.is_symlink() and entry.is_dir():
                    # Readers differ in whether they go there.
                    self.told = False

    def is_quiet(self, files: t.Iterable[str]) -> bool:
        """Whether none of ``files`` was changed so lately that a change after this moment might not show."""
        limit = self._taken - _TICK
        return all(max(self.files[file][-2:]) < limit for file in files)

    def seen(self, files: t.Iterable[str]) -> dict[str, str]:
        """sha256 of those of ``files`` that are still as they were at that moment."""
        found = {}
        for file in files:
            path = os.path.join(self.root, *file.split("/"))
            try:
                with open(path, "rb") as stream:
                    digest = sha256(stream.read())
                if file in self.files and self.is_quiet([file]) and _status(path) == self.files[file]:
                    found[file] = digest
            except OSError:
                continue
        return found

    def key(self, version: t.Sequence[int], request: t.Mapping[str, t.Any], release: t.Mapping[str, str]) -> str | None:
        """The key of the answer to ``request`` where ``release`` (file to sha256) stands in for what is there."""
        if not self.told:
            return None
        rest = [[file, *status] for file, status in sorted(self.files.items()) if file not in release]
        return _memory.key(version, request, os.path.realpath(self.root), release, rest)


def _status(path: str) -> list[int]:
    status = os.stat(path)
    return [status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


__all__ = ("READS", "Tree")
