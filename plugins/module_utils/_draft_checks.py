# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Checks of a draft against its target alone, whatever engine is to serve them."""

from __future__ import annotations

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._draft_facts import (
    FLOATS,
    Draft,
    Target,
    integer,
    plain_name,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._model_folder import (
    ERROR,
    NOTE,
    WARNING,
    Finding,
    finding,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._safetensors import Tensor, read_integers

_OTHER_DRAFT = "use a draft that was trained for this target"
_CONVERT = "write the draft anew from its training checkpoint; config.json and weights belong together"


def check(draft: Draft, target: Target, method: str | None) -> list[Finding]:
    """All findings, those of the sizes first. ``method`` as the server is to be given it."""
    found: list[Finding] = []
    for trade in (_sizes, _first_layer, _attention, _vocabularies, _mapping, _types, _target_names):
        found += trade(draft, target)
    return found + _method(draft, method)


def _sizes(draft: Draft, target: Target) -> t.Iterator[Finding]:
    taken = draft.target_hidden or draft.hidden
    if taken is not None and target.hidden is not None and taken != target.hidden:
        yield finding(
            "hidden_size", ERROR, f"the draft takes states of {taken}", f"the target's {target.hidden}", _OTHER_DRAFT
        )
    embedding = draft.tensor("embed_tokens.weight")
    if draft.folder.whole and embedding is None and None not in (draft.hidden, target.hidden):
        if draft.hidden != target.hidden:
            yield finding(
                "embedding_missing",
                ERROR,
                f"no embed_tokens, and the draft's hidden size is {draft.hidden}",
                f"an embedding of its own, or the target's hidden size {target.hidden}",
                _CONVERT,
            )
        else:
            yield finding(
                "embedding_shared", NOTE, "no embed_tokens", "none is needed: the server shares the target's", ""
            )
    if embedding is not None and None not in (draft.vocabulary, draft.hidden):
        yield from _shape("embedding_shape", "embed_tokens", embedding, (draft.vocabulary, draft.hidden))


def _shape(name: str, what: str, tensor: Tensor, wanted: tuple[int | None, ...]) -> t.Iterator[Finding]:
    """Weights that are packed have another shape, so only those of plain floating point are compared."""
    if tensor.dtype in FLOATS and tensor.shape != wanted:
        yield finding(name, ERROR, f"{what} is {list(tensor.shape)}", f"{list(wanted)} by config.json", _CONVERT)


def _first_layer(draft: Draft, target: Target) -> t.Iterator[Finding]:
    fc = draft.tensor("fc.weight")
    taken = draft.target_hidden or draft.hidden
    if draft.generation != 3 or taken is None:
        return
    if fc is None:
        settings = draft.config.get("eagle_config")
        plain = isinstance(settings, dict) and settings.get("use_aux_hidden_state") is False
        if draft.folder.whole and not plain:
            yield finding("fc_missing", ERROR, "no fc.weight", "the layer that joins the target's states", _CONVERT)
        return
    if fc.dtype in FLOATS and (len(fc.shape) != 2 or fc.shape[0] != draft.hidden or fc.shape[1] % taken):
        wanted = f"[{draft.hidden}, a multiple of {taken}]"
        yield finding("fc_shape", ERROR, f"fc.weight is {list(fc.shape)}", wanted, _CONVERT)
    said = integer(draft.config, "num_aux_hidden_states")
    count = said if said is not None else 3 if draft.ids is None else len(draft.ids)
    if draft.states is not None and draft.states != count:
        yield finding(
            "aux_count",
            ERROR,
            f"fc.weight joins {draft.states} states, config.json names {count}",
            f"{draft.states} layer ids",
            "set the layer ids that the draft was trained with",
        )


def _attention(draft: Draft, target: Target) -> t.Iterator[Finding]:
    heads = draft.heads
    if heads is None or draft.latent or draft.hidden is None:
        return
    count, groups, size = heads
    wanted = {
        "q_proj.weight": count * size,
        "k_proj.weight": groups * size,
        "v_proj.weight": groups * size,
        "qkv_proj.weight": (count + 2 * groups) * size,
    }
    for name, rows in wanted.items():
        tensor = draft.tensor(name)
        if tensor is not None and tensor.dtype in FLOATS and tensor.shape[:1] != (rows,):
            yield finding(
                "head_dim",
                ERROR,
                f"{name} is {list(tensor.shape)}",
                f"{rows} rows: {count} heads, {groups} of keys, head_dim {size}",
                "set head_dim and the numbers of heads as the draft was trained",
            )
    if size == integer(target.text, "qk_rope_head_dim") and count * size < draft.hidden:
        yield finding(
            "head_dim_rope",
            WARNING,
            f"head_dim {size} is the rotary part of the target's latent attention: {count * size} wide in all",
            f"about the hidden size {draft.hidden}",
            "train the draft with a configuration of its own, not with head_dim copied from the target",
        )


def _vocabularies(draft: Draft, target: Target) -> t.Iterator[Finding]:
    if None not in (draft.vocabulary, target.vocabulary) and draft.vocabulary != target.vocabulary:
        yield finding(
            "vocab_size", ERROR, f"the draft's is {draft.vocabulary}", f"the target's {target.vocabulary}", _OTHER_DRAFT
        )
    if None in (draft.draft_vocabulary, draft.vocabulary, draft.hidden):
        return
    head = draft.tensor("lm_head.weight")
    if head is not None:
        yield from _shape("lm_head_shape", "lm_head", head, (draft.draft_vocabulary, draft.hidden))
    elif draft.folder.whole and draft.draft_vocabulary != draft.vocabulary:
        found = f"no lm_head, and a vocabulary of {draft.draft_vocabulary}"
        yield finding("lm_head_missing", ERROR, found, "an lm_head of the draft's own", _CONVERT)


def _mapping(draft: Draft, target: Target) -> t.Iterator[Finding]:
    """d2t: the id in the target's vocabulary, less the id in the draft's. t2d: whether the draft has a token."""
    size, vocabulary = draft.draft_vocabulary, target.vocabulary or draft.vocabulary
    if size is None or vocabulary is None:
        return
    d2t, t2d = draft.tensor("d2t"), draft.tensor("t2d")
    if d2t is None:
        if size != vocabulary and draft.folder.whole:
            found = f"no d2t, and {size} of {vocabulary} tokens"
            yield finding("d2t_missing", ERROR, found, "d2t: the target's id of each token of the draft", _CONVERT)
        return
    if d2t.shape != (size,):
        yield finding("d2t_shape", ERROR, f"d2t is {list(d2t.shape)}", f"[{size}]", _CONVERT)
    if d2t.dtype != "I64":
        severity = WARNING if d2t.dtype == "I32" else ERROR
        yield finding("d2t_dtype", severity, f"d2t is {d2t.dtype}", "I64", _CONVERT)
    offsets = read_integers(d2t) if len(d2t.shape) == 1 else None
    if offsets is None:
        return
    ids = [number + offset for number, offset in enumerate(offsets)]
    yield from _ids_of(ids, offsets, vocabulary)
    if t2d is not None and draft.vocabulary is not None:
        yield from _reverse(t2d, ids, draft.vocabulary)


def _ids_of(ids: list[int], offsets: t.Sequence[int], vocabulary: int) -> t.Iterator[Finding]:
    outside = [number for number, item in enumerate(ids) if not 0 <= item < vocabulary]
    if outside:
        first = outside[0]
        fix = _CONVERT
        if all(0 <= item < vocabulary for item in offsets) and len(set(offsets)) == len(offsets):
            fix = "d2t holds ids of the target: subtract from each its place (d2t - arange)"
        yield finding(
            "d2t_range",
            ERROR,
            f"{len(outside)} of {len(ids)} tokens go outside, the first {first} + {offsets[first]} = {ids[first]}",
            f"0 to {vocabulary - 1}",
            fix,
        )
    elif len(set(ids)) != len(ids):
        found = f"{len(ids) - len(set(ids))} tokens of the draft share one of the target"
        yield finding("d2t_twice", ERROR, found, "each its own", _CONVERT)
    elif len(ids) < vocabulary and len(ids) > 1 and not any(offsets):
        found = f"d2t is all zero: the draft can only say the target's first {len(ids)} tokens"
        yield finding("d2t_zero", WARNING, found, "the tokens that training chose", _CONVERT)


def _reverse(t2d: Tensor, ids: list[int], vocabulary: int) -> t.Iterator[Finding]:
    """The servers skip t2d, so that a wrong one only shows that the files do not belong together."""
    if t2d.shape != (vocabulary,):
        yield finding("t2d_shape", WARNING, f"t2d is {list(t2d.shape)}", f"[{vocabulary}]", _CONVERT)
        return
    marks = read_integers(t2d)
    if marks is None:
        yield finding("t2d_dtype", WARNING, f"t2d is {t2d.dtype}", "BOOL", _CONVERT)
        return
    marked = {number for number, mark in enumerate(marks) if mark}
    apart = len(marked ^ set(ids))
    if apart:
        found = f"d2t and t2d differ in {apart} tokens"
        yield finding("d2t_t2d", WARNING, found, "t2d marks exactly the tokens of d2t", _CONVERT)


def _types(draft: Draft, target: Target) -> t.Iterator[Finding]:
    stored = draft.stored_dtype
    if stored is None:
        return
    if stored not in FLOATS:
        if not isinstance(draft.config.get("quantization_config"), dict):
            fix = "add the quantization_config that the weights were made with"
            yield finding("dtype_quantized", ERROR, f"weights of {stored}", "quantization_config", fix)
        return
    if draft.dtype is not None and draft.dtype != stored:
        found = f"config.json says {draft.dtype}, the weights are {stored}"
        yield finding("dtype_config", NOTE, found, "one type", "the server casts the weights to the type it serves in")
    if target.dtype is not None and target.dtype != stored:
        severity = WARNING if "F16" in (target.dtype, stored) else NOTE
        found = f"the draft's weights are {stored}"
        fix = "store the draft in the target's type; values beyond float16's range become infinite there"
        yield finding("dtype", severity, found, f"the target's {target.dtype}", fix)


def _target_names(draft: Draft, target: Target) -> t.Iterator[Finding]:
    recorded = draft.recorded_targets
    if not recorded:
        found = "the draft's files do not name its target"
        yield finding("target_unrecorded", NOTE, found, ", ".join(target.names), "see where the draft came from")
    elif not any(plain_name(name) in target.names for name in recorded):
        yield finding(
            "other_target",
            WARNING,
            f"the draft was trained for {', '.join(recorded)}",
            ", ".join(target.names),
            "equal sizes do not make it fit: expect lower acceptance, measure, or train one for this target",
        )
    trained = draft.recorded_architectures
    if trained and target.architectures and not set(trained) & set(target.architectures):
        yield finding(
            "other_architecture",
            WARNING,
            f"the draft was trained for {', '.join(trained)}",
            ", ".join(target.architectures),
            _OTHER_DRAFT,
        )


def _method(draft: Draft, method: str | None) -> list[Finding]:
    if method is None or draft.generation is None:
        return []
    asked = 3 if method.lower() == "eagle3" else 1
    if asked == draft.generation:
        return []
    wanted = "eagle3" if draft.generation == 3 else "eagle"
    wanted = wanted.upper() if method.isupper() else wanted
    found = f"method {method}, and a draft of {'EAGLE-3' if draft.generation == 3 else 'EAGLE'}"
    return [finding("method", ERROR, found, wanted, f"give the server the method {wanted}")]


__all__ = ("check",)
