# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Elements of collections."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-there",
        before='X = ["a", "c"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
    ),
    Case(
        id="noop-there-in-other-quotes",
        before="X = ['a', ('c')]\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
    ),
    Case(
        id="noop-there-as-adjacent-strings",
        before='X = ["a", "c" ""]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
    ),
    Case(
        id="noop-added-with-plus-equals",
        before="""\
X = ["a"]
X += ["c"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
    ),
    Case(
        id="noop-key-and-value",
        before='X = {"k": 1, "c": (2)}\n',
        edits=[{"element": {"to": "X", "value": "2", "key": '"c"'}}],
    ),
    Case(
        id="noop-absent",
        before='X = ["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
    ),
    Case(
        id="in-a-function-of-that-name-does-not-count",
        before="""\
X = ["a"]


def f():
    X = ["c"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = ["a", "c"]


def f():
    X = ["c"]
""",
    ),
    Case(
        id="same-text-in-a-comment-does-not-count",
        before='X = ["a"]  # "c"\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ["a", "c"]  # "c"\n',
    ),
    Case(
        id="list-on-one-line-stays-so",
        before='X = ["a", "b"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ["a", "b", "c"]\n',
    ),
    Case(
        id="list-trailing-comma",
        before='X = ["a", "b",]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ["a", "b", "c",]\n',
    ),
    Case(
        id="list-in-lines",
        before="""\
X = [
    "a",
    "b",  # two
    # end
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = [
    "a",
    "b",  # two
    "c",
    # end
]
""",
    ),
    Case(
        id="list-in-lines-without-trailing-comma",
        before="""\
X = [
    "a",
    "b"  # two
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = [
    "a",
    "b",  # two
    "c"
]
""",
    ),
    Case(
        id="list-two-a-line",
        before="""\
X = [
    "a", "b",
    "d", "e",
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = [
    "a", "b",
    "d", "e", "c",
]
""",
    ),
    Case(
        id="list-closing-bracket-on-the-last-line",
        before="""\
X = ["a",
     "b"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = ["a",
     "b",
     "c"]
""",
    ),
    Case(
        id="list-empty",
        before="X = []\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ["c"]\n',
    ),
    Case(
        id="list-empty-with-a-comment",
        before="""\
X = [
    # none
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = ["c"
    # none
]
""",
    ),
    Case(
        id="list-of-one-in-lines",
        before="""\
X = [
    "a"
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = [
    "a",
    "c"
]
""",
    ),
    Case(
        id="list-starred",
        before='X = [*a, "b"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = [*a, "b", "c"]\n',
    ),
    Case(
        id="list-of-lambdas",
        before="X = [lambda a, b: (a, b), lambda: 1]\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = [lambda a, b: (a, b), lambda: 1, "c"]\n',
    ),
    Case(
        id="list-parenthesised-items",
        before='X = [("a"), (1, 2)]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = [("a"), (1, 2), "c"]\n',
    ),
    Case(
        id="list-tabs",
        before='X = [\n\t"a",\n]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = [\n\t"a",\n\t"c",\n]\n',
    ),
    Case(
        id="list-implicit-concatenation",
        before="""\
X = [
    "a"
    "b",
    "d",
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = [
    "a"
    "b",
    "d",
    "c",
]
""",
    ),
    Case(
        id="list-with-a-comment-after-each",
        before="""\
X = ["a",  # one
     "b",  # two
     ]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = ["a",  # one
     "b",  # two
     "c",
     ]
""",
    ),
    Case(
        id="tuple",
        before='X = ("a", "b")\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ("a", "b", "c")\n',
    ),
    Case(
        id="tuple-of-one",
        before='X = ("a",)\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ("a", "c")\n',
    ),
    Case(
        id="tuple-empty",
        before="X = ()\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ("c",)\n',
    ),
    Case(
        id="tuple-bare",
        before='X = "a", "b"\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = "a", "b", "c"\n',
    ),
    Case(
        id="tuple-bare-of-one",
        before='X = "a",  # c\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = "a", "c"  # c\n',
    ),
    Case(
        id="tuple-in-lines",
        before="""\
X = (
    "a",
    "b",
)
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = (
    "a",
    "b",
    "c",
)
""",
    ),
    Case(
        id="set",
        before='X = {"a", "b"}\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = {"a", "b", "c"}\n',
    ),
    Case(
        id="frozenset",
        before='X = frozenset({"a"})\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = frozenset({"a", "c"})\n',
    ),
    Case(
        id="frozenset-of-a-list-in-lines",
        before="""\
X = frozenset(
    [
        "a",
    ]
)
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = frozenset(
    [
        "a",
        "c",
    ]
)
""",
    ),
    Case(
        id="set-call-empty",
        before="X = set()\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = set({"c"})\n',
    ),
    Case(
        id="frozenset-call-empty",
        before="X = frozenset()\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = frozenset({"c"})\n',
    ),
    Case(
        id="tuple-call-empty",
        before="X = tuple()\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = tuple(["c"])\n',
    ),
    Case(
        id="set-call-of-a-tuple",
        before='X = set(("a", "b"))\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = set(("a", "b", "c"))\n',
    ),
    Case(
        id="dict",
        before='X = {"a": 1, "b": 2}\n',
        edits=[{"element": {"to": "X", "value": "3", "key": '"c"'}}],
        after='X = {"a": 1, "b": 2, "c": 3}\n',
    ),
    Case(
        id="dict-in-lines",
        before="""\
X = {
    "a": ("m", "A"),
    **other,
    # end
}
""",
        edits=[{"element": {"to": "X", "value": '("m", "C")', "key": '"c"'}}],
        after="""\
X = {
    "a": ("m", "A"),
    **other,
    "c": ("m", "C"),
    # end
}
""",
    ),
    Case(
        id="dict-empty",
        before="X = {}\n",
        edits=[{"element": {"to": "X", "value": "3", "key": '"c"'}}],
        after='X = {"c": 3}\n',
    ),
    Case(
        id="dict-value-lambda",
        before="""\
X: dict = {
    "A": lambda: f(
        1, 2
    ),
}
""",
        edits=[{"element": {"to": "X", "value": "lambda: g(1, 2)", "key": '"C"'}}],
        after="""\
X: dict = {
    "A": lambda: f(
        1, 2
    ),
    "C": lambda: g(1, 2),
}
""",
    ),
    Case(
        id="dict-key-with-another-value-is-drifted",
        before='X = {"c": 1}\n',
        edits=[{"element": {"to": "X", "value": "2", "key": '"c"'}}],
        states=["drifted"],
        said=["X has the key with another value, line 1"],
    ),
    Case(
        id="dict-nested-by-pattern",
        before="X = {90: {2: 64}, 100: {2: 1}}\n",
        edits=[{"element": {"to": "X = {90: {$$$}, $$$_REST}", "value": "2", "key": "4"}}],
        after="X = {90: {2: 64, 4: 2}, 100: {2: 1}}\n",
    ),
    Case(
        id="literal-assigned",
        before='X = Literal["a", "b"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = Literal["a", "b", "c"]\n',
    ),
    Case(
        id="literal-of-one",
        before='X = Literal["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = Literal["a", "c"]\n',
    ),
    Case(
        id="literal-in-lines",
        before="""\
X = Literal[
    "a",
    "b",  # two
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
X = Literal[
    "a",
    "b",  # two
    "c",
]
""",
    ),
    Case(
        id="literal-by-pattern",
        before='x: Literal["a", "b"] = "a"\n',
        edits=[{"element": {"to": "x: Literal[$$$] = $_", "value": '"c"'}}],
        after='x: Literal["a", "b", "c"] = "a"\n',
    ),
    Case(
        id="literal-in-an-annotation",
        before='def f(x: Literal["a"] = "a"): pass\n',
        edits=[{"element": {"to": "Literal[$$$]", "value": '"c"'}}],
        after='def f(x: Literal["a", "c"] = "a"): pass\n',
    ),
    Case(
        id="literal-typing-dotted",
        before='X = typing.Literal["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = typing.Literal["a", "c"]\n',
    ),
    Case(
        id="annotated-assign",
        before='X: list[str] = ["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X: list[str] = ["a", "c"]\n',
    ),
    Case(
        id="attribute",
        before="""\
class A:
    def __init__(self):
        self.x = ["a"]
""",
        edits=[{"element": {"to": "self.x", "value": '"c"'}, "in": "A.__init__"}],
        after="""\
class A:
    def __init__(self):
        self.x = ["a", "c"]
""",
    ),
    Case(
        id="class-attribute",
        before="""\
class A:
    x = ["a"]
""",
        edits=[{"element": {"to": "x", "value": '"c"'}, "in": "A"}],
        after="""\
class A:
    x = ["a", "c"]
""",
    ),
    Case(
        id="local-in-a-method",
        before="""\
class A:
    def f(self):
        x = [
            "a",
        ]
        return x
""",
        edits=[{"element": {"to": "x", "value": '"c"'}, "in": "A.f"}],
        after="""\
class A:
    def f(self):
        x = [
            "a",
            "c",
        ]
        return x
""",
    ),
    Case(
        id="under-an-if",
        before="""\
if A:
    X = ["a"]
else:
    Y = 1
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after="""\
if A:
    X = ["a", "c"]
else:
    Y = 1
""",
    ),
    Case(
        id="two-assignments-are-ambiguous",
        before="""\
if A:
    X = ["a"]
else:
    X = ["b"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["ambiguous"],
        said=[
            "the module has X: 2, but count is 1; name a smaller scope, a larger pattern, or the count",
            'line 2: X = ["a"]',
            'line 4: X = ["b"]',
        ],
    ),
    Case(
        id="two-assignments-with-count",
        before="""\
if A:
    X = ["a"]
else:
    X = ["b", "c"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "count": 2}],
        after="""\
if A:
    X = ["a", "c"]
else:
    X = ["b", "c"]
""",
    ),
    Case(
        id="chained-assignment",
        before='X = Y = ["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = Y = ["a", "c"]\n',
    ),
    Case(
        id="dunder-all",
        before="""\
__all__ = ["a"]
__all__ += other.__all__
""",
        edits=[{"element": {"to": "__all__", "value": '"c"'}}],
        after="""\
__all__ = ["a", "c"]
__all__ += other.__all__
""",
    ),
    Case(
        id="call-by-pattern",
        before='x = f("a", b=1)\n',
        edits=[{"element": {"to": "g($$$)", "value": '"c"'}}],
        states=["drifted"],
        said=["the module has no g($$$)"],
    ),
    Case(
        id="call-arguments-by-pattern",
        before='x = f("a")\n',
        edits=[{"element": {"to": "f($$$)", "value": '"c"'}}],
        after='x = f("a", "c")\n',
    ),
    Case(
        id="parenthesised-callee-by-pattern",
        before='x = (f)("a")\n',
        edits=[{"element": {"to": "f($$$)", "value": '"c"'}}],
        after='x = (f)("a", "c")\n',
    ),
    Case(
        id="named-run-and-unnamed",
        before='x = f([1, 2], "q", 3)\n',
        edits=[{"element": {"to": "f([$$$], $$$REST)", "value": "9"}}],
        after='x = f([1, 2, 9], "q", 3)\n',
    ),
    Case(
        id="for-target-by-pattern",
        before='for k in ("a", "b"): pass\n',
        edits=[{"element": {"to": "for $K in [$$$]: $$$BODY", "value": '"c"'}}],
        states=["drifted"],
        said=["the module has no for $K in [$$$]: $$$BODY", 'line 1: for k in ("a", "b"): pass'],
    ),
    Case(
        id="comparison-by-pattern",
        before='if m in ("a", "b"): pass\n',
        edits=[{"element": {"to": "m in ($$$,)", "value": '"c"'}}],
        after='if m in ("a", "b", "c"): pass\n',
    ),
    Case(
        id="a-call-is-no-collection",
        before='X = make("a")\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is no literal collection, so no element can be added"],
    ),
    Case(
        id="a-subscript-is-no-collection",
        before='X = CONFIG["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is no literal collection, so no element can be added"],
    ),
    Case(
        id="a-comprehension-is-no-collection",
        before="X = [a for a in b]\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is no literal collection, so no element can be added"],
    ),
    Case(
        id="a-sum-is-no-collection",
        before='X = ["a"] + other\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is no literal collection, so no element can be added"],
    ),
    Case(
        id="a-method-named-list-is-no-collection",
        before='X = q.list(["a"])\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is no literal collection, so no element can be added"],
    ),
    Case(
        id="value-alone-for-a-dict",
        before='X = {"a": 1}\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is a dict: give `key` and `value`"],
    ),
    Case(
        id="key-for-a-list",
        before='X = ["a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"', "key": '"c"'}}],
        states=["drifted"],
        said=["X, line 1, is no dict: give `value` alone"],
    ),
    Case(
        id="name-not-assigned-names-the-nearest",
        before='target_supported = ["a"]\n',
        edits=[{"element": {"to": "targets_supported", "value": '"c"'}}],
        states=["drifted"],
        said=["the module has no targets_supported", 'line 1: target_supported = ["a"]'],
    ),
    Case(
        id="tuple-value-gets-brackets",
        before="X = [(1, 2)]\n",
        edits=[{"element": {"to": "X", "value": "3, 4"}}],
        after="X = [(1, 2), (3, 4)]\n",
    ),
    Case(
        id="multi-line-value",
        before="""\
X = [
    "a",
]
""",
        edits=[{"element": {"to": "X", "value": "f(\n    1,\n)"}}],
        after="""\
X = [
    "a",
    f(
        1,
    ),
]
""",
    ),
    Case(
        id="duplicates-stay",
        before='X = ["a", "a"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = ["a", "a", "c"]\n',
    ),
    Case(
        id="ellipsis-and-none",
        before="X = [None, ...]\n",
        edits=[{"element": {"to": "X", "value": "True"}}],
        after="X = [None, ..., True]\n",
    ),
    Case(
        id="absent-first",
        before='X = ["c", "b"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = ["b"]\n',
    ),
    Case(
        id="absent-last",
        before='X = ["a", "c"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = ["a"]\n',
    ),
    Case(
        id="absent-last-with-trailing-comma",
        before='X = ["a", "c",]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = ["a"]\n',
    ),
    Case(
        id="absent-only",
        before='X = ["c"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="X = []\n",
    ),
    Case(
        id="absent-in-lines",
        before="""\
X = [
    "a",
    "c",  # three
    "d",
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="""\
X = [
    "a",
    "d",
]
""",
    ),
    Case(
        id="absent-last-in-lines",
        before="""\
X = [
    "a",
    "c"  # three
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="""\
X = [
    "a",
]
""",
    ),
    Case(
        id="absent-keeps-comments-about-the-next",
        before="""\
X = ["c",
     # about d
     "d"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="""\
X = [
     # about d
     "d"]
""",
    ),
    Case(
        id="absent-keeps-the-comment-of-the-one-before",
        before="""\
X = ["a",  # one
     "c"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="""\
X = ["a",  # one
     ]
""",
    ),
    Case(
        id="absent-all-duplicates",
        before='X = ["c", "a", "c"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = ["a"]\n',
    ),
    Case(
        id="absent-from-a-tuple-of-two",
        before='X = ("a", "c")\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = ("a",)\n',
    ),
    Case(
        id="absent-from-a-tuple-of-two-first",
        before='X = ("c", "a")\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = ("a",)\n',
    ),
    Case(
        id="absent-only-in-a-tuple",
        before='X = ("c",)\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="X = ()\n",
    ),
    Case(
        id="absent-only-in-a-bare-tuple",
        before='X = "c",\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="X = ()\n",
    ),
    Case(
        id="absent-only-in-a-set",
        before='X = {"c"}\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="X = set()\n",
    ),
    Case(
        id="absent-only-in-a-frozenset",
        before='X = frozenset({"c"})\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="X = frozenset(set())\n",
    ),
    Case(
        id="absent-from-a-literal-of-two",
        before='X = Literal["a", "c"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after='X = Literal["a"]\n',
    ),
    Case(
        id="absent-from-a-literal-in-lines",
        before="""\
X = Literal[
    "a",
    "c",
]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        after="""\
X = Literal[
    "a"
]
""",
    ),
    Case(
        id="absent-only-in-a-literal-is-refused",
        before='X = Literal["c"]\n',
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        states=["drifted"],
        said=["line 1: the only element of a subscript cannot be taken out; replace what holds it"],
    ),
    Case(
        id="absent-key",
        before='X = {"a": 1, "c": 2}\n',
        edits=[{"element": {"to": "X", "key": '"c"'}, "state": "absent"}],
        after='X = {"a": 1}\n',
    ),
    Case(
        id="absent-key-whatever-its-value",
        before='X = {"a": 1, "c": 2}\n',
        edits=[{"element": {"to": "X", "value": "3", "key": '"c"'}, "state": "absent"}],
        after='X = {"a": 1}\n',
    ),
    Case(
        id="absent-added-with-plus-equals",
        before="""\
X = ["a"]
X += ["c"]
""",
        edits=[{"element": {"to": "X", "value": '"c"'}, "state": "absent"}],
        states=["drifted"],
        said=["X: the element stands in a `+=` of it"],
    ),
    Case(
        id="adds-after-absent-frozenset",
        before="X = frozenset(set())\n",
        edits=[{"element": {"to": "X", "value": '"c"'}}],
        after='X = frozenset(set({"c"}))\n',
    ),
    Case(
        id="unicode-before",
        before='"äöü€😀"; X = ["é", "b"]\n',
        edits=[{"element": {"to": "X", "value": '"ü"'}}],
        after='"äöü€😀"; X = ["é", "b", "ü"]\n',
    ),
    Case(
        id="input-two-unnamed-runs",
        before="x = 1\n",
        edits=[{"element": {"to": "f([$$$], $$$)", "value": '"c"'}}],
        fails="edit 1, element, to: `to` must have one $$$ for the elements; give the other runs names",
    ),
    Case(
        id="input-to-is-no-target",
        before="x = 1\n",
        edits=[{"element": {"to": "f(1)", "value": '"c"'}}],
        fails=("edit 1, element, to: give an assigned name, a dotted name, or a pattern whose $$$ holds the elements"),
    ),
    Case(
        id="input-value-missing",
        before="x = 1\n",
        edits=[{"element": {"to": "X"}}],
        fails="edit 1, element: `value` is required",
    ),
    Case(
        id="input-value-boolean",
        before="x = 1\n",
        edits=[{"element": {"to": "X", "value": True}}],
        fails=('edit 1, element: `value` must be text; YAML read a boolean (True). Put it in quotes: value: "True"'),
    ),
    Case(
        id="input-value-number",
        before="x = 1\n",
        edits=[{"element": {"to": "X", "value": 2}}],
        fails='edit 1, element: `value` must be text; YAML read a number (2). Put it in quotes: value: "2"',
    ),
    Case(
        id="input-value-with-a-comment",
        before="x = 1\n",
        edits=[{"element": {"to": "X", "value": "1  # one"}}],
        fails="edit 1, element: `value` must be an expression without a comment: '1  # one'",
    ),
    Case(
        id="input-value-is-a-statement",
        before="x = 1\n",
        edits=[{"element": {"to": "X", "value": "x = 1"}}],
        fails="edit 1, element: `value` is no Python expression: 'x = 1'",
    ),
    Case(
        id="input-unknown-key",
        before="x = 1\n",
        edits=[{"element": {"to": "X", "val": "1"}}],
        fails="edit 1, element: unknown key 'val'; known here: key, to, value",
    ),
]
