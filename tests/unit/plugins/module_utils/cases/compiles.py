# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits whose result parses, but does not compile.

``{parser}`` in what is said stands for the compiler's words.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

BEFORE = """\
def f(y):
    a = 1
    for x in y:
        go(x)


class K:
    async def g(self):
        b = 2
"""


def refused(id_: str, edit: Any, line: int, text: str, scope: str, *, before: str = BEFORE, by: str = "") -> Case:
    edits = edit if isinstance(edit, list) else [edit]
    operation = next(key for key in ("insert", "replace", "method", "import", "unwrap", "wrap") if key in edits[-1])
    return Case(
        id=id_,
        before=before,
        edits=edits,
        fails=(
            f"the file: with edit {by or f'{len(edits)}-{operation}'} it would not compile any more, though it does "
            f"now: line {line}: {{parser}}, {text!r}, in {scope}; nothing was written, correct the source that the "
            "edit gives or the place it goes to"
        ),
    )


CASES = [
    refused("break-outside-a-loop", {"in": "f", "insert": "break", "after": "a = 1"}, 3, "break", "f"),
    refused("continue-outside-a-loop", {"in": "f", "replace": "a = 1", "with": "continue"}, 2, "continue", "f"),
    refused("return-outside-a-function", {"insert": "return 1", "at": "end"}, 10, "return 1", "the module"),
    refused("return-in-a-class", {"in": "K", "insert": "return 1", "at": "end"}, 10, "return 1", "K"),
    refused("await-in-a-plain-function", {"in": "f", "insert": "await y", "after": "a = 1"}, 3, "await y", "f"),
    refused("yield-at-module-level", {"insert": "yield 1", "at": "end"}, 10, "yield 1", "the module"),
    refused("nonlocal-of-nothing", {"in": "K.g", "replace": "b = 2", "with": "nonlocal q"}, 9, "nonlocal q", "K.g"),
    refused("global-after-use", {"in": "f", "insert": "global a", "at": "end"}, 5, "global a", "f"),
    refused(
        "one-parameter-twice",
        {"in": "K", "method": "def h(self, self):\n    pass\n"},
        11,
        "def h(self, self):",
        "K.h",
    ),
    refused(
        "unwrapped-loop-with-a-break",
        {"in": "f", "replace": "for x in y: $$$B", "with": "if y:\n    $$$B"},
        3,
        "break",
        "f",
        before="def f(y):\n    for x in y:\n        break\n",
    ),
    refused(
        "the-edit-among-several",
        [
            {"in": "f", "insert": "log()", "after": "a = 1"},
            {"in": "f", "insert": "break", "after": "log()", "id": "stop"},
            {"in": "K.g", "insert": "log()", "after": "b = 2"},
        ],
        4,
        "break",
        "f",
        by="stop",
    ),
    Case(
        id="break-in-a-loop",
        before=BEFORE,
        edits=[{"in": "f", "insert": "break", "after": "go(x)"}],
        after=BEFORE.replace("        go(x)\n", "        go(x)\n        break\n"),
    ),
    Case(
        id="did-not-compile-before-either",
        before="return 1\nx = 2\n",
        edits=[{"replace": "x = 2", "with": "x = 3"}],
        after="return 1\nx = 3\n",
    ),
    Case(
        id="warnings-of-the-compiler-stay-unsaid",
        before="x = 2\n",
        edits=[{"insert": 'y = "\\d" is 1', "after": "x = 2"}],
        after='x = 2\ny = "\\d" is 1\n',
    ),
]
