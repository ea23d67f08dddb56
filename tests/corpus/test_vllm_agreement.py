# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Classes that lacked support in one release and have upstream's own in the next that is looked at.

Our patches hand out what a trace of the unpatched decoder says (see the other tests); here upstream's own code is held
against the same trace. So both choose the same states under the same ids.
"""

from __future__ import annotations

import itertools

from corpus.decoders import models_of, place_of
from corpus.forward import Decoder, upstream_mistakes
from corpus.patching import survey

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import Refusal

RELEASES = ("0.11.0", "0.13.0", "0.16.0", "0.17.1", "0.18.0", "0.20.0", "0.24.0", "0.28.0", "0.30.0", "0.33.0")
# Upstream rewrote this decoder on the way; what its loop carries is of a shape that the trace does not follow.
UNREAD = {("KimiLinearForCausalLM", "0.28.0")}


def test_upstream_chose_the_same_states_later() -> None:
    checked: set[str] = set()
    unread: set[tuple[str, str]] = set()
    wrong: dict[str, list[str]] = {}
    for before, after in itertools.pairwise(RELEASES):
        old, new = releases.tree("vllm", before), releases.tree("vllm", after)
        earlier, later = survey(old, None), survey(new, None)
        names = [
            name
            for name, item in earlier.items()
            if item["state"] == "patchable" and later.get(name, {}).get("state") == "native"
        ]
        ours = {name for name, model in models_of(old, names).items() if model.capture is not None}
        for name, model in models_of(new, names).items():
            if name not in ours:
                continue
            try:
                place = place_of(model, new)
            except Refusal:
                unread.add((name, after))
                continue
            checked.add(name)
            mistakes = upstream_mistakes(Decoder(new, *place))
            if mistakes:
                wrong[f"{name} in {after}"] = mistakes
    assert wrong == {}
    assert unread == UNREAD
    assert len(checked) >= 17, sorted(checked)
