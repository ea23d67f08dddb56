# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The use case of ``python_ast_edit_info``.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _patch_status
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError


def edit_info(params: t.Mapping[str, t.Any], *, check_mode: bool) -> dict[str, t.Any]:
    """Every patch of an environment or a ledger; never changes anything.

    Raises SpecdecError, with the detail ``installed: false`` where the interpreter is not there.
    """
    python = params["python"]
    try:
        return {"changed": False, **_patch_status.status(python=python, ledger_dir=params["ledger_dir"])}
    except SpecdecError as error:
        if python is not None and not os.path.lexists(os.path.expanduser(python)):
            error.details["installed"] = False
        raise


__all__ = ("edit_info",)
