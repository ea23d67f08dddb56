# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. What this collection raises: one message for a person, and details for a program."""

from __future__ import annotations

from typing import Any


class SpecdecError(Exception):
    """A failure that the user can act on.

    ``message`` says what was looked for, where, and what to do. ``details`` are JSON-able and go into the
    module's result beside it.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = details

    def as_dict(self) -> dict[str, Any]:
        result: dict[str, Any] = {"message": self.message, "kind": type(self).__name__}
        result.update(self.details)
        return result


class BadInput(SpecdecError):
    """The task, or a file it names, is not what it must be."""


class Drift(SpecdecError):
    """The place that an edit needs is not there, or is there more than once."""


class Refused(SpecdecError):
    """It could be done, but not safely or not without guessing."""


__all__ = ("SpecdecError", "BadInput", "Drift", "Refused")
