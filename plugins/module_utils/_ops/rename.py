# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. ``rename``: a variable of the scope wherever it stands, and nothing else of that name."""

from __future__ import annotations

import difflib
import keyword

from ansible_collections.specdec.blackwell.plugins.module_utils import _hazards as hazards
from ansible_collections.specdec.blackwell.plugins.module_utils import _spelling as spelling
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields
from ansible_collections.specdec.blackwell.plugins.module_utils._names import Names, Occurrence
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    Context,
    Operation,
    Verdict,
    drifted,
    present,
    pristine,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source, Splice

MODIFIERS: tuple[str, ...] = ()
ABSENT = False


class Rename(Operation):
    """Rename a variable."""

    def __init__(self, old: str, new: str) -> None:
        self.old = old
        self.new = new

    def examine(self, scope: Scope, context: Context) -> Verdict:
        source = scope.source
        names = Names(source, (self.old, self.new))
        region = names.region_of(scope.node)
        places = [item for item in names.occurrences if item.name == self.old and item.owner is region]
        others = [item for item in names.occurrences if item.name == self.new and item.owner is region and item.binds]
        declared = region.declared.get(self.old)
        if declared is not None:
            return drifted(
                f"{self.old} is {declared} in {scope.describe()}; rename it in the scope that it belongs to",
                line=_line(source, places or names.occurrences),
            )
        if not any(item.binds for item in places):
            if others:
                return present(_line(source, others))
            bound = names.bound_in(scope.node)
            return drifted(
                f"{scope.describe()} binds neither {self.old} nor {self.new}",
                candidates=[
                    f"line {bound[near]}: {near}" for near in difflib.get_close_matches(self.old, sorted(bound), n=3)
                ],
            )
        line = _line(source, places)
        if others:
            return drifted(
                f"{scope.describe()} binds both {self.old} and {self.new}: renaming would make them one",
                line=line,
                candidates=[f"line {_line(source, [item])}: {item.name}" for item in places[:1] + others[:1]],
            )
        reason = hazards.of_rename(scope, names, region, places, self.old, self.new)
        if reason:
            return drifted(f"{scope.describe()}: {reason}", line=line)
        splices = self._splices(source, names, places)
        if isinstance(splices, str):
            return drifted(f"{scope.describe()}: {splices}", line=line)
        return pristine(splices, line, matches=len(splices))

    def _splices(self, source: Source, names: Names, places: list[Occurrence]) -> list[Splice] | str:
        """One splice for each place; or why one of them cannot be had."""
        new = self.new.encode("utf-8")
        splices: set[Splice] = set()
        for place in places:
            node = place.node
            at = f"line {_line(source, [place])}"
            if place.string is not None:
                spans = spelling.in_string(source, place.string, self.old)
                if spans is None:
                    return f"{at}: the f-string shows the name itself"
                inside = [item for item in names.occurrences if item.name == self.old and item.string is place.string]
                if len(spans) != len(inside) or not all(item in places for item in inside):
                    return f"{at}: not every {self.old} in the f-string is this one"
                splices.update(Splice(start, end, new) for start, end in spans)
                continue
            if spelling.is_import(node):
                found = spelling.import_splices(source, node, self.old, self.new)
                if found is None:
                    return f"{at}: the import binds {self.old} by the path of a submodule"
                splices.update(found)
                continue
            span = spelling.span_of_name(source, node, self.old)
            if span is None:
                return f"{at}: {self.old} is spelled another way there"
            splices.add(Splice(span[0], span[1], new))
        return sorted(splices)


def _line(source: Source, places: list[Occurrence]) -> int:
    """The first line of some places; inside an f-string, that of the string."""
    return min(source.line_of(source.start(item.string or item.node)) for item in places)


def parse(fields: Fields, *, absent: bool) -> Rename:
    inner = Fields(fields.values["rename"], fields.what)
    inner.only(("from", "to"))
    names = []
    for key in ("from", "to"):
        name = inner.text(key).strip()
        if "." in name:
            raise BadInput(
                f"{fields.what}: {name!r} is an attribute, and rename is for variables; use `replace: {name}` with "
                "`count: all`"
            )
        if not name.isidentifier() or keyword.iskeyword(name):
            raise BadInput(f"{fields.what}: `{key}` must be a name, not {name!r}")
        names.append(name)
    if names[0] == names[1]:
        raise BadInput(f"{fields.what}: `from` and `to` are the same name")
    return Rename(names[0], names[1])
