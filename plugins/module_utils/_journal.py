# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The note that a killed run leaves of what it was about to replace.

PRIVATE to the collection: it can have breaking changes at any time.

One line names the files before anything is made beside them; a second says that all is staged and the set is to become
the new one; a third that it goes back. A torn line was never meant.
"""

from __future__ import annotations

import errno
import json
import os
import re

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store

JOURNAL = "journal"
COMMIT = "commit"
UNDO = "undo"
_FORMAT = 1


def _token() -> str:
    import secrets

    return secrets.token_hex(8)


class Entry:
    """One file of a set: digests before (None: it did not exist) and after."""

    def __init__(self, directory: str, name: str, before: str | None, after: str) -> None:
        self.directory = directory
        self.name = name
        self.before = before
        self.after = after


class Journal:
    """An open journal. ``mark`` is None until the set is staged, then COMMIT or UNDO."""

    def __init__(self, store: Store, transaction: str, entries: list[Entry], what: str, mark: str | None) -> None:
        self._store = store
        self.transaction = transaction
        self.entries = entries
        self.what = what
        self.mark = mark

    @classmethod
    def begin(cls, store: Store, entries: list[Entry], what: str) -> Journal:
        """Raises OSError; then there is no journal."""
        journal = cls(store, _token(), entries, what, None)
        note = {
            "format": _FORMAT,
            "transaction": journal.transaction,
            "what": what,
            "files": [[entry.directory, entry.name, entry.before, entry.after] for entry in entries],
        }
        try:
            store.create(JOURNAL, json.dumps(note).encode("ascii") + b"\n", store.folder)
            with store.place(JOURNAL) as place:
                place.sync()
        except BaseException:
            store.remove(JOURNAL)
            raise
        return journal

    def write(self, mark: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(JOURNAL, flags, dir_fd=self._store.folder)
        try:
            line = json.dumps({"mark": mark}).encode("ascii") + b"\n"
            if os.write(handle, line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(handle)
        finally:
            os.close(handle)
        self.mark = mark

    def close(self) -> None:
        self._store.remove(JOURNAL)
        with self._store.place(JOURNAL) as place:
            place.sync()

    def new_name(self, index: int) -> str:
        return f".specdec-{self.transaction}-{index}.new"

    def old_name(self, index: int) -> str:
        return f".specdec-{self.transaction}-{index}.old"


def open_journal(store: Store) -> Journal | None:
    """What a killed run left; None if there is none. Raises SpecdecError on one that makes no sense."""
    data = store.read(JOURNAL)
    if data is None:
        return None
    # Whatever follows the last line end was never finished.
    lines = data.split(b"\n")[:-1]
    if not lines:
        return Journal(store, _token(), [], "", None)
    try:
        note = json.loads(lines[0].decode("ascii"))
        marks = [json.loads(line.decode("ascii"))["mark"] for line in lines[1:]]
        entries = [Entry(str(item[0]), str(item[1]), _digest(item[2]), str(item[3])) for item in note["files"]]
        transaction, what = str(note["transaction"]), str(note["what"])
        sound = note["format"] == _FORMAT and set(marks) <= {COMMIT, UNDO}
    except (ValueError, KeyError, TypeError, IndexError):
        sound = False
    # Names are checked, because another user's ledger may be read by root.
    if not sound or not re.fullmatch("[0-9a-f]{16}", transaction) or not all(_safe(store, item) for item in entries):
        path = os.path.join(store.path, JOURNAL)
        raise SpecdecError(
            f"{path} is damaged or was written by another version, so what a killed run left cannot be finished. "
            f"Reinstall the engine, then remove {path}.",
            path=path,
        )
    return Journal(store, transaction, entries, what, marks[-1] if marks else None)


def _digest(value: object) -> str | None:
    return None if value is None else str(value)


def _safe(store: Store, entry: Entry) -> bool:
    if not os.path.isabs(entry.directory) or entry.name in ("", ".", "..") or "/" in entry.name:
        return False
    with store.place("") as place:
        return entry.before is not None or entry.directory == place.directory


__all__ = ("COMMIT", "JOURNAL", "UNDO", "Entry", "Journal", "open_journal")
