# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs that break naive patchers, by family."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-12-patched-by-hand-with-other-formatting",
        before="""\
from m.interfaces import (S,
  T)
class A( P,S ):
  x = 1
  def g( self ) :
    # mine
    return (1)
""",
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
    ),
    Case(
        id="noop-12-upstream-has-it-in-another-place",
        before="""\
from m import interfaces
from m.interfaces import S


class A(interfaces.S):
    def g(self):
        return 1

    x = 1
""",
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
    ),
    Case(
        id="1-five-lines-with-comments-between",
        before="""\
class A(
    # first
    P,
    # second
    Q,  # q
    # end
):
    x = 1
""",
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after="""\
from m.interfaces import S
class A(
    # first
    P,
    # second
    Q,  # q
    S,
    # end
):
    x = 1

    def g(self):
        return 1
""",
    ),
    Case(
        id="1-all-at-once-on-a-decorated-one-liner",
        before="""\
@dec
class A: ...
""",
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after="""\
from m.interfaces import S
@dec
class A(S):
    ...

    def g(self):
        return 1
""",
    ),
    Case(
        id="2-docstring-and-future-and-everything",
        before=(
            "#!/usr/bin/env python3\n"
            '"""Doc."""\n'
            "\n"
            "from __future__ import annotations\n"
            "\n"
            "import os\n"
            "from typing import TYPE_CHECKING\n"
            "\n"
            "if TYPE_CHECKING:\n"
            "    from m.interfaces import S\n"
            "\n"
            "try:\n"
            "    from m.interfaces import T\n"
            "except ImportError:\n"
            "    T = None\n"
            "\n"
            "\n"
            "class A: ...\n"
        ),
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after=(
            "#!/usr/bin/env python3\n"
            '"""Doc."""\n'
            "\n"
            "from __future__ import annotations\n"
            "\n"
            "import os\n"
            "from typing import TYPE_CHECKING\n"
            "from m.interfaces import S\n"
            "\n"
            "if TYPE_CHECKING:\n"
            "    from m.interfaces import S\n"
            "\n"
            "try:\n"
            "    from m.interfaces import T\n"
            "except ImportError:\n"
            "    T = None\n"
            "\n"
            "\n"
            "class A(S):\n"
            "    ...\n"
            "\n"
            "    def g(self):\n"
            "        return 1\n"
        ),
    ),
    Case(
        id="2-inside-a-function-and-star",
        before="""\
from m.interfaces import *


def f():
    from m.interfaces import S


class A: ...
""",
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after="""\
from m.interfaces import *
from m.interfaces import S


def f():
    from m.interfaces import S


class A(S):
    ...

    def g(self):
        return 1
""",
    ),
    Case(
        id="3-outer-and-nested-class-of-one-name",
        before="""\
class A:
    class A:
        x = 1


class B:
    class A:
        x = 1
""",
        edits=[{"in": "A.A", "base": "S"}, {"in": "B.A", "base": "S"}],
        after="""\
class A:
    class A(S):
        x = 1


class B:
    class A(S):
        x = 1
""",
    ),
    Case(
        id="3-overloads-before-the-real-one",
        before="""\
@overload
def f(m: type[object]) -> bool: ...
@overload
def f(m: object) -> bool: ...


def f(m):
    return check(m)
""",
        edits=[{"in": "f", "replace": "return $X", "with": "return $X and more(m)"}],
        after="""\
@overload
def f(m: type[object]) -> bool: ...
@overload
def f(m: object) -> bool: ...


def f(m):
    return check(m) and more(m)
""",
    ),
    Case(
        id="3-methods-under-if-torch",
        before="""\
class A:
    if torch.cuda.is_available():
        def f(self): return 1
    else:
        def f(self): return 2
""",
        edits=[{"in": "A.f", "occurrence": 2, "replace": "return 2", "with": "return 3"}],
        after="""\
class A:
    if torch.cuda.is_available():
        def f(self): return 1
    else:
        def f(self): return 3
""",
    ),
    Case(
        id="3-function-redefined",
        before="""\
def f():
    a()


def f():
    a()
""",
        edits=[{"in": "f", "insert": "b()", "after": "a()"}],
        states=["ambiguous"],
        said=["the file has 2 definitions of f; say which with `occurrence`", "line 1: f", "line 5: f"],
    ),
    Case(
        id="4-whitelist-with-everything",
        before="""\
def f():
    names = [
        *base,
        "a"  # first
        "b",
        "c", "d",
        # "e",
    ]
    names += ["z"]
""",
        edits=[{"in": "f", "element": {"to": "names", "value": '"new"'}}],
        after="""\
def f():
    names = [
        *base,
        "a"  # first
        "b",
        "c", "d", "new",
        # "e",
    ]
    names += ["z"]
""",
    ),
    Case(
        id="5-form-feeds-and-separators-before-the-edit",
        before=b'"""\x0c\xe2\x80\xa8"""\n\x0c\nx = "\x1c\x1d"\n\x0cclass A:\n    y = 1\n',
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after=(
            b'"""\x0c\xe2\x80\xa8"""\n'
            b"\n"
            b"from m.interfaces import S\n"
            b"\x0c\n"
            b'x = "\x1c\x1d"\n'
            b"\x0cclass A(S):\n"
            b"    y = 1\n"
            b"\n"
            b"    def g(self):\n"
            b"        return 1\n"
        ),
    ),
    Case(
        id="6-text-beyond-ascii-on-the-line-and-tabs",
        before='x = {"é": ["日本", f("ü")]}; y = f("ü", 1)\n',
        edits=[{"replace": "f($A)", "with": "g($A)"}, {"replace": "f($A, 1)", "with": "g($A, 2)"}],
        after='x = {"é": ["日本", g("ü")]}; y = g("ü", 2)\n',
    ),
    Case(
        id="6-tab-file-takes-a-space-method",
        before="class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n",
        edits=[
            {
                "in": "A",
                "method": """\
def g(self):
    if y:
        return 2
""",
            }
        ],
        after=("class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 1\n\n\tdef g(self):\n\t\tif y:\n\t\t\treturn 2\n"),
    ),
    Case(
        id="7-latin-1-cookie-on-line-2-with-all-edits",
        before=b'#!/usr/bin/python\n# vim: set fileencoding=latin-1 :\nclass A:\n    x = "\xe9"\n',
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after=(
            b"#!/usr/bin/python\n"
            b"# vim: set fileencoding=latin-1 :\n"
            b"from m.interfaces import S\n"
            b"class A(S):\n"
            b'    x = "\xe9"\n'
            b"\n"
            b"    def g(self):\n"
            b"        return 1\n"
        ),
    ),
    Case(
        id="8-crlf-without-final-line-end",
        before=b"import os\r\n\r\n\r\nclass A:\r\n    x = 1",
        edits=[
            {"import": {"from": "m.interfaces", "names": ["S"]}},
            {"in": "A", "base": "S"},
            {"in": "A", "method": "def g(self):\n    return 1"},
        ],
        after=(
            b"import os\r\n"
            b"from m.interfaces import S\r\n"
            b"\r\n"
            b"\r\n"
            b"class A(S):\r\n"
            b"    x = 1\r\n"
            b"\r\n"
            b"    def g(self):\r\n"
            b"        return 1"
        ),
    ),
    Case(
        id="9-one-line-bodies",
        before="""\
class A(P): ...
class B: "Doc."
def f(): return 1
if x: y = 1
""",
        edits=[
            {"in": "A", "method": "def g(self): return 1"},
            {"in": "B", "insert": "z = 1", "at": "end"},
            {"in": "f", "insert": "a()", "before": "return 1"},
            {"insert": "w = 2", "after": "y = 1"},
        ],
        after="""\
class A(P):
    ...

    def g(self): return 1
class B:
    "Doc."
    z = 1
def f():
    a()
    return 1
if x:
    y = 1
    w = 2
""",
    ),
    Case(
        id="9-only-statement-removed-everywhere",
        before="""\
def f():
    a()
async def g():
    async for x in y:
        a()
    async with z:
        a()
while x: a()
""",
        edits=[{"in": "f", "remove": "a()"}, {"in": "g", "remove": "a()", "count": 2}, {"remove": "a()", "id": "last"}],
        after="""\
def f():
    pass
async def g():
    async for x in y:
        pass
    async with z:
        pass
while x: pass
""",
    ),
    Case(
        id="9-nested-function-with-the-same-statement",
        before="""\
def f():
    a()
    def g():
        a()
    return lambda a=1: a
""",
        edits=[{"in": "f", "remove": "a()"}],
        after="""\
def f():
    def g():
        a()
    return lambda a=1: a
""",
    ),
    Case(
        id="10-fmt-off-and-column-0-comments-in-a-moved-block",
        before=(
            "def f():\n"
            "    for x in y:\n"
            "        # fmt: off\n"
            "        a = [1,\n"
            "             2]\n"
            "# zero\n"
            '        b = """\n'
            "  c\n"
            '"""\n'
            "        # fmt: on\n"
            "        d = e + \\\n"
            "            f\n"
            "    return 1\n"
        ),
        edits=[{"in": "f", "replace": "for $X in $Y: $$$B", "with": "if q:\n    for $X in $Y:\n        $$$B"}],
        after=(
            "def f():\n"
            "    if q:\n"
            "        for x in y:\n"
            "            # fmt: off\n"
            "            a = [1,\n"
            "                 2]\n"
            "            # zero\n"
            '            b = """\n'
            "  c\n"
            '"""\n'
            "            # fmt: on\n"
            "            d = e + \\\n"
            "                f\n"
            "    return 1\n"
        ),
    ),
    Case(
        id="10-fstring-over-lines-in-a-moved-block",
        before='for x in y:\n    a = f"""{\nx}\n  {x}\n"""\n',
        edits=[{"replace": "for $X in $Y: $$$B", "with": "if q:\n    for $X in $Y:\n        $$$B"}],
        after='if q:\n    for x in y:\n        a = f"""{\nx}\n  {x}\n"""\n',
    ),
    Case(
        id="11-statement-three-times-in-two-branches",
        before="""\
def f(p, w):
    if a:
        load(p, w)
        return
    for q in r:
        load(p, w)
    load(p, w)
""",
        edits=[{"in": "f", "insert": "done()", "after": "load($_, $_)", "count": 3}],
        after="""\
def f(p, w):
    if a:
        load(p, w)
        done()
        return
    for q in r:
        load(p, w)
        done()
    load(p, w)
    done()
""",
    ),
    Case(
        id="11-anchor-is-the-return-of-a-branch",
        before="""\
def f(x):
    if x: return 1
    return 2
""",
        edits=[{"in": "f", "insert": "log()", "before": "return 1"}],
        after="""\
def f(x):
    if x:
        log()
        return 1
    return 2
""",
    ),
    Case(
        id="11-equal-code-with-other-quotes-parentheses-and-lines",
        before="""\
def f():
    self.method = (call)('a', # c
       "b" 'c', k=(1))
""",
        edits=[{"in": "f", "insert": "x()", "after": 'self.method = call("a", "bc", k=1)'}],
        after="""\
def f():
    self.method = (call)('a', # c
       "b" 'c', k=(1))
    x()
""",
    ),
    Case(
        id="12-marker-in-a-comment-but-the-edit-missing",
        before='# PATCHED: S\nclass A:\n    """S is a base."""\n',
        edits=[{"in": "A", "base": "S"}],
        after='# PATCHED: S\nclass A(S):\n    """S is a base."""\n',
    ),
    Case(
        id="15-hex-numbers-quotes-and-line-breaks-stay",
        before="""\
x = 0x1F;y = 1_000 ;z='a' "b"
w = ( 1,
  2 , )
class A : pass   # c
""",
        edits=[{"in": "A", "base": "S"}, {"replace": "y = 1_000", "with": "y = 0x10"}],
        after="""\
x = 0x1F;y = 0x10 ;z='a' "b"
w = ( 1,
  2 , )
class A(S) : pass   # c
""",
    ),
]
