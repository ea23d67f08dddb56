# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Methods."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-there",
        before=('class A:\n    def g(self):\n        """Doc.\n\n        More.\n        """\n        return 1\n'),
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
    ),
    Case(
        id="noop-there-in-another-layout",
        before=('class A:\n    def g( self ):\n        "Doc.\\n\\nMore.\\n"\n        # by hand\n        return (1)\n'),
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
    ),
    Case(
        id="noop-there-under-an-if",
        before="""\
class A:
    if X:
        def g(self): return 2
    else:
        def g(self): return 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
    ),
    Case(
        id="noop-the-setter-is-there",
        before="""\
class A:
    @property
    def g(self): return 1

    @g.setter
    def g(self, v): self.v = v
""",
        edits=[{"in": "A", "method": "@g.setter\ndef g(self, v):\n    self.v = v"}],
    ),
    Case(
        id="noop-absent-is-not-there",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": "g", "state": "absent"}],
    ),
    Case(
        id="in-the-twin-class-does-not-count",
        before="""\
class T:
    def g(self): return 1


class A:
    x = 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        after="""\
class T:
    def g(self): return 1


class A:
    x = 1

    def g(self): return 1
""",
    ),
    Case(
        id="end-is-the-default",
        before="""\
class A:
    x = 1

    def f(self):
        return 0


y = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "    x = 1\n"
            "\n"
            "    def f(self):\n"
            "        return 0\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
            "\n"
            "\n"
            "y = 1\n"
        ),
    ),
    Case(
        id="end-without-final-newline",
        before="class A:\n    x = 1",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            'class A:\n    x = 1\n\n    def g(self):\n        """Doc.\n\n        More.\n        """\n        return 1'
        ),
    ),
    Case(
        id="end-after-comments-of-the-last-method",
        before="""\
class A:
    def f(self):
        return 0
        # in f
    # in A
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "    def f(self):\n"
            "        return 0\n"
            "        # in f\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
            "    # in A\n"
        ),
    ),
    Case(
        id="end-inside-an-if",
        before="""\
if X:
    class A:
        x = 1
else:
    A = None
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "if X:\n"
            "    class A:\n"
            "        x = 1\n"
            "\n"
            "        def g(self):\n"
            '            """Doc.\n'
            "\n"
            "            More.\n"
            '            """\n'
            "            return 1\n"
            "else:\n"
            "    A = None\n"
        ),
    ),
    Case(
        id="start-after-the-docstring",
        before='class A:\n    """Doc."""\n\n    x = 1\n',
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": "start",
            }
        ],
        after=(
            "class A:\n"
            '    """Doc."""\n'
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
            "\n"
            "    x = 1\n"
        ),
    ),
    Case(
        id="start-without-docstring",
        before="""\
class A:
    x = 1
""",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": "start",
            }
        ],
        after=(
            'class A:\n    def g(self):\n        """Doc.\n\n        More.\n        """\n        return 1\n\n    x = 1\n'
        ),
    ),
    Case(
        id="start-docstring-only",
        before='class A:\n    """Doc."""\n',
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": "start",
            }
        ],
        after=(
            "class A:\n"
            '    """Doc."""\n'
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
        ),
    ),
    Case(
        id="after-a-method",
        before="""\
class A:
    def f(self):
        pass

    def h(self):
        pass
""",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": {"after": "f"},
            }
        ],
        after=(
            "class A:\n"
            "    def f(self):\n"
            "        pass\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
            "\n"
            "    def h(self):\n"
            "        pass\n"
        ),
    ),
    Case(
        id="after-a-property-pair",
        before="""\
class A:
    @property
    def f(self): return 1

    @f.setter
    def f(self, v): pass

    y = 2
""",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": {"after": "f"},
            }
        ],
        after=(
            "class A:\n"
            "    @property\n"
            "    def f(self): return 1\n"
            "\n"
            "    @f.setter\n"
            "    def f(self, v): pass\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
            "\n"
            "    y = 2\n"
        ),
    ),
    Case(
        id="after-a-method-that-is-not-there",
        before="""\
class A:
    def f(self): pass
""",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": {"after": "q"},
            }
        ],
        states=["drifted"],
        said=["A has no method q to stand after", "line 2: f"],
    ),
    Case(
        id="one-line-class",
        before="class P(Protocol): ...\n",
        edits=[{"in": "P", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class P(Protocol):\n"
            "    ...\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
        ),
    ),
    Case(
        id="one-line-class-two-statements",
        before="class A: x = 1; y = 2\n",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": "start",
            }
        ],
        after=(
            "class A:\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
            "    x = 1; y = 2\n"
        ),
    ),
    Case(
        id="one-line-class-two-statements-end",
        before="class A: x = 1; y = 2  # both\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "    x = 1; y = 2  # both\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
        ),
    ),
    Case(
        id="docstring-on-the-class-line",
        before='class A: "Doc."\n',
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            '    "Doc."\n'
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
        ),
    ),
    Case(
        id="suite-joined-by-a-backslash",
        before="class A: \\\n    x = 1\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            'class A:\n    x = 1\n\n    def g(self):\n        """Doc.\n\n        More.\n        """\n        return 1\n'
        ),
    ),
    Case(
        id="suite-joined-by-a-backslash-start",
        before="class A: \\\n    x = 1\n",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": "start",
            }
        ],
        after=(
            'class A:\n    def g(self):\n        """Doc.\n\n        More.\n        """\n        return 1\n    x = 1\n'
        ),
    ),
    Case(
        id="tabs",
        before="class A:\n\tx = 1\n\n\tdef f(self):\n\t\treturn 0\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "\tx = 1\n"
            "\n"
            "\tdef f(self):\n"
            "\t\treturn 0\n"
            "\n"
            "\tdef g(self):\n"
            '\t\t"""Doc.\n'
            "\n"
            "\t\tMore.\n"
            '\t\t"""\n'
            "\t\treturn 1\n"
        ),
    ),
    Case(
        id="two-spaces",
        before="""\
class A:
  x = 1

  def f(self):
    return 0
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "  x = 1\n"
            "\n"
            "  def f(self):\n"
            "    return 0\n"
            "\n"
            "  def g(self):\n"
            '    """Doc.\n'
            "\n"
            "    More.\n"
            '    """\n'
            "    return 1\n"
        ),
    ),
    Case(
        id="form-feed-before-the-last-method",
        before="class A:\n    x = 1\n\n\x0c\n    def f(self):\n        return 0\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "    x = 1\n"
            "\n"
            "\x0c\n"
            "    def f(self):\n"
            "        return 0\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
        ),
    ),
    Case(
        id="form-feed-in-the-indentation",
        before="class A:\n    def f(self):\n        return 0\n\n\x0c    def h(self):\n        return 0\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            "class A:\n"
            "    def f(self):\n"
            "        return 0\n"
            "\n"
            "\x0c    def h(self):\n"
            "        return 0\n"
            "\n"
            "    def g(self):\n"
            '        """Doc.\n'
            "\n"
            "        More.\n"
            '        """\n'
            "        return 1\n"
        ),
    ),
    Case(
        id="async-with-decorators",
        before="""\
class A:
    x = 1
""",
        edits=[
            {
                "in": "A",
                "method": """\
@cached
@retry(times=3)
async def g(self):
    await x()
""",
            }
        ],
        after="""\
class A:
    x = 1

    @cached
    @retry(times=3)
    async def g(self):
        await x()
""",
    ),
    Case(
        id="comment-above-the-def-comes-along",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": "# why\ndef g(self): return 1"}],
        after="""\
class A:
    x = 1

    # why
    def g(self): return 1
""",
    ),
    Case(
        id="strings-keep-their-value",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    return """a\n  b\n"""\n'}],
        after='class A:\n    x = 1\n\n    def g(self):\n        return """a\n  b\n"""\n',
    ),
    Case(
        id="fstring-over-lines-keeps-its-value",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    return f"""a{\n1}\n  b\n"""\n'}],
        after='class A:\n    x = 1\n\n    def g(self):\n        return f"""a{\n1}\n  b\n"""\n',
    ),
    Case(
        id="backslash-in-a-string-keeps-its-value",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    return "a\\\n  b"\n'}],
        after='class A:\n    x = 1\n\n    def g(self):\n        return "a\\\n  b"\n',
    ),
    Case(
        id="docstring-shallower-than-its-def-stays",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n  shallow\n        deep\n    """\n'}],
        after='class A:\n    x = 1\n\n    def g(self):\n        """Doc.\n  shallow\n        deep\n    """\n',
    ),
    Case(
        id="docstring-with-a-tab-stays",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    a\tb\n    """\n'}],
        after='class A:\n    x = 1\n\n    def g(self):\n        """Doc.\n\n    a\tb\n    """\n',
    ),
    Case(
        id="docstring-with-a-backslash-stays",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc \\\n    more.\n    """\n'}],
        after='class A:\n    x = 1\n\n    def g(self):\n        """Doc \\\n    more.\n    """\n',
    ),
    Case(
        id="continuation-lines-move",
        before="""\
class A:
    x = 1
""",
        edits=[{"in": "A", "method": "def g(self,\n      a):\n    return f(a,\n             b) + \\\n        c\n"}],
        after=(
            "class A:\n"
            "    x = 1\n"
            "\n"
            "    def g(self,\n"
            "          a):\n"
            "        return f(a,\n"
            "                 b) + \\\n"
            "            c\n"
        ),
    ),
    Case(
        id="column-0-comment-moves",
        before="""\
class A:
    x = 1
""",
        edits=[
            {
                "in": "A",
                "method": """\
def g(self):
# zero
    return 1
""",
            }
        ],
        after="""\
class A:
    x = 1

    def g(self):
    # zero
        return 1
""",
    ),
    Case(
        id="indented-source-is-dedented",
        before="""\
class A:
    x = 1
""",
        edits=[
            {
                "in": "A",
                "method": """\

    def g(self):
        return 1

""",
            }
        ],
        after="""\
class A:
    x = 1

    def g(self):
        return 1
""",
    ),
    Case(
        id="nested-function-of-that-name-does-not-count",
        before="""\
class A:
    def f(self):
        def g(self): return 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        after="""\
class A:
    def f(self):
        def g(self): return 1

    def g(self): return 1
""",
    ),
    Case(
        id="nested-class-has-its-own",
        before="""\
class A:
    class A:
        def g(self): return 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        after="""\
class A:
    class A:
        def g(self): return 1

    def g(self): return 1
""",
    ),
    Case(
        id="other-body-is-drifted",
        before="""\
class A:
    def g(self):
        return 2
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        states=["drifted"],
        said=["A has a method g with another body; to replace it, say overwrite: true", "line 2: g"],
    ),
    Case(
        id="other-signature-is-drifted",
        before="""\
class A:
    def g(self, x):
        return 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        states=["drifted"],
        said=["A has a method g with another body; to replace it, say overwrite: true", "line 2: g"],
    ),
    Case(
        id="other-decorator-is-drifted",
        before="""\
class A:
    @staticmethod
    def g(self):
        return 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        states=["drifted"],
        said=["A has a method g with another body; to replace it, say overwrite: true", "line 3: g"],
    ),
    Case(
        id="overwrite",
        before="""\
class A:
    @old
    def g(self):
        return 2  # two

    y = 1
""",
        edits=[
            {"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n', "overwrite": True}
        ],
        after=(
            'class A:\n    def g(self):\n        """Doc.\n\n        More.\n        """\n        return 1\n\n    y = 1\n'
        ),
    ),
    Case(
        id="overwrite-on-one-line",
        before="class A: g = 1; h = 2\n",
        edits=[{"in": "A", "method": "def q(self): return 1", "overwrite": True}],
        after="""\
class A:
    g = 1; h = 2

    def q(self): return 1
""",
    ),
    Case(
        id="overwrite-the-only-one",
        before="class A:\n    def g(self): return 2",
        edits=[{"in": "A", "method": "def g(self): return 1", "overwrite": True}],
        after="class A:\n    def g(self): return 1",
    ),
    Case(
        id="overwrite-two-is-ambiguous",
        before="""\
class A:
    if X:
        def g(self): return 2
    else:
        def g(self): return 3
""",
        edits=[{"in": "A", "method": "def g(self): return 1", "overwrite": True}],
        states=["ambiguous"],
        said=["the method g is defined 2 times", "line 3: g", "line 5: g"],
    ),
    Case(
        id="overwrite-behind-overload-stubs",
        before="""\
class A:
    @overload
    def g(self, a: int): ...
    @typing.overload
    def g(self, a: str): ...
    def g(self, a): return 2
""",
        edits=[{"in": "A", "method": "def g(self, a): return 1", "overwrite": True}],
        after="""\
class A:
    @overload
    def g(self, a: int): ...
    @typing.overload
    def g(self, a: str): ...
    def g(self, a): return 1
""",
    ),
    Case(
        id="overwrite-true-as-text",
        before="""\
class A:
    def g(self): return 2
""",
        edits=[{"in": "A", "method": "def g(self): return 1", "overwrite": "true"}],
        after="""\
class A:
    def g(self): return 1
""",
    ),
    Case(
        id="setter-beside-its-property",
        before="""\
class A:
    @property
    def g(self):
        return 1
""",
        edits=[{"in": "A", "method": "@g.setter\ndef g(self, v):\n    self.v = v"}],
        after="""\
class A:
    @property
    def g(self):
        return 1

    @g.setter
    def g(self, v):
        self.v = v
""",
    ),
    Case(
        id="overload-stub-added",
        before="""\
class A:
    def g(self, a): return 1
""",
        edits=[{"in": "A", "method": "@overload\ndef g(self, a: int): ...", "position": "start"}],
        after="""\
class A:
    @overload
    def g(self, a: int): ...

    def g(self, a): return 1
""",
    ),
    Case(
        id="absent-by-name",
        before="""\
class A:
    x = 1

    def g(self):
        return 1
        # in g

    def h(self):
        pass
""",
        edits=[{"in": "A", "method": "g", "state": "absent"}],
        after="""\
class A:
    x = 1

    def h(self):
        pass
""",
    ),
    Case(
        id="absent-by-name-with-stubs",
        before="""\
class A:
    @overload
    def g(self, a: int): ...

    @overload
    def g(self, a: str): ...

    def g(self, a): return 2

    y = 1
""",
        edits=[{"in": "A", "method": "g", "state": "absent"}],
        after="""\
class A:

    y = 1
""",
    ),
    Case(
        id="absent-by-source",
        before="""\
class A:
    def g(self):
        return (1)

    y = 1
""",
        edits=[{"in": "A", "method": "def g(self): return 1", "state": "absent"}],
        after="""\
class A:

    y = 1
""",
    ),
    Case(
        id="absent-by-source-other-body",
        before="""\
class A:
    def g(self):
        return 2
""",
        edits=[{"in": "A", "method": "def g(self): return 1", "state": "absent"}],
        states=["drifted"],
        said=[
            ("the method g has another body than the one to take away; give its bare name to remove it anyway"),
            "line 2: g",
        ],
    ),
    Case(
        id="absent-the-only-statement",
        before="""\
class A:
    @dec
    def g(self):
        return 1
""",
        edits=[{"in": "A", "method": "g", "state": "absent"}],
        after="""\
class A:
    pass
""",
    ),
    Case(
        id="absent-property-pair-is-ambiguous",
        before="""\
class A:
    @property
    def g(self): return 1

    @g.setter
    def g(self, v): pass
""",
        edits=[{"in": "A", "method": "g", "state": "absent"}],
        states=["ambiguous"],
        said=["the method g is defined 2 times", "line 3: g", "line 6: g"],
    ),
    Case(
        id="absent-the-setter-by-source",
        before="""\
class A:
    @property
    def g(self): return 1

    @g.setter
    def g(self, v): pass
""",
        edits=[{"in": "A", "method": "@g.setter\ndef g(self, v): pass", "state": "absent"}],
        after="""\
class A:
    @property
    def g(self): return 1
""",
    ),
    Case(
        id="scope-is-no-class",
        before="def A(): pass\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        states=["drifted"],
        said=["A is no class, so it cannot have the method g"],
    ),
    Case(
        id="input-two-defs",
        before="class A: ...\n",
        edits=[{"in": "A", "method": "def a(self): pass\ndef b(self): pass"}],
        fails="edit 1, method: `method` must be the source of one def",
    ),
    Case(
        id="input-no-def",
        before="class A: ...\n",
        edits=[{"in": "A", "method": "x = 1"}],
        fails="edit 1, method: `method` must be the source of one def",
    ),
    Case(
        id="input-bare-name-without-absent",
        before="class A: ...\n",
        edits=[{"in": "A", "method": "g"}],
        fails="edit 1, method: `method` must be the source of one def",
    ),
    Case(
        id="input-does-not-parse",
        before="class A: ...\n",
        edits=[{"in": "A", "method": "def g(self:\n    pass"}],
        fails="edit 1, method: `method` does not parse, {parser}",
    ),
    Case(
        id="input-position-unknown",
        before="class A: ...\n",
        edits=[
            {
                "in": "A",
                "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n',
                "position": {"before": "g"},
            }
        ],
        fails="edit 1, method, position: unknown key 'before'; known here: after",
    ),
    Case(
        id="type-parameters",
        before="""\
class A[T]:
    x: T
""",
        edits=[
            {
                "in": "A",
                "method": """\
def g[S](self, s: S) -> S:
    return s
""",
            }
        ],
        after="""\
class A[T]:
    x: T

    def g[S](self, s: S) -> S:
        return s
""",
        python=(3, 12),
    ),
    Case(
        id="match-statement-last",
        before="""\
class A:
    match 1:
        case 1:
            x = 1
            # in the case
""",
        edits=[{"in": "A", "method": "def g(self): return 1"}],
        after="""\
class A:
    match 1:
        case 1:
            x = 1
            # in the case

    def g(self): return 1
""",
        python=(3, 10),
    ),
    Case(
        id="decorator-below-a-comment-with-its-sign",
        before="""\
class A:
    @(  # as @this
        dec)
    def g(self): return 2
""",
        edits=[{"in": "A", "method": "def g(self): return 1", "overwrite": True}],
        after="""\
class A:
    def g(self): return 1
""",
        python=(3, 9),
    ),
]
