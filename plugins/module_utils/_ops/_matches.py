# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Verdicts that several operations with a pattern share."""

from __future__ import annotations

from typing import Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import AMBIGUOUS, Context, Verdict, present
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope


def nested(scope: Scope, pattern: Pattern, lines: Sequence[int]) -> Verdict:
    """Matches lie inside one another, so that which is meant cannot be told."""
    return Verdict(
        AMBIGUOUS,
        message=f"{scope.describe()}: matches of {pattern.text!r} lie inside one another; make the pattern more exact",
        candidates=[f"line {line}" for line in lines],
        line=lines[0],
        matches=len(lines),
    )


def nothing_left(scope: Scope, pattern: Pattern, context: Context, verb: str) -> Verdict:
    """Nothing to take away: done, with a warning when the ledger knows nothing of it."""
    if context.known:
        return present(matches=0)
    near = nearest(scope, pattern)
    warning = "{} has no statement {!r} to {}; taken as done.{}".format(
        scope.describe(), pattern.text, verb, " Nearest: " + "; ".join(near) if near else ""
    )
    return present(matches=0, warnings=[warning])


__all__ = ("nested", "nothing_left")
