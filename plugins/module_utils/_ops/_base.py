# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What every operation takes and gives."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice

PRISTINE, PRESENT, OBSOLETE, DRIFTED, AMBIGUOUS = "pristine", "present", "obsolete", "drifted", "ambiguous"


class Context(NamedTuple):
    """What an operation may know of the file beside its content.

    :ivar module: dotted name of the file's module, None when it is not known.
    :ivar is_package: the file is an ``__init__.py``.
    :ivar known: the ledger holds this patch already.
    """

    module: str | None = None
    is_package: bool = False
    known: bool = False


class Verdict(NamedTuple):
    """What an operation found: the state, and the splices that would change it."""

    state: str
    splices: Sequence[Splice] = ()
    line: int | None = None
    matches: int = 0
    message: str = ""
    candidates: Sequence[str] = ()
    warnings: Sequence[str] = ()


class Operation:
    """Base of all operations. ``parse`` is in each module; ``examine`` must not change anything.

    :cvar local: reads nothing of the file outside of its scope, but ``source.module``.
    """

    local = False

    def examine(self, scope: Scope, context: Context) -> Verdict:
        raise NotImplementedError


def present(line: int | None = None, *, matches: int = 1, warnings: Sequence[str] = ()) -> Verdict:
    return Verdict(PRESENT, line=line, matches=matches, warnings=warnings)


def drifted(message: str, *, candidates: Sequence[str] = (), line: int | None = None, matches: int = 0) -> Verdict:
    return Verdict(DRIFTED, message=message, candidates=candidates, line=line, matches=matches)


def pristine(splices: Sequence[Splice], line: int | None, *, matches: int = 1, warnings: Sequence[str] = ()) -> Verdict:
    return Verdict(PRISTINE, splices=list(splices), line=line, matches=matches, warnings=warnings)


def settle(
    *,
    count: int | str,
    todo: Sequence[Any],
    done: int,
    splices: Sequence[Splice],
    lines: list[int],
    nothing: Verdict,
    what: str,
    source: Source | None = None,
) -> Verdict:
    """The state of an edit with a ``count``: matches to do plus matches done must equal it; with 'all', one or more."""
    total = len(todo) + done
    if total == 0:
        return nothing
    line = lines[0] if lines else None
    if count != "all" and total != count:
        state = AMBIGUOUS if total > int(count) else DRIFTED
        counted = f"{len(todo)} to change and {done} changed already" if done else f"{total}"
        message = f"{what}: {counted}, but count is {count}; name a smaller scope, a larger pattern, or the count"
        near = [f"line {number}: {source.line_text(number)}" if source else f"line {number}" for number in lines]
        return Verdict(state, line=line, matches=total, message=message, candidates=near)
    if not todo:
        return present(line, matches=total)
    return pristine(splices, line, matches=total)


__all__ = (
    "PRISTINE",
    "PRESENT",
    "OBSOLETE",
    "DRIFTED",
    "AMBIGUOUS",
    "Context",
    "Verdict",
    "Operation",
    "present",
    "drifted",
    "pristine",
    "settle",
)
