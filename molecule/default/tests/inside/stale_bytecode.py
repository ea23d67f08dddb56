# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print those of the given source files whose cached bytecode Python would run although it is not of that source."""

import json
import os
import sys
from importlib.machinery import SourceFileLoader

stale = []
for path in sys.argv[1:]:
    with open(path, "rb") as stream:
        source = stream.read()
    # get_code does what an import does: it takes the bytecode if that says it belongs to the source.
    if SourceFileLoader(os.path.basename(path), path).get_code(os.path.basename(path)) != compile(source, path, "exec"):
        stale.append(path)
print(json.dumps(stale))
