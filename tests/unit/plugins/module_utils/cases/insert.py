# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inserted statements."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-before-anywhere-in-the-block-above",
        before="""\
def f():
    new()
    a = 1
    b = 2
""",
        edits=[{"insert": "new()", "before": "b = 2", "in": "f"}],
    ),
    Case(
        id="noop-after-anywhere-in-the-block-below",
        before="""\
def f():
    a = 1
    b = 2
    new()
""",
        edits=[{"insert": "new()", "after": "a = 1", "in": "f"}],
    ),
    Case(
        id="noop-in-another-layout",
        before="""\
a = 1
new( 'x',
   1 )  # by hand
""",
        edits=[{"insert": 'new("x", 1)', "after": "a = 1"}],
    ),
    Case(
        id="noop-at-start-when-anywhere-in-the-body",
        before=(
            "def f(x):\n"
            '    """Doc."""\n'
            "    a = 1\n"
            "    b = 2  # two\n"
            "    # about c\n"
            "    c = 3\n"
            "    new()\n"
            "    return c\n"
        ),
        edits=[{"insert": "new()", "at": "start", "in": "f"}],
    ),
    Case(
        id="nested-function-of-the-scope-does-not-count",
        before="""\
def f():
    a = 1
    def g():
        new()
""",
        edits=[{"insert": "new()", "after": "a = 1", "in": "f"}],
        after="""\
def f():
    a = 1
    new()
    def g():
        new()
""",
    ),
    Case(
        id="on-the-other-side-does-not-count",
        before="""\
def f():
    new()
    a = 1
""",
        edits=[{"insert": "new()", "after": "a = 1", "in": "f"}],
        after="""\
def f():
    new()
    a = 1
    new()
""",
    ),
    Case(
        id="in-a-string-or-comment-does-not-count",
        before="""\
a = 1
# new()
x = "new()"
""",
        edits=[{"insert": "new()", "after": "a = 1"}],
        after="""\
a = 1
new()
# new()
x = "new()"
""",
    ),
    Case(
        id="before",
        before=('def f(x):\n    """Doc."""\n    a = 1\n    b = 2  # two\n    # about c\n    c = 3\n    return c\n'),
        edits=[{"insert": "new()", "before": "c = $_", "in": "f"}],
        after=(
            "def f(x):\n"
            '    """Doc."""\n'
            "    a = 1\n"
            "    b = 2  # two\n"
            "    # about c\n"
            "    new()\n"
            "    c = 3\n"
            "    return c\n"
        ),
    ),
    Case(
        id="after-keeps-the-trailing-comment-with-its-statement",
        before=('def f(x):\n    """Doc."""\n    a = 1\n    b = 2  # two\n    # about c\n    c = 3\n    return c\n'),
        edits=[{"insert": "new()", "after": "b = 2", "in": "f"}],
        after=(
            "def f(x):\n"
            '    """Doc."""\n'
            "    a = 1\n"
            "    b = 2  # two\n"
            "    new()\n"
            "    # about c\n"
            "    c = 3\n"
            "    return c\n"
        ),
    ),
    Case(
        id="before-a-return",
        before=('def f(x):\n    """Doc."""\n    a = 1\n    b = 2  # two\n    # about c\n    c = 3\n    return c\n'),
        edits=[{"insert": "log(c)\nmore()", "before": "return $X", "in": "f"}],
        after=(
            "def f(x):\n"
            '    """Doc."""\n'
            "    a = 1\n"
            "    b = 2  # two\n"
            "    # about c\n"
            "    c = 3\n"
            "    log(c)\n"
            "    more()\n"
            "    return c\n"
        ),
    ),
    Case(
        id="after-a-return-is-refused",
        before=('def f(x):\n    """Doc."""\n    a = 1\n    b = 2  # two\n    # about c\n    c = 3\n    return c\n'),
        edits=[{"insert": "new()", "after": "return c", "in": "f"}],
        states=["drifted"],
        said=["a statement after line 7 would never run: it leaves the block there"],
    ),
    Case(
        id="after-raise-break-continue-is-refused",
        before="""\
for x in y:
    if x: continue
    raise z
""",
        edits=[{"insert": "new()", "after": "continue"}],
        states=["drifted"],
        said=["a statement after line 2 would never run: it leaves the block there"],
    ),
    Case(
        id="at-end-behind-a-return-is-refused",
        before=('def f(x):\n    """Doc."""\n    a = 1\n    b = 2  # two\n    # about c\n    c = 3\n    return c\n'),
        edits=[{"insert": "new()", "at": "end", "in": "f"}],
        states=["drifted"],
        said=["a statement after line 7 would never run: it leaves the block there"],
    ),
    Case(
        id="at-start-of-a-function-is-after-its-docstring",
        before=('def f(x):\n    """Doc."""\n    a = 1\n    b = 2  # two\n    # about c\n    c = 3\n    return c\n'),
        edits=[{"insert": "new()", "at": "start", "in": "f"}],
        after=(
            "def f(x):\n"
            '    """Doc."""\n'
            "    new()\n"
            "    a = 1\n"
            "    b = 2  # two\n"
            "    # about c\n"
            "    c = 3\n"
            "    return c\n"
        ),
    ),
    Case(
        id="at-end-of-a-function",
        before="""\
def f():
    a = 1


def g(): pass
""",
        edits=[{"insert": "new()", "at": "end", "in": "f"}],
        after="""\
def f():
    a = 1
    new()


def g(): pass
""",
    ),
    Case(
        id="at-start-of-the-module-after-docstring-and-future",
        before='#!x\n"""Doc."""\nfrom __future__ import annotations\nimport os\n',
        edits=[{"insert": "x = 1", "at": "start"}],
        after='#!x\n"""Doc."""\nfrom __future__ import annotations\nx = 1\nimport os\n',
    ),
    Case(
        id="at-start-of-the-module",
        before="""\
# licence
import os
""",
        edits=[{"insert": "x = 1", "at": "start"}],
        after="""\
# licence
x = 1
import os
""",
    ),
    Case(
        id="at-end-of-the-module",
        before="""\
import os


def f(): pass
""",
        edits=[{"insert": "x = 1", "at": "end"}],
        after="""\
import os


def f(): pass
x = 1
""",
    ),
    Case(
        id="at-end-of-the-module-without-final-newline",
        before="import os",
        edits=[{"insert": "x = 1", "at": "end"}],
        after="import os\nx = 1",
    ),
    Case(
        id="at-end-of-an-empty-file",
        before="",
        edits=[{"insert": "x = 1", "at": "end"}],
        after="x = 1\n",
    ),
    Case(
        id="at-start-of-a-file-of-comments",
        before="# only\n",
        edits=[{"insert": "def f():\n    pass", "at": "start"}],
        after="""\
# only


def f():
    pass
""",
    ),
    Case(
        id="at-start-of-a-class-is-after-its-docstring",
        before='class A:\n    """Doc."""\n\n    x: int = 1\n',
        edits=[{"insert": 'y: int = 2\n"""About y."""', "at": "start", "in": "A"}],
        after='class A:\n    """Doc."""\n\n    y: int = 2\n    """About y."""\n    x: int = 1\n',
    ),
    Case(
        id="class-field-after-another",
        before="""\
@dataclass
class A:
    x: int
    y: int = 1
""",
        edits=[{"insert": "z: int = 2", "after": "y: int = $_", "in": "A"}],
        after="""\
@dataclass
class A:
    x: int
    y: int = 1
    z: int = 2
""",
    ),
    Case(
        id="enum-member",
        before="""\
class E(Enum):
    A = "a"
    B = "b"
""",
        edits=[{"insert": 'C = "c"', "at": "end", "in": "E"}],
        after="""\
class E(Enum):
    A = "a"
    B = "b"
    C = "c"
""",
    ),
    Case(
        id="def-in-the-module-gets-two-blank-lines",
        before="""\
import os
x = 1
y = 2
""",
        edits=[{"insert": "def f():\n    pass", "after": "x = 1"}],
        after="""\
import os
x = 1


def f():
    pass


y = 2
""",
    ),
    Case(
        id="def-in-the-module-before-a-decorated-class",
        before="""\
import os


@dataclass
class A:
    x: int
""",
        edits=[{"insert": "def f():\n    pass", "before": "class A: $$$"}],
        after="""\
import os


def f():
    pass


@dataclass
class A:
    x: int
""",
    ),
    Case(
        id="before-a-decorated-def-is-above-its-decorators",
        before="""\
@one
@two
def f(): pass
""",
        edits=[{"insert": "new()", "before": "def f(): $$$"}],
        after="""\
new()
@one
@two
def f(): pass
""",
    ),
    Case(
        id="after-a-def-and-its-comments",
        before="""\
def f():
    pass
    # in f
# not in f
x = 1
""",
        edits=[{"insert": "y = 2", "after": "def f($$$): $$$"}],
        after="""\
def f():
    pass
    # in f
y = 2
# not in f
x = 1
""",
    ),
    Case(
        id="of-start-of-a-loop",
        before="""\
def f():
    for a in b:  # each
        # first
        use(a)
""",
        edits=[{"insert": "new()", "at": "start", "of": "for a in b: $$$", "in": "f"}],
        after="""\
def f():
    for a in b:  # each
        # first
        new()
        use(a)
""",
    ),
    Case(
        id="of-end-of-a-loop",
        before="""\
def f():
    for a in b:
        use(a)
        # last
    else:
        pass
""",
        edits=[{"insert": "new()", "at": "end", "of": "for $X in $Y: $$$", "in": "f"}],
        after="""\
def f():
    for a in b:
        use(a)
        new()
        # last
    else:
        pass
""",
    ),
    Case(
        id="of-end-of-a-loop-that-ends-with-continue-is-refused",
        before="""\
for a in b:
    use(a)
    continue
""",
        edits=[{"insert": "new()", "at": "end", "of": "for $X in $Y: $$$"}],
        states=["drifted"],
        said=["a statement after line 3 would never run: it leaves the block there"],
    ),
    Case(
        id="of-body-of-an-if-with-elif",
        before="""\
if a:
    x = 1
elif b:
    x = 2
else:
    x = 3
""",
        edits=[{"insert": "new()", "at": "end", "of": "if a: $$$"}],
        after="""\
if a:
    x = 1
    new()
elif b:
    x = 2
else:
    x = 3
""",
    ),
    Case(
        id="of-an-elif-is-no-anchor",
        before="""\
if a:
    x = 1
elif b:
    x = 2
""",
        edits=[{"insert": "new()", "at": "end", "of": "if b: $$$"}],
        states=["drifted"],
        said=["the module has no statement 'if b: $$$'", "line 3: elif b:", "line 1: if a:"],
    ),
    Case(
        id="of-a-try",
        before="""\
try:
    x = 1
except E:
    x = 2
finally:
    x = 3
""",
        edits=[{"insert": "new()", "at": "end", "of": "try: $$$"}],
        after="""\
try:
    x = 1
    new()
except E:
    x = 2
finally:
    x = 3
""",
    ),
    Case(
        id="of-a-try-with-star",
        before="""\
try:
    x = 1
except* E:
    x = 2
""",
        edits=[{"insert": "new()", "at": "end", "of": "try: $$$"}],
        after="""\
try:
    x = 1
    new()
except* E:
    x = 2
""",
        python=(3, 11),
    ),
    Case(
        id="of-a-with",
        before="""\
async def f():
    async with a as b, c:
        x = 1
""",
        edits=[{"insert": "new()", "at": "start", "of": "async with $$$: $$$", "in": "f"}],
        after="""\
async def f():
    async with a as b, c:
        new()
        x = 1
""",
    ),
    Case(
        id="of-a-function-in-the-scope",
        before='class A:\n    def f(self):\n        """Doc."""\n        x = 1\n',
        edits=[{"insert": "new()", "at": "start", "of": "def f($$$): $$$", "in": "A"}],
        after='class A:\n    def f(self):\n        """Doc."""\n        new()\n        x = 1\n',
    ),
    Case(
        id="of-no-compound",
        before="x = 1\n",
        edits=[{"insert": "new()", "at": "end", "of": "x = 1"}],
        states=["drifted"],
        said=["'x = 1', line 1, is no statement with a body"],
    ),
    Case(
        id="of-a-suite-on-the-line",
        before="if a: b(); c()\n",
        edits=[{"insert": "new()", "at": "end", "of": "if a: $$$"}],
        after="""\
if a:
    b(); c()
    new()
""",
    ),
    Case(
        id="of-start-of-a-suite-on-the-line",
        before="if a: b(); c()  # d\n",
        edits=[{"insert": "new()", "at": "start", "of": "if a: $$$"}],
        after="""\
if a:
    new()
    b(); c()  # d
""",
    ),
    Case(
        id="suite-on-the-line-before",
        before="if x: return_(y)\n",
        edits=[{"insert": "new()", "before": "return_(y)"}],
        after="""\
if x:
    new()
    return_(y)
""",
    ),
    Case(
        id="suite-on-the-line-between",
        before="if x: a(); b(); d()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after="""\
if x:
    a()
    new()
    b(); d()
""",
    ),
    Case(
        id="else-suite-on-the-line",
        before="""\
if x: a()
else: b()
""",
        edits=[{"insert": "new()", "before": "b()"}],
        after="""\
if x: a()
else:
    new()
    b()
""",
    ),
    Case(
        id="except-suite-on-the-line",
        before="""\
try: a()
except (E,
        F): b()
""",
        edits=[{"insert": "new()", "after": "b()"}],
        after="""\
try: a()
except (E,
        F):
    b()
    new()
""",
    ),
    Case(
        id="semicolons-before",
        before="a = 1; b = 2; d = 3\n",
        edits=[{"insert": "new()", "before": "b = 2"}],
        after="""\
a = 1
new()
b = 2; d = 3
""",
    ),
    Case(
        id="semicolons-after-the-last",
        before="""\
a = 1; b = 2;  # tail
d = 3
""",
        edits=[{"insert": "new()", "after": "b = 2"}],
        after="""\
a = 1; b = 2;  # tail
new()
d = 3
""",
    ),
    Case(
        id="semicolon-joined-by-a-backslash",
        before="a = 1; \\\nb = 2\n",
        edits=[{"insert": "new()", "before": "b = 2"}],
        after="""\
a = 1
new()
b = 2
""",
    ),
    Case(
        id="comment-that-ends-in-a-backslash-is-no-joint",
        before="x = 0  # path C:\\\na = 1\n",
        edits=[{"insert": "new()", "before": "a = 1"}],
        after="x = 0  # path C:\\\nnew()\na = 1\n",
    ),
    Case(
        id="suite-joined-by-a-backslash",
        before="if x: \\\n    a()\n",
        edits=[{"insert": "new()", "before": "a()"}],
        after="""\
if x:
    new()
    a()
""",
    ),
    Case(
        id="compound-into-a-suite-on-the-line",
        before="if x: a()\n",
        edits=[{"insert": "if q:\n    z()", "after": "a()"}],
        after="""\
if x:
    a()
    if q:
        z()
""",
    ),
    Case(
        id="tab-file-gets-tabs",
        before="def f():\n\tif x:\n\t\ta()\n",
        edits=[{"insert": "if q:\n    z()\n    if r:\n        s()", "after": "a()", "in": "f"}],
        after="def f():\n\tif x:\n\t\ta()\n\t\tif q:\n\t\t\tz()\n\t\t\tif r:\n\t\t\t\ts()\n",
    ),
    Case(
        id="tabs-then-spaces",
        before="def f():\n\tif x:\n\t    b()\n",
        edits=[{"insert": "z()", "after": "b()", "in": "f"}],
        after="def f():\n\tif x:\n\t    b()\n\t    z()\n",
    ),
    Case(
        id="twice-in-a-suite-on-the-line",
        before="if x: a(); a()\n",
        edits=[{"insert": "new()", "after": "a()", "count": 2}],
        after="""\
if x:
    a()
    new()
    a()
    new()
""",
    ),
    Case(
        id="two-space-file",
        before="""\
def f():
  a()
""",
        edits=[{"insert": "if q:\n    z()", "after": "a()", "in": "f"}],
        after="""\
def f():
  a()
  if q:
    z()
""",
    ),
    Case(
        id="same-text-in-nested-function-is-left-alone",
        before="""\
def f():
    a()
    def g():
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f"}],
        after="""\
def f():
    a()
    new()
    def g():
        a()
""",
    ),
    Case(
        id="same-statement-twice-is-ambiguous",
        before="""\
def f():
    a()
    b()
    a()
""",
        edits=[{"insert": "new()", "after": "a()", "in": "f"}],
        states=["ambiguous"],
        said=[
            "f has 'a()': 2, but count is 1; name a smaller scope, a larger pattern, or the count",
            "line 2: a()",
            "line 4: a()",
        ],
    ),
    Case(
        id="same-statement-twice-with-count",
        before="""\
def f():
    a()
    b()
    a()
""",
        edits=[{"insert": "new()", "after": "a()", "count": 2, "in": "f"}],
        after="""\
def f():
    a()
    new()
    b()
    a()
    new()
""",
    ),
    Case(
        id="same-statement-thrice-with-all-one-done",
        before="""\
def f():
    a()
    new()
    a()
    if x:
        a()
""",
        edits=[{"insert": "new()", "after": "a()", "count": "all", "in": "f"}],
        after="""\
def f():
    a()
    new()
    a()
    new()
    if x:
        a()
        new()
""",
    ),
    Case(
        id="count-too-small",
        before="""\
def f():
    a()
""",
        edits=[{"insert": "new()", "after": "a()", "count": 2, "in": "f"}],
        states=["drifted"],
        said=["f has 'a()': 1, but count is 2; name a smaller scope, a larger pattern, or the count", "line 2: a()"],
    ),
    Case(
        id="matches-by-structure-not-by-text",
        before="""\
def f():
    call('x',  # why
         (1 + 2),)
""",
        edits=[{"insert": "new()", "after": 'call("x", 1 + 2)', "in": "f"}],
        after="""\
def f():
    call('x',  # why
         (1 + 2),)
    new()
""",
    ),
    Case(
        id="expression-inside-a-statement-is-no-anchor",
        before="x = call(1)\n",
        edits=[{"insert": "new()", "after": "call(1)"}],
        states=["drifted"],
        said=["the module has no statement 'call(1)'", "line 1: x = call(1)"],
    ),
    Case(
        id="sequence-anchor",
        before="""\
a()
b()
q()
a()
q()
""",
        edits=[{"insert": "new()", "after": "a()\nb()"}],
        after="""\
a()
b()
new()
q()
a()
q()
""",
    ),
    Case(
        id="anchor-run-up-to",
        before="""\
a()
b()
q()
z()
""",
        edits=[{"insert": "new()", "after": "a()\n$$$\nq()"}],
        after="""\
a()
b()
q()
new()
z()
""",
    ),
    Case(
        id="inserted-code-holds-the-anchor",
        before="""\
def f():
    a()
    return 1
""",
        edits=[{"insert": "if x:\n    a()", "before": "a()", "in": "f"}],
        after="""\
def f():
    if x:
        a()
    a()
    return 1
""",
    ),
    Case(
        id="inserted-code-is-like-the-anchor",
        before="""\
def f():
    use(1)
""",
        edits=[{"insert": "use(2)", "after": "use($X)", "count": "all", "in": "f"}],
        after="""\
def f():
    use(1)
    use(2)
""",
    ),
    Case(
        id="inserted-guard-returns-like-the-anchor",
        before="""\
def f(x):
    y = x
    return y
""",
        edits=[{"insert": "if not x:\n    return y", "before": "return y", "in": "f"}],
        after="""\
def f(x):
    y = x
    if not x:
        return y
    return y
""",
    ),
    Case(
        id="anchor-in-a-match-statement",
        before="""\
match x:
    case 1:
        a()
    case _: b()
""",
        edits=[{"insert": "new()", "after": "a()"}, {"insert": "z()", "before": "b()"}],
        after="""\
match x:
    case 1:
        a()
        new()
    case _:
        z()
        b()
""",
        python=(3, 10),
    ),
    Case(
        id="anchor-that-is-a-walrus",
        before="""\
def f():
    (y := 1)
    print(y)
""",
        edits=[{"insert": "new()", "after": "(y := $_)", "in": "f"}],
        after="""\
def f():
    (y := 1)
    new()
    print(y)
""",
    ),
    Case(
        id="anchor-that-is-an-overloaded-def",
        before="""\
class A:
    @overload
    def f(self, a: int): ...
    def f(self, a): return a
""",
        edits=[{"insert": "x = 1", "before": "def f($$$): $$$", "count": "all", "in": "A"}],
        after="""\
class A:
    x = 1
    @overload
    def f(self, a: int): ...
    x = 1
    def f(self, a): return a
""",
    ),
    Case(
        id="anchor-not-there-names-the-nearest",
        before="""\
def f():
    self.norm = RMSNorm(hidden, eps=1)
    self.other = 1
""",
        edits=[{"insert": "new()", "before": "self.norm = RMSNorm(hidden, eps=2)", "in": "f"}],
        states=["drifted"],
        said=[
            "f has no statement 'self.norm = RMSNorm(hidden, eps=2)'",
            "line 2: self.norm = RMSNorm(hidden, eps=1)",
            "line 3: self.other = 1",
        ],
    ),
    Case(
        id="code-with-comments",
        before="""\
def f():
    a()
""",
        edits=[{"insert": "# why\nnew()  # here\n# end", "after": "a()", "in": "f"}],
        after="""\
def f():
    a()
    # why
    new()  # here
    # end
""",
    ),
    Case(
        id="code-with-a-multi-line-string",
        before="""\
def f():
    a()
""",
        edits=[{"insert": 'x = """\n  keep\n"""', "after": "a()", "in": "f"}],
        after='def f():\n    a()\n    x = """\n  keep\n"""\n',
    ),
    Case(
        id="statement-ends-in-a-multi-line-string",
        before='def f():\n    x = """a\n# no comment"""  # c\n    y = 1\n',
        edits=[{"insert": "new()", "after": "x = $_", "in": "f"}],
        after='def f():\n    x = """a\n# no comment"""  # c\n    new()\n    y = 1\n',
    ),
    Case(
        id="unicode-before-the-edit-on-a-line",
        before='x = "äöü€😀"; y = 1\n',
        edits=[{"insert": "new()", "before": "y = 1"}],
        after="""\
x = "äöü€😀"
new()
y = 1
""",
    ),
    Case(
        id="form-feed-and-line-separators",
        before='x = "\u2028\x0c\x85"\n\x0c\ndef f():\n    a()\n',
        edits=[{"insert": "new()", "before": "a()", "in": "f"}],
        after='x = "\u2028\x0c\x85"\n\x0c\ndef f():\n    new()\n    a()\n',
    ),
    Case(
        id="lambda-default-and-comprehension",
        before="""\
f = lambda x=[1, 2]: x
g = [a for a in b]
""",
        edits=[{"insert": "new()", "after": "g = [$$$]"}],
        states=["drifted"],
        said=[
            "the module has no statement 'g = [$$$]'",
            "line 2: g = [a for a in b]",
            "line 1: f = lambda x=[1, 2]: x",
        ],
    ),
    Case(
        id="docstring-only-function",
        before='def f():\n    """Doc."""\n',
        edits=[{"insert": "new()", "at": "start", "in": "f"}],
        after='def f():\n    """Doc."""\n    new()\n',
    ),
    Case(
        id="nested-suite-at-deeper-indent",
        before="""\
if a:
        if b:
            x = 1
""",
        edits=[{"insert": "new()", "after": "x = 1"}],
        after="""\
if a:
        if b:
            x = 1
            new()
""",
    ),
    Case(
        id="input-two-places",
        before="x = 1\n",
        edits=[{"insert": "new()", "before": "x = 1", "after": "x = 1"}],
        fails="edit 1, insert: insert needs one of before, after, at",
    ),
    Case(
        id="input-no-place",
        before="x = 1\n",
        edits=[{"insert": "new()"}],
        fails="edit 1, insert: insert needs one of before, after, at",
    ),
    Case(
        id="input-of-without-at",
        before="x = 1\n",
        edits=[{"insert": "new()", "before": "x = 1", "of": "x = 1"}],
        fails="edit 1, insert: `of` goes with `at`",
    ),
    Case(
        id="input-code-does-not-parse",
        before="x = 1\n",
        edits=[{"insert": "if x:", "at": "end"}],
        fails="edit 1, insert: `insert` does not parse, {parser}",
    ),
    Case(
        id="input-code-is-a-comment",
        before="x = 1\n",
        edits=[{"insert": "# only", "at": "end"}],
        fails="edit 1, insert: `insert` has no statement",
    ),
    Case(
        id="input-at-unknown",
        before="x = 1\n",
        edits=[{"insert": "new()", "at": "middle"}],
        fails="edit 1, insert: `at` must be one of start, end, not 'middle'",
    ),
    Case(
        id="input-pattern-is-empty",
        before="x = 1\n",
        edits=[{"insert": "new()", "before": " "}],
        fails="edit 1, insert: `before` is empty",
    ),
    Case(
        id="of-end-behind-a-trailing-comment",
        before="""\
def f():
    if x:
        for a in b:
            use(a)  # c

    z()
""",
        edits=[{"insert": "new()", "at": "end", "of": "for a in b: $$$", "in": "f"}],
        after="""\
def f():
    if x:
        for a in b:
            use(a)  # c
            new()

    z()
""",
    ),
]
