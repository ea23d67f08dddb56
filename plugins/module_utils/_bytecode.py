# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bytecode of a source file, which must never outlive it.

PRIVATE to the collection: it can have breaking changes at any time.

A replaced file always gets another mtime second, so bytecode that is checked by time can never pass for it, wherever
PYTHONPYCACHEPREFIX put it. Bytecode that nobody checks must go, or the patch would never run.
"""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._places import Gone, Place, open_place

_HASHED = 0b01
_CHECKED = 0b10


def drop_bytecode(place: Place) -> list[str]:
    """Removes every compiled form of the source at ``place`` and returns their paths.

    Raises SpecdecError where one that is used unchecked cannot be removed.
    """
    dropped = []
    for compiled in _compiled(place):
        with compiled:
            try:
                os.unlink(compiled.name, dir_fd=compiled.folder)
            except FileNotFoundError:
                continue
            except OSError as error:
                if _unchecked(compiled):
                    raise _stays(compiled, error.strerror) from error
            else:
                dropped.append(compiled.path)
    return dropped


def bytecode_obstacle(place: Place) -> SpecdecError | None:
    """Why ``drop_bytecode`` would fail, as far as that can be told without writing."""
    found: SpecdecError | None = None
    for compiled in _compiled(place):
        with compiled:
            effective = os.access in os.supports_effective_ids
            writable = os.access(".", os.W_OK | os.X_OK, dir_fd=compiled.folder, effective_ids=effective)
            if not writable and _unchecked(compiled):
                found = _stays(compiled, "no permission")
    return found


def _stays(compiled: Place, why: str | None) -> SpecdecError:
    return SpecdecError(
        f"{compiled.path} is used without a look at its source (an unchecked hash), and it cannot be removed: {why}. "
        "Run the task as its owner or as root.",
        path=compiled.path,
    )


def _compiled(place: Place) -> t.Iterator[Place]:
    """The places of all compiled forms; the caller closes each."""
    stem, extension = os.path.splitext(place.name)
    if extension != ".py":
        return
    beside = re.compile(re.escape(stem) + r"\.py[co]")
    inside = re.compile(re.escape(stem) + r"\.[A-Za-z0-9_-]+(\.opt-[A-Za-z0-9]+)?\.pyc")
    for folder, pattern in ((place.directory, beside), (os.path.join(place.directory, "__pycache__"), inside)):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            if pattern.fullmatch(name):
                try:
                    compiled = open_place(os.path.join(folder, name), last=False)
                except Gone:
                    continue
                yield compiled


def _unchecked(compiled: Place) -> bool:
    try:
        handle = os.open(compiled.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=compiled.folder)
    except OSError:
        return True
    with open(handle, "rb") as stream:
        header = stream.read(8)
    flags = int.from_bytes(header[4:8], "little")
    return len(header) == 8 and flags & _HASHED != 0 and flags & _CHECKED == 0


__all__ = ("bytecode_obstacle", "drop_bytecode")
