# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ledger's folder: where it is, whom it belongs to, and its files.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import types
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment
from ansible_collections.specdec.blackwell.plugins.module_utils._places import (
    Gone,
    Place,
    explained,
    make_folders,
    open_place,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import ANYONE, user_name, writers

IN_VENV = ".specdec-blackwell"
OF_ROOT = "/var/lib/specdec"
OF_USER = "specdec"
_ORIGINALS = "originals"


def default_folder(env: Environment) -> str:
    """Where the ledger of ``env`` is unless ``ledger_dir`` says otherwise: beside the packages, never inside one."""
    if env.is_venv:
        return os.path.join(env.prefix, IN_VENV)
    if os.geteuid() == 0:
        return OF_ROOT
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, OF_USER)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Store:
    """An existing ledger folder, held open. Close it after use."""

    def __init__(self, path: str, *, create: bool) -> None:
        """Raises Gone when it is missing and ``create`` is false, and Refused when a crowd can write it."""
        self.path = os.path.abspath(path)
        if create:
            make_folders(self.path)
        # The name is that of no file: what is wanted is the handle of the folder.
        inside = open_place(os.path.join(self.path, "ledger.json"), last=False)
        self._place = inside
        status = os.fstat(inside.folder)
        if ANYONE in writers(status):
            inside.close()
            raise Refused(
                f"the ledger {self.path} can be written by a group or by everybody, so what it says cannot be trusted: "
                f"chmod go-w {self.path}",
                path=self.path,
            )
        self.owner = status.st_uid
        self.group = status.st_gid

    @property
    def folder(self) -> int:
        return self._place.folder

    def place(self, name: str) -> Place:
        """A place in the folder, with a handle of its own."""
        return Place(os.dup(self.folder), self._place.directory, name, [])

    def check_serves(self, place: Place) -> None:
        """Refuses to let another user's ledger decide what is written where that user could not write."""
        if self.owner in (0, os.geteuid()) or os.fstat(place.folder).st_uid == self.owner:
            return
        raise Refused(
            f"the ledger {self.path} belongs to {user_name(self.owner)}, but {place.directory} does not: its contents "
            f"are not written there. Run the task as {user_name(self.owner)} (become_user), or give 'ledger_dir'.",
            path=place.path,
        )

    def read(self, name: str) -> bytes | None:
        with self.place(name) as place:
            try:
                return place.read()
            except Gone:
                return None

    def write_new(self, name: str, data: bytes, *, folder: int | None = None, mode: int = 0o644) -> None:
        """Puts a file in place whole or not at all. An existing one is replaced. Raises OSError."""
        handle = self.folder if folder is None else folder
        import secrets

        temporary = f".{secrets.token_hex(8)}.tmp"
        try:
            self.create(temporary, data, handle, mode)
            os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=handle)
            raise

    def create(self, name: str, data: bytes, folder: int, mode: int = 0o644, *, durable: bool = True) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(name, flags, 0o600, dir_fd=folder)
        with open(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            self.adopt(handle)
            os.fchmod(handle, mode)
            if durable:
                os.fsync(handle)

    def adopt(self, handle: int) -> None:
        """Root's files in a user's ledger are that user's, who may go on with them."""
        if os.geteuid() == 0 and self.owner != 0:
            os.fchown(handle, self.owner, self.group)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.folder)

    def original(self, digest: str) -> bytes:
        """Bytes kept under their sha256. Raises SpecdecError when they are lost or damaged."""
        data: bytes | None = None
        with contextlib.suppress(Gone), open_place(self._original_path(digest), last=False) as place:
            data = place.read()
        if data is None or sha256(data) != digest:
            what = "lost" if data is None else "damaged"
            raise SpecdecError(
                f"the original kept in {self._original_path(digest)} is {what}, so the file it belongs to cannot be "
                "given back. Reinstall the engine; the patches then apply to it anew.",
                path=self._original_path(digest),
            )
        return data

    def keep_originals(self, files: t.Iterable[tuple[bytes, int]]) -> None:
        """Keeps bytes under their sha256 for as long as the ledger names them, each with the mode of its file."""
        handle = self._originals()
        try:
            added = [self._keep(handle, data, mode) for data, mode in files]
            if any(added):
                os.fsync(handle)
        finally:
            os.close(handle)

    def _keep(self, handle: int, data: bytes, mode: int) -> bool:
        digest = sha256(data)
        if self._kept(digest, data):
            return False
        # Not more readable than the file it comes from.
        self.write_new(digest, data, folder=handle, mode=0o600 | (stat.S_IMODE(mode) & 0o044))
        return True

    def drop_originals(self, keep: set[str]) -> None:
        """Removes the originals that nothing names any more, and what a killed run left half written."""
        with contextlib.suppress(OSError):
            handle = self._originals()
            try:
                for name in os.listdir(handle):
                    if name not in keep:
                        os.unlink(name, dir_fd=handle)
            finally:
                os.close(handle)

    def _kept(self, digest: str, data: bytes) -> bool:
        try:
            return self.original(digest) == data
        except SpecdecError:
            return False

    def _original_path(self, digest: str) -> str:
        return os.path.join(self._place.directory, _ORIGINALS, digest)

    def _originals(self) -> int:
        try:
            os.mkdir(_ORIGINALS, 0o755, dir_fd=self.folder)
            created = True
        except FileExistsError:
            created = False
        handle = os.open(_ORIGINALS, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.folder)
        if created:
            self.adopt(handle)
        return handle

    def close(self) -> None:
        self._place.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.close()


def open_store(path: str, *, create: bool) -> Store | None:
    """The ledger folder; None when it does not exist and is not to be made."""
    try:
        return Store(path, create=create)
    except Gone:
        return None
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise explained(error, path, "open") from error


__all__ = ("Store", "default_folder", "open_store", "sha256")
