# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Which hidden states of the target an engine hands to a draft, and the ids for others.

Two readings of a draft's ids are in use: ``inputs``, the states that enter layers i (vLLM and the trainers around it),
and ``outputs``, those that leave layers i, which enter i + 1. Only the draft's maker, or a measurement, can tell.
"""

from __future__ import annotations

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._draft_engine import View, note_graphs
from ansible_collections.specdec.blackwell.plugins.module_utils._draft_facts import Draft, Target
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_capture import captured
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3.drafts import IDS, NESTED, TOP
from ansible_collections.specdec.blackwell.plugins.module_utils._model_folder import (
    ERROR,
    NOTE,
    WARNING,
    Finding,
    finding,
)

Ids = t.List[int]
_PLACES = {TOP: IDS, NESTED: f"{NESTED}.{IDS}"}


def default_ids(layers: int) -> Ids:
    """What the engines take where a draft names none; fewer than three of a model with fewer than seven layers."""
    return sorted({2, layers // 2, layers - 3})


def judge(draft: Draft, target: Target, view: View | None) -> tuple[dict[str, t.Any], list[Finding]]:
    """The ids as recorded, used and captured, what they should be by either reading; and what is wrong with them."""
    found = _recorded(draft)
    default = None if target.layers is None else default_ids(target.layers)
    used, read, said = _used(draft, default, view)
    found += said
    # The default is what is captured; only ids that a draft names are moved.
    seen, said = _captured(used, view) if read else (used if view is not None else None, [])
    found += said
    readings = None if used is None else {"inputs": used, "outputs": [item + 1 for item in used]}
    corrected = None if readings is None or view is None else {k: _ids_for(v, view) for k, v in readings.items()}
    if used is not None:
        found += _range(used if seen is None else seen, used, target.layers)
    if view is not None and used is not None and seen is not None:
        if default is not None:
            found += note_graphs(view, used, default, seen)
        if readings is not None and corrected is not None and seen != used:
            found.append(_shifted(view, used, seen, corrected))
    answer = {
        "recorded": draft.ids,
        "recorded_in": next((_PLACES[place] for place in draft.ids_at), None),
        "default": default,
        "used": used,
        "captured": seen,
        "readings": readings,
        "corrected": corrected,
    }
    return answer, found


def _recorded(draft: Draft) -> list[Finding]:
    found = []
    if len({tuple(ids) for ids in draft.ids_at.values()}) > 1:
        text = "; ".join(f"{_PLACES[place]} {ids}" for place, ids in draft.ids_at.items())
        found.append(finding("layer_ids_differ", WARNING, text, "one list of ids", "keep those it was trained with"))
    for ids in list(draft.ids_at.values())[:1]:
        if ids != sorted(set(ids)):
            fix = "the engines hand the states over from the first layer to the last, each once"
            found.append(finding("layer_ids_order", WARNING, f"layer ids {ids}", "ascending, each once", fix))
    return found


def _used(draft: Draft, default: Ids | None, view: View | None) -> tuple[Ids | None, bool, list[Finding]]:
    """The ids that the server will take: those that it reads, else its default; and whether it reads any."""
    places = list(draft.ids_at)
    if view is not None:
        places = [place for place in places if place in view.facts["ids_from"]]
    if places:
        return draft.ids_at[places[0]], True, []
    if draft.ids is None:
        text = f"no layer ids; the server takes {default}"
        return (
            default,
            False,
            [finding("layer_ids_default", NOTE, text, "the ids that it was trained with", "compare them")],
        )
    if view is None:
        return draft.ids, True, []
    where = _PLACES[next(iter(draft.ids_at))]
    read = [_PLACES[place] for place in view.facts["ids_from"]]
    text = f"{where} {draft.ids}, which {view.label} does not read: it takes {default}"
    fix = f"in a local copy of config.json put them into {read[0]}" if read else "use a release that reads layer ids"
    severity = NOTE if draft.ids == default else ERROR
    return default, False, [finding("layer_ids_unread", severity, text, read[0] if read else f"ids {default}", fix)]


def _captured(used: Ids | None, view: View | None) -> tuple[Ids | None, list[Finding]]:
    """The layers whose input the engine hands over."""
    if used is None or view is None:
        return None, []
    if view.name == "vllm" or view.rules is None:
        return (used if view.name == "vllm" else None), []
    try:
        return captured(view.rules, used), []
    except ValueError as error:
        text = f"how {view.label} moves layer ids cannot be told: {error}"
        return None, [finding("layer_ids_unknown", WARNING, text, "a rule that can be read", "measure both readings")]


def _ids_for(wanted: Ids, view: View) -> Ids | None:
    """The ids that make the engine capture ``wanted``; None where none do."""
    for shift in (0, -1, 1):
        ids = [item + shift for item in wanted]
        if min(ids) >= 0 and _captured(ids, view)[0] == wanted:
            return ids
    return None


def _range(seen: Ids, used: Ids, layers: int | None) -> list[Finding]:
    if layers is None:
        return []
    outside = [item for item in seen if not 0 <= item <= layers]
    if outside:
        text = f"layer ids {used}: there is no layer {', '.join(map(str, outside))}"
        return [finding("layer_ids_range", ERROR, text, f"0 to {layers - 1}", "use a draft of this target")]
    if layers in seen:
        text = f"layer ids {used} want the state after the last layer"
        fix = "eagle3_patch with last_layer can hand it out"
        return [finding("layer_ids_last", WARNING, text, f"0 to {layers - 1}", fix)]
    return []


def _shifted(view: View, used: Ids, seen: Ids, corrected: dict[str, Ids | None]) -> Finding:
    """Not an error: the draft may have been trained with just this reading."""
    right = corrected["inputs"]
    fix = "measure both readings, or ask the draft's maker"
    if right is not None:
        fix = f"if it was trained on {used}, serve a local copy of the draft that names {right}; else {fix}"
    return finding("layer_ids_shifted", WARNING, f"{view.label} captures {seen} for the ids {used}", str(used), fix)


__all__ = ("default_ids", "judge")
