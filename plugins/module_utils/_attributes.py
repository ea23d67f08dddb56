# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a file has besides its bytes: whether it can be replaced at all, and how its replacement gets the same.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import struct

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._places import Place, not_writable
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import user_name

_GET_FLAGS = 0x80086601 if struct.calcsize("l") == 8 else 0x80046601
_IMMUTABLE = 0x10
_APPEND_ONLY = 0x20
# Signatures over the content: copied to other content they would be false.
_OF_THE_CONTENT = ("security.ima", "security.evm")


def obstacle(place: Place, *, predict: bool) -> SpecdecError | None:
    """Why the file at ``place`` cannot be replaced, found without writing; None if nothing speaks against it.

    ``predict`` asks the system for write permission too: for check mode, since only a real write can tell for sure.
    """
    handle = place.open()
    try:
        status = os.fstat(handle)
        return (
            _blocked_directory(place, status, predict)
            or _flagged(handle, place.path, "file")
            or _mounted_alone(place, handle)
            or _foreign(place, status)
        )
    finally:
        os.close(handle)


def folder_obstacle(place: Place) -> SpecdecError | None:
    """Why nothing can be made in the directory of ``place``, as far as that can be told without writing."""
    return _blocked_directory(place, None, True)


def _blocked_directory(place: Place, status: os.stat_result | None, predict: bool) -> SpecdecError | None:
    if os.fstatvfs(place.folder).f_flag & os.ST_RDONLY:
        return SpecdecError(
            f"{place.path} is on a read-only file system. Patch it where it is made (the image, the host of the "
            "mount), or mount it writable.",
            path=place.path,
        )
    folder = os.fstat(place.folder)
    euid = os.geteuid()
    if status is not None and folder.st_mode & stat.S_ISVTX and euid not in (0, status.st_uid, folder.st_uid):
        return SpecdecError(
            f"{place.directory} is sticky, so only {user_name(status.st_uid)} can replace {place.path}. "
            f"Run the task as that user (become_user: {user_name(status.st_uid)}).",
            path=place.path,
        )
    with contextlib.suppress(OSError):
        handle = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=place.folder)
        try:
            flagged = _flagged(handle, place.directory, "directory")
        finally:
            os.close(handle)
        if flagged is not None:
            return flagged
    if predict and not os.access(".", os.W_OK | os.X_OK, dir_fd=place.folder, effective_ids=_EFFECTIVE):
        return not_writable(place.directory, folder.st_uid)
    return None


_EFFECTIVE = os.access in os.supports_effective_ids


def _flagged(handle: int, path: str, kind: str) -> SpecdecError | None:
    try:
        flags = struct.unpack("i", fcntl.ioctl(handle, _GET_FLAGS, bytes(8))[:4])[0]
    except OSError:
        return None
    for flag, letter, word in ((_IMMUTABLE, "i", "immutable"), (_APPEND_ONLY, "a", "append-only")):
        if flags & flag:
            return SpecdecError(
                f"the {kind} {path} is {word}; 'chattr -{letter} {path}' takes that away, if that is what you want",
                path=path,
            )
    return None


def _mounted_alone(place: Place, handle: int) -> SpecdecError | None:
    if _mount_of(handle) == _mount_of(place.folder):
        return None
    return mounted_error(place.path)


def mounted_error(path: str) -> SpecdecError:
    return SpecdecError(
        f"{path} is a mount of its own (a single file bound into this place), which cannot be replaced. Patch the file "
        "that is mounted, where it lies, or mount its whole directory.",
        path=path,
    )


def _mount_of(handle: int) -> str | None:
    try:
        with open(f"/proc/self/fdinfo/{handle}", encoding="utf-8") as stream:
            for line in stream:
                if line.startswith("mnt_id:"):
                    return line
    except OSError:
        pass
    return None


def _foreign(place: Place, status: os.stat_result) -> SpecdecError | None:
    if os.geteuid() == 0:
        return None
    owner = user_name(status.st_uid)
    if status.st_uid != os.geteuid():
        whose = f"belongs to {owner}"
    elif status.st_gid not in {os.getegid(), *os.getgroups()}:
        whose = f"has group {status.st_gid}, which {user_name(os.geteuid())} is not in"
    else:
        return None
    return SpecdecError(
        f"{place.path} {whose}, and its replacement could not keep that. Run the task as {owner} or as root "
        f"(become: true, become_user: {owner}).",
        path=place.path,
    )


def copy_attributes(source: int, target: int, path: str) -> list[str]:
    """Gives the file ``target`` owner, ACL, extended attributes, SELinux label and mode of ``source`` (both handles).

    Returns warnings; raises SpecdecError where something cannot be kept.
    """
    status = os.fstat(source)
    now = os.fstat(target)
    if (status.st_uid, status.st_gid) != (now.st_uid, now.st_gid):
        try:
            os.fchown(target, status.st_uid, status.st_gid)
        except OSError as error:
            raise _lost(path, f"its owner {user_name(status.st_uid)}:{status.st_gid}", error) from error
    warnings = _copy_xattrs(source, target, path)
    try:
        os.fchmod(target, stat.S_IMODE(status.st_mode))
    except OSError as error:
        raise _lost(path, "its mode", error) from error
    return warnings


def _copy_xattrs(source: int, target: int, path: str) -> list[str]:
    wanted, there = _xattrs(source), _xattrs(target)
    warnings = []
    for name in sorted(there):
        # A directory's default ACL gives a new file what the old one does not have.
        if name not in wanted and name == "system.posix_acl_access":
            os.removexattr(target, name)
    for name, value in sorted(wanted.items()):
        if there.get(name) == value:
            continue
        if name in _OF_THE_CONTENT:
            warnings.append(f"{path}: {name} signs the old content and was not kept")
            continue
        try:
            os.setxattr(target, name, value)
        except OSError as error:
            raise _lost(path, f"its extended attribute {name}", error) from error
    return warnings


def _xattrs(handle: int) -> dict[str, bytes]:
    try:
        names = os.listxattr(handle)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.ENOSYS):
            return {}
        raise
    found = {}
    for name in names:
        with contextlib.suppress(OSError):
            found[name] = os.getxattr(handle, name)
    return found


def _lost(path: str, what: str, error: OSError) -> SpecdecError:
    return SpecdecError(
        f"{path}: {what} could not be kept: {error.strerror}. Nothing was written; run the task as root (become) or as "
        "the file's owner.",
        path=path,
    )


__all__ = ("copy_attributes", "folder_obstacle", "mounted_error", "obstacle")
