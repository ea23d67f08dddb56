# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removed statements."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-not-there-is-present-with-a-warning",
        before="""\
def f():
    use(1)
    return 1
""",
        edits=[{"remove": "use(2)", "in": "f"}],
        said=["f has no statement 'use(2)' to remove; taken as done. Nearest: line 2: use(1)"],
    ),
    Case(
        id="noop-not-there-and-known-is-silent",
        before="""\
def f():
    use(1)
""",
        edits=[{"remove": "use(2)", "in": "f"}],
        known=True,
    ),
    Case(
        id="noop-twin-scope-is-left-alone",
        before="""\
def f():
    pass


def g():
    use(1)
""",
        edits=[{"remove": "use(1)", "in": "f"}],
        said=["f has no statement 'use(1)' to remove; taken as done."],
    ),
    Case(
        id="scope-gone-is-drifted",
        before="""\
def g():
    use(1)
""",
        edits=[{"remove": "use(1)", "in": "f"}],
        states=["drifted"],
        said=["the file has no f"],
    ),
    Case(
        id="trailing-comment-goes-own-line-comments-stay",
        before="""\
a = 1
# about b
b = 2  # two
# about c
c = 3
""",
        edits=[{"remove": "b = 2"}],
        after="""\
a = 1
# about b
# about c
c = 3
""",
    ),
    Case(
        id="block-left-empty-gets-pass",
        before="""\
if a:
    # why
    b()  # now
    # end
c()
""",
        edits=[{"remove": "b()"}],
        after="""\
if a:
    # why
    pass
    # end
c()
""",
    ),
    Case(
        id="block-left-empty-by-two",
        before="""\
def f():
    a()
    # between
    b()  # two
""",
        edits=[{"remove": "a()\nb()", "in": "f"}],
        after="""\
def f():
    pass
    # between
""",
    ),
    Case(
        id="suite-on-the-line-gets-pass",
        before="if a: b()  # now\n",
        edits=[{"remove": "b()"}],
        after="if a: pass\n",
    ),
    Case(
        id="suite-on-the-line-two",
        before="""\
if a: b(); c()
else: d()
""",
        edits=[{"remove": "b()"}, {"remove": "d()"}],
        after="""\
if a: c()
else: pass
""",
    ),
    Case(
        id="docstring-stays-alone",
        before='def f():\n    """Doc."""\n    b()\n',
        edits=[{"remove": "b()", "in": "f"}],
        after='def f():\n    """Doc."""\n',
    ),
    Case(
        id="semicolons-first",
        before="a(); b(); c()\n",
        edits=[{"remove": "a()"}],
        after="b(); c()\n",
    ),
    Case(
        id="semicolons-last",
        before="a(); b()  # c\n",
        edits=[{"remove": "b()"}],
        after="a()  # c\n",
    ),
    Case(
        id="semicolons-all-on-the-line",
        before="""\
x = 0
a(); b();  # tail
y = 1
""",
        edits=[{"remove": "a()\nb()"}],
        after="""\
x = 0
y = 1
""",
    ),
    Case(
        id="semicolon-joined-by-a-backslash",
        before="a(); \\\n  b(); c()\n",
        edits=[{"remove": "b()"}],
        after="a(); \\\n  c()\n",
    ),
    Case(
        id="last-line-without-final-newline",
        before="a()\nb()",
        edits=[{"remove": "b()"}],
        after="a()\n",
    ),
    Case(
        id="only-line-without-final-newline",
        before="b()",
        edits=[{"remove": "b()"}],
        after="",
    ),
    Case(
        id="two-in-a-row",
        before="""\
x = f()
if x:
    y()
z()
""",
        edits=[{"remove": "x = f()\nif x: $$$"}],
        after="z()\n",
    ),
    Case(
        id="run-between",
        before="""\
begin()
a()
# why
b()
end()
z()
""",
        edits=[{"remove": "begin()\n$$$\nend()"}],
        after="""\
# why
z()
""",
    ),
    Case(
        id="compound-with-its-comments",
        before="""\
if a:
    b()
    # in a
# not in a
c()
""",
        edits=[{"remove": "if a: $$$"}],
        after="""\
# not in a
c()
""",
    ),
    Case(
        id="header-matches-whatever-else",
        before="""\
if a:
    b()
elif q:
    c()
else:
    d()
z()
""",
        edits=[{"remove": "if a: $$$"}],
        after="z()\n",
    ),
    Case(
        id="elif-is-no-anchor",
        before="""\
if a:
    b()
elif q:
    c()
""",
        edits=[{"remove": "if q: $$$"}],
        said=[
            (
                "the module has no statement 'if q: $$$' to remove; taken as done. Nearest: line 3: "
                "elif q:; line 1: if a:"
            )
        ],
    ),
    Case(
        id="decorated-def",
        before="""\
@one
@two
def f(): pass


x = 1
""",
        edits=[{"remove": "def f(): $$$"}],
        after="""\


x = 1
""",
    ),
    Case(
        id="class-with-decorator-and-bases",
        before="""\
@one
class A(B): x = 1
y = 2
""",
        edits=[{"remove": "class A: $$$"}],
        after="y = 2\n",
    ),
    Case(
        id="method-in-a-class",
        before="""\
class A:
    def f(self): pass
""",
        edits=[{"remove": "def f($$$): $$$", "in": "A"}],
        after="""\
class A:
    pass
""",
    ),
    Case(
        id="docstring-as-a-statement",
        before='"""Doc."""\nx = 1\n',
        edits=[{"remove": '"""Doc."""'}],
        after="x = 1\n",
    ),
    Case(
        id="expression-inside-is-no-anchor",
        before="x = use(1)\n",
        edits=[{"remove": "use(1)"}],
        said=["the module has no statement 'use(1)' to remove; taken as done. Nearest: line 1: x = use(1)"],
    ),
    Case(
        id="twice-is-ambiguous",
        before="""\
use(1)
use(1)
""",
        edits=[{"remove": "use(1)"}],
        states=["ambiguous"],
        said=[
            ("the module has 'use(1)': 2, but count is 1; name a smaller scope, a larger pattern, or the count"),
            "line 1: use(1)",
            "line 2: use(1)",
        ],
    ),
    Case(
        id="twice-with-count",
        before="""\
use(1)
x = 1
use(1)
""",
        edits=[{"remove": "use($_)", "count": 2}],
        after="x = 1\n",
    ),
    Case(
        id="all",
        before="""\
def f():
    use(1)
    if a:
        use(2)
    for b in c: use(3)
    return 1
""",
        edits=[{"remove": "use($_)", "count": "all", "in": "f"}],
        after="""\
def f():
    if a:
        pass
    for b in c: pass
    return 1
""",
    ),
    Case(
        id="all-in-a-row-leave-pass",
        before="""\
if a:
    use(1)
    use(2)
""",
        edits=[{"remove": "use($_)", "count": "all"}],
        after="""\
if a:
    pass
""",
    ),
    Case(
        id="one-of-an-inner-and-outer-is-ambiguous",
        before="""\
if a:
    if a:
        b()
""",
        edits=[{"remove": "if a: $$$", "count": "all"}],
        states=["ambiguous"],
        said=[
            "the module: matches of 'if a: $$$' lie inside one another; make the pattern more exact",
            "line 1",
            "line 2",
        ],
    ),
    Case(
        id="fewer-than-count",
        before="use(1)\n",
        edits=[{"remove": "use($_)", "count": 2}],
        states=["drifted"],
        said=[
            ("the module has 'use($_)': 1, but count is 2; name a smaller scope, a larger pattern, or the count"),
            "line 1: use(1)",
        ],
    ),
    Case(
        id="multi-line-statement",
        before="""\
x = f(
    a,  # c
    b,
)  # d
y = 1
""",
        edits=[{"remove": "x = $_"}],
        after="y = 1\n",
    ),
    Case(
        id="multi-line-string",
        before='x = """a\n# b"""  # c\ny = 1\n',
        edits=[{"remove": "x = $_"}],
        after="y = 1\n",
    ),
    Case(
        id="except-body",
        before="""\
try:
    a()
except E:
    b()
finally:
    c()
""",
        edits=[{"remove": "b()"}, {"remove": "c()"}],
        after="""\
try:
    a()
except E:
    pass
finally:
    pass
""",
    ),
    Case(
        id="match-case-body",
        before="""\
match a:
    case 1:
        b()
    case _: c()
""",
        edits=[{"remove": "b()"}, {"remove": "c()"}],
        after="""\
match a:
    case 1:
        pass
    case _: pass
""",
        python=(3, 10),
    ),
    Case(
        id="form-feed-before",
        before="a()\n\x0c\nb()\nc()\n",
        edits=[{"remove": "b()"}],
        after="a()\n\x0c\nc()\n",
    ),
    Case(
        id="tabs",
        before="if a:\n\tb()\n\tif c:\n\t\td()\n",
        edits=[{"remove": "d()"}],
        after="if a:\n\tb()\n\tif c:\n\t\tpass\n",
    ),
    Case(
        id="comment-becomes-a-coding-line",
        before="""\
import a
import b
# vim: set fileencoding=latin-1
x = 1
""",
        edits=[{"remove": "import a"}, {"remove": "import b"}],
        fails="the file is utf-8; after the edit a comment in its first two lines says iso8859-1",
    ),
    Case(
        id="input-state-absent",
        before="x = 1\n",
        edits=[{"remove": "x = 1", "state": "absent"}],
        fails=(
            "edit 1: remove cannot be absent; state: absent goes with import, base, method, "
            "parameter, element, argument, decorator"
        ),
    ),
]
