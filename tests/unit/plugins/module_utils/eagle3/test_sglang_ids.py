# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a setter shifts a draft's layer ids, and what that comes to."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_capture import (
    captured,
    describe_ids,
    id_rules,
    say_ids,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._sglang_read import Reader

CONDITION = "layer_ids and layer_ids[0] == 1"
SETTERS: Dict[str, Tuple[str, List[Tuple[Optional[str], int]]]] = {
    "always": (
        """
        if layer_ids is None:
            self.model.wanted = [2, 3]
        else:
            self.model.wanted = [val + 1 for val in layer_ids]
        """,
        [(None, 1)],
    ),
    "on a condition": (
        """
        if layer_ids is None:
            self.model.wanted = [2, 3]
        else:
            if layer_ids and layer_ids[0] == 1:
                self.model.wanted = [val + 1 for val in layer_ids]
            else:
                self.model.wanted = list(layer_ids)
        """,
        [(CONDITION, 1), (None, 0)],
    ),
    "not at all": ("self.model.wanted = layer_ids", [(None, 0)]),
    "down": ("self.model.wanted = {val - 1 for val in layer_ids}", [(None, -1)]),
    "through the model's own method": ("self.model.take([val + 1 for val in layer_ids])", [(None, 1)]),
    "in a way that is not read": ("self.model.wanted = shift(layer_ids)", []),
    "passed on": ("self.model.set_eagle3_layers_to_capture(layer_ids)", [(None, 2)]),
}

SOURCE = """
class Inner:
    def set_eagle3_layers_to_capture(self, ids):
        self.wanted = [one + 2 for one in ids]


class Outer:
    def __init__(self):
        self.model = Inner()

    def set_eagle3_layers_to_capture(self, layer_ids=None):
{body}
"""


@pytest.mark.parametrize("body, wanted", list(SETTERS.values()), ids=list(SETTERS))
def test_what_a_setter_adds(tmp_path: Path, body: str, wanted: List[Tuple[Optional[str], int]]) -> None:
    folder = tmp_path / "sglang" / "srt" / "models"
    folder.mkdir(parents=True)
    source = SOURCE.format(body=textwrap.indent(textwrap.dedent(body).strip(), " " * 8))
    (folder / "one.py").write_text(source)
    reader = Reader(str(tmp_path))
    module = reader.index.module("sglang.srt.models.one")
    assert module is not None
    outer = reader.index.resolve(module, "Outer")
    assert outer is not None
    rules = id_rules(reader, outer)
    assert [(rule.text, rule.shift) for rule in rules] == wanted
    described = describe_ids(rules, 1)
    assert (described is None) == (not wanted)
    assert len(say_ids(rules, 1)) == bool(wanted)


def rules(*pairs: Tuple[Optional[str], int], base: int = 1) -> Dict[str, Any]:
    return {"rules": [{"when": when, "shift": shift} for when, shift in pairs], "base": base}


@pytest.mark.parametrize(
    "description, ids, wanted",
    [
        (rules((None, 1)), [2, 30, 58], [3, 31, 59]),
        (rules((CONDITION, 1), (None, 0)), [2, 30, 58], [2, 30, 58]),
        (rules((CONDITION, 1), (None, 0)), [1, 29, 57], [2, 30, 58]),
        (rules((None, 0), base=0), [2, 30, 58], [3, 31, 59]),
        (rules(("not layer_ids", 5), ("3 in layer_ids", 0), (None, 1)), [3, 4], [3, 4]),
        (rules(("layer_ids[0] != 1", 0), (None, 1)), [1, 4], [2, 5]),
        (rules(("0 < layer_ids[1]", 0), (None, 1)), [1, 4], [1, 4]),
    ],
)
def test_the_layers_whose_input_is_captured(description: Dict[str, Any], ids: List[int], wanted: List[int]) -> None:
    assert captured(description, ids) == wanted


@pytest.mark.parametrize("when", ["layer_ids.sort()", "len(layer_ids) > 2 > 1", "layer_ids ** 2"])
def test_a_condition_that_is_not_understood_is_an_error(when: str) -> None:
    with pytest.raises(ValueError, match="not understood"):
        captured(rules((when, 1)), [1])


def test_no_rule_that_holds_is_an_error() -> None:
    with pytest.raises(ValueError, match="no rule"):
        captured(rules((CONDITION, 1)), [2])


def test_what_is_said_names_the_end_of_the_layer_that_is_meant() -> None:
    assert say_ids([], 1) == []
