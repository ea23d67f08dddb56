# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A systemd unit and its journal, as ``systemctl show`` and ``journalctl --output=json`` tell them.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import json
import re
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput

Facts = t.Dict[str, t.Any]

_PROPERTIES = (
    "LoadState,ActiveState,SubState,MainPID,ExecMainStartTimestampMonotonic,NRestarts,Result,ExecMainStatus,"
    "InvocationID"
)
_NAME = re.compile(r"^[A-Za-z0-9:_.@\\][A-Za-z0-9:_.@\\-]{0,250}$")
_MOST_LINES = 5000


def check_name(unit: str) -> str:
    """The full name of a service, or BadInput."""
    if not _NAME.match(unit):
        raise BadInput(f"'unit' is not the name of a systemd unit: {unit!r}", unit=unit)
    if unit.endswith(".service"):
        return unit
    kind = unit.rpartition(".")[2]
    if kind in ("socket", "timer", "target", "slice", "scope", "mount", "path", "device", "swap", "automount"):
        raise BadInput(f"'unit' must be a service, not a {kind}: {unit}", unit=unit)
    return unit + ".service"


def show_command(unit: str, *, user: bool) -> list[str]:
    scope = ["--user"] if user else []
    return ["systemctl", *scope, "--no-pager", "show", f"--property={_PROPERTIES}", "--", unit]


def parse_show(text: str) -> Facts | None:
    """The unit's facts with ``invocation``; None when it is not the answer of ``systemctl show``."""
    told = dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)
    if "LoadState" not in told or "ActiveState" not in told:
        return None
    pid = _number(told.get("MainPID"))
    started = _number(told.get("ExecMainStartTimestampMonotonic"))
    return {
        "load": told["LoadState"],
        "active": told["ActiveState"],
        "sub": told.get("SubState"),
        "main_pid": pid or None,
        # The manager's other form of this time has whole seconds only.
        "started": _from_monotonic(started / 1e6) if started else None,
        "restarts": _number(told.get("NRestarts")),
        "result": told.get("Result") or None,
        "exit_status": _number(told.get("ExecMainStatus")) if started else None,
        "invocation": told.get("InvocationID") or None,
    }


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _from_monotonic(seconds: float) -> float:
    return round(time.time() - time.clock_gettime(time.CLOCK_MONOTONIC) + seconds, 3)


def journal_command(unit: str, *, user: bool, since: str | None, started: float | None) -> list[str]:
    """Reads the last lines of the unit; ``since`` (a cursor or a time) comes before ``started``."""
    command = ["journalctl", "--output=json", "--all", "--no-pager", "--quiet", f"--lines={_MOST_LINES}"]
    if since is not None and re.match(r"^[si]=[0-9a-f]+;", since):
        command.append(f"--after-cursor={since}")
    elif since is not None:
        command.append(f"--since={since}")
    elif started is not None:
        command.append(f"--since=@{int(started) - 1}")
    return [*command, f"--user-unit={unit}" if user else f"--unit={unit}"]


def parse_journal(text: str, invocation: str | None) -> tuple[list[str], str | None]:
    """The messages, and the cursor of the last entry.

    With ``invocation`` the lines of other starts of the unit are left out. A user's manager does not mark its
    services' lines with it.
    """
    lines = []
    cursor: str | None = None
    for entry in _entries(text):
        told = entry.get("__CURSOR")
        cursor = told if isinstance(told, str) else cursor
        of = entry.get("_SYSTEMD_INVOCATION_ID") if "_SYSTEMD_USER_UNIT" not in entry else None
        # What the manager says of a unit has its own field, beside the manager's.
        of = entry.get("INVOCATION_ID") or entry.get("USER_INVOCATION_ID") or of
        if invocation is not None and of is not None and of != invocation:
            continue
        message = _message(entry.get("MESSAGE"))
        if message is not None:
            lines.append(message)
    return lines, cursor


def _entries(text: str) -> t.Iterator[Facts]:
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            # The tool was ended in the middle of an entry.
            continue
        if isinstance(entry, dict):
            yield entry


def _message(value: t.Any) -> str | None:
    """A field with control characters or broken UTF-8 comes as a list of bytes, a repeated one as a list of values."""
    if isinstance(value, list):
        if all(isinstance(item, int) and 0 <= item < 256 for item in value):
            return bytes(value).decode("utf-8", "replace")
        return _message(value[-1])
    return value if isinstance(value, str) else None


__all__ = ("Facts", "check_name", "journal_command", "parse_journal", "parse_show", "show_command")
