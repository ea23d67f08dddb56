# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a file may be: encodings, line ends, columns, syntax."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-crlf",
        before=b"a()\r\nnew()\r\n",
        edits=[{"insert": "new()", "after": "a()"}],
    ),
    Case(
        id="crlf",
        before=b"class A:\r\n    x = 1\r\n\r\ny = 2\r\n",
        edits=[
            {"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'},
            {"import": {"from": "x", "names": ["Y"]}},
        ],
        after=(
            b"from x import Y\r\n"
            b"class A:\r\n"
            b"    x = 1\r\n"
            b"\r\n"
            b"    def g(self):\r\n"
            b'        """Doc.\r\n'
            b"\r\n"
            b"        More.\r\n"
            b'        """\r\n'
            b"        return 1\r\n"
            b"\r\n"
            b"y = 2\r\n"
        ),
    ),
    Case(
        id="lone-cr",
        before=b"class A:\r    x = 1\r\ry = 2\r",
        edits=[
            {"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'},
            {"import": {"from": "x", "names": ["Y"]}},
        ],
        after=(
            b"from x import Y\r"
            b"class A:\r"
            b"    x = 1\r"
            b"\r"
            b"    def g(self):\r"
            b'        """Doc.\r'
            b"\r"
            b"        More.\r"
            b'        """\r'
            b"        return 1\r"
            b"\r"
            b"y = 2\r"
        ),
    ),
    Case(
        id="mixed-line-ends-take-the-one-of-the-place",
        before=b"a()\r\nx = 1\nclass A:\n    x = 1\r\n    y = 1\r",
        edits=[
            {"insert": "new()", "after": "a()"},
            {"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'},
        ],
        after=(
            b"a()\r\n"
            b"new()\r\n"
            b"x = 1\n"
            b"class A:\n"
            b"    x = 1\r\n"
            b"    y = 1\r"
            b"\r"
            b"    def g(self):\r"
            b'        """Doc.\r'
            b"\r"
            b"        More.\r"
            b'        """\r'
            b"        return 1\r"
        ),
    ),
    Case(
        id="crlf-inside-a-string-stays",
        before=b'x = """a\r\nb"""\r\na()\r\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'x = """a\r\nb"""\r\na()\r\nnew()\r\n',
    ),
    Case(
        id="crlf-without-final-newline",
        before=b"a()\r\nclass A: x = 1",
        edits=[
            {"insert": "new()", "after": "a()"},
            {"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'},
        ],
        after=(
            b"a()\r\n"
            b"new()\r\n"
            b"class A:\r\n"
            b"    x = 1\r\n"
            b"\r\n"
            b"    def g(self):\r\n"
            b'        """Doc.\r\n'
            b"\r\n"
            b"        More.\r\n"
            b'        """\r\n'
            b"        return 1"
        ),
    ),
    Case(
        id="one-line-without-any-newline",
        before=b"a()",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"a()\nnew()",
    ),
    Case(
        id="bom",
        before=b"\xef\xbb\xbfa()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"\xef\xbb\xbfa()\nnew()\n",
    ),
    Case(
        id="bom-and-import-at-the-top",
        before=b"\xef\xbb\xbfa = 1\n",
        edits=[{"import": {"from": "x", "names": ["Y"]}}],
        after=b"\xef\xbb\xbffrom x import Y\na = 1\n",
    ),
    Case(
        id="bom-with-its-cookie",
        before=b"\xef\xbb\xbf# -*- coding: utf-8 -*-\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"\xef\xbb\xbf# -*- coding: utf-8 -*-\na()\nnew()\n",
    ),
    Case(
        id="bom-with-another-cookie",
        before=b"\xef\xbb\xbf# -*- coding: latin-1 -*-\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        fails="the file cannot be read: it starts with a UTF-8 BOM, but its coding line says 'latin-1'",
    ),
    Case(
        id="latin-1-cookie-on-line-2",
        before=b'#!/usr/bin/python\n# -*- coding: latin-1 -*-\nx = "\xe9\xff"; a()\n',
        edits=[{"insert": "new()", "after": "a()"}, {"import": {"from": "x", "names": ["Y"]}}],
        after=(b'#!/usr/bin/python\n# -*- coding: latin-1 -*-\nfrom x import Y\nx = "\xe9\xff"; a()\nnew()\n'),
    ),
    Case(
        id="latin-1-written-by-emacs",
        before=b'# -*- coding: latin-1-unix -*-\nx = "\xe9"\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'# -*- coding: latin-1-unix -*-\nx = "\xe9"\na()\nnew()\n',
    ),
    Case(
        id="utf-8-written-by-emacs",
        before=b'# -*- coding: utf-8-unix -*-\nx = "\xc3\xa9"\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'# -*- coding: utf-8-unix -*-\nx = "\xc3\xa9"\na()\nnew()\n',
    ),
    Case(
        id="cp1252",
        before=b'# vim: set fileencoding=cp1252 :\nx = "\x80"\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'# vim: set fileencoding=cp1252 :\nx = "\x80"\na()\nnew()\n',
    ),
    Case(
        id="shift-jis",
        before=b'# coding: shift_jis\nx = "\x93\xfa\x96{"; a()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'# coding: shift_jis\nx = "\x93\xfa\x96{"; a()\nnew()\n',
    ),
    Case(
        id="latin-1-cannot-hold-the-result",
        before=b"# coding: latin-1\na()\n",
        edits=[{"insert": 'x = "€"', "after": "a()"}],
        fails="the file is written in iso8859-1, which cannot hold '€'",
    ),
    Case(
        id="cookie-on-line-3-is-none",
        before=b"# 1\n# 2\n# coding: latin-1\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"# 1\n# 2\n# coding: latin-1\na()\nnew()\n",
    ),
    Case(
        id="cookie-after-code-is-none",
        before=b"x = 1\n# coding: latin-1\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"x = 1\n# coding: latin-1\na()\nnew()\n",
    ),
    Case(
        id="cookie-unknown",
        before=b"# coding: nonsense\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        fails=("the file cannot be read: its coding line names 'nonsense', which is no encoding of text known here"),
    ),
    Case(
        id="cookie-that-is-no-text-encoding",
        before=b"# coding: rot13\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        fails=("the file cannot be read: its coding line names 'rot13', which is no encoding of text known here"),
    ),
    Case(
        id="cookie-utf-7-does-not-round-trip",
        before=b'# coding: utf-7\nx = "+AGEA-"\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        fails="the file is not valid utf7, line 2: partial character in shift sequence",
    ),
    Case(
        id="invalid-utf-8-without-cookie",
        before=b'x = 1\r\ny = "\xe9"\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        fails=(
            "the file is not valid utf-8, line 2: invalid continuation byte; it has no coding "
            "line, so Python cannot read it either"
        ),
    ),
    Case(
        id="null-byte",
        before=b"a()\x00\n",
        edits=[{"insert": "new()", "after": "a()"}],
        fails="the file does not parse, {parser}",
    ),
    Case(
        id="syntax-error-names-file-line-and-message",
        before=b"a()\ndef f(:\n    pass\n",
        edits=[{"insert": "new()", "after": "a()"}],
        fails="the file does not parse, {parser}",
    ),
    Case(
        id="syntax-error-indentation",
        before=b"a()\nif x:\npass\n",
        edits=[{"insert": "new()", "after": "a()"}],
        fails="the file does not parse, {parser}",
    ),
    Case(
        id="form-feed-u2028-and-nel-count-no-lines",
        before=(
            b'x = "\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x1c\x0b\x0c"\n\x0c\n\x0cclass A:\n    x = 1\n\x0c\n    y = 2\n'
        ),
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            b'x = "\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\x1c\x0b\x0c"\n'
            b"\x0c\n"
            b"\x0cclass A:\n"
            b"    x = 1\n"
            b"\x0c\n"
            b"    y = 2\n"
            b"\n"
            b"    def g(self):\n"
            b'        """Doc.\n'
            b"\n"
            b"        More.\n"
            b'        """\n'
            b"        return 1\n"
        ),
    ),
    Case(
        id="form-feed-at-the-end",
        before=b"class A:\n    x = 1\n\x0c",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            b"class A:\n"
            b"    x = 1\n"
            b"\n"
            b"    def g(self):\n"
            b'        """Doc.\n'
            b"\n"
            b"        More.\n"
            b'        """\n'
            b"        return 1\n"
            b"\x0c"
        ),
    ),
    Case(
        id="blanks-on-empty-lines-stay",
        before=b"class A:\n    x = 1\n    \n\t\n    y = 2\n  \n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            b"class A:\n"
            b"    x = 1\n"
            b"    \n"
            b"\t\n"
            b"    y = 2\n"
            b"\n"
            b"    def g(self):\n"
            b'        """Doc.\n'
            b"\n"
            b"        More.\n"
            b'        """\n'
            b"        return 1\n"
            b"  \n"
        ),
    ),
    Case(
        id="columns-are-utf-8-bytes",
        before=b'if "\xc3\xa4\xc3\xb6\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80": a(); b()\n',
        edits=[{"replace": "b()", "with": 'c("ü")'}],
        after=b'if "\xc3\xa4\xc3\xb6\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80": a(); c("\xc3\xbc")\n',
    ),
    Case(
        id="identifiers-beyond-ascii",
        before=b"class Gr\xc3\xb6\xc3\x9fe:\n    \xc3\xa4 = 1\n",
        edits=[{"in": "Größe", "base": "Höhe"}],
        after=b"class Gr\xc3\xb6\xc3\x9fe(H\xc3\xb6he):\n    \xc3\xa4 = 1\n",
    ),
    Case(
        id="identifiers-are-normalised",
        before=b"x = \xef\xac\x81(1)\n",
        edits=[{"replace": "fi(1)", "with": "g(1)"}],
        after=b"x = g(1)\n",
    ),
    Case(
        id="tabs-after-spaces",
        before=b"class A:\n  def f(self):\n  \treturn 1\n",
        edits=[{"in": "A", "method": 'def g(self):\n    """Doc.\n\n    More.\n    """\n    return 1\n'}],
        after=(
            b"class A:\n"
            b"  def f(self):\n"
            b"  \treturn 1\n"
            b"\n"
            b"  def g(self):\n"
            b'    """Doc.\n'
            b"\n"
            b"    More.\n"
            b'    """\n'
            b"    return 1\n"
        ),
    ),
    Case(
        id="nothing-but-blanks",
        before=b"  \n\t\n",
        edits=[{"import": {"from": "x", "names": ["Y"]}}],
        after=b"  \n\t\nfrom x import Y\n",
    ),
    Case(
        id="nothing-but-a-continued-comment",
        before=b"# a \\\n# b\n",
        edits=[{"import": {"from": "x", "names": ["Y"]}}],
        after=b"# a \\\n# b\nfrom x import Y\n",
    ),
    Case(
        id="newer-syntax-pep-695",
        before=b"type X = int\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"type X = int\na()\nnew()\n",
        python=(3, 12),
    ),
    Case(
        id="newer-syntax-pep-701",
        before=b'x = f"{f"{1}"}"\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'x = f"{f"{1}"}"\na()\nnew()\n',
        python=(3, 12),
    ),
    Case(
        id="newer-syntax-pep-701-comment",
        before=b'x = f"""{\n1  # "\n}"""\na()\n',
        edits=[{"insert": "new()", "after": "a()"}],
        after=b'x = f"""{\n1  # "\n}"""\na()\nnew()\n',
        python=(3, 12),
    ),
    Case(
        id="newer-syntax-walrus-and-posonly",
        before=b"def f(x, /, *, y):\n    (z := x)\na()\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"def f(x, /, *, y):\n    (z := x)\na()\nnew()\n",
    ),
    Case(
        id="formatting-outside-stays",
        before=b"x = 0x10 ;y='a' \"b\"\nz = (1_000,\n)\na()   \n\n\n\n",
        edits=[{"insert": "new()", "after": "a()"}],
        after=b"x = 0x10 ;y='a' \"b\"\nz = (1_000,\n)\na()   \nnew()\n\n\n\n",
    ),
]
