# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The use case of ``eagle3_draft_info``."""

from __future__ import annotations

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _draft_checks, _draft_engine, _draft_layers
from ansible_collections.specdec.blackwell.plugins.module_utils._draft_facts import Draft, Target
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_survey import open_engine
from ansible_collections.specdec.blackwell.plugins.module_utils._model_folder import ERROR, NOTE, WARNING, Folder

_SEVERITIES = (ERROR, WARNING, NOTE)


def info(params: t.Mapping[str, t.Any], *, check_mode: bool) -> dict[str, t.Any]:
    """Compare a draft with its target and an engine; reads headers and JSON, and changes nothing."""
    draft = Draft(Folder(params["draft"], "draft"))
    target = Target(Folder(params["target"], "target"))
    found = [*draft.folder.findings, *target.folder.findings]
    view = None
    if params["engine"] is not None:
        view = _draft_engine.View(open_engine(params["engine"], params["python"], None), target)
    layer_ids = None
    if draft.folder.config is not None:
        found += _draft_checks.check(draft, target, params["method"])
        if view is not None:
            found += _draft_engine.check(draft, view, params["method"])
        if draft.generation == 3:
            layer_ids, said = _draft_layers.judge(draft, target, view)
            found += said
    found.sort(key=lambda item: _SEVERITIES.index(item["severity"]))
    return {
        "changed": False,
        "ok": not any(item["severity"] == ERROR for item in found),
        "findings": found,
        "draft": draft.said(),
        "target": target.said(),
        "engine": None if view is None else view.said(),
        "layer_ids": layer_ids,
    }


__all__ = ("info",)
