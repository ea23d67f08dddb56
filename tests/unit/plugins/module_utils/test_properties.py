# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holds for any edit on any file, however the file is written.

Generated: line ends, BOM, encoding, indentation, text beyond ASCII, final line end, headers and bodies. The profile
``long`` tries at least 5,000 files per property.
"""

from __future__ import annotations

import ast
import codecs
import copy
from typing import Any, Dict, List

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import resolve
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.undo import applied_and_undone

Edit = Dict[str, Any]
COUNT = 5000 if settings.default is not None and settings.default.max_examples >= 1000 else 150

TEXTS = st.text(alphabet="aZ é\u00ff'\"\\#{}$\t", max_size=8)
WIDE = st.text(alphabet="a\u20ac\u65e5\U0001f600\u2028\x0c\x85", max_size=5)

STATEMENTS = [
    "x = 1",
    "x = 1; y = 2",
    "x = [1,  # one\n    2,\n]",
    "call(1, *a, k=2)  # trailing",
    "# own line\ncall(2)",
    "if x: call(3)",
    "if x:\n    call(4)\nelif y:\n    pass\nelse: call(5)",
    "for i in range(3):\n    # first\n    call(i)\n    # last",
    "while x: x = None; break",
    "try:\n    call(6)\nexcept (E,\n        F) as e: pass\nfinally:\n    call(7)",
    "with a as b, \\\n        c: call(8)",
    's = """a\n  b\n# c\n"""',
    "s = f'{x!r:>{y}}' 'z' \\\n    'w'",
    "def inner(a, b=lambda c, d: (c, d)):\n    '''Doc.\n\n    More.\n    '''\n    return a",
    "@deco(1)\n# between\n@other\nasync def inner():\n    await call(9)",
    "class Inner: pass",
    "z = (y for y in x if y); w = {**z, 'k': -1}",
    "(q := 3)",
    "x \\\n    = 4",
    "assert x, (\n    'm'\n)",
    "",
]
HEADERS = [
    "class A:",
    "class A():",
    "class A(P):",
    "class A(P, Q, metaclass=M):",
    "class A(\n        P,  # one\n        Q,\n):",
    "class A(*MIX, **kw):",
    "@deco\nclass A (P ):",
    "class A \\\n    (P):",
]
IMPORTS = [
    "",
    "import os",
    "from m import N",
    "from m import (\n    N,  # n\n    Z,\n)",
    "from m import N, \\\n    Z",
    "from q import *; import re",
    "try:\n    from m import N\nexcept ImportError:\n    N = None",
    "if TYPE_CHECKING:\n    from m import T",
]
TOPS = [
    "",
    '"""Doc."""',
    "'''Doc.\n\nMore.'''\nfrom __future__ import annotations",
    "from __future__ import annotations",
]

EDITS: List[Edit] = [
    {"import": {"from": "m", "names": ["T", "B as C"]}},
    {"import": {"module": "m.n as mn"}},
    {"in": "A", "base": "B"},
    {"in": "A", "base": "B", "position": "first"},
    {"in": "A", "method": "@deco\ndef new(self):\n    '''Doc.\n\n    More.\n    '''\n    return '''a\n  b'''\n"},
    {"in": "A", "method": "def new(self): return 1", "position": "start"},
    {"in": "A.f", "insert": "new(1)", "before": "anchor($_)"},
    {"in": "A.f", "insert": "if new:\n    new('''a\n b''')  # why", "after": "anchor($_)"},
    {"in": "A.f", "insert": "new(1)", "at": "start"},
    {"in": "A.f", "insert": "new(1)", "at": "end"},
    {"in": "A", "insert": "new: int = 1", "at": "start"},
    {"insert": "def new():\n    pass", "at": "end"},
    {"in": "A.f", "replace": "anchor($X)", "with": "new($X, anchor=1)"},
    {"in": "A.f", "replace": "anchor($X)", "with": "new()\nif $X:\n    new(2)"},
    {"in": "A.f", "remove": "anchor($_)"},
    {"in": "A.f", "element": {"to": "things", "value": "'new'"}},
]
ADDING = ("import", "base", "method", "insert", "element")


def indented(code: str, unit: str) -> str:
    """Lines of code a level deeper, those inside strings and behind backslashes as well: that changes nothing here."""
    return "".join(unit + line if line.strip() else line for line in code.splitlines(keepends=True))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    unit = draw(st.sampled_from(["    ", "  ", "\t", "   \t"]))
    cookie = draw(st.sampled_from(["", "", "utf-8", "latin-1", "cp1252"]))
    words = TEXTS if cookie not in ("", "utf-8") else st.one_of(TEXTS, WIDE)
    body = draw(st.lists(st.sampled_from(STATEMENTS), max_size=3))
    place = draw(st.integers(0, len(body)))
    anchor = draw(
        st.sampled_from(["anchor(1)", "if y: anchor(1)", "x = 0; anchor(1); y = 1", "if y:\n    anchor(1)  # a"])
    )
    things = draw(
        st.sampled_from(
            ["things = ['a']", "things = [\n    'a',\n]", "things = ('a',\n    'b')", "things = {'a', 'b'}"]
        )
    )
    body[place:place] = [anchor]
    method = "def f(self, x=1):\n" + indented("\n".join([things, *body, "last()"]) + "\n", unit)
    members = draw(st.lists(st.sampled_from(STATEMENTS), max_size=2))
    members.insert(draw(st.integers(0, len(members))), method)
    docstring = draw(st.sampled_from(["", "'''Doc.'''\n"]))
    parts = [f"# -*- coding: {cookie} -*-"] if cookie else []
    parts.append(draw(st.sampled_from(TOPS)))
    parts.append(draw(st.sampled_from(IMPORTS)))
    parts.append(f"t = {draw(words)!r}; u = {draw(words)!r}" if draw(st.booleans()) else "")
    parts.append(draw(st.sampled_from(STATEMENTS)))
    parts.append(draw(st.sampled_from(HEADERS)) + "\n" + indented(docstring + "\n".join(members) + "\n", unit))
    parts.append(draw(st.sampled_from(STATEMENTS)))
    text = "\n".join(parts)
    if draw(st.booleans()):
        text = text.rstrip("\n")
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    data = text.encode(cookie or "utf-8")
    return codecs.BOM_UTF8 + data if cookie in ("", "utf-8") and draw(st.booleans()) else data


def outside(data: bytes, name: str) -> str:
    """The tree of a file without the named scope; for the module, of what is neither new nor an import."""
    source = Source.parse(data, path="m.py")
    tree = copy.deepcopy(source.tree)
    if name:
        scope = resolve(Source.parse(data, path="m.py"), name).node
        for node in ast.walk(tree):
            if type(node) is type(scope) and getattr(node, "lineno", 0) == getattr(scope, "lineno", 1):
                for field in node._fields:
                    setattr(node, field, [])
    else:
        tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        tree.body = [node for node in tree.body if getattr(node, "name", "") != "new"]
    return ast.dump(tree)


def without_blanks(data: bytes) -> bytes:
    return bytes(byte for byte in data if byte not in b" \t\r\n\x0c;\\")


def is_within(part: bytes, whole: bytes) -> bool:
    """Whether ``part`` is ``whole`` with some bytes left out."""
    rest = iter(whole)
    return all(byte in rest for byte in part)


def topic(edit: Edit) -> str:
    """Edits of one topic work against each other: two bodies of one method, a removed anchor."""
    return "anchor" if "anchor" in str(edit) else next(key for key in edit if key != "in") + str(edit.get("at"))


@settings(max_examples=COUNT, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files(), st.lists(st.sampled_from(EDITS), min_size=1, max_size=5, unique_by=topic))
def test_any_edits_on_any_file(data: bytes, edits: List[Edit]) -> None:
    result = plan(edits, {"": File(data, "p.m")})
    after = result["files"][""]["after"]
    assert result["ok"], [edit.get("message") for edit in result["edits"]]

    # Twice is once.
    again = plan(edits, {"": File(after, "p.m")}, known=True)
    assert again["files"][""]["after"] == after
    assert {edit["state"] for edit in again["edits"]} == {"present"}

    # One task with all edits does what a task for each edit does.
    alone = data
    for edit in edits:
        alone = plan([edit], {"": File(alone, "p.m")})["files"][""]["after"]
    assert alone == after

    # Undone, it is what it was.
    assert applied_and_undone(data, edits, "p.m") == (after, data)

    # The file's way of writing stays: BOM, encoding, line ends, no final line end.
    assert after.startswith(codecs.BOM_UTF8) == data.startswith(codecs.BOM_UTF8)
    assert line_ends(after) <= line_ends(data) or not line_ends(data)

    # What only adds leaves every byte but blanks in its order.
    if all(set(edit) & set(ADDING) for edit in edits):
        assert is_within(without_blanks(data), without_blanks(after))

    # Nothing changes outside of the scope.
    for edit in edits[:1] if len(edits) == 1 else []:
        assert outside(after, edit.get("in", "")) == outside(data, edit.get("in", ""))


def line_ends(data: bytes) -> set[bytes]:
    rest = data.replace(b"\r\n", b"\0")
    found = {b"\r\n"} if b"\0" in rest else set()
    return found | {end for end in (b"\r", b"\n") if end in rest}
