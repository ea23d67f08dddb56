# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The decoders that a vLLM release needs patched, run before and after, and patches planted wrong on purpose."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from corpus.forward import Decoder, mistakes
from corpus.patching import Item

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import vllm
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import find_loop
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_models import Model

MISTAKES = ("residual", "shift")


def models_of(root: Path, architectures: list[str]) -> dict[str, Model]:
    """What is read of the class that has the decoder: the named one or its text model."""
    survey = vllm.Survey({"engine": "vllm", "root": str(root), "architectures": architectures})
    found = {}
    for name in architectures:
        ref = survey.registry.class_of(survey.registry.entries[name])
        assert ref is not None, name
        model = survey.models.read(ref)
        texts, _names = survey.texts(model)
        for one in (model, *texts):
            if one.decoder is not None:
                found[name] = one
    return found


def wrong(model: Model, before: Path, after: Path, *, lowest: int = 0) -> list[str]:
    """What the patched decoder in ``after`` does wrong, measured against the one in ``before``."""
    place = place_of(model, before)
    return mistakes(Decoder(before, *place), Decoder(after, *place), lowest=lowest)


def place_of(model: Model, root: Path) -> tuple[str, str, str, int]:
    """File and class of the decoder, the attribute of its layers, and how many results a layer gives."""
    assert model.decoder is not None
    index = Index(str(root), ("vllm",))
    forward = index.method(model.decoder, "forward")
    assert forward is not None
    loop = find_loop(index, model.decoder, forward.node)
    target = loop.calls[0].targets[0]
    results = len(getattr(target, "elts", [target]))
    return model.decoder.module.path, model.decoder.name, loop.attribute, results


def conflicts(root: Path) -> list[str]:
    """Registered classes, and their decoders, whose bases Python could not put in an order."""
    survey = vllm.Survey({"engine": "vllm", "root": str(root), "architectures": None})
    made: dict[str, type] = {}

    def build(ref: ClassRef) -> type:
        key = ".".join(ref.key)
        if key not in made:
            bases = [
                build(base) if base is not None else made.setdefault(last, type(last, (), {}))
                for name, base in survey.index.bases(ref)
                for last in [name.rpartition(".")[2]]
            ]
            made[key] = type(ref.name, tuple(bases), {})
        return made[key]

    found = []
    for entry in survey.registry.entries.values():
        ref = survey.registry.class_of(entry)
        model = None if ref is None else survey.models.read(ref)
        for one in (ref, None if model is None else model.decoder):
            if one is not None:
                try:
                    build(one)
                except TypeError as error:
                    found.append(f"{one.name}: {error}")
    return found


def spoil(model: Model, edits: list[Item], how: str) -> list[Item]:
    """The same edits with one mistake: ids off by one, or the residual left out (or put in where it is in already)."""
    assert model.capture is not None
    capture, loop = model.capture, model.capture.loop
    hidden, residual = re.escape(loop.hidden), re.escape(loop.residual or "")
    spoiled: list[Item] = []
    for edit in edits:
        text: Any = edit.get("insert")
        if isinstance(text, str) and "captures" in edit["id"] and "input" not in edit["id"] and how == "residual":
            if capture.summed:
                text = re.sub(rf"\b{hidden} \+ {residual}\b", loop.hidden, text)
                text = re.sub(rf", {hidden}, {residual}\)", f", {loop.hidden}, None)", text)
            else:
                text = text.replace(f"{loop.hidden}.clone()", f"{loop.hidden} + {loop.residual}")
        elif isinstance(text, str) and "captures" in edit["id"] and how == "shift":
            if loop.index is None:
                text = re.sub(r"^(\w+ = [\w.]+)\Z", r"\1 + 1", text, flags=re.MULTILINE)
            else:
                text = text.replace(f"{loop.index} + 1", f"{loop.index} + 2")
        spoiled.append({**edit, "insert": text} if text is not None else edit)
    return spoiled


def can_spoil(model: Model, how: str) -> bool:
    assert model.capture is not None
    return how == "shift" or model.capture.loop.residual is not None


__all__ = ("MISTAKES", "can_spoil", "conflicts", "models_of", "place_of", "spoil", "wrong")
