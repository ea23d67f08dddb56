# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The operations by their key in an edit: one file in ``_ops`` and one line here each."""

from __future__ import annotations

from types import ModuleType

from ansible_collections.specdec.blackwell.plugins.module_utils._ops import (
    argument,
    base,
    branch,
    decorator,
    element,
    import_,
    insert,
    method,
    parameter,
    remove,
    rename,
    replace,
    unwrap,
    wrap,
)

# Each module has MODIFIERS (its other keys), ABSENT (whether it can take away) and parse(fields, absent=...).
OPERATIONS: dict[str, ModuleType] = {
    "import": import_,
    "base": base,
    "method": method,
    "insert": insert,
    "replace": replace,
    "remove": remove,
    "wrap": wrap,
    "unwrap": unwrap,
    "parameter": parameter,
    "branch": branch,
    "element": element,
    "argument": argument,
    "decorator": decorator,
    "rename": rename,
}

__all__ = ("OPERATIONS",)
