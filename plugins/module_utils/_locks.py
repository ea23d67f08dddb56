# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run at a time on a ledger.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._places import explained, not_writable
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store

LOCK = "lock"
WAIT_SECONDS = 120.0
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5


@contextlib.contextmanager
def hold(store: Store, what: str, *, wait: float = WAIT_SECONDS) -> t.Iterator[None]:
    """Holds the ledger alone. After ``wait`` seconds raises SpecdecError that says who holds it."""
    handle = _take(store, fcntl.LOCK_EX, wait)
    try:
        _say(handle, what)
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def share(store: Store, *, wait: float = WAIT_SECONDS) -> t.Iterator[None]:
    """Keeps writers out while reading, without writing anything; where there is no lock file there was no writer."""
    try:
        handle = _take(store, fcntl.LOCK_SH, wait)
    except (FileNotFoundError, PermissionError):
        yield
        return
    try:
        yield
    finally:
        os.close(handle)


def _take(store: Store, kind: int, wait: float) -> int:
    end = time.monotonic() + wait
    pause = _FIRST_PAUSE
    while True:
        handle = _open(store, kind)
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                os.close(handle)
                raise explained(error, os.path.join(store.path, LOCK), "lock") from error
            holder = _holder(handle)
            os.close(handle)
            if time.monotonic() >= end:
                raise SpecdecError(
                    f"another run holds the ledger {store.path}: {holder}. Waited {wait:g} s; nothing was written. Let "
                    "it finish and run again.",
                    path=store.path,
                    holder=holder,
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        except BaseException:
            os.close(handle)
            raise
        else:
            return handle


def _open(store: Store, kind: int) -> int:
    if kind == fcntl.LOCK_SH:
        return os.open(LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=store.folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(LOCK, flags, 0o644, dir_fd=store.folder)
        store.adopt(handle)
    except OSError as error:
        path = os.path.join(store.path, LOCK)
        if isinstance(error, PermissionError) and not os.path.exists(path):
            raise not_writable(store.path, store.owner) from error
        raise explained(error, path, "lock") from error
    return handle


def _say(handle: int, what: str) -> None:
    """For those who wait; a lock whose file is full or unwritable is still a lock."""
    note = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "what": what,
    }
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps(note).encode("ascii") + b"\n", 0)


def _holder(handle: int) -> str:
    try:
        note = json.loads(os.pread(handle, 4096, 0).decode("ascii"))
        return f"process {note['pid']} on {note['host']}, since {note['since']}, for {note['what']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a process that has not said its name yet"


__all__ = ("LOCK", "WAIT_SECONDS", "hold", "share")
