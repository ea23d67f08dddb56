# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Keys that every edit may have, and how edits play together."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="in-left-out-is-the-module",
        before="""\
a()


def f():
    a()
""",
        edits=[{"insert": "new()", "after": "a()"}],
        after="""\
a()
new()


def f():
    a()
""",
    ),
    Case(
        id="in-a-method-of-a-nested-class",
        before="""\
class A:
    class B:
        def f(self):
            a()
    def f(self):
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "A.B.f"}],
        after="""\
class A:
    class B:
        def f(self):
            a()
            new()
    def f(self):
        a()
""",
    ),
    Case(
        id="in-a-function-in-a-function",
        before="""\
def f():
    a()
    def g():
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f.g"}],
        after="""\
def f():
    a()
    def g():
        a()
        new()
""",
    ),
    Case(
        id="in-an-async-method",
        before="""\
class A:
    async def f(self):
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "A.f"}],
        after="""\
class A:
    async def f(self):
        a()
        new()
""",
    ),
    Case(
        id="in-a-definition-under-try",
        before="""\
try:
    import q
except ImportError:
    def f():
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f"}],
        after="""\
try:
    import q
except ImportError:
    def f():
        a()
        new()
""",
    ),
    Case(
        id="in-a-definition-under-with-for-while",
        before="""\
with w:
    for x in y:
        while z:
            def f():
                a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f"}],
        after="""\
with w:
    for x in y:
        while z:
            def f():
                a()
                new()
""",
    ),
    Case(
        id="in-a-definition-in-a-match",
        before="""\
match x:
    case 1:
        def f():
            a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f"}],
        after="""\
match x:
    case 1:
        def f():
            a()
            new()
""",
        python=(3, 10),
    ),
    Case(
        id="in-passes-over-overload-stubs",
        before="""\
@overload
def f(x: int): ...
@typing.overload
def f(x: str): ...
def f(x):
    a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f"}],
        after="""\
@overload
def f(x: int): ...
@typing.overload
def f(x: str): ...
def f(x):
    a()
    new()
""",
    ),
    Case(
        id="in-a-property-pair-is-ambiguous",
        before="""\
class A:
    @property
    def f(self):
        a()
    @f.setter
    def f(self, v):
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "A.f"}],
        states=["ambiguous"],
        said=["the file has 2 definitions of A.f; say which with `occurrence`", "line 3: A.f", "line 6: A.f"],
    ),
    Case(
        id="in-a-property-pair-by-occurrence",
        before="""\
class A:
    @property
    def f(self):
        a()
    @f.setter
    def f(self, v):
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "occurrence": 2, "in": "A.f"}],
        after="""\
class A:
    @property
    def f(self):
        a()
    @f.setter
    def f(self, v):
        a()
        new()
""",
    ),
    Case(
        id="in-a-redefined-function-by-occurrence",
        before="""\
def f():
    a()


def f():
    a()
""",
        edits=[{"insert": "new()", "after": "a()", "occurrence": 1, "in": "f"}],
        after="""\
def f():
    a()
    new()


def f():
    a()
""",
    ),
    Case(
        id="in-one-of-two-classes-that-has-the-method",
        before="""\
class A:
    x = 1
class A(B):
    def f(self):
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "A.f"}],
        after="""\
class A:
    x = 1
class A(B):
    def f(self):
        a()
        new()
""",
    ),
    Case(
        id="in-a-missing-method-names-the-nearest",
        before="""\
class A:
    def forward(self): pass
class B:
    def foward(self): pass
""",
        edits=[{"insert": "new()", "after": "a()", "in": "A.foward"}],
        states=["drifted"],
        said=["the file has no A.foward: A, line 1, has no foward", "line 4: B.foward", "line 2: A.forward"],
    ),
    Case(
        id="in-with-type-parameters",
        before="""\
class A[T]:
    def f[S](self, x: S) -> T:
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "A.f"}],
        after="""\
class A[T]:
    def f[S](self, x: S) -> T:
        a()
        new()
""",
        python=(3, 12),
    ),
    Case(
        id="id-is-shown",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "id": "mine"}],
        after="""\
a()
new()
""",
    ),
    Case(
        id="required-false-drift-is-reported",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()"}, {"in": "q", "base": "B", "required": False}],
        after="""\
a()
new()
""",
        states=["pristine", "drifted"],
        said=["the file has no q"],
    ),
    Case(
        id="required-false-ambiguity-is-fatal",
        before="""\
a()
a()
""",
        edits=[{"insert": "new()", "after": "a()", "required": False}],
        states=["ambiguous"],
        said=[
            ("the module has 'a()': 2, but count is 1; name a smaller scope, a larger pattern, or the count"),
            "line 1: a()",
            "line 2: a()",
        ],
    ),
    Case(
        id="drift-writes-nothing-at-all",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()"}, {"in": "q", "base": "B"}],
        states=["pristine", "drifted"],
        said=["the file has no q"],
    ),
    Case(
        id="order-a-later-edit-sees-an-earlier-one",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()"}, {"insert": "newer()", "after": "new()"}],
        after="""\
a()
new()
newer()
""",
    ),
    Case(
        id="obsolete-by-a-pattern-in-any-scope",
        before="""\
class A:
    def f(self):
        upstream(1)
""",
        edits=[{"in": "B", "base": "C", "obsolete_when": "upstream($_)"}],
        states=["obsolete"],
        said=["upstream has it another way"],
    ),
    Case(
        id="obsolete-by-a-statement-pattern",
        before="""\
class A(Upstream):
    x = 1
""",
        edits=[{"in": "B", "base": "C", "obsolete_when": "class A(Upstream): $$$"}],
        states=["obsolete"],
        said=["upstream has it another way"],
    ),
    Case(
        id="obsolete-in-one-scope",
        before="""\
class A:
    def f(self):
        upstream()
""",
        edits=[{"in": "A.g", "insert": "x()", "after": "y()", "obsolete_when": {"in": "A.f", "find": "upstream()"}}],
        states=["obsolete"],
        said=["upstream has it another way"],
    ),
    Case(
        id="obsolete-in-another-scope-does-not-count",
        before="""\
class A:
    def f(self):
        upstream()
    def g(self): pass
""",
        edits=[{"in": "A.g", "insert": "x()", "after": "y()", "obsolete_when": {"in": "A.g", "find": "upstream()"}}],
        states=["drifted"],
        said=["A.g has no statement 'y()'"],
    ),
    Case(
        id="obsolete-scope-gone",
        before="def f(): pass\n",
        edits=[{"in": "g", "insert": "x()", "after": "y()", "obsolete_when": {"in": "A.g", "find": "upstream()"}}],
        states=["drifted"],
        said=["the file has no g"],
    ),
    Case(
        id="present-wins-over-obsolete",
        before="""\
class B(C):
    x = upstream()
""",
        edits=[{"in": "B", "base": "C", "obsolete_when": "upstream()"}],
    ),
    Case(
        id="obsolete-wins-over-pristine",
        before="""\
class B:
    x = upstream()
""",
        edits=[{"in": "B", "base": "C", "obsolete_when": "upstream()"}],
        states=["obsolete"],
        said=["upstream has it another way"],
    ),
    Case(
        id="obsolete-is-judged-on-the-file-as-it-was",
        before="""\
class B:
    x = 1
""",
        edits=[{"insert": "upstream()", "at": "end"}, {"in": "B", "base": "C", "obsolete_when": "upstream()"}],
        after="""\
class B(C):
    x = 1
upstream()
""",
    ),
    Case(
        id="any-of-the-first-that-fits",
        before="""\
def new_name():
    a()
""",
        edits=[
            {
                "any_of": [
                    {"insert": "new()", "after": "a()", "in": "old_name"},
                    {"insert": "new()", "after": "a()", "in": "new_name"},
                ]
            }
        ],
        after="""\
def new_name():
    a()
    new()
""",
    ),
    Case(
        id="any-of-takes-a-present-one",
        before="""\
def f():
    a()
    new()
""",
        edits=[{"any_of": [{"in": "q", "base": "B"}, {"insert": "new()", "after": "a()", "in": "f"}]}],
    ),
    Case(
        id="any-of-common-keys-and-their-own",
        before='X = ["a"]\n',
        edits=[
            {
                "element": {"to": "Y", "value": '"b"'},
                "any_of": [{"element": {"to": "Z", "value": '"b"'}}, {"element": {"to": "X", "value": '"b"'}}],
            }
        ],
        after='X = ["a", "b"]\n',
    ),
    Case(
        id="any-of-none-fits",
        before="a()\n",
        edits=[{"any_of": [{"in": "q", "base": "B"}, {"in": "r", "base": "B"}]}],
        states=["drifted"],
        said=["alternative 1: the file has no q; alternative 2: the file has no r"],
    ),
    Case(
        id="any-of-none-fits-one-is-obsolete",
        before="upstream()\n",
        edits=[{"any_of": [{"in": "q", "base": "B"}, {"in": "r", "base": "B", "obsolete_when": "upstream()"}]}],
        states=["obsolete"],
        said=["upstream has it another way"],
    ),
    Case(
        id="two-edits-against-each-other",
        before="""\
a()
b()
""",
        edits=[
            {"replace": "a()", "with": "b()", "count": "all"},
            {"replace": "b()", "with": "z()", "count": "all", "id": "second"},
        ],
        fails=(
            "edits 1-replace and second work against each other: after second, 1-replace would be "
            "drifted on a second run; say in one edit what the end shall be"
        ),
    ),
    Case(
        id="a-later-edit-takes-the-anchor-away",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()"}, {"remove": "a()"}],
        fails=(
            "edits 1-insert and 2-remove work against each other: after 2-remove, 1-insert would "
            "be drifted on a second run; say in one edit what the end shall be"
        ),
    ),
    Case(
        id="input-unknown-key-with-a-hint",
        before="a()\n",
        edits=[{"insert": "new()", "afterr": "a()"}],
        fails=(
            "edit 1: unknown key 'afterr' (did you mean after?); insert takes after, at, before, "
            "count, file, id, in, insert, obsolete_when, occurrence, of, required, state"
        ),
    ),
    Case(
        id="input-unknown-operation-with-a-hint",
        before="a()\n",
        edits=[{"inserts": "new()", "after": "a()"}],
        fails="edit 1: unknown key 'inserts' (did you mean insert?)",
    ),
    Case(
        id="input-no-operation",
        before="a()\n",
        edits=[{"in": "f"}],
        fails=(
            "edit 1: give exactly one operation of import, base, method, insert, replace, remove, "
            "wrap, unwrap, parameter, branch, element, argument, decorator, rename; got none"
        ),
    ),
    Case(
        id="input-two-operations",
        before="a()\n",
        edits=[{"insert": "x", "remove": "y", "after": "a()"}],
        fails=(
            "edit 1: give exactly one operation of import, base, method, insert, replace, remove, "
            "wrap, unwrap, parameter, branch, element, argument, decorator, rename; got insert, "
            "remove"
        ),
    ),
    Case(
        id="input-operation-names-are-listed",
        before="a()\n",
        edits=[{"in": "f", "id": "x"}],
        fails=(
            "edit 1 (x): give exactly one operation of import, base, method, insert, replace, "
            "remove, wrap, unwrap, parameter, branch, element, argument, decorator, rename; got "
            "none"
        ),
    ),
    Case(
        id="input-key-is-no-text",
        before="a()\n",
        edits=[{True: "x", "insert": "x", "at": "end"}],
        fails=(
            "edit 1: unknown key True; insert takes after, at, before, count, file, id, in, "
            "insert, obsolete_when, occurrence, of, required, state"
        ),
    ),
    Case(
        id="input-edit-is-no-dict",
        before="a()\n",
        edits=["insert"],
        fails="edit 1: expected a dictionary, got str ('insert')",
    ),
    Case(
        id="input-empty-list",
        before="a()\n",
        edits=[],
        fails="`edits` must be a list with at least one edit, got a list ([])",
    ),
    Case(
        id="input-count-for-what-has-none",
        before="a()\n",
        edits=[{"in": "A", "base": "B", "count": 2}],
        fails="edit 1: base has no count",
    ),
    Case(
        id="input-count-zero",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "count": 0}],
        fails="edit 1, insert: `count` must be a whole number from 1, got a number (0)",
    ),
    Case(
        id="input-count-as-text",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "count": "1"}],
        after="""\
a()
new()
""",
    ),
    Case(
        id="input-count-nonsense",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "count": "some"}],
        fails="edit 1, insert: `count` must be a whole number from 1, got str ('some')",
    ),
    Case(
        id="input-state-nonsense",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "state": "gone"}],
        fails="edit 1, insert: `state` must be one of present, absent, not 'gone'",
    ),
    Case(
        id="input-absent-for-what-has-none",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "state": "absent"}],
        fails=(
            "edit 1: insert cannot be absent; state: absent goes with import, base, method, "
            "parameter, element, argument, decorator"
        ),
    ),
    Case(
        id="input-same-id-twice",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "id": "x"}, {"insert": "new()", "after": "a()", "id": "x"}],
        fails="edits 1 and 2 have the same id 'x'",
    ),
    Case(
        id="input-file-in-path-form",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "file": "x.py"}],
        fails="edit 1: with `path`, edits carry no `file`",
    ),
    Case(
        id="input-required-nonsense",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "required": "maybe"}],
        fails="edit 1: `required` must be true or false, got str ('maybe')",
    ),
    Case(
        id="input-occurrence-without-in",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "occurrence": 1}],
        fails="edit 1: `occurrence` goes with `in`",
    ),
    Case(
        id="input-any-of-empty",
        before="a()\n",
        edits=[{"any_of": []}],
        fails="edit 1: any_of must be a list of alternatives, got a list ([])",
    ),
    Case(
        id="input-any-of-with-an-id-inside",
        before="a()\n",
        edits=[{"any_of": [{"insert": "new()", "after": "a()", "id": "x"}]}],
        fails="edit 1, alternative 1: id belongs to the edit, not to an alternative",
    ),
    Case(
        id="input-obsolete-unknown-key",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "obsolete_when": {"pattern": "x"}}],
        fails="edit 1, insert, obsolete_when: unknown key 'pattern'; known here: find, in",
    ),
    Case(
        id="input-obsolete-does-not-parse",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "obsolete_when": "x("}],
        fails="edit 1, insert, obsolete_when: the pattern 'x(' does not parse, {parser}",
    ),
    Case(
        id="input-in-is-no-text",
        before="a()\n",
        edits=[{"insert": "new()", "after": "a()", "in": 1}],
        fails='edit 1, insert: `in` must be text; YAML read a number (1). Put it in quotes: in: "1"',
    ),
]
