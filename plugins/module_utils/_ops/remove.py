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
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._matches import nested, nothing_left
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern, any_nested, span_of
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Splice

MODIFIERS = ("count",)
ABSENT = False


class Remove(Operation):
    """Remove statements; a block left empty gets ``pass``."""

    local = True

    def __init__(self, pattern: Pattern, count: int | str) -> None:
        self.pattern = pattern
        self.count = count

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        found = self.pattern.as_statements(scope)
        if not found:
            return nothing_left(scope, self.pattern, context, "remove")
        lines = [source.line_of(span_of(source, match)[0]) for match in found]
        if any_nested(source, found):
            return nested(scope, self.pattern, lines)
        splices: list[Splice] = []
        for block in scope.blocks():
            ranges = [(match.first, match.stop) for match in found if match.block == block]
            if ranges:
                splices.extend(suite.remove_many(source, block, ranges))
        return settle(
            count=self.count,
            todo=found,
            done=0,
            splices=splices,
            lines=lines,
            nothing=present(matches=0),
            what=f"{scope.describe()} has {self.pattern.text!r}",
            source=scope.source,
        )


def parse(fields: Fields, *, absent: bool) -> Remove:
    return Remove(Pattern(fields.text("remove"), what=fields.what), fields.count())
