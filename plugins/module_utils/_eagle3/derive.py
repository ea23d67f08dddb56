# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The entry of the EAGLE-3 knowledge: a request in, what each architecture is and needs out. JSON both ways."""

from __future__ import annotations

import gc
from typing import Any, Callable, Dict

Derive = Callable[[Dict[str, Any]], Dict[str, Any]]

ENGINES = ("sglang", "speculators", "vllm")


def _derive(engine: str) -> Derive:
    # A host runs this out of Ansible's zip, where every import is a compilation: only the asked engine's.
    if engine == "sglang":
        from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import sglang

        return sglang.derive
    if engine == "speculators":
        from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import speculators

        return speculators.derive
    from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import vllm

    return vllm.derive


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
            "error": {"message": "engine must be one of {}, not {!r}".format(", ".join(ENGINES), engine)},
        }
    # Thousands of syntax nodes are made and kept; looking for cycles among them costs as much as parsing.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _derive(engine)(request)
    finally:
        if collecting:
            gc.enable()


__all__ = ("ENGINES", "run_request")
