# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Public bug reports about tools that edit files, by number."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-ansible-85283-a-patched-file-that-became-crlf-gets-no-second-block",
        before=b"class A:\r\n    def run(self):\r\n        self.start()\r\n        self.probe()\r\n",
        edits=[{"in": "A.run", "insert": "self.probe()", "after": "self.start()"}],
    ),
    Case(
        id="noop-ansible-34690-the-after-image-counts-as-done",
        before="x = compute(a, b, extra=True)\n",
        edits=[{"replace": "compute($A, $B)", "with": "compute($A, $B, extra=True)"}],
    ),
    Case(
        id="noop-ansible-52329-the-anchor-moved-below-what-was-inserted",
        before="""\
def f():
    new()
    anchor()
    new2()
""",
        edits=[
            {"in": "f", "insert": "new()", "before": "anchor()"},
            {"in": "f", "insert": "new2()", "after": "anchor()"},
        ],
    ),
    Case(
        id="noop-ansible-36156-more-code-came-between-anchor-and-insertion",
        before="""\
def f():
    anchor()
    a = 1
    if a:
        b()
    new()
""",
        edits=[{"in": "f", "insert": "new()", "after": "anchor()"}],
    ),
    Case(
        id="noop-ansible-58923-the-anchor-stands-twice-and-both-are-done",
        before="""\
def f():
    anchor()
    new()
    anchor()
    new()
""",
        edits=[{"in": "f", "insert": "new()", "after": "anchor()", "count": "all"}],
    ),
    Case(
        id="ansible-84999-one-line-edited-every-other-line-end-stays",
        before=b'import os\r\n\r\nx = "\x0c\xe2\x80\xa8"\ry = 1\n\x0c\r\nclass A:\r\n    z = 1',
        edits=[{"in": "A", "base": "B"}, {"replace": "y = 1", "with": "y = 2"}],
        after=b'import os\r\n\r\nx = "\x0c\xe2\x80\xa8"\ry = 2\n\x0c\r\nclass A(B):\r\n    z = 1',
    ),
    Case(
        id="ansible-85785-lone-cr-stays",
        before=b"x = 1\ry = 1\rclass A: pass\r",
        edits=[{"in": "A", "base": "B"}, {"in": "A", "method": "def f(self): pass"}],
        after=b"x = 1\ry = 1\rclass A(B):\r    pass\r\r    def f(self): pass\r",
    ),
    Case(
        id="ansible-27779-a-latin-1-file",
        before=b'# -*- coding: latin-1 -*-\nname = "Andr\xe9"\nclass A: pass\n',
        edits=[{"in": "A", "base": "B"}],
        after=b'# -*- coding: latin-1 -*-\nname = "Andr\xe9"\nclass A(B): pass\n',
    ),
    Case(
        id="ansible-24521-a-file-that-is-not-utf-8-and-says-nothing",
        before=b'name = "Andr\xe9"\nclass A: pass\n',
        edits=[{"in": "A", "base": "B"}],
        fails=(
            "the file is not valid utf-8, line 1: invalid continuation byte; it has no coding "
            "line, so Python cannot read it either"
        ),
    ),
    Case(
        id="community.general-2189-a-bom-hides-nothing-and-stays",
        before=b"\xef\xbb\xbfclass A: pass\n",
        edits=[{"in": "A", "base": "B"}],
        after=b"\xef\xbb\xbfclass A(B): pass\n",
    ),
    Case(
        id="community.general-2578-a-bom-stays-with-an-edit-in-line-1",
        before=b"\xef\xbb\xbfimport os\r\n",
        edits=[{"import": {"module": "re"}}],
        after=b"\xef\xbb\xbfimport os\r\nimport re\r\n",
    ),
    Case(
        id="ansible-29776-a-missing-anchor-fails-and-appends-nothing",
        before="""\
def f():
    other()
""",
        edits=[{"in": "f", "insert": "new()", "after": "anchor()"}],
        states=["drifted"],
        said=["f has no statement 'anchor()'", "line 2: other()"],
    ),
    Case(
        id="ansible-41483-what-stands-in-the-twin-class-is-not-done-in-this-one",
        before="""\
class A:
    def run(self):
        self.start()
        self.stop()


class B:
    def run(self):
        self.start()
        self.probe()
        self.stop()
""",
        edits=[{"in": "A.run", "insert": "self.probe()", "after": "self.start()"}],
        after="""\
class A:
    def run(self):
        self.start()
        self.probe()
        self.stop()


class B:
    def run(self):
        self.start()
        self.probe()
        self.stop()
""",
    ),
    Case(
        id="ansible-32803-a-changed-patch-is-not-put-on-top-of-the-old-one",
        before="""\
class A:
    def aux(self):
        return 1
""",
        edits=[{"in": "A", "method": "def aux(self):\n    return 2"}],
        states=["drifted"],
        said=["A has a method aux with another body; to replace it, say overwrite: true", "line 2: aux"],
    ),
    Case(
        id="ansible-29212-already-there-in-a-comment-and-a-string-is-not-there",
        before="""\
def f():
    anchor()
    # new()
    log("new()")
""",
        edits=[{"in": "f", "insert": "new()", "after": "anchor()"}],
        after="""\
def f():
    anchor()
    new()
    # new()
    log("new()")
""",
    ),
]
