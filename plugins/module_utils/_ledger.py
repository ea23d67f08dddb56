# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was patched, by which spec, and over which bytes.

PRIVATE to the collection: it can have breaking changes at any time.

A file's ``base`` are its bytes before the first patch, its ``chain`` the patches on it in order, ``current`` what they
made of it. Taking a patch away is replaying the others from the base; the last one leaves the base.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, sha256

NAME = "ledger.json"
_FORMAT = 1
_VOLATILE = ("when", "who", "sequence")


@dataclasses.dataclass
class FileEntry:
    """A patched file: sha256 of base and current bytes, the keys of its patches, and the release it belonged to."""

    base: str
    current: str
    chain: list[str]
    distribution: str | None
    version: str | None


@dataclasses.dataclass
class PatchRecord:
    """A patch as it was asked for and what became of it.

    ``target`` says of what: ``{"package", "prefix"}`` or ``{"path"}``. ``places`` maps each ``file`` that the edits
    name to its path, ``files`` the paths that the patch is on to their digests. ``edits`` is the spec, ``states`` what
    became of each edit, ``ours`` in it whether this patch made it.
    """

    name: str
    target: dict[str, str]
    python: str
    python_version: str
    edits: list[t.Any]
    spec_sha256: str
    states: list[dict[str, t.Any]]
    places: dict[str, str]
    files: dict[str, dict[str, str]]
    distribution: str | None
    version: str | None
    wanted_version: str | None
    reason: str | None
    upstream: str | None
    drop_when: str | None
    when: str
    who: str
    sequence: int

    def same_as(self, other: PatchRecord) -> bool:
        """Whether nothing but the time, the asker and the lines differs; an edit that was applied is present after."""
        mine, others = dataclasses.asdict(self), dataclasses.asdict(other)
        mine["states"], others["states"] = _settled(self.states), _settled(other.states)
        return all(mine[key] == others[key] for key in mine if key not in _VOLATILE)

    @property
    def ours(self) -> bool:
        return any(state.get("ours") for state in self.states)


def _settled(states: t.Sequence[t.Mapping[str, t.Any]]) -> list[dict[str, t.Any]]:
    told = []
    for state in states:
        told.append({key: value for key, value in state.items() if key != "line"})
        if state.get("state") == "pristine":
            told[-1]["state"] = "present"
    return told


def spec_digest(edits: t.Sequence[t.Any]) -> str:
    return sha256(json.dumps(list(edits), sort_keys=True, separators=(",", ":")).encode("ascii"))


def target_key(target: t.Mapping[str, str]) -> str:
    return target["path"] if "path" in target else f"{target['package']} in {target['prefix']}"


def patch_key(name: str, target: t.Mapping[str, str]) -> str:
    return f"{name} on {target_key(target)}"


class Ledger:
    """All that a ledger folder knows. ``state`` is ``ok``, ``none`` (there is no ledger.json) or ``corrupt``.

    ``writes`` has when a target was written last, in seconds since 1970, also after its last patch is gone.
    """

    def __init__(self, state: str) -> None:
        self.state = state
        self.patches: dict[str, PatchRecord] = {}
        self.files: dict[str, FileEntry] = {}
        self.writes: dict[str, float] = {}

    @classmethod
    def load(cls, store: Store | None) -> Ledger:
        """Never fails on a damaged file: the state of the code is read from the code. It does on a newer format."""
        data = None if store is None else store.read(NAME)
        if store is None or data is None:
            return cls("none")
        ledger = cls("ok")
        try:
            note = json.loads(data.decode("ascii"))
            version = note["format"]
            if isinstance(version, int) and version > _FORMAT:
                path = os.path.join(store.path, NAME)
                raise SpecdecError(
                    f"{path} was written by a newer release of this collection; use that one, or give 'ledger_dir'.",
                    path=path,
                )
            for key, item in note["patches"].items():
                ledger.patches[key] = PatchRecord(**item)
            for path, item in note["files"].items():
                ledger.files[path] = FileEntry(**item)
            ledger.writes = {str(prefix): float(when) for prefix, when in note["writes"].items()}
            ledger._check()
        except (ValueError, KeyError, TypeError, AttributeError):
            return cls("corrupt")
        return ledger

    def _check(self) -> None:
        for entry in self.files.values():
            if not isinstance(entry.chain, list) or any(key not in self.patches for key in entry.chain):
                raise ValueError("a chain names a patch that is not there")
        for record in self.patches.values():
            if len(record.states) != len(record.edits):
                raise ValueError("the states are not those of the edits")

    def dump(self) -> bytes:
        note = {
            "format": _FORMAT,
            "patches": {key: dataclasses.asdict(record) for key, record in self.patches.items()},
            "files": {path: dataclasses.asdict(entry) for path, entry in self.files.items()},
            "writes": self.writes,
        }
        return json.dumps(note, indent=1, sort_keys=True).encode("ascii") + b"\n"

    def copy(self) -> Ledger:
        return copy.deepcopy(self)

    def next_sequence(self) -> int:
        return 1 + max((record.sequence for record in self.patches.values()), default=0)

    def ordered(self, keys: t.Iterable[str]) -> list[str]:
        """The keys in the order in which their patches were applied."""
        return sorted(set(keys), key=lambda key: self.patches[key].sequence)

    def others_on(self, paths: t.Iterable[str], key: str) -> list[str]:
        return self.ordered(item for path in paths for item in self.files[path].chain if item != key)

    def forget_file(self, path: str) -> None:
        """The file is another one now: no patch is on it any more."""
        self.files.pop(path, None)
        for record in self.patches.values():
            record.files.pop(path, None)

    def leave_file(self, path: str, key: str, current: str) -> None:
        """One patch less on the file, which has become ``current``."""
        entry = self.files[path]
        entry.chain = [item for item in entry.chain if item != key]
        entry.current = current
        if not entry.chain:
            del self.files[path]

    def originals(self) -> set[str]:
        return {digest for entry in self.files.values() for digest in (entry.base, entry.current)}


__all__ = ("NAME", "FileEntry", "Ledger", "PatchRecord", "patch_key", "spec_digest", "target_key")
