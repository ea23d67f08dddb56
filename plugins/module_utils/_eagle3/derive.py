# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry of the EAGLE-3 knowledge: a request in, what each architecture is and needs out. JSON both ways."""

from __future__ import annotations

import gc
from typing import Any, Callable, Dict

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import sglang, speculators, vllm

ENGINES: Dict[str, Callable[[Dict[str, Any]], Dict[str, Any]]] = {
    "sglang": sglang.derive,
    "speculators": speculators.derive,
    "vllm": vllm.derive,
}


def run_request(request: Dict[str, Any]) -> Dict[str, Any]:
    """Reads an installed engine; nothing of it is imported or changed.

    :param request: ``engine``, ``root`` (the folder that holds the import package), ``architectures`` (names, or null
        for all, then without edits), ``model_config`` (a parsed config.json or null), ``last_layer``, ``distribution``,
        ``version``, ``others`` (versions of other engines in the environment).
    :return: ``architectures`` (name to state, shape, file, text_architectures, reason, notes and edits) and ``error``.
    """
    engine = request.get("engine")
    if engine not in ENGINES:
        return {
            "architectures": {},
            "error": {"message": "engine must be one of {}, not {!r}".format(", ".join(sorted(ENGINES)), engine)},
        }
    # Thousands of syntax nodes are made and kept; looking for cycles among them costs as much as parsing.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return ENGINES[engine](request)
    finally:
        if collecting:
            gc.enable()


__all__ = ("run_request",)
