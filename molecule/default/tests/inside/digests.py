# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print {path: [sha256, number of hard links]} of all files below a folder, bytecode left out."""

import hashlib
import json
import os
import sys

found = {}
for folder, folders, names in os.walk(sys.argv[1]):
    folders[:] = [name for name in folders if name != "__pycache__"]
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as stream:
            digest = hashlib.sha256(stream.read()).hexdigest()
        found[os.path.relpath(path, sys.argv[1])] = [digest, os.lstat(path).st_nlink]
print(json.dumps(found))
