# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``remove``: statements by pattern."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    present,
    settle,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, nearest
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Splice

MODIFIERS = ("count",)
ABSENT = False


class Remove(Operation):
    """Remove statements; a block left empty gets ``pass``."""

    def __init__(self, pattern: Pattern, count: int | str) -> None:
        self.pattern = pattern
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        found = self.pattern.as_statements(scope)
        splices: list[Splice] = []
        for block in scope.blocks():
            ranges = [(match.first, match.stop) for match in found if match.block == block]
            if ranges:
                splices.extend(suite.remove_many(scope.source, block, ranges))
        warnings: list[str] = []
        if not found and not context.known:
            near = nearest(scope, self.pattern)
            warnings.append(
                "{} has no statement {!r} to remove; taken as done.{}".format(
                    scope.describe(), self.pattern.text, " Nearest: " + "; ".join(near) if near else ""
                )
            )
        return settle(
            count=self.count,
            todo=found,
            done=0,
            splices=splices,
            lines=[scope.source.line_of(scope.source.start(match.nodes[0])) for match in found],
            nothing=present(matches=0, warnings=warnings),
            what=f"{scope.describe()} has {self.pattern.text!r}",
        )


def parse(fields: Fields, *, absent: bool) -> Remove:
    return Remove(Pattern(fields.text("remove"), what=fields.what), fields.count())
