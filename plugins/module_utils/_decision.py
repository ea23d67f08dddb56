# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run would change: the bytes, the ledger, and what is said. Writes nothing.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import FileEntry, Ledger
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import Files, Planner, ours_in
from ansible_collections.specdec.blackwell.plugins.module_utils._request import PatchRequest, Target
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, sha256

CLEAN, STALE, EDITED = "clean", "stale", "edited"
_MOST_DIFF_LINES = 200


@dataclasses.dataclass
class Job:
    """All that a decision needs. ``ledger`` is a copy that the decision changes.

    ``kept`` are bytes that the store is going to keep, by sha256.
    """

    request: PatchRequest
    target: Target
    key: str
    ledger: Ledger
    store: Store | None
    kept: dict[str, bytes]
    files: Files
    planner: Planner
    when: str

    def base(self, path: str) -> bytes:
        """The bytes of a patched file before its first patch. Raises SpecdecError when they are lost."""
        return self.original(self.ledger.files[path].base)

    def original(self, digest: str) -> bytes:
        if digest in self.kept:
            return self.kept[digest]
        if self.store is None:
            raise SpecdecError("the originals are lost with their ledger")
        return self.store.original(digest)


@dataclasses.dataclass
class Decision:
    """New bytes by path (only where they differ), the bytes that the ledger must keep, and what became of each edit."""

    writes: dict[str, bytes]
    keep: list[tuple[bytes, str]]
    edits: list[dict[str, t.Any]]
    warnings: list[str]


def standing(job: Job, path: str, name: str | None) -> str:
    """How a file in the ledger stands: as the last run left it, replaced by another release, or edited by hand.

    ``name`` is its path in RECORD, as far as it is known.
    """
    entry = job.ledger.files[path]
    data = job.files.now(path)
    if data is None:
        return STALE
    digest = sha256(data)
    if digest == entry.current:
        return CLEAN
    if digest == entry.base or _another_release(job, entry):
        return STALE
    if name and job.target.is_release(name, data):
        return STALE
    if any(ours_in(job.ledger.patches[key], path, job.files, job.planner) for key in entry.chain):
        return EDITED
    # Nothing of ours is left, as after a checkout in the tree of an editable install.
    return STALE


def with_neighbours(job: Job, paths: t.Iterable[str]) -> set[str]:
    """The files that have to be made anew together with ``paths``, because patches on those are on them too.

    A patch is planned as a whole, so it needs all its files as they were in its turn. Those that are not as the last
    run left them stay out.
    """
    found = set(paths)
    more = set(found)
    while more:
        keys = {key for path in more for key in job.ledger.files[path].chain}
        more = {
            path
            for path, entry in job.ledger.files.items()
            if path not in found and keys & set(entry.chain) and _is_clean(job, path)
        }
        found |= more
    return found


def _is_clean(job: Job, path: str) -> bool:
    data = job.files.now(path)
    return data is not None and sha256(data) == job.ledger.files[path].current


def _another_release(job: Job, entry: FileEntry) -> bool:
    package = job.target.package
    if package is None or package.editable:
        return False
    return (package.distribution, package.version) != (entry.distribution, entry.version)


def hand_edit(job: Job, paths: t.Sequence[str]) -> Refused:
    """The refusal to write over what somebody changed after us, with what they changed."""
    import difflib

    from ansible_collections.specdec.blackwell.plugins.module_utils._text import lines_of

    changes = []
    for path in paths:
        ours: bytes | None = None
        with contextlib.suppress(SpecdecError):
            ours = job.original(job.ledger.files[path].current)
        data = job.files.now(path)
        if ours is None or data is None:
            changes.append(f"{path}: what the last run left there is not known any more")
            continue
        before, after = lines_of(ours), lines_of(data)
        lines = list(difflib.unified_diff(before, after, f"{path} (as patched)", f"{path} (now)", lineterm=""))
        if len(lines) > _MOST_DIFF_LINES:
            lines = [*lines[:_MOST_DIFF_LINES], f"... {len(lines) - _MOST_DIFF_LINES} more lines"]
        changes.append("\n".join(lines))
    return Refused(
        f"{', '.join(paths)}: changed by hand after the last run; nothing was written. 'changed_by_hand' shows what "
        "was changed. Move that change into a patch of its own, or set force: true to lose it.",
        paths=list(paths),
        changed_by_hand=changes,
    )


__all__ = ("CLEAN", "EDITED", "STALE", "Decision", "Job", "hand_edit", "standing", "with_neighbours")
