# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The use case of ``python_ast_edit``.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _patchset

_KEYS = (
    "name",
    "edits",
    "python",
    "package",
    "path",
    "state",
    "version",
    "force",
    "follow",
    "ledger_dir",
    "reason",
    "upstream",
    "drop_when",
)


def edit(params: t.Mapping[str, t.Any], *, check_mode: bool) -> dict[str, t.Any]:
    """Bring one patch about, or say what that would be. Raises SpecdecError with nothing written."""
    result = _patchset.apply(
        _patchset.PatchRequest(**{key: params[key] for key in _KEYS}), check_mode=check_mode
    ).as_dict()
    if not result["skipped"]:
        # Its mere presence would make the task count as skipped in some reports.
        del result["skipped"]
    return result


__all__ = ("edit",)
