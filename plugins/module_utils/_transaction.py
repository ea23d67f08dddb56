# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replace many files, all or none, also when the process is killed at any instant.

PRIVATE to the collection: it can have breaking changes at any time.

Each file gets a finished sibling ``.new`` and a second name ``.old`` for its present inode; then all are renamed.
Until the journal says ``commit`` a killed run is taken back, after it it is completed; both need nothing but renames.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time

from ansible_collections.specdec.blackwell.plugins.module_utils._attributes import (
    copy_attributes,
    folder_obstacle,
    mounted_error,
    obstacle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._bytecode import bytecode_obstacle, drop_bytecode
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._journal import (
    COMMIT,
    JOURNAL,
    UNDO,
    Entry,
    Journal,
    open_journal,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import LOCK
from ansible_collections.specdec.blackwell.plugins.module_utils._places import (
    Gone,
    Place,
    explained,
    not_writable,
    open_place,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, sha256
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import user_name

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Transaction:
    """A set of writes on a ledger whose lock is held. Places stay the caller's to close."""

    def __init__(self, store: Store, what: str) -> None:
        self._store = store
        self._what = what
        self._items: list[tuple[Place, bytes, str | None]] = []
        self.warnings: list[str] = []

    def write(self, place: Place, data: bytes, expect: str | None) -> None:
        """Plans to replace the file whose sha256 is ``expect``; None for one that is new in the ledger's folder."""
        self._items.append((place, data, expect))

    def commit(self) -> None:
        """Makes all writes. On an error everything is as it was, and SpecdecError says what to do."""
        if not self._items:
            return
        for place, _data, expect in self._items:
            if expect is not None:
                self._store.check_serves(place)
                problem = obstacle(place, predict=False)
                if problem is not None:
                    raise problem
        entries = [Entry(place.directory, place.name, expect, sha256(data)) for place, data, expect in self._items]
        try:
            journal = Journal.begin(self._store, entries, self._what)
        except OSError as error:
            raise _failed(error, os.path.join(self._store.path, JOURNAL)) from error
        self._stage(journal)
        self._replace(journal)
        with contextlib.suppress(OSError):
            for index, (place, _data, _expect) in enumerate(self._items):
                _unlink(place, journal.old_name(index))
            journal.close()

    def _stage(self, journal: Journal) -> None:
        place = self._items[0][0]
        try:
            for index, (place, data, expect) in enumerate(self._items):
                self._stage_one(journal, index, place, data, expect)
            for place in self._directories():
                place.sync()
            journal.write(COMMIT)
        except BaseException as error:
            # Where even that fails the journal stays, and the next run does it.
            with contextlib.suppress(OSError):
                for index, (item, _data, _expect) in enumerate(self._items):
                    _unlink(item, journal.new_name(index))
                    _unlink(item, journal.old_name(index))
                journal.close()
            if isinstance(error, OSError):
                raise _failed(error, place.path) from error
            raise

    def _stage_one(self, journal: Journal, index: int, place: Place, data: bytes, expect: str | None) -> None:
        new = journal.new_name(index)
        if expect is None:
            self._store.create(new, data, place.folder)
            return
        linked = _keep_old(place, journal.old_name(index))
        source = Place(place.folder, place.directory, journal.old_name(index), []).open()
        with open(source, "rb") as stream:
            moved = linked and place.status().st_ino != os.fstat(source).st_ino
            if moved or sha256(stream.read()) != expect:
                raise Refused(
                    f"{place.path} was changed by someone else while this run prepared its patch; nothing was written. "
                    "Run again.",
                    path=place.path,
                )
            target = os.open(new, _CREATE, 0o600, dir_fd=place.folder)
            with open(target, "wb") as output:
                output.write(data)
                output.flush()
                self.warnings += copy_attributes(source, target, place.path)
                _later_than(target, os.fstat(source).st_mtime_ns)
                os.fsync(target)

    def _replace(self, journal: Journal) -> None:
        place = self._items[0][0]
        try:
            for place, _data, _expect in self._items:
                drop_bytecode(place)
            for index, (place, _data, _expect) in enumerate(self._items):
                _rename(place, journal.new_name(index), place.name)
            for place in self._directories():
                place.sync()
        except BaseException as error:
            with contextlib.suppress(OSError):
                journal.write(UNDO)
            try:
                for index, (item, _data, _expect) in enumerate(self._items):
                    _restore(item, journal, index)
                journal.close()
            except OSError as second:
                raise SpecdecError(
                    f"writing {place.path} failed ({error}), and so did taking it back ({second.strerror}). The set is "
                    "half written; the next run that can write there takes it back by itself.",
                    path=place.path,
                ) from error
            if isinstance(error, OSError):
                raise _failed(error, place.path) from error
            raise

    def _directories(self) -> list[Place]:
        return list({place.directory: place for place, _data, _expect in self._items}.values())


def obstacles(store_path: str, places: list[Place]) -> SpecdecError | None:
    """Why ``commit`` would fail, as far as that can be told without writing a byte: for check mode."""
    folder = os.path.abspath(store_path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    with open_place(os.path.join(folder, LOCK), last=False) as place:
        problem = folder_obstacle(place) or _locked_out(place)
    if problem is not None:
        return problem
    for place in places:
        problem = obstacle(place, predict=True) or bytecode_obstacle(place)
        if problem is not None:
            return problem
    return None


def _locked_out(place: Place) -> SpecdecError | None:
    with contextlib.suppress(Gone):
        place.status()
        effective = os.access in os.supports_effective_ids
        if not os.access(place.name, os.W_OK, dir_fd=place.folder, effective_ids=effective):
            return explained(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), place.path, "lock")
    return None


class Recovery:
    """What was done about a killed run: ``completed`` or taken back, and the files it was about."""

    def __init__(self, completed: bool, paths: list[str], what: str) -> None:
        self.completed = completed
        self.paths = paths
        self.what = what

    def __str__(self) -> str:
        how = "completed" if self.completed else "taken back"
        return f"an earlier run ({self.what}) was killed while it wrote; it was {how}: {', '.join(self.paths)}"


def recover(store: Store) -> Recovery | None:
    """Closes the journal of a killed run; the lock must be held. None if there was nothing to do.

    Raises SpecdecError, with the journal kept, where a file can be brought neither forward nor back.
    """
    journal = open_journal(store)
    if journal is None:
        return None
    places: list[Place | None] = []
    try:
        for entry in journal.entries:
            places.append(_place_of(store, entry))
        forward = journal.mark == COMMIT and all(
            place is not None and _can_finish(place, journal, index) for index, place in enumerate(places)
        )
        if forward:
            forward = _finish_all(places, journal)
        if not forward:
            for index, place in enumerate(places):
                if place is not None:
                    _restore(place, journal, index)
        for place in places:
            if place is not None:
                place.sync()
        journal.close()
    except OSError as error:
        raise SpecdecError(
            f"an earlier run ({journal.what}) was killed while it wrote, and {user_name(os.geteuid())} cannot finish "
            f"it: {error.strerror}. Run once as the user that ran it.",
            path=store.path,
        ) from error
    finally:
        for place in places:
            if place is not None:
                place.close()
    paths = [os.path.join(entry.directory, entry.name) for entry in journal.entries if entry.name != "ledger.json"]
    return Recovery(forward, paths, journal.what) if paths else None


def pending(store: Store) -> str | None:
    """What ``recover`` would have to do, without doing it: for check mode."""
    journal = open_journal(store)
    if journal is None or not journal.entries:
        return None
    return f"an earlier run ({journal.what}) was killed while it wrote; the next real run completes it or takes it back"


def _place_of(store: Store, entry: Entry) -> Place | None:
    """The place of a journal's file; None if its directory is gone."""
    path = os.path.join(entry.directory, entry.name)
    try:
        place = open_place(path, last=False)
    except Gone:
        return None
    try:
        store.check_serves(place)
    except Refused:
        place.close()
        raise
    return place


def _digest(place: Place, name: str) -> str | None:
    try:
        return sha256(Place(place.folder, place.directory, name, []).read())
    except Gone:
        return None


def _can_finish(place: Place, journal: Journal, index: int) -> bool:
    entry = journal.entries[index]
    now = _digest(place, place.name)
    return now == entry.after or (now == entry.before and _digest(place, journal.new_name(index)) == entry.after)


def _finish_all(places: list[Place | None], journal: Journal) -> bool:
    """False where a file could not be replaced after all; then all of them go back."""
    there = [(index, place) for index, place in enumerate(places) if place is not None]
    try:
        for index, place in there:
            if _digest(place, place.name) != journal.entries[index].after:
                drop_bytecode(place)
                _rename(place, journal.new_name(index), place.name)
    except (OSError, SpecdecError):
        return False
    for index, place in there:
        _unlink(place, journal.new_name(index))
        _unlink(place, journal.old_name(index))
    return True


def _restore(place: Place, journal: Journal, index: int) -> None:
    """Back to what the file was; one that somebody else has replaced meanwhile stays as it is."""
    entry = journal.entries[index]
    if entry.before != entry.after and _digest(place, place.name) == entry.after:
        if entry.before is None:
            _unlink(place, place.name)
        elif _digest(place, journal.old_name(index)) == entry.before:
            drop_bytecode(place)
            _rename(place, journal.old_name(index), place.name)
    _unlink(place, journal.new_name(index))
    _unlink(place, journal.old_name(index))


def _keep_old(place: Place, name: str) -> bool:
    """A second name for the present inode, so that going back restores the very file; False where it is a copy."""
    try:
        os.link(place.name, name, src_dir_fd=place.folder, dst_dir_fd=place.folder, follow_symlinks=False)
        return True
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise mounted_error(place.path) from error
        if error.errno not in (errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS, errno.EACCES):
            raise
    # No second names here (FAT, some network file systems) or not for this user: a copy serves.
    with open(place.open(), "rb") as stream:
        target = os.open(name, _CREATE, 0o600, dir_fd=place.folder)
        with open(target, "wb") as output:
            output.write(stream.read())
            output.flush()
            copy_attributes(stream.fileno(), target, place.path)
            status = os.fstat(stream.fileno())
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.fsync(target)
    return False


def _later_than(handle: int, mtime_ns: int) -> None:
    """Gives the file an mtime in a later second than its predecessor's: bytecode is compared by seconds."""
    now = time.time_ns()
    os.utime(handle, ns=(now, max(now, (mtime_ns // 1_000_000_000 + 1) * 1_000_000_000)))


def _rename(place: Place, source: str, target: str) -> None:
    os.rename(source, target, src_dir_fd=place.folder, dst_dir_fd=place.folder)


def _unlink(place: Place, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=place.folder)


def _failed(error: OSError, path: str) -> SpecdecError:
    """What stopped a write, with all files as they were."""
    directory = os.path.dirname(path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        what = f"no room for the new {path}: {error.strerror}. Everything is as it was; make room there and run again."
        return SpecdecError(what, path=path)
    if error.errno in (errno.EBUSY, errno.EXDEV):
        return mounted_error(path)
    if error.errno == errno.EROFS:
        what = f"{directory} is on a read-only file system. Everything is as it was; patch it where it is made."
        return SpecdecError(what, path=path)
    if error.errno in (errno.EACCES, errno.EPERM):
        return not_writable(directory, os.stat(directory).st_uid)
    return SpecdecError(f"cannot write in {directory}: {error.strerror}. Everything is as it was.", path=path)


__all__ = ("Recovery", "Transaction", "obstacles", "pending", "recover")
