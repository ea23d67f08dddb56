# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one registered class needs: native, editable by a known shape, or by hand, with the reason."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._index import ClassRef, Index
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._syntax import (
    called,
    dotted,
    self_attribute,
    self_path,
    statements,
    targets,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._values import Built, Registered, built_by
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_capture import Capture, read_capture
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_gates import Reach
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_interface import (
    captures,
    has_interface,
    is_multimodal,
    returned_path,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3._vllm_loop import Refusal, find_loop

NATIVE, PATCHABLE, BY_HAND, ABSENT = "native", "patchable", "by_hand", "absent"


@dataclass(frozen=True)
class Model:
    """One class of the registry. ``path``: from it to what its forward calls; ``outer``: the class to edit."""

    ref: ClassRef
    state: str
    shape: Optional[str]
    reason: Optional[str] = None
    path: Tuple[str, ...] = ()
    outer: Optional[ClassRef] = None
    decoder: Optional[ClassRef] = None
    capture: Optional[Capture] = None
    inner: Optional[Built] = None
    flagged: bool = False

    @property
    def wrapper(self) -> bool:
        """It hands all to a language model that it holds."""
        return self.decoder is None and (self.inner is not None or self.state == PATCHABLE)


class Models:
    """Classifies classes; each is read once."""

    def __init__(self, index: Index, reach: Reach, bare_decoders: bool) -> None:
        self.index = index
        self.reach = reach
        self.bare_decoders = bare_decoders
        self._known: Dict[ClassRef, Model] = {}
        self._captures: Dict[ClassRef, object] = {}

    def read(self, ref: ClassRef) -> Model:
        if ref not in self._known:
            self._known[ref] = self._read(ref)
        return self._known[ref]

    def capture(self, decoder: ClassRef) -> Capture:
        """The decoder's capture; raises the same Refusal every time."""
        if decoder not in self._captures:
            try:
                self._captures[decoder] = read_capture(self.index, decoder)
            except Refusal as refusal:
                self._captures[decoder] = refusal
        known = self._captures[decoder]
        if isinstance(known, Refusal):
            raise known
        if not isinstance(known, Capture):
            raise AssertionError("isinstance(known, Capture)")
        return known

    def _read(self, ref: ClassRef) -> Model:
        path = returned_path(self.index, ref)
        inner = None if path is None else built_by(self.index, ref, path[0])
        native = has_interface(self.index, ref)
        if native and (path is None or inner is None):
            return Model(ref, NATIVE, None, path=path or ())
        if path is None or len(path) > 2:
            return Model(
                ref, BY_HAND, "X1", f"{ref.name}.forward does not hand out unchanged what one model of its own returned"
            )
        if isinstance(inner, ClassRef) and len(path) == 1 and self._is_decoder(inner):
            return self._text(ref, path, inner, native)
        if native:
            return Model(ref, NATIVE, None, path=path, inner=inner)
        if inner is None and not is_multimodal(self.index, ref):
            return Model(ref, BY_HAND, "X8", f"the class of self.{path[0]} in {ref.name} is not told by the source")
        if isinstance(inner, ClassRef) and self.index.method(inner, "compute_logits") is None:
            return Model(
                ref,
                BY_HAND,
                "X6",
                f"self.{path[0]} of {ref.name} is a {inner.name}: neither a decoder with a loop over its layers nor a "
                "language model with an output head",
                path,
                ref,
            )
        return Model(ref, PATCHABLE, "W3" if len(path) == 2 else "W1", None, path, ref, inner=inner)

    def _is_decoder(self, ref: ClassRef) -> bool:
        """A class that runs over its own layers, as against one that wraps such a class."""
        if captures(self.index, ref):
            return not has_interface(self.index, ref)
        forward = self.index.method(ref, "forward")
        if forward is None:
            return False
        try:
            find_loop(self.index, ref, forward.node)
        except Refusal as refusal:
            if refusal.kind != "X6":
                return True
            path = returned_path(self.index, ref)
            return path is None or not isinstance(built_by(self.index, ref, path[0]), (ClassRef, Registered))
        return True

    def _text(self, ref: ClassRef, path: Tuple[str, ...], decoder: ClassRef, native: bool) -> Model:
        multimodal = is_multimodal(self.index, ref)
        ready = captures(self.index, decoder)
        if native and (ready or multimodal or captures(self.index, decoder, parts=True)):
            return Model(ref, NATIVE, None, path=path, decoder=decoder, flagged=True)
        outer = self._owner(ref, path[0], decoder)
        try:
            capture = None if ready else self.capture(decoder)
            shape = "L0" if capture is None else self._shape(capture, outer, path[0])
            if multimodal:
                shape = self._multimodal_shape(ref, path[0])
        except Refusal as refusal:
            reason = refusal.reason
            if native:
                reason = f"{ref.name} says it supports EAGLE-3, but its decoder {decoder.name} never captures: {reason}"
            return Model(ref, BY_HAND, refusal.kind, reason, path, outer, decoder, flagged=native)
        return Model(ref, PATCHABLE, shape, None, path, outer, decoder, capture, flagged=native)

    def _shape(self, capture: Capture, outer: ClassRef, attribute: str) -> str:
        loop = capture.loop
        if self.hidden_model(outer, attribute):
            return "L6"
        if loop.over.counted:
            return "L3"
        if loop.over.form == "range":
            return "L4"
        if loop.over.form == "all":
            return "L5"
        return "L1" if loop.residual is not None else "L2"

    def hidden_model(self, outer: ClassRef, attribute: str) -> bool:
        """The drafter does not find the decoder: it has another name."""
        return attribute != self.reach.model and not self.index.attribute(outer, self.reach.model)

    def hidden_embedding(self, decoder: ClassRef) -> bool:
        return not any(self.index.attribute(decoder, name) for name in self.reach.embeddings)

    def _multimodal_shape(self, ref: ClassRef, attribute: str) -> str:
        """W4 is itself a language model with a decoder; W2 holds the bare decoder of another.

        Where the source does not say what the language model is, the engine takes the child that embeds tokens.
        """
        if self.bare(ref, attribute) and not self.bare_decoders:
            raise Refusal(
                "W2",
                f"the language model of {ref.name} is a bare decoder (self.{attribute}): this release's drafter needs "
                f"its .{self.reach.model} with the embedding, and its output head, which the wrapper holds",
            )
        return "W4" if attribute == self.reach.model else "W2"

    def bare(self, ref: ClassRef, attribute: str) -> bool:
        """What a multimodal class gives as its language model is its decoder itself."""
        return self.language_path(ref) in ((attribute,), None)

    def _owner(self, ref: ClassRef, attribute: str, decoder: ClassRef) -> ClassRef:
        """The class of the lineage that builds the decoder, when it would build the same one by itself."""
        for member in self.index.mro(ref):
            if attribute in self.index.own_attributes(member):
                if member != ref and built_by(self.index, member, attribute) != decoder:
                    return ref
                return member if returned_path(self.index, member) == (attribute,) else ref
        return ref

    def language_path(self, ref: ClassRef) -> Optional[Tuple[str, ...]]:
        """Where a multimodal class says that its language model is: () is itself, None is not told."""
        for member in self.index.mro(ref):
            if member.module.name.endswith(".interfaces"):
                break
            method = self.index.own_methods(member).get("get_language_model")
            if method is not None:
                for node in statements(method.body):
                    if isinstance(node, ast.Return):
                        if dotted(node.value) == "self":
                            return ()
                        return self_path(node.value)
            marked = self._marked(member)
            if len(marked) > 1:
                marked = [name for name in marked if self._embeds(ref, name)]
            if marked:
                return (marked[0],) if len(marked) == 1 else ()
        return None

    def _embeds(self, ref: ClassRef, attribute: str) -> bool:
        built = built_by(self.index, ref, attribute)
        return isinstance(built, ClassRef) and self.index.method(built, "embed_input_ids") is not None

    def _marked(self, ref: ClassRef) -> List[str]:
        """Attributes that a class assigns inside its mark of the language model."""
        found: List[str] = []
        for function in self.index.own_methods(ref).values():
            for node in statements(function.body):
                if not isinstance(node, ast.With):
                    continue
                if any(called(item.context_expr) == "_mark_language_model" for item in node.items):
                    for inner in statements(node.body):
                        found.extend(name for name in map(self_attribute, targets(inner)) if name is not None)
        return found


__all__ = ("ABSENT", "BY_HAND", "Model", "Models", "NATIVE", "PATCHABLE")
