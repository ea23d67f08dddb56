# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a run would change: the bytes, the ledger, and what is said. Writes nothing.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import dataclasses
import difflib
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import FileEntry, Ledger
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import Files, Planner, ours_in
from ansible_collections.specdec.blackwell.plugins.module_utils._request import PatchRequest, Target
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, sha256
from ansible_collections.specdec.blackwell.plugins.module_utils._text import lines_of

CLEAN, STALE, EDITED = "clean", "stale", "edited"
_MOST_DIFF_LINES = 200


@dataclasses.dataclass
class Job:
    """All that a decision needs. ``ledger`` is a copy that the decision changes."""

    request: PatchRequest
    target: Target
    key: str
    ledger: Ledger
    store: Store | None
    files: Files
    planner: Planner
    when: str

    def base(self, path: str) -> bytes:
        """The bytes of a patched file before its first patch. Raises SpecdecError when they are lost."""
        if self.store is None:
            raise SpecdecError(f"the original of {path} is lost with its ledger")
        return self.store.original(self.ledger.files[path].base)


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


def _another_release(job: Job, entry: FileEntry) -> bool:
    package = job.target.package
    if package is None or package.editable:
        return False
    return (package.distribution, package.version) != (entry.distribution, entry.version)


def hand_edit(job: Job, paths: t.Sequence[str]) -> Refused:
    """The refusal to write over what somebody changed after us, with what they changed."""
    changes = []
    for path in paths:
        ours: bytes | None = None
        if job.store is not None:
            try:
                ours = job.store.original(job.ledger.files[path].current)
            except SpecdecError:
                ours = None
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


__all__ = ("CLEAN", "EDITED", "STALE", "Decision", "Job", "hand_edit", "standing")
