# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports."""

from __future__ import annotations

from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case

CASES = [
    Case(
        id="noop-imported-already",
        before="from x.y import A, B\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
    ),
    Case(
        id="noop-in-brackets-with-comments",
        before="""\
from x.y import (
    A,  # one
    B,  # two
)
""",
        edits=[{"import": {"from": "x.y", "names": ["A", "B"]}}],
    ),
    Case(
        id="noop-backslash",
        before="from x.y import A, \\\n    B\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
    ),
    Case(
        id="noop-under-its-alias",
        before="from x.y import B as C\n",
        edits=[{"import": {"from": "x.y", "names": ["B as C"]}}],
    ),
    Case(
        id="noop-bound-in-the-body-of-a-try",
        before="""\
try:
    from x.y import B
except ImportError:
    B = None
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
    ),
    Case(
        id="noop-relative-and-absolute-are-one-module",
        before="from .y import B\n",
        edits=[{"import": {"from": "a.b.y", "names": ["B"]}}],
    ),
    Case(
        id="noop-absolute-there-relative-asked",
        before="from a.b.y import B\n",
        edits=[{"import": {"from": ".y", "names": ["B"]}}],
    ),
    Case(
        id="noop-relative-in-a-package-init",
        before="from .y import B\n",
        edits=[{"import": {"from": "a.b.c.y", "names": ["B"]}}],
        is_package=True,
    ),
    Case(
        id="noop-two-levels-up",
        before="from ..y import B\n",
        edits=[{"import": {"from": "a.y", "names": ["B"]}}],
    ),
    Case(
        id="noop-plain",
        before="import os, sys as s\n",
        edits=[{"import": {"module": "sys as s"}}],
    ),
    Case(
        id="noop-absent-not-there",
        before="from x.y import A\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent"}],
    ),
    Case(
        id="noop-absent-plain-not-there",
        before="import os\n",
        edits=[{"import": {"module": "sys"}, "state": "absent"}],
    ),
    Case(
        id="joins-in-its-style-one-line",
        before="from x.y import A, C\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="from x.y import A, B, C\n",
    ),
    Case(
        id="joins-unsorted-at-the-end",
        before="from x.y import C, A\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="from x.y import C, A, B\n",
    ),
    Case(
        id="joins-sorted-without-case",
        before="from x.y import alpha, Beta, gamma\n",
        edits=[{"import": {"from": "x.y", "names": ["Delta"]}}],
        after="from x.y import alpha, Beta, Delta, gamma\n",
    ),
    Case(
        id="joins-sorted-with-case",
        before="from x.y import CONST, Alpha, beta\n",
        edits=[{"import": {"from": "x.y", "names": ["Zeta"]}}],
        after="from x.y import CONST, Alpha, beta, Zeta\n",
    ),
    Case(
        id="joins-several",
        before="from x.y import A, D\n",
        edits=[{"import": {"from": "x.y", "names": ["C", "B", "E as F"]}}],
        after="from x.y import A, B, C, D, E as F\n",
    ),
    Case(
        id="joins-in-brackets-one-line",
        before="from x.y import (A, C)\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="from x.y import (A, B, C)\n",
    ),
    Case(
        id="joins-in-brackets-one-line-trailing-comma",
        before="from x.y import (A, C,)\n",
        edits=[{"import": {"from": "x.y", "names": ["D", "E"]}}],
        after="from x.y import (A, C, D, E,)\n",
    ),
    Case(
        id="joins-in-brackets-single-trailing-comma",
        before="from x.y import (A,)\n",
        edits=[{"import": {"from": "x.y", "names": ["D", "E"]}}],
        after="from x.y import (A, D, E)\n",
    ),
    Case(
        id="joins-in-lines-with-comment-per-name",
        before="""\
from x.y import (
    A,  # one
    C,  # three
)
""",
        edits=[{"import": {"from": "x.y", "names": ["B", "D"]}}],
        after="""\
from x.y import (
    A,  # one
    B,
    C,  # three
    D,
)
""",
    ),
    Case(
        id="joins-in-lines-without-trailing-comma",
        before="""\
from x.y import (
    A,
    C  # last
)
""",
        edits=[{"import": {"from": "x.y", "names": ["D", "E"]}}],
        after="""\
from x.y import (
    A,
    C,  # last
    D,
    E
)
""",
    ),
    Case(
        id="joins-after-a-backslash",
        before="from x.y import A, \\\n    C\n",
        edits=[{"import": {"from": "x.y", "names": ["D"]}}],
        after="from x.y import A, \\\n    C, D\n",
    ),
    Case(
        id="joins-backslash-before-the-bracket",
        before="from x.y import \\\n    (A, C)\n",
        edits=[{"import": {"from": "x.y", "names": ["D"]}}],
        after="from x.y import \\\n    (A, C, D)\n",
    ),
    Case(
        id="joins-relative-spelling",
        before="from .y import A\n",
        edits=[{"import": {"from": "a.b.y", "names": ["B"]}}],
        after="from .y import A, B\n",
    ),
    Case(
        id="joins-dot-import",
        before="from . import A\n",
        edits=[{"import": {"from": "a.b", "names": ["B"]}}],
        after="from . import A, B\n",
    ),
    Case(
        id="joins-dots-alone",
        before="from .. import A\n",
        edits=[{"import": {"from": "a", "names": ["B"]}}],
        after="from .. import A, B\n",
    ),
    Case(
        id="joins-last-of-two",
        before="""\
from x.y import A
from x.y import C
""",
        edits=[{"import": {"from": "x.y", "names": ["D"]}}],
        after="""\
from x.y import A
from x.y import C, D
""",
    ),
    Case(
        id="joins-with-a-semicolon-tail",
        before="from x.y import A; import os\n",
        edits=[{"import": {"from": "x.y", "names": ["D"]}}],
        after="from x.y import A, D; import os\n",
    ),
    Case(
        id="joins-tabs",
        before="from x.y import (\n\tA,\n\tC,\n)\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="from x.y import (\n\tA,\n\tB,\n\tC,\n)\n",
    ),
    Case(
        id="not-joined-in-a-try",
        before="""\
import os
try:
    from x.y import A
except ImportError:
    A = None
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
import os
from x.y import B
try:
    from x.y import A
except ImportError:
    A = None
""",
    ),
    Case(
        id="not-joined-a-star",
        before="from x.y import *\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
from x.y import *
from x.y import B
""",
    ),
    Case(
        id="star-does-not-count-as-imported",
        before="""\
from x.y import *

x = B
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
from x.y import *
from x.y import B

x = B
""",
    ),
    Case(
        id="type-checking-does-not-count",
        before="""\
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from x.y import B
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
import os
from typing import TYPE_CHECKING
from x.y import B

if TYPE_CHECKING:
    from x.y import B
""",
    ),
    Case(
        id="in-a-function-does-not-count",
        before="""\
import os


def f():
    from x.y import B
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
import os
from x.y import B


def f():
    from x.y import B
""",
    ),
    Case(
        id="under-another-alias-is-not-the-name",
        before="from x.y import B as C\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="from x.y import B, B as C\n",
    ),
    Case(
        id="new-after-the-same-package",
        before="""\
import os
from x.a import Q
from z import Z

A = 1
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
import os
from x.a import Q
from x.y import B
from z import Z

A = 1
""",
    ),
    Case(
        id="new-after-the-last-of-its-form",
        before="""\
import os
from z import Z
import re

A = 1
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
import os
from z import Z
from x.y import B
import re

A = 1
""",
    ),
    Case(
        id="new-plain-after-plain",
        before="""\
import os
from z import Z

A = 1
""",
        edits=[{"import": {"module": "re"}}],
        after="""\
import os
import re
from z import Z

A = 1
""",
    ),
    Case(
        id="new-relative-with-relative",
        before="""\
import os
from .z import Z
from q import Q
""",
        edits=[{"import": {"from": ".y", "names": ["B"]}}],
        after="""\
import os
from .z import Z
from .y import B
from q import Q
""",
        module=None,
    ),
    Case(
        id="new-after-the-docstring",
        before='"""Doc."""\n\nA = 1\n',
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after='"""Doc."""\n\nfrom x.y import B\n\nA = 1\n',
    ),
    Case(
        id="new-after-a-docstring-without-blank",
        before='"""Doc."""\nA = 1\n',
        edits=[{"import": {"module": "re"}}],
        after='"""Doc."""\n\nimport re\n\nA = 1\n',
    ),
    Case(
        id="new-after-future",
        before='"""Doc."""\nfrom __future__ import annotations\n\nA = 1\n',
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after='"""Doc."""\nfrom __future__ import annotations\nfrom x.y import B\n\nA = 1\n',
    ),
    Case(
        id="new-in-an-empty-file",
        before="",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="from x.y import B\n",
    ),
    Case(
        id="new-in-a-file-of-comments",
        before="""\
# Copyright
# Licence
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
# Copyright
# Licence
from x.y import B
""",
    ),
    Case(
        id="new-in-a-file-of-comments-without-final-newline",
        before="# Copyright",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="# Copyright\nfrom x.y import B",
    ),
    Case(
        id="new-below-the-licence",
        before="""\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Copyright

A = 1
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
#!/usr/bin/env python
# -*- coding: utf-8 -*-
# Copyright

from x.y import B
A = 1
""",
    ),
    Case(
        id="new-not-before-the-first-def-when-imports-follow",
        before="""\
import os


def f(): pass


import late
""",
        edits=[{"import": {"module": "re"}}],
        after="""\
import os
import re


def f(): pass


import late
""",
    ),
    Case(
        id="new-without-final-newline",
        before="import os",
        edits=[{"import": {"module": "re"}}],
        after="import os\nimport re",
    ),
    Case(
        id="new-long-goes-in-lines",
        before="import os\n",
        edits=[
            {
                "import": {
                    "from": "x.y",
                    "names": [
                        "AbcdefghijklmnopqrstuvwxyzAAAA",
                        "AbcdefghijklmnopqrstuvwxyzBBBB",
                        "AbcdefghijklmnopqrstuvwxyzCCCC",
                    ],
                }
            }
        ],
        after="""\
import os
from x.y import (
    AbcdefghijklmnopqrstuvwxyzAAAA,
    AbcdefghijklmnopqrstuvwxyzBBBB,
    AbcdefghijklmnopqrstuvwxyzCCCC,
)
""",
    ),
    Case(
        id="new-docstring-and-statement-on-one-line",
        before='"""Doc."""; A = 1\n',
        edits=[{"import": {"module": "re"}}],
        after='"""Doc."""\nimport re\nA = 1\n',
    ),
    Case(
        id="new-in-a-function",
        before='def f():\n    """Doc."""\n    return 1\n',
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "in": "f"}],
        after='def f():\n    """Doc."""\n\n    from x.y import B\n\n    return 1\n',
    ),
    Case(
        id="new-in-a-function-joined",
        before="""\
def f():
    from x.y import A
    return 1
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "in": "f"}],
        after="""\
def f():
    from x.y import A, B
    return 1
""",
    ),
    Case(
        id="new-after-an-import-under-a-multi-line-bracket",
        before="""\
from x.a import (
    Q,
)
A = 1
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        after="""\
from x.a import (
    Q,
)
from x.y import B
A = 1
""",
    ),
    Case(
        id="new-dotted-plain",
        before="import x.z\n",
        edits=[{"import": {"module": "x.y as xy"}}],
        after="""\
import x.z
import x.y as xy
""",
    ),
    Case(
        id="taken-by-another-import",
        before="from q import B\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        states=["drifted"],
        said=["B is imported from somewhere else already (q.B, line 1); import it under another name"],
    ),
    Case(
        id="taken-by-a-plain-import",
        before="import numpy as np\n",
        edits=[{"import": {"module": "numpy.lib as np"}}],
        states=["drifted"],
        said=["np is imported from somewhere else already (numpy, line 1); import it under another name"],
    ),
    Case(
        id="taken-by-a-class-of-the-file",
        before="class B: ...\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}}],
        states=["drifted"],
        said=["B is defined in the file itself, line 1"],
    ),
    Case(
        id="taken-by-an-import-over-it",
        before="""\
from x.y import B
from q import B
""",
        edits=[{"import": {"from": "x.y", "names": ["C"]}}],
        after="""\
from x.y import B, C
from q import B
""",
    ),
    Case(
        id="absent-one-of-several",
        before="from x.y import A, B, C\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent"}],
        after="from x.y import A, C\n",
    ),
    Case(
        id="absent-last",
        before="from x.y import A, B\n",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent"}],
        after="from x.y import A\n",
    ),
    Case(
        id="absent-whole",
        before="""\
import os
from x.y import B  # for the patch
import re
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent"}],
        after="""\
import os
import re
""",
    ),
    Case(
        id="absent-several",
        before="from x.y import A, B, C, D\n",
        edits=[{"import": {"from": "x.y", "names": ["B", "C"]}, "state": "absent"}],
        after="from x.y import A, D\n",
    ),
    Case(
        id="absent-several-in-lines",
        before="""\
from x.y import (
    A,  # one
    B,  # two
    C,
    D,  # four
)
""",
        edits=[{"import": {"from": "x.y", "names": ["B", "D"]}, "state": "absent"}],
        after="""\
from x.y import (
    A,  # one
    C,
)
""",
    ),
    Case(
        id="absent-all-in-lines",
        before="""\
from x.y import (
    A,  # one
    B,  # two
)
x = 1
""",
        edits=[{"import": {"from": "x.y", "names": ["B", "A"]}, "state": "absent"}],
        after="x = 1\n",
    ),
    Case(
        id="absent-first-and-last",
        before="from x.y import A, B, C\n",
        edits=[{"import": {"from": "x.y", "names": ["A", "C"]}, "state": "absent"}],
        after="from x.y import B\n",
    ),
    Case(
        id="absent-partly-there",
        before="from x.y import A, B\n",
        edits=[{"import": {"from": "x.y", "names": ["B", "Q"]}, "state": "absent"}],
        after="from x.y import A\n",
    ),
    Case(
        id="absent-from-two-imports",
        before="""\
from x.y import A, B
from x.y import B
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent"}],
        after="from x.y import A\n",
    ),
    Case(
        id="absent-only-statement-of-a-try",
        before="""\
try:
    from x.y import B
except ImportError:
    B = None
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent"}],
        after="""\
try:
    pass
except ImportError:
    B = None
""",
    ),
    Case(
        id="absent-two-lines-of-a-try",
        before="""\
try:
    from x.y import B
    from x.y import C
except ImportError:
    B = None
""",
        edits=[{"import": {"from": "x.y", "names": ["B", "C"]}, "state": "absent"}],
        after="""\
try:
    pass
except ImportError:
    B = None
""",
    ),
    Case(
        id="absent-plain-of-two",
        before="import os, re\n",
        edits=[{"import": {"module": "re"}, "state": "absent"}],
        after="import os\n",
    ),
    Case(
        id="absent-plain-with-semicolons",
        before="import os; import re; import sys\n",
        edits=[{"import": {"module": "re"}, "state": "absent"}],
        after="import os; import sys\n",
    ),
    Case(
        id="absent-only-statement-of-a-function",
        before="""\
def f():
    from x.y import B
""",
        edits=[{"import": {"from": "x.y", "names": ["B"]}, "state": "absent", "in": "f"}],
        after="""\
def f():
    pass
""",
    ),
    Case(
        id="absent-alias",
        before="from x.y import A, B as C\n",
        edits=[{"import": {"from": "x.y", "names": ["B as C"]}, "state": "absent"}],
        after="from x.y import A\n",
    ),
    Case(
        id="input-no-names",
        before="x = 1\n",
        edits=[{"import": {"from": "x.y", "names": []}}],
        fails="edit 1, import: `names` must be a list of text, got a list ([])",
    ),
    Case(
        id="input-star",
        before="x = 1\n",
        edits=[{"import": {"from": "x.y", "names": ["*"]}}],
        fails="edit 1, import: '*' is no single name; write A or \"B as C\"",
    ),
    Case(
        id="input-two-in-one",
        before="x = 1\n",
        edits=[{"import": {"from": "x.y", "names": ["A, B"]}}],
        fails="edit 1, import: 'A, B' is no single name; write A or \"B as C\"",
    ),
    Case(
        id="input-module-and-from",
        before="x = 1\n",
        edits=[{"import": {"module": "x", "from": "y"}}],
        fails="edit 1, import: import takes `from` and `names`, or `module`",
    ),
    Case(
        id="input-not-a-dict",
        before="x = 1\n",
        edits=[{"import": "import x"}],
        fails="edit 1, import: expected a dictionary, got str ('import x')",
    ),
    Case(
        id="input-unknown-key",
        before="x = 1\n",
        edits=[{"import": {"from": "x", "name": ["A"]}}],
        fails="edit 1, import: unknown key 'name'; known here: from, module, names",
    ),
    Case(
        id="input-no-module",
        before="x = 1\n",
        edits=[{"import": {"module": "1x"}}],
        fails="edit 1, import: 'import 1x' is no import statement",
    ),
    Case(
        id="input-one-name-as-text",
        before="from x.y import A\n",
        edits=[{"import": {"from": "x.y", "names": "B"}}],
        after="from x.y import A, B\n",
    ),
]
