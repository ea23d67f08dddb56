# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stop with a reason unless a distribution has a version, and, when one is named, a package imports."""

import importlib
import importlib.metadata
import sys

distribution, version, package = sys.argv[1:]
found = importlib.metadata.version(distribution)
if found.partition("+")[0] != version.partition("+")[0]:
    sys.exit(f"{distribution} is {found}, not {version}")
if package:
    importlib.import_module(package)
