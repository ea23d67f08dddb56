# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replaced expressions and statements."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-the-after-image-is-there",
        before="x = g(1)\n",
        edits=[{"replace": "f($A)", "with": "g($A)"}],
    ),
    Case(
        id="noop-the-after-image-in-another-layout",
        before="""\
if a :
   b = [ 1,2 ]  # by hand
""",
        edits=[{"replace": "b = [1]", "with": "b = [1, 2]"}],
    ),
    Case(
        id="noop-result-contains-its-own-pattern",
        before="x = g(f(1))\n",
        edits=[{"replace": "f($A)", "with": "g(f($A))"}],
    ),
    Case(
        id="noop-return-gets-a-second-value",
        before="""\
def f():
    return x, aux
""",
        edits=[{"replace": "return $X", "with": "return $X, aux", "in": "f"}],
    ),
    Case(
        id="noop-pattern-and-image-are-the-same",
        before="x = f(1)\n",
        edits=[{"replace": "f($A)", "with": "f($A)"}],
    ),
    Case(
        id="expression",
        before="x = f(1) + 2\n",
        edits=[{"replace": "f(1)", "with": "g(2)"}],
        after="x = g(2) + 2\n",
    ),
    Case(
        id="expression-in-all-its-places",
        before="""\
@f(1)
def h(a=f(1)) -> f(1):
    return a
x = [f(1) for a in f(1)]
y = lambda: f(1)
""",
        edits=[{"replace": "f(1)", "with": "g()", "count": 6}],
        after="""\
@g()
def h(a=g()) -> g():
    return a
x = [g() for a in g()]
y = lambda: g()
""",
    ),
    Case(
        id="defaults-and-decorators-belong-to-the-scope-around",
        before="""\
@f(1)
def h(a=f(1)):
    return f(1)
""",
        edits=[{"replace": "f(1)", "with": "g()", "in": "h"}],
        after="""\
@f(1)
def h(a=f(1)):
    return g()
""",
    ),
    Case(
        id="nested-function-is-another-scope",
        before="""\
def h():
    def i():
        return f(1)
    return f(1)
""",
        edits=[{"replace": "f(1)", "with": "g()", "in": "h"}],
        after="""\
def h():
    def i():
        return f(1)
    return g()
""",
    ),
    Case(
        id="comprehension-and-lambda-are-part-of-it",
        before="""\
def h():
    return [f(a) for a in b], lambda: f(2)
""",
        edits=[{"replace": "f($A)", "with": "g($A)", "count": 2, "in": "h"}],
        after="""\
def h():
    return [g(a) for a in b], lambda: g(2)
""",
    ),
    Case(
        id="metavariable-bytes-are-kept",
        before="x = f( 'a',  {1:2} )\n",
        edits=[{"replace": "f($A, $B)", "with": "g($B, $A)"}],
        after="x = g({1:2}, 'a')\n",
    ),
    Case(
        id="same-name-twice-must-be-equal",
        before="""\
x = f(a, a)
y = f(a, b)
""",
        edits=[{"replace": "f($A, $A)", "with": "g($A)"}],
        after="""\
x = g(a)
y = f(a, b)
""",
    ),
    Case(
        id="any-binds-nothing",
        before="x = f(a, b)\n",
        edits=[{"replace": "f($_, $_)", "with": "g()"}],
        after="x = g()\n",
    ),
    Case(
        id="run-of-arguments",
        before="x = f(a, *b, c=1, **d)\n",
        edits=[{"replace": "f($$$A)", "with": "g($$$A, z=1)"}],
        after="x = g(a, *b, c=1, **d, z=1)\n",
    ),
    Case(
        id="run-of-none",
        before="x = f()\n",
        edits=[{"replace": "f($$$A)", "with": "g($$$A)"}],
        after="x = g()\n",
    ),
    Case(
        id="run-after-a-keyword",
        before="x = f(a=1, b=2)\n",
        edits=[{"replace": "f(a=1, $$$R)", "with": "f(a=2, $$$R)"}],
        after="x = f(a=2, b=2)\n",
    ),
    Case(
        id="run-over-lines-keeps-its-comments",
        before="""\
x = f(
    a,  # one
    b,
)
""",
        edits=[{"replace": "f($$$A)", "with": "g($$$A)"}],
        after="""\
x = g(a,  # one
    b)
""",
    ),
    Case(
        id="run-in-a-set-or-dict",
        before="""\
x = {1, 2}
y = {"a": 1}
""",
        edits=[{"replace": "x = {$$$A}", "with": "x = set([$$$A])"}],
        after="""\
x = set([1, 2])
y = {"a": 1}
""",
    ),
    Case(
        id="run-in-a-subscript",
        before='x: Literal["a", "b"] = 1\n',
        edits=[{"replace": "Literal[$$$A]", "with": 'Literal[$$$A, "c"]'}],
        after='x: Literal["a", "b", "c"] = 1\n',
    ),
    Case(
        id="metavariable-for-a-name",
        before="x = a.b\n",
        edits=[{"replace": "$X.b", "with": "$X.c"}],
        after="x = a.c\n",
    ),
    Case(
        id="metavariable-for-an-attribute-name",
        before="x = a.b\n",
        edits=[{"replace": "a.$X", "with": "b.$X"}],
        after="x = b.b\n",
    ),
    Case(
        id="metavariable-for-more-than-a-name-in-the-place-of-a-name",
        before="x = a.b.c\n",
        edits=[{"replace": "$X.c", "with": "y.$X"}],
        states=["drifted"],
        said=["$X stands for more than a name, and the place in the template takes a name"],
    ),
    Case(
        id="metavariable-for-a-keyword-argument",
        before="x = f(a=1)\n",
        edits=[{"replace": "f($A)", "with": "g($A)"}],
        after="x = g(a=1)\n",
    ),
    Case(
        id="metavariable-for-a-slice",
        before="x = a[1:2]\n",
        edits=[{"replace": "a[$I]", "with": "b[$I]"}],
        after="x = b[1:2]\n",
        python=(3, 9),
    ),
    Case(
        id="parentheses-where-the-tree-needs-them",
        before="x = f(a + b) * 2\n",
        edits=[{"replace": "f($A)", "with": "$A - 1"}],
        after="x = (a + b - 1) * 2\n",
    ),
    Case(
        id="parentheses-inside",
        before="x = f(a + b)\n",
        edits=[{"replace": "f($A)", "with": "$A * 2"}],
        after="x = (a + b) * 2\n",
    ),
    Case(
        id="no-parentheses-where-none-are-needed",
        before="""\
x = f(a)
y = [f(a), 1]
""",
        edits=[{"replace": "f($A)", "with": "$A or b", "count": 2}],
        after="""\
x = a or b
y = [a or b, 1]
""",
    ),
    Case(
        id="matches-inside-one-another",
        before="x = f(f(a)) * 2\n",
        edits=[{"replace": "f($A)", "with": "g($A) + 1", "count": 2}],
        after="x = (g(g(a) + 1) + 1) * 2\n",
    ),
    Case(
        id="lambda-as-an-argument",
        before="x = f(1, lambda a, b: a)\n",
        edits=[{"replace": "f($A, $B)", "with": "g($B, $A)"}],
        after="x = g(lambda a, b: a, 1)\n",
    ),
    Case(
        id="walrus-result",
        before="while f(a): pass\n",
        edits=[{"replace": "f(a)", "with": "(x := f(a))"}],
        after="while (x := f(a)): pass\n",
    ),
    Case(
        id="yield-as-result",
        before="""\
def h():
    x = f(a)
""",
        edits=[{"replace": "f(a)", "with": "(yield a)", "in": "h"}],
        after="""\
def h():
    x = (yield a)
""",
    ),
    Case(
        id="condition",
        before='if self.method == "eagle3": pass\n',
        edits=[{"replace": 'self.method == "eagle3"', "with": 'self.method in ("eagle3", "dflash")'}],
        after='if self.method in ("eagle3", "dflash"): pass\n',
    ),
    Case(
        id="operand-of-an-and",
        before="if a and b and c: pass\n",
        edits=[{"replace": "a and b and c", "with": "a and (b or d) and c"}],
        after="if a and (b or d) and c: pass\n",
    ),
    Case(
        id="chained-comparison",
        before="if (9, 0) <= cap < (11, 0): pass\n",
        edits=[{"replace": "$A <= cap < (11, 0)", "with": "$A <= cap < (13, 0)"}],
        after="if (9, 0) <= cap < (13, 0): pass\n",
    ),
    Case(
        id="constants-compare-by-type",
        before="""\
x = f(1)
y = f(1.0)
z = f(True)
""",
        edits=[{"replace": "f(1)", "with": "g(1)"}],
        after="""\
x = g(1)
y = f(1.0)
z = f(True)
""",
    ),
    Case(
        id="adjacent-strings-equal-their-sum",
        before='x = f("a" "b")\n',
        edits=[{"replace": 'f("ab")', "with": "g()"}],
        after="x = g()\n",
    ),
    Case(
        id="dollar-in-a-string-is-text",
        before='x = f("$A")\n',
        edits=[{"replace": 'f("$A")', "with": 'g("$A")'}],
        after='x = g("$A")\n',
    ),
    Case(
        id="quotes-and-parentheses-do-not-matter",
        before="x = (f('a', (1)))\n",
        edits=[{"replace": 'f("a", 1)', "with": "g()"}],
        after="x = (g())\n",
    ),
    Case(
        id="a-negative-number",
        before="x = f(-1)\n",
        edits=[{"replace": "f(-1)", "with": "f(-2)"}],
        after="x = f(-2)\n",
    ),
    Case(
        id="callee-alone",
        before="x = C(a)(b)\n",
        edits=[{"replace": "C(a)", "with": "self.cls(a)"}],
        after="x = self.cls(a)(b)\n",
    ),
    Case(
        id="store-and-load",
        before="self.x = self.x + 1\n",
        edits=[{"replace": "self.x", "with": "self.y", "count": 2}],
        after="self.y = self.y + 1\n",
    ),
    Case(
        id="call-in-the-place-of-a-target",
        before="self.x = 1\n",
        edits=[{"replace": "self.x", "with": "g()"}],
        states=["drifted"],
        said=["edit 1, replace, with: 'g()' cannot stand in the place of the match in line 1"],
    ),
    Case(
        id="multi-line-expression",
        before="""\
def h():
    x = f(a)
""",
        edits=[{"replace": "f($A)", "with": "g(\n    $A,\n    b,\n)", "in": "h"}],
        after="""\
def h():
    x = g(
        a,
        b,
    )
""",
    ),
    Case(
        id="statement",
        before="""\
def f(x):
    x = 1  # one
    return x
""",
        edits=[{"replace": "x = $V", "with": "x = $V + 1", "in": "f"}],
        after="""\
def f(x):
    x = 1 + 1  # one
    return x
""",
    ),
    Case(
        id="statement-by-several",
        before="""\
def f(x):
    return x  # end
""",
        edits=[{"replace": "return x", "with": "if a:\n    return x, a\nreturn x", "in": "f"}],
        after="""\
def f(x):
    if a:
        return x, a
    return x  # end
""",
    ),
    Case(
        id="sequence-by-one",
        before="""\
a()
# between
b()
c()
""",
        edits=[{"replace": "a()\nb()", "with": "ab()"}],
        after="""\
ab()
c()
""",
    ),
    Case(
        id="sequence-with-a-run",
        before="""\
a()
x = 1
# two
y = 2
b()
""",
        edits=[{"replace": "a()\n$$$M\nb()", "with": "with a():\n    $$$M"}],
        after="""\
with a():
    x = 1
    # two
    y = 2
""",
    ),
    Case(
        id="loop-header",
        before="""\
for layer in islice(self.layers, a, b):
    # first
    x = layer(x)  # call
    # last
y = 1
""",
        edits=[{"replace": "for $L in $I: $$$BODY", "with": "for i, $L in enumerate($I):\n    $$$BODY\n    use(i)"}],
        after="""\
for i, layer in enumerate(islice(self.layers, a, b)):
    # first
    x = layer(x)  # call
    # last
    use(i)
y = 1
""",
    ),
    Case(
        id="comment-above-a-leading-run-stays-once",
        before="""\
# about x
x = 1
return_(x)
""",
        edits=[{"replace": "$$$A\nreturn_($X)", "with": "begin()\n$$$A\nend($X)"}],
        after="""\
# about x
begin()
x = 1
end(x)
""",
    ),
    Case(
        id="if-and-else-keep-their-comments",
        before="""\
if a:
    x = 1
    # in a
else:
    y = 2
    # in b
z = 3
""",
        edits=[{"replace": "if a:\n    $$$A\nelse:\n    $$$B", "with": "if not a:\n    $$$B\nelse:\n    $$$A"}],
        after="""\
if not a:
    y = 2
    # in b
else:
    x = 1
    # in a
z = 3
""",
    ),
    Case(
        id="strings-in-moved-code-keep-their-value",
        before='if a:\n    x = """\n  t\n"""\n    y = f"{a}\\\n"\n',
        edits=[{"replace": "if a: $$$B", "with": "while b:\n    if a:\n        $$$B"}],
        after='while b:\n    if a:\n        x = """\n  t\n"""\n        y = f"{a}\\\n"\n',
    ),
    Case(
        id="docstring-in-moved-code-keeps-its-bytes",
        before='if a:\n    def f():\n        """Doc.\n\n        More.\n        """\n',
        edits=[{"replace": "if a: $$$B", "with": "$$$B"}],
        after='def f():\n    """Doc.\n\n        More.\n        """\n',
    ),
    Case(
        id="statement-with-a-multi-line-string-in-a-suite-on-the-line",
        before="if a: x = 1; y = 2\n",
        edits=[{"replace": "y = 2", "with": 'y = """\n  t\n"""'}],
        after='if a:\n    x = 1\n    y = """\n  t\n"""\n',
    ),
    Case(
        id="suite-on-the-line-by-one",
        before="if a: b()\n",
        edits=[{"replace": "b()", "with": "c()"}],
        after="if a: c()\n",
    ),
    Case(
        id="suite-on-the-line-by-two",
        before="if a: b(); d()  # e\n",
        edits=[{"replace": "b()\nd()", "with": "x = 1\ny = 2"}],
        after="""\
if a:
    x = 1
    y = 2  # e
""",
    ),
    Case(
        id="suite-on-the-line-middle-by-block",
        before="if a: b(); d(); e()\n",
        edits=[{"replace": "d()", "with": "if q: z()", "count": 1}],
        after="""\
if a:
    b()
    if q: z()
    e()
""",
    ),
    Case(
        id="semicolons",
        before="a(); b(); c()\n",
        edits=[{"replace": "b()\nc()", "with": "z()"}],
        after="a(); z()\n",
    ),
    Case(
        id="comment-in-a-result-that-would-swallow-code",
        before="a(); b()\n",
        edits=[{"replace": "a()", "with": "z()  # why"}],
        states=["drifted"],
        said=["edit 1, replace, with: 'z()  # why' cannot stand in the place of the match in line 1"],
    ),
    Case(
        id="comment-in-the-result",
        before="x = 0; b()\n",
        edits=[{"replace": "x = 0", "with": "x = 1  # why"}],
        after="""\
x = 1  # why
b()
""",
    ),
    Case(
        id="def-by-its-header",
        before="""\
@dec
def f(a, b=1, *, c: int = 2, **kw) -> int:
    return a
""",
        edits=[{"replace": "def f($$$P): $$$B", "with": "@dec\ndef g($$$P) -> int:\n    $$$B"}],
        after="""\
@dec
def g(a, b=1, *, c: int = 2, **kw) -> int:
    return a
""",
    ),
    Case(
        id="def-with-a-parameter-more",
        before="""\
def f(self, a, *, b=1):
    return a
""",
        edits=[{"replace": "def f(self, $$$P): $$$B", "with": "def f(self, $$$P, **_kwargs):\n    $$$B"}],
        after="""\
def f(self, a, *, b=1, **_kwargs):
    return a
""",
    ),
    Case(
        id="parameter-between-runs",
        before="def f(a, b=2, c=3): pass\n",
        edits=[{"replace": "def f($$$A, b, $$$C): $$$B", "with": "def f($$$A, b=2, $$$C):\n    x = 1"}],
        after="""\
def f(a, b=2, c=3):
    x = 1
""",
    ),
    Case(
        id="class-header",
        before="""\
class A(B, metaclass=M):
    x = 1
""",
        edits=[{"replace": "class A($$$B): $$$C", "with": "class A($$$B, slots=True):\n    $$$C"}],
        after="""\
class A(B, metaclass=M, slots=True):
    x = 1
""",
    ),
    Case(
        id="with-items",
        before="""\
with a as b, c:
    x = 1
""",
        edits=[{"replace": "with $$$W: $$$B", "with": "with lock, $$$W:\n    $$$B"}],
        after="""\
with lock, a as b, c:
    x = 1
""",
    ),
    Case(
        id="except-handler-body",
        before="""\
try:
    a()
except E as e:
    b()
""",
        edits=[
            {
                "replace": "try:\n    $$$A\nexcept E as $N:\n    $$$B",
                "with": "try:\n    $$$A\nexcept (E, F) as $N:\n    $$$B",
            }
        ],
        after="""\
try:
    a()
except (E, F) as e:
    b()
""",
    ),
    Case(
        id="nested-headers-are-ambiguous",
        before="""\
for a in b:
    for c in d:
        x = 1
""",
        edits=[{"replace": "for $A in $B: $$$C", "with": "for $A in sorted($B):\n    $$$C", "count": "all"}],
        states=["ambiguous"],
        said=[
            ("the module: matches of 'for $A in $B: $$$C' lie inside one another; make the pattern more exact"),
            "line 1",
            "line 2",
        ],
    ),
    Case(
        id="elif-is-no-if",
        before="""\
if a: x = 1
elif b: x = 2
""",
        edits=[{"replace": "if b: $$$B", "with": "if c:\n    $$$B"}],
        states=["drifted"],
        said=[
            "the module has neither 'if b: $$$B' nor 'if c:\\n    $$$B'",
            "line 2: elif b: x = 2",
            "line 1: if a: x = 1",
        ],
    ),
    Case(
        id="elif-test-as-expression",
        before="""\
if a: x = 1
elif b: x = 2
""",
        edits=[{"replace": "b", "with": "c"}],
        after="""\
if a: x = 1
elif c: x = 2
""",
    ),
    Case(
        id="to-the-bare-metavariable",
        before="x = f(a)\n",
        edits=[{"replace": "f($A)", "with": "$A"}],
        after="x = a\n",
    ),
    Case(
        id="to-the-bare-metavariable-done",
        before="x = a\n",
        edits=[{"replace": "f($A)", "with": "$A"}],
        said=["the module has no statement 'f($A)' to replace; taken as done."],
    ),
    Case(
        id="statement-to-its-value",
        before="""\
if DEBUG:
    log(a)
""",
        edits=[{"replace": "log($A)", "with": "$A"}],
        after="""\
if DEBUG:
    a
""",
    ),
    Case(
        id="count-all-takes-what-is-left",
        before="x = f(1); y = g(2); z = f(3)\n",
        edits=[{"replace": "f($A)", "with": "g($A)", "count": "all"}],
        after="x = g(1); y = g(2); z = g(3)\n",
    ),
    Case(
        id="count-counts-what-is-done",
        before="x = f(1); y = g(2)\n",
        edits=[{"replace": "f($A)", "with": "g($A)", "count": 2}],
        after="x = g(1); y = g(2)\n",
    ),
    Case(
        id="more-than-count-is-ambiguous",
        before="""\
x = f(1)
y = f(2)
""",
        edits=[{"replace": "f($A)", "with": "g($A)"}],
        states=["ambiguous"],
        said=[
            ("the module has 'f($A)': 2, but count is 1; name a smaller scope, a larger pattern, or the count"),
            "line 1: x = f(1)",
            "line 2: y = f(2)",
        ],
    ),
    Case(
        id="fewer-than-count-is-drifted",
        before="x = f(1)\n",
        edits=[{"replace": "f($A)", "with": "g($A)", "count": 3}],
        states=["drifted"],
        said=[
            ("the module has 'f($A)': 1, but count is 3; name a smaller scope, a larger pattern, or the count"),
            "line 1: x = f(1)",
        ],
    ),
    Case(
        id="neither-is-drifted",
        before="""\
def h():
    x = compute(a, b)
    return x
""",
        edits=[{"replace": "x = compute(a)", "with": "x = compute(a, c)", "in": "h"}],
        states=["drifted"],
        said=[
            "h has neither 'x = compute(a)' nor 'x = compute(a, c)'",
            "line 2: x = compute(a, b)",
            "line 3: return x",
        ],
    ),
    Case(
        id="import-names-run",
        before="from x import a, b as c\n",
        edits=[{"replace": "from x import $$$N", "with": "from y import $$$N"}],
        after="from y import a, b as c\n",
        python=(3, 10),
    ),
    Case(
        id="global-names",
        before="""\
def f():
    global a, b
""",
        edits=[{"replace": "global $$$N", "with": "nonlocal $$$N", "in": "f"}],
        states=["drifted"],
        said=["'a' cannot be moved; replace the statement that holds it"],
    ),
    Case(
        id="assert-message",
        before='assert a or b, "m"\n',
        edits=[{"replace": "assert a or b, $M", "with": "assert a or b or c, $M"}],
        after='assert a or b or c, "m"\n',
    ),
    Case(
        id="annotated-assign-without-value",
        before="x: int\n",
        edits=[{"replace": "x: int", "with": "x: int = 1"}],
        after="x: int = 1\n",
    ),
    Case(
        id="type-alias",
        before="type X = list[int]\n",
        edits=[{"replace": "list[$A]", "with": "tuple[$A, ...]"}],
        after="type X = tuple[int, ...]\n",
        python=(3, 12),
    ),
    Case(
        id="inside-an-fstring",
        before='x = f"{f(1)} and {f(2)!r:>{f(3)}}"\n',
        edits=[{"replace": "f($A)", "with": "g($A)", "count": 3}],
        after='x = f"{g(1)} and {g(2)!r:>{g(3)}}"\n',
        python=(3, 12),
    ),
    Case(
        id="inside-an-fstring-with-its-quotes",
        before="x = f\"{f('a')}\"\n",
        edits=[{"replace": 'f("a")', "with": 'g("b")'}],
        after='x = f"{g("b")}"\n',
        python=(3, 12),
    ),
    Case(
        id="the-whole-fstring",
        before='x = f"{a}"\n',
        edits=[{"replace": 'f"{a}"', "with": 'f"{b}"'}],
        after='x = f"{b}"\n',
    ),
    Case(
        id="unicode-before-on-the-line",
        before='x = "äöü€😀" + f(1)\n',
        edits=[{"replace": "f($A)", "with": 'g($A, "é")'}],
        after='x = "äöü€😀" + g(1, "é")\n',
    ),
    Case(
        id="star-expression",
        before="x = [*a, f(*b)]\n",
        edits=[{"replace": "f($A)", "with": "g($A)"}],
        after="x = [*a, g(*b)]\n",
    ),
    Case(
        id="await-and-async-comprehension",
        before="""\
async def h():
    return [await f(a) async for a in b]
""",
        edits=[{"replace": "await f($A)", "with": "await g($A)", "in": "h"}],
        after="""\
async def h():
    return [await g(a) async for a in b]
""",
    ),
    Case(
        id="slice-of-ellipsis",
        before="x = a[..., 1:2, None]\n",
        edits=[{"replace": "a[..., $$$R]", "with": "b[..., $$$R]"}],
        after="x = b[..., 1:2, None]\n",
        python=(3, 9),
    ),
    Case(
        id="matrix-and-power",
        before="x = -a ** f(b) @ c\n",
        edits=[{"replace": "f($A)", "with": "$A + 1"}],
        after="x = -a ** (b + 1) @ c\n",
    ),
    Case(
        id="generator-as-sole-argument",
        before="x = f(a for a in b)\n",
        edits=[{"replace": "f($A)", "with": "g($A)"}],
        after="x = g((a for a in b))\n",
    ),
    Case(
        id="generator-gets-company",
        before="x = f(a for a in b)\n",
        edits=[{"replace": "f($A)", "with": "g($A, 1)"}],
        after="x = g((a for a in b), 1)\n",
    ),
    Case(
        id="conditional-in-an-argument",
        before='x = f("")\n',
        edits=[{"replace": 'f("")', "with": 'f("a" if b else "c")'}],
        after='x = f("a" if b else "c")\n',
    ),
    Case(
        id="two-statements-on-moved-lines",
        before="""\
if a:
    b(); c()  # tail
""",
        edits=[{"replace": "if a: $$$B", "with": "if d:\n    $$$B"}],
        after="""\
if d:
    b(); c()  # tail
""",
    ),
    Case(
        id="input-unbound-metavariable",
        before="x = 1\n",
        edits=[{"replace": "f($A)", "with": "g($B)"}],
        fails="edit 1, replace, with: '$B' is not bound by the pattern",
    ),
    Case(
        id="input-any-in-the-result",
        before="x = 1\n",
        edits=[{"replace": "f($_)", "with": "g($_)"}],
        fails="edit 1, replace, with: '$_' is not bound by the pattern",
    ),
    Case(
        id="input-pattern-does-not-parse",
        before="x = 1\n",
        edits=[{"replace": "f(", "with": "g()"}],
        fails="edit 1, replace: the pattern 'f(' does not parse, {parser}",
    ),
    Case(
        id="input-result-does-not-parse",
        before="x = 1\n",
        edits=[{"replace": "f()", "with": "g("}],
        fails="edit 1, replace, with: the pattern 'g(' does not parse, {parser}",
    ),
    Case(
        id="input-pattern-matches-everything",
        before="x = 1\n",
        edits=[{"replace": "$$$A", "with": "g()"}],
        fails="edit 1, replace: the pattern '$$$A' matches everything",
    ),
    Case(
        id="input-two-dollars",
        before="x = 1\n",
        edits=[{"replace": "f($$A)", "with": "g()"}],
        fails="edit 1, replace: '$$' is no metavariable; write $NAME or $$$NAME",
    ),
    Case(
        id="input-dollar-alone",
        before="x = 1\n",
        edits=[{"replace": "f($)", "with": "g()"}],
        fails="edit 1, replace: '$' is no metavariable; write $NAME or $$$NAME",
    ),
    Case(
        id="input-run-where-one-is-meant",
        before="x = 1\n",
        edits=[{"replace": "return $$$A", "with": "return 1"}],
        fails="edit 1, replace: in 'return $$$A', $$$ stands where one thing is meant; write $NAME",
    ),
    Case(
        id="input-with-missing",
        before="x = 1\n",
        edits=[{"replace": "x = 1"}],
        fails="edit 1, replace: `with` is required",
    ),
    Case(
        id="input-with-unquoted-number",
        before="x = 1\n",
        edits=[{"replace": "x = 1", "with": 2}],
        fails='edit 1, replace: `with` must be text; YAML read a number (2). Put it in quotes: with: "2"',
    ),
    Case(
        id="an-else-that-the-pattern-leaves-open-is-not-lost",
        before="""\
if a:
    x = 1
else:
    y = 2
""",
        edits=[{"replace": "if a: $$$B", "with": "if c:\n    $$$B"}],
        states=["drifted"],
        said=["line 1: its else would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="decorators-that-the-pattern-leaves-open-are-not-lost",
        before="""\
@dec
def f(a): return a
""",
        edits=[{"replace": "def f(a): $$$B", "with": "def f(a, b=1):\n    $$$B"}],
        states=["drifted"],
        said=["line 2: its decorators would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="a-return-annotation-left-open-is-not-lost",
        before="def f(a) -> int: return a\n",
        edits=[{"replace": "def f(a): $$$B", "with": "def f(a, b=1):\n    $$$B"}],
        states=["drifted"],
        said=[("line 1: its return annotation would be lost, since the pattern leaves that open; name it there")],
    ),
    Case(
        id="a-default-left-open-is-not-lost",
        before="def f(a, b=2): return a\n",
        edits=[{"replace": "def f(a, b): $$$B", "with": "def f(a, b, c=1):\n    $$$B"}],
        states=["drifted"],
        said=["line 1: its default of b would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="an-annotation-left-open-is-not-lost",
        before="def f(a: int): return a\n",
        edits=[{"replace": "def f(a): $$$B", "with": "def f(a, c=1):\n    $$$B"}],
        states=["drifted"],
        said=["line 1: its annotation of a would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="bases-left-open-are-not-lost",
        before="class A(B): x = 1\n",
        edits=[{"replace": "class A: $$$B", "with": "class A:\n    y = 1\n    $$$B"}],
        states=["drifted"],
        said=["line 1: its bases would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="handlers-left-open-are-not-lost",
        before="""\
try:
    a()
except E:
    b()
""",
        edits=[{"replace": "try: $$$B", "with": "with q:\n    $$$B"}],
        states=["drifted"],
        said=["line 1: its except branches would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="handlers-that-are-named-may-go",
        before="""\
try:
    a()
except E:
    b()
""",
        edits=[{"replace": "try: $$$B\nexcept E: $$$C", "with": "$$$B\nz()"}],
        after="""\
a()
z()
""",
    ),
    Case(
        id="a-finally-left-open-is-not-lost",
        before="""\
try:
    a()
finally:
    b()
""",
        edits=[{"replace": "try: $$$B", "with": "with q:\n    $$$B"}],
        states=["drifted"],
        said=["line 1: its finally would be lost, since the pattern leaves that open; name it there"],
    ),
    Case(
        id="a-finally-that-is-named-may-go",
        before="""\
try:
    a()
finally:
    b()
""",
        edits=[{"replace": "try: $$$B\nfinally: $$$", "with": "with q:\n    $$$B"}],
        after="""\
with q:
    a()
""",
    ),
    Case(
        id="empty-run-takes-a-comma-with-it",
        before="""\
x = f()
y = f(1)
""",
        edits=[{"replace": "f($$$A)", "with": "g($$$A, z=1)", "count": 2}],
        after="""\
x = g(z=1)
y = g(1, z=1)
""",
    ),
    Case(
        id="empty-run-behind-takes-a-comma-with-it",
        before="x = f()\n",
        edits=[{"replace": "f($$$A)", "with": "g(z, $$$A)"}],
        after="x = g(z)\n",
    ),
    Case(
        id="empty-run-between-takes-one-comma-with-it",
        before="x = f(1)\n",
        edits=[{"replace": "f($B, $$$A)", "with": "g(a, $$$A, $B)"}],
        after="x = g(a, 1)\n",
    ),
    Case(
        id="two-empty-runs",
        before="x = f(1, k)\n",
        edits=[{"replace": "f($$$A, $X, k, $$$B)", "with": "g($$$A, $$$B, $X)"}],
        after="x = g(1)\n",
    ),
    Case(
        id="empty-run-on-a-line-of-its-own",
        before="x = f()\n",
        edits=[{"replace": "f($$$A)", "with": "g(\n    $$$A,\n    z,\n)"}],
        after="""\
x = g(
    z,
)
""",
    ),
    Case(
        id="empty-run-of-parameters",
        before="def f(): return 1\n",
        edits=[{"replace": "def f($$$P): $$$B", "with": "def f($$$P, *, k=1):\n    $$$B"}],
        after="""\
def f(*, k=1):
    return 1
""",
    ),
    Case(
        id="empty-run-of-statements",
        before="""\
def f():
    a()
    return 1
""",
        edits=[{"replace": "a()\n$$$M\nreturn 1", "with": "b()\n$$$M\nreturn 2", "in": "f"}],
        after="""\
def f():
    b()
    return 2
""",
    ),
    Case(
        id="all-on-one-line-by-blocks",
        before="""\
a(1); a(2); b()
if x: a(3); a(4)
""",
        edits=[{"replace": "a($A)", "with": "if q:\n    a($A)\nelse: pass", "count": "all"}],
        after="""\
if q:
    a(1)
else: pass
if q:
    a(2)
else: pass
b()
if x:
    if q:
        a(3)
    else: pass
    if q:
        a(4)
    else: pass
""",
    ),
    Case(
        id="with-items-in-brackets",
        before="""\
with (
    a() as b,  # one
    c(),
):
    x = 1
""",
        edits=[{"replace": "with $$$W: $$$B", "with": "if q:\n    with $$$W:\n        $$$B"}],
        after="""\
if q:
    with (a() as b,  # one
    c()):
        x = 1
""",
        python=(3, 9),
    ),
    Case(
        id="import-names-in-brackets",
        before="""\
from x import (
    a,  # one
    b,
)
""",
        edits=[{"replace": "from x import $$$N", "with": "from y import $$$N"}],
        after="""\
from y import (a,  # one
    b)
""",
        python=(3, 10),
    ),
]
