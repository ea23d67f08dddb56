# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reach a file by directory handles, so that nobody can swap a directory for a link under the walk.

PRIVATE to the collection: it can have breaking changes at any time.

Every component is opened relative to the one before, never following a link by itself. A link is read and walked by
hand, and only where nobody else could have planted it, or where it gives its owner nothing that is not its own.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import types

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import ANYONE, user_name, writers

_WALK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LINKS = 40


class Gone(SpecdecError):
    """A file or a directory on the way to it does not exist."""


class Place:
    """A file's directory, held open, and the file's name in it. ``path`` is free of links. Close it after use."""

    def __init__(self, folder: int, directory: str, name: str, links: list[str]) -> None:
        self.folder = folder
        self.directory = directory
        self.name = name
        self.links = links

    @property
    def path(self) -> str:
        return os.path.join(self.directory, self.name)

    def status(self) -> os.stat_result:
        try:
            return os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            raise Gone(f"{self.path} does not exist", path=self.path) from None

    def open(self) -> int:
        """A read handle of the regular file; BadInput for anything else (a FIFO would block for ever)."""
        try:
            handle = os.open(self.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.folder)
        except FileNotFoundError:
            raise Gone(f"{self.path} does not exist", path=self.path) from None
        except OSError as error:
            raise explained(error, self.path, "read") from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise BadInput(f"{self.path} is not a regular file", path=self.path)
        return handle

    def read(self) -> bytes:
        with open(self.open(), "rb") as stream:
            return stream.read()

    def sync(self) -> None:
        """Makes renames in the directory last over a power cut."""
        try:
            handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.folder)
        except PermissionError:
            return
        try:
            os.fsync(handle)
        except OSError as error:
            # Some network and FUSE file systems cannot sync a directory.
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
                raise
        finally:
            os.close(handle)

    def close(self) -> None:
        if self.folder >= 0:
            os.close(self.folder)
            self.folder = -1

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.close()


class _Walk:
    """One descent. ``planted`` are owners of links met where others than root and this user can write."""

    def __init__(self, path: str, *, below: str | None, follow: bool) -> None:
        self.wanted = path
        self.below = None if below is None else os.path.abspath(below)
        self.follow = follow
        self.links: list[str] = []
        self.planted: dict[int, str] = {}
        self.at = "/"
        self.handle = os.open("/", _WALK)

    def down(self, name: str) -> None:
        handle = os.open(name, _WALK, dir_fd=self.handle)
        os.close(self.handle)
        self.handle = handle
        self.at = os.path.join(self.at, name)

    def restart(self) -> None:
        os.close(self.handle)
        self.handle = os.open("/", _WALK)
        self.at = "/"

    def link(self, name: str, *, under_root: bool) -> str | None:
        """Where a link points; None if ``name`` is no link. Refused if it may not be followed."""
        status = os.stat(name, dir_fd=self.handle, follow_symlinks=False)
        if not stat.S_ISLNK(status.st_mode):
            return None
        path = os.path.join(self.at, name)
        target = os.readlink(name, dir_fd=self.handle)
        if under_root:
            self.links.append(f"{path} -> {target}")
            if not self.follow:
                raise Refused(
                    f"{path} is a symbolic link to {target}, and 'follow' is false. Name the target itself, or set "
                    "follow: true to write through the link.",
                    path=path,
                    target=target,
                )
        others = writers(os.fstat(self.handle))
        if ANYONE in others:
            others = (others - {ANYONE}) | {status.st_uid}
        for uid in others | writers(status):
            self.planted[uid] = path
        if len(self.planted) > 1:
            raise self.refused(path, "links of several owners lie on the way")
        return target

    def refused(self, path: str, why: str) -> Refused:
        owners = [user_name(uid) for uid in self.planted]
        return Refused(
            f"{self.wanted}: the symbolic link {path} could have been put there by another user: {why}. Run the task "
            f"as the owner of that place (become_user: {owners[0]}), or name the target itself.",
            path=path,
        )


def open_place(path: str, *, below: str | None = None, follow: bool = True, last: bool = True) -> Place:
    """The directory of ``path`` and the name in it, with every link resolved; the file itself need not exist.

    ``below`` is the folder from which on (itself included) links count for ``follow``; left out: only a link at
    ``path`` itself does. With ``last`` false a link at ``path`` itself is not followed, as it is the thing meant.
    Raises Gone, BadInput and Refused.
    """
    if "\0" in path:
        raise BadInput("a path cannot hold a NUL character", path=path.replace("\0", "\\0"))
    walk = _Walk(os.path.abspath(path), below=below, follow=follow)
    try:
        name = _descend(walk, last)
        _check_owner(walk, name)
    except FileNotFoundError:
        os.close(walk.handle)
        raise Gone(f"{walk.wanted} does not exist", path=walk.wanted) from None
    except OSError as error:
        os.close(walk.handle)
        raise explained(error, walk.wanted, "reach") from error
    except BaseException:
        os.close(walk.handle)
        raise
    return Place(walk.handle, walk.at, name, walk.links)


def _descend(walk: _Walk, follow_last: bool) -> str:
    start = walk.wanted if walk.below is None else walk.below
    # Each part with the path as the caller spelled it, or None once a link has led elsewhere.
    parts = _parts("/", walk.wanted)
    followed = 0
    while True:
        name, spelled = parts[0]
        last = len(parts) == 1
        if name == "..":
            parent = os.path.dirname(walk.at)
            walk.restart()
            parts = _parts(None, parent) + parts[1:] if parent != "/" else parts[1:]
            continue
        if last and not follow_last:
            return name
        target: str | None = None
        try:
            under = spelled is None and bool(walk.links)
            if spelled is not None:
                under = spelled == start or spelled.startswith(start.rstrip("/") + "/")
            target = walk.link(name, under_root=under)
        except FileNotFoundError:
            if last:
                return name
            raise
        if target is None:
            if last:
                return name
            walk.down(name)
            parts = parts[1:]
            continue
        followed += 1
        if followed > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        rest = parts[1:]
        if target.startswith("/"):
            walk.restart()
        parts = _parts(None, target) + rest
        if not parts:
            raise BadInput(f"{walk.wanted} is a link to a directory", path=walk.wanted)


def _parts(start: str | None, path: str) -> list[tuple[str, str | None]]:
    found: list[tuple[str, str | None]] = []
    for name in path.split("/"):
        if name in ("", "."):
            continue
        if start is not None:
            start = os.path.join(start, name)
        found.append((name, start))
    return found


def _check_owner(walk: _Walk, name: str) -> None:
    """A link that another user may have planted must lead to what is that user's own."""
    for uid, path in walk.planted.items():
        owners = {os.fstat(walk.handle).st_uid}
        with contextlib.suppress(FileNotFoundError):
            owners.add(os.stat(name, dir_fd=walk.handle, follow_symlinks=False).st_uid)
        if owners != {uid}:
            raise walk.refused(path, f"it leads to {walk.at}, which is not that user's")


def explained(error: OSError, path: str, verb: str) -> SpecdecError:
    # EINVAL: what was a link a moment ago is none now.
    if error.errno in (errno.ELOOP, errno.EINVAL):
        return Refused(f"cannot {verb} {path}: a link was put there meanwhile, or links go in a circle", path=path)
    if error.errno in (errno.EACCES, errno.EPERM):
        return SpecdecError(
            f"cannot {verb} {path}: {user_name(os.geteuid())} has no permission. Run the task as its owner or as root "
            "(become).",
            path=path,
        )
    if error.errno == errno.ENOTDIR:
        return BadInput(f"cannot {verb} {path}: a part of the path is not a directory", path=path)
    return SpecdecError(f"cannot {verb} {path}: {error.strerror}", path=path)


def not_writable(directory: str, uid: int) -> SpecdecError:
    owner = user_name(uid)
    return SpecdecError(
        f"{user_name(os.geteuid())} cannot write in {directory}, which belongs to {owner}. Run the task as that user "
        f"or as root (become: true, become_user: {owner}). Everything is as it was.",
        path=directory,
    )


def make_folders(path: str, *, mode: int = 0o755) -> None:
    """Makes the missing directories of ``path`` by the same safe walk.

    As root they get the owner of the directory they are made in, so that a venv stays one user's. Raises SpecdecError.
    """
    missing: list[str] = []
    current = os.path.abspath(path)
    while not os.path.isdir(current):
        missing.append(current)
        current = os.path.dirname(current)
    for folder in reversed(missing):
        with open_place(folder) as place:
            above = os.fstat(place.folder)
            try:
                os.mkdir(place.name, mode, dir_fd=place.folder)
            except FileExistsError:
                continue
            except OSError as error:
                if error.errno in (errno.EACCES, errno.EPERM):
                    raise not_writable(place.directory, above.st_uid) from error
                raise explained(error, folder, "make") from error
            if os.geteuid() == 0 and above.st_uid != 0:
                os.chown(place.name, above.st_uid, above.st_gid, dir_fd=place.folder, follow_symlinks=False)


def read_file(path: str, *, below: str | None = None, follow: bool = True) -> tuple[bytes, Place]:
    """The bytes of a file and its place, which the caller closes."""
    place = open_place(path, below=below, follow=follow)
    try:
        return place.read(), place
    except BaseException:
        place.close()
        raise


__all__ = ("Gone", "Place", "explained", "make_folders", "not_writable", "open_place", "read_file")
