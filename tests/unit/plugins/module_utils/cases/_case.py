# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a case of the edit language is: a file, edits, and what must come of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence, Union

Text = Union[str, bytes]


class Case(NamedTuple):
    """One case.

    :ivar id: says which sentence of the language, or which hazard, it stands for.
    :ivar before: the file; text stands also for the file with other line ends and with a BOM, bytes for themselves.
    :ivar after: the file then; None: not a byte changes.
    :ivar states: of the edits; by default all 'pristine' with ``after``, all 'present' without.
    :ivar said: messages, candidates and warnings of the edits, in order.
    :ivar fails: the whole task is refused with this message; ``{parser}`` stands for the parser's own words.
    :ivar python: the first Python that has the syntax, or the positions, that the case needs.
    """

    id: str
    before: Text
    edits: Sequence[Any]
    after: Text | None = None
    states: Sequence[str] | None = None
    said: Sequence[str] = ()
    fails: str | None = None
    module: str | None = "a.b.c"
    is_package: bool = False
    known: bool = False
    python: tuple[int, int] = (3, 8)

    @property
    def wanted_states(self) -> list[str]:
        if self.states is not None:
            return list(self.states)
        return ["present" if self.after is None else "pristine"] * len(self.edits)


__all__ = ("Case", "Text")
