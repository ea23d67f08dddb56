# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Who else could change a place, and as whom its children must run when this process is root.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import stat
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused

if t.TYPE_CHECKING:
    from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import Environment

ANYONE = -1


class Credentials:
    """The user that a child process becomes. ``assume`` is for ``preexec_fn``."""

    def __init__(self, uid: int, gid: int) -> None:
        self.uid = uid
        self.gid = gid
        self.name: str | None = None
        home = "/"
        try:
            import pwd

            entry = pwd.getpwuid(uid)
        except (ImportError, KeyError):
            pass
        else:
            self.name, self.gid, home = entry.pw_name, entry.pw_gid, entry.pw_dir
        # Paths that belong to root's session (TMPDIR, XDG_*) are not the other user's.
        self.environment: dict[str, str] = {"HOME": home, "TMPDIR": "/tmp"}
        if self.name is not None:
            self.environment.update(USER=self.name, LOGNAME=self.name)

    def assume(self) -> None:
        if self.name is None:
            os.setgroups([self.gid])
        else:
            os.initgroups(self.name, self.gid)
        os.setgid(self.gid)
        os.setuid(self.uid)


def user_name(uid: int) -> str:
    try:
        import pwd

        return pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return str(uid)


def writers(status: os.stat_result) -> set[int]:
    """The users, besides root and this process's own, who can change what has ``status``; ANYONE for a crowd.

    A group counts only if somebody else is in it. In a sticky directory nobody but an entry's owner can replace it.
    """
    found = set()
    if status.st_uid not in (0, os.geteuid()):
        found.add(status.st_uid)
    if stat.S_ISLNK(status.st_mode) or (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX):
        return found
    if status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and _group_has_others(status)):
        found.add(ANYONE)
    return found


def _group_has_others(status: os.stat_result) -> bool:
    gid = status.st_gid
    if gid == 0:
        return False
    try:
        import grp
        import pwd

        names = set(grp.getgrgid(gid).gr_mem)
        names.update(entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == gid)
        uids = {pwd.getpwnam(name).pw_uid for name in names}
    except (ImportError, KeyError):
        return True
    return bool(uids - {0, os.geteuid(), status.st_uid})


def controllers(paths: t.Iterable[str]) -> dict[int, str]:
    """Who, besides root and this process's own user, controls a path or a directory above it: uid to example."""
    found: dict[int, str] = {}
    seen: set[str] = set()
    for path in paths:
        for spelling in (os.path.abspath(path), os.path.realpath(path)):
            current = spelling
            while current not in seen:
                seen.add(current)
                try:
                    status = os.lstat(current)
                except OSError:
                    pass
                else:
                    for uid in writers(status):
                        found.setdefault(uid, current)
                current = os.path.dirname(current)
    return found


def child_credentials(env: Environment) -> Credentials | None:
    """As whom to run a child of ``env.python``: None for this process's own user.

    Another user who can write the interpreter or its prefix decides what the child does. So root's child runs as
    that user; raises Refused where that is more than one.
    """
    if os.geteuid() != 0:
        return None
    paths = [env.python, env.prefix, env.base_prefix, os.path.join(env.prefix, "pyvenv.cfg")]
    return credentials_for([*paths, *env.site_packages], env.python)


def credentials_for(paths: t.Iterable[str], python: str) -> Credentials | None:
    """``child_credentials`` for an interpreter of which only some ``paths`` are known yet."""
    if os.geteuid() != 0:
        return None
    found = controllers(paths)
    if not found:
        return None
    if len(found) == 1 and ANYONE not in found:
        uid, place = next(iter(found.items()))
        return Credentials(uid, os.lstat(place).st_gid)
    whose = {uid: "a group or everybody" if uid == ANYONE else user_name(uid) for uid in found}
    places = ", ".join(f"{place} ({whose[uid]})" for uid, place in sorted(found.items()))
    owners = [user_name(uid) for uid in sorted(found) if uid != ANYONE]
    advice = f"set become_user: {owners[0]}" if owners else "set become_user to the user that runs the engine"
    raise Refused(
        f"root does not start {python}, because others can write it or what it loads: {places}. "
        f"Take their write permission away, or {advice}.",
        python=python,
    )


__all__ = ("ANYONE", "Credentials", "child_credentials", "controllers", "credentials_for", "user_name", "writers")
