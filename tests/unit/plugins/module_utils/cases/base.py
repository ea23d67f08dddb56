# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Base classes."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-is-a-base-already",
        before="""\
class A(B):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
    ),
    Case(
        id="noop-dotted-path-ending-in-it",
        before="""\
class A(interfaces.B):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
    ),
    Case(
        id="noop-subscripted",
        before="""\
class A(B[T], metaclass=M):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
    ),
    Case(
        id="noop-asked-dotted-is-there-bare",
        before="""\
class A(B):
    x = 1
""",
        edits=[{"in": "A", "base": "interfaces.B"}],
    ),
    Case(
        id="noop-import-alias-counts-as-that-base",
        before="""\
from m import B as Bee


class A(Bee):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
    ),
    Case(
        id="noop-asked-by-its-alias",
        before="""\
from m import B as Bee


class A(m.B):
    x = 1
""",
        edits=[{"in": "A", "base": "Bee"}],
    ),
    Case(
        id="noop-alias-of-a-plain-import",
        before="""\
import m.B as Bee


class A(Bee):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
    ),
    Case(
        id="noop-hand-written-in-another-layout",
        before="""\
class A(
    C,  # one
    B
):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
    ),
    Case(
        id="noop-absent-is-not-there",
        before="""\
class A(C):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
    ),
    Case(
        id="twin-class-does-not-count",
        before="""\
class Twin(B):
    x = 1


class A(C):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class Twin(B):
    x = 1


class A(C, B):
    x = 1
""",
    ),
    Case(
        id="last-is-the-default",
        before="""\
class A(C):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(C, B):
    x = 1
""",
    ),
    Case(
        id="no-brackets-become-brackets",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(B):
    x = 1
""",
    ),
    Case(
        id="empty-brackets-get-the-base",
        before="""\
class A():
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(B):
    x = 1
""",
    ),
    Case(
        id="empty-brackets-with-comment",
        before="""\
class A(  # none yet
):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(B  # none yet
):
    x = 1
""",
    ),
    Case(
        id="blank-before-colon",
        before="""\
class A :
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(B) :
    x = 1
""",
    ),
    Case(
        id="one-line-class",
        before="class A(P): ...\n",
        edits=[{"in": "A", "base": "B"}],
        after="class A(P, B): ...\n",
    ),
    Case(
        id="one-line-class-without-bases",
        before="class A: ...\n",
        edits=[{"in": "A", "base": "B"}],
        after="class A(B): ...\n",
    ),
    Case(
        id="before-any-keyword",
        before="""\
class A(metaclass=M):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(B, metaclass=M):
    x = 1
""",
    ),
    Case(
        id="before-keyword-after-bases",
        before="""\
class A(C, metaclass=M):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(C, B, metaclass=M):
    x = 1
""",
    ),
    Case(
        id="starred-bases-and-keywords",
        before="""\
class A(*MIX, **kw):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(*MIX, B, **kw):
    x = 1
""",
    ),
    Case(
        id="starred-bases-after-a-keyword-refused",
        before="""\
class A(metaclass=M, *MIX):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        states=["drifted"],
        said=[
            ("class A has *bases after a keyword argument: a base after them is no valid Python; use position: first")
        ],
    ),
    Case(
        id="starred-bases-after-a-keyword-first",
        before="""\
class A(metaclass=M, *MIX):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": "first"}],
        after="""\
class A(B, metaclass=M, *MIX):
    x = 1
""",
    ),
    Case(
        id="position-first",
        before="""\
class A(C, D):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": "first"}],
        after="""\
class A(B, C, D):
    x = 1
""",
    ),
    Case(
        id="position-first-in-lines",
        before="""\
class A(
    # the real one
    C,
    D,
):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": "first"}],
        after="""\
class A(
    # the real one
    B,
    C,
    D,
):
    x = 1
""",
    ),
    Case(
        id="position-before",
        before="""\
class A(C, D):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": {"before": "D"}}],
        after="""\
class A(C, B, D):
    x = 1
""",
    ),
    Case(
        id="position-after-a-subscripted",
        before="""\
class A(C[T], D):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": {"after": "C"}}],
        after="""\
class A(C[T], B, D):
    x = 1
""",
    ),
    Case(
        id="position-after-dotted",
        before="""\
class A(nn.Module, D):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": {"after": "Module"}}],
        after="""\
class A(nn.Module, B, D):
    x = 1
""",
    ),
    Case(
        id="position-anchor-missing",
        before="""\
class A(C, D):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "position": {"after": "Q"}}],
        states=["drifted"],
        said=["class A has no base Q to stand after", "line 1: C, D"],
    ),
    Case(
        id="five-lines-with-comments-and-trailing-comma",
        before="""\
class A(
    C,  # one
    # about D
    D,  # two
    metaclass=M,  # three
):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(
    C,  # one
    # about D
    D,  # two
    B,
    metaclass=M,  # three
):
    x = 1
""",
    ),
    Case(
        id="lines-without-trailing-comma",
        before="""\
class A(
    C,
    D  # last
):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(
    C,
    D,  # last
    B
):
    x = 1
""",
    ),
    Case(
        id="lines-closing-bracket-on-last",
        before="""\
class A(C,
        D):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(C,
        D,
        B):
    x = 1
""",
    ),
    Case(
        id="subscripted-base-added",
        before="""\
class A(C):
    x = 1
""",
        edits=[{"in": "A", "base": 'Protocol[T, "U"]'}],
        after="""\
class A(C, Protocol[T, "U"]):
    x = 1
""",
    ),
    Case(
        id="decorated-class",
        before="""\
@dec(a, (1, 2))
@other
class A(C):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
@dec(a, (1, 2))
@other
class A(C, B):
    x = 1
""",
    ),
    Case(
        id="backslash-before-the-brackets",
        before="class A \\\n    (C):\n    x = 1\n",
        edits=[{"in": "A", "base": "B"}],
        after="class A \\\n    (C, B):\n    x = 1\n",
    ),
    Case(
        id="lambda-and-brackets-in-a-base",
        before="""\
class A(f(1, lambda a, b: (a, b)), C):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A(f(1, lambda a, b: (a, b)), C, B):
    x = 1
""",
    ),
    Case(
        id="parenthesised-base",
        before="""\
class A((C)):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A((C), B):
    x = 1
""",
    ),
    Case(
        id="type-parameters",
        before="""\
class A[T](C):
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A[T](C, B):
    x = 1
""",
        python=(3, 12),
    ),
    Case(
        id="type-parameters-without-bases",
        before="""\
class A[T: (int, str), *Ts]:
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A[T: (int, str), *Ts](B):
    x = 1
""",
        python=(3, 12),
    ),
    Case(
        id="type-parameter-default-with-brackets",
        before="""\
class A[T = list[int]]:
    x = 1
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
class A[T = list[int]](B):
    x = 1
""",
        python=(3, 13),
    ),
    Case(
        id="nested-class-by-qualified-name",
        before="""\
class A:
    class A:
        x = 1
""",
        edits=[{"in": "A.A", "base": "B"}],
        after="""\
class A:
    class A(B):
        x = 1
""",
    ),
    Case(
        id="class-under-if-else",
        before="""\
if X:
    class A(C): x = 1
else:
    y = 2
""",
        edits=[{"in": "A", "base": "B"}],
        after="""\
if X:
    class A(C, B): x = 1
else:
    y = 2
""",
    ),
    Case(
        id="two-real-definitions-are-ambiguous",
        before="""\
if X:
    class A(C): x = 1
else:
    class A(D): x = 2
""",
        edits=[{"in": "A", "base": "B"}],
        states=["ambiguous"],
        said=["the file has 2 definitions of A; say which with `occurrence`", "line 2: A", "line 4: A"],
    ),
    Case(
        id="two-real-definitions-by-occurrence",
        before="""\
if X:
    class A(C): x = 1
else:
    class A(D): x = 2
""",
        edits=[{"in": "A", "base": "B", "occurrence": 2}],
        after="""\
if X:
    class A(C): x = 1
else:
    class A(D, B): x = 2
""",
    ),
    Case(
        id="occurrence-too-high",
        before="class A(C): x = 1\n",
        edits=[{"in": "A", "base": "B", "occurrence": 2}],
        states=["drifted"],
        said=["the file has 1 of A, not 2", "line 1: A"],
    ),
    Case(
        id="function-is-no-class",
        before="def A(): pass\n",
        edits=[{"in": "A", "base": "B"}],
        states=["drifted"],
        said=["A is no class, so it cannot have the base B"],
    ),
    Case(
        id="class-missing-names-the-nearest",
        before="""\
class AForCausalLM(C): x = 1
class Other: x = 1
""",
        edits=[{"in": "AForCausalLMs", "base": "B"}],
        states=["drifted"],
        said=["the file has no AForCausalLMs", "line 1: AForCausalLM"],
    ),
    Case(
        id="class-in-a-function",
        before="def make():\n\tclass A:\n\t\tx = 1\n\treturn A\n",
        edits=[{"in": "make.A", "base": "B"}],
        after="def make():\n\tclass A(B):\n\t\tx = 1\n\treturn A\n",
    ),
    Case(
        id="absent-only-base",
        before="""\
class A(B):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A:
    x = 1
""",
    ),
    Case(
        id="absent-first",
        before="""\
class A(B, C):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A(C):
    x = 1
""",
    ),
    Case(
        id="absent-last",
        before="""\
class A(C, B):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A(C):
    x = 1
""",
    ),
    Case(
        id="absent-keeps-keywords",
        before="""\
class A(B, metaclass=M):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A(metaclass=M):
    x = 1
""",
    ),
    Case(
        id="absent-in-lines",
        before="""\
class A(
    C,  # one
    B,  # two
):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A(
    C,  # one
):
    x = 1
""",
    ),
    Case(
        id="absent-by-alias",
        before="""\
from m import B as Bee


class A(C, Bee):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
from m import B as Bee


class A(C):
    x = 1
""",
    ),
    Case(
        id="absent-twice-there",
        before="""\
class A(x.B, C, B):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A(C):
    x = 1
""",
    ),
    Case(
        id="absent-last-in-lines-without-trailing-comma",
        before="""\
class A(
    C,
    B
):
    x = 1
""",
        edits=[{"in": "A", "base": "B", "state": "absent"}],
        after="""\
class A(
    C,
):
    x = 1
""",
    ),
    Case(
        id="base-is-no-name",
        before="class A: ...\n",
        edits=[{"in": "A", "base": "f(x)"}],
        fails="edit 1, base: `base` must be a name, a dotted name or one with a subscript, not 'f(x)'",
    ),
    Case(
        id="base-does-not-parse",
        before="class A: ...\n",
        edits=[{"in": "A", "base": "B,"}],
        fails="edit 1, base: `base` must be a name, a dotted name or one with a subscript, not 'B,'",
    ),
    Case(
        id="base-unquoted-true",
        before="class A: ...\n",
        edits=[{"in": "A", "base": True}],
        fails=('edit 1, base: `base` must be text; YAML read a boolean (True). Put it in quotes: base: "True"'),
    ),
    Case(
        id="position-unknown",
        before="class A: ...\n",
        edits=[{"in": "A", "base": "B", "position": "middle"}],
        fails="edit 1, base: `position` must be one of first, last, not 'middle'",
    ),
    Case(
        id="position-both",
        before="class A: ...\n",
        edits=[{"in": "A", "base": "B", "position": {"before": "C", "after": "D"}}],
        fails="edit 1, base: position takes before or after, one of them",
    ),
]
