# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Processes that still run what a file was before.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import time
import typing as t

if t.TYPE_CHECKING:
    from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment
    from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import Package


def traces(env: Environment, key: t.Mapping[str, str], package: Package | None) -> tuple[list[str], list[str]]:
    """Folders and names by which a process that runs the target is known.

    A venv is all its own. Of a shared interpreter it is what lies beside the package, or names it.
    """
    if "path" in key:
        return [], [key["path"]]
    if env.is_venv:
        return [env.prefix], []
    return [] if package is None else [package.root], [key["package"]]


def older_processes(folders: t.Sequence[str], words: t.Sequence[str], written: float) -> list[int]:
    """The ids of Python processes that started before ``written`` (seconds since 1970) and run the target.

    That is so when the command line or a mapped library lies in one of ``folders``, or the command line has one of
    ``words`` as a script or module. The executable alone does not tell, as a venv's python is a link. Processes that
    this user may not look at are left out, as are this one's ancestors.
    """
    found = []
    family = _ancestors()
    spelled = {place for folder in folders for place in (os.path.abspath(folder), os.path.realpath(folder))}
    inside = tuple(os.fsencode(place) + b"/" for place in sorted(spelled))
    named = {os.fsencode(word) for word in words}
    for name in _listed("/proc"):
        if not name.isdigit() or int(name) in family:
            continue
        folder = f"/proc/{name}"
        try:
            executable = os.readlink(folder + "/exe")
        except OSError:
            continue
        if not os.path.basename(executable).startswith("python"):
            continue
        if _started(folder) < written and _belongs(folder, inside, named):
            found.append(int(name))
    return sorted(found)


def _belongs(folder: str, inside: tuple[bytes, ...], named: set[bytes]) -> bool:
    for argument in _read(folder + "/cmdline").split(b"\0")[:4]:
        module = argument.split(b".")[0]
        if argument.startswith(inside) or named & {argument, os.path.basename(argument), module}:
            return True
    # Engines rename their workers, which overwrites the command line; the libraries stay mapped.
    maps = _read(folder + "/maps") if inside else b""
    return any(b" " + prefix in maps for prefix in inside)


def _started(folder: str) -> float:
    """Seconds since 1970; the far future where it cannot be read."""
    try:
        ticks = int(_read(folder + "/stat").rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (IndexError, ValueError, OSError, AttributeError):
        return float("inf")
    return time.time() - age


def _ancestors() -> set[int]:
    family = {os.getpid()}
    current = os.getpid()
    while current > 1:
        try:
            current = int(_read(f"/proc/{current}/stat").rpartition(b")")[2].split()[1])
        except (IndexError, ValueError):
            break
        family.add(current)
    return family


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


__all__ = ("older_processes", "traces")
