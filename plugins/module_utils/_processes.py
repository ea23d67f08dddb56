# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Processes that still run what a file was before.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import time


def older_processes(prefix: str, written: float) -> list[int]:
    """The ids of Python processes of the environment ``prefix`` that started before ``written`` (seconds since 1970).

    A process belongs to it when its command line or a mapped library lies there; its executable alone does not tell,
    as a venv's python is a link. Processes that this user may not look at are left out, as are this one's ancestors.
    """
    found = []
    family = _ancestors()
    inside = os.path.realpath(prefix).encode("utf-8", "surrogateescape") + b"/"
    spelled = os.path.abspath(prefix).encode("utf-8", "surrogateescape") + b"/"
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
        if _started(folder) < written and _belongs(folder, (inside, spelled)):
            found.append(int(name))
    return sorted(found)


def _belongs(folder: str, prefixes: tuple[bytes, bytes]) -> bool:
    if any(argument.startswith(prefixes) for argument in _read(folder + "/cmdline").split(b"\0")[:3]):
        return True
    # Engines rename their workers, which overwrites the command line; the libraries stay mapped.
    maps = _read(folder + "/maps")
    return any(b" " + prefix in maps for prefix in prefixes)


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


__all__ = ("older_processes",)
