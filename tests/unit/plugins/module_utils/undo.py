# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits applied one by one, and undone again from what each of them did to the text."""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._edit import parse_edits
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, Result, Workspace, run_edits
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source

# Where two texts begin to differ, what stands there in the first, and how long it is in the second.
Step = Tuple[int, bytes, int]


class Recorder(Workspace):
    """A plan's files, and what each edit changed in the text of one."""

    def __init__(self, file: File) -> None:
        super().__init__({"": file}, known=False)
        self.steps: List[Step] = []

    def apply(self, result: Result) -> None:
        before = self.drafts[result.taken.file].text
        super().apply(result)
        after = self.drafts[result.taken.file].text
        first = _common(before, after)
        last = min(_common(before[::-1], after[::-1]), len(before) - first, len(after) - first)
        self.steps.append((first, before[first : len(before) - last], len(after) - last - first))


def _common(left: bytes, right: bytes) -> int:
    """Length of the common start."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def applied_and_undone(content: bytes, edits: List[Any], module: Optional[str] = None) -> Tuple[bytes, bytes]:
    """The file after ``edits``, and after they were undone from the last to the first."""
    space = Recorder(File(content, module))
    run_edits(parse_edits(edits, files_named=False), space)
    done = space.drafts[""].whole()
    text = done.text
    for start, old, length in reversed(space.steps):
        text = text[:start] + old + text[start + length :]
    return done.encode(), Source(path="", text=text, encoding=done.encoding).encode()


__all__ = ("applied_and_undone",)
