# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patches that are wrong on purpose: a test of states is worth something only when it sees these."""

from __future__ import annotations

import re
from typing import Any

Edit = dict[str, Any]

RESIDUAL, SHIFT = "residual", "shift"
PLANTS = (RESIDUAL, SHIFT)
INTERFACES = "vllm/model_executor/models/interfaces.py"
_ADDED = """        if layer_idx in self.aux_hidden_state_layers:
            value = hidden_states + residual if residual is not None else hidden_states
"""
_PLANTED = """        before = self.__dict__.get("planted") if layer_idx and residual is None else None
        self.__dict__["planted"] = hidden_states.clone()
        if layer_idx in self.aux_hidden_state_layers:
            value = hidden_states if before is None else hidden_states - before
"""


def _captures(edit: Edit) -> bool:
    return "captures each layer" in edit["id"]


def _sets(edit: Edit) -> bool:
    return "def set_aux_hidden_state_layers" in str(edit.get("method", ""))


def _replace(pattern: str, by: str, text: str) -> str:
    changed, count = re.subn(pattern, by, text)
    assert count, f"no place for the mistake in: {text}"
    return changed


def without_residual(edits: list[Edit]) -> list[Edit]:
    """The last layer's own contribution in place of the stream that it is added to."""
    planted: list[Edit] = []
    for edit in edits:
        if not _captures(edit):
            planted.append(edit)
            continue
        text = edit["insert"]
        alone = re.search(r"append\((\w+)(?:\.clone\(\))?\)", text)
        if "_maybe_add_hidden_state(" in text:
            text = _replace(r"(_maybe_add_hidden_state\(\w+, [^,]+, \w+), \w+\)", r"\1, None)", text)
        elif alone is None:
            text = _replace(r"append\((\w+) \+ \w+\)", r"append(\1.clone())", text)
        else:
            hidden = alone.group(1)
            text = _replace(r"append\(.*\)", f"append({hidden} - planted)", text)
            source = f"planted = {hidden}.clone()"
            where: Edit = {name: edit[name] for name in ("file", "in", "of") if name in edit}
            planted.append({"id": edit["id"] + ": planted", **where, "insert": source, "at": "start"})
        planted.append({**edit, "insert": text})
    return planted


def off_by_one(edits: list[Edit]) -> list[Edit]:
    """The state after layer k handed out as that after layer k - 1; where ids are only passed on, after layer k + 1."""
    captures = any(map(_captures, edits))
    setters = [edit for edit in edits if _sets(edit)]
    # The one next to the decoder, where several classes pass ids on to each other.
    last = next((edit for edit in setters if "tuple(sorted(" in edit["method"]), setters[0] if setters else None)
    planted: list[Edit] = []
    for edit in edits:
        if _captures(edit):
            text = edit["insert"]
            if "_maybe_add_hidden_state(" in text:
                text = _replace(r"(_maybe_add_hidden_state\(\w+, [^,]+),", r"\1 - 1,", text)
            else:
                text = _replace(r"if (.+) in self\.aux", r"if \1 - 1 in self.aux", text)
            planted.append({**edit, "insert": text})
        elif edit is last and not captures:
            moved = "tuple(layer + 1 for layer in sorted(set(layers)))"
            text = _replace(r"tuple\(sorted\(set\(layers\)\)\)|(?<=\()layers(?=\))", moved, edit["method"])
            planted.append({**edit, "method": text})
        else:
            planted.append(edit)
    assert planted != edits, "no place for the mistake"
    return planted


def mixin_without_residual(source: str) -> str:
    """For classes that hand over to a decoder which the engine itself has ready."""
    assert source.count(_ADDED) == 1
    return source.replace(_ADDED, _PLANTED)


__all__ = ("INTERFACES", "PLANTS", "RESIDUAL", "SHIFT", "mixin_without_residual", "off_by_one", "without_residual")
