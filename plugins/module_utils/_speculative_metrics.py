# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an engine tells of its speculation, from its metrics.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._prometheus import Metrics, parse
from ansible_collections.specdec.blackwell.plugins.module_utils._server_http import NoAnswer, Server, read_key

Facts = t.Dict[str, t.Any]

# What is returned: its name, and the engine's name for it. A name that a release lacks makes it None.
COUNTERS = {
    "vllm": {
        "drafts": "vllm:spec_decode_num_drafts",
        "draft_tokens": "vllm:spec_decode_num_draft_tokens",
        "accepted_tokens": "vllm:spec_decode_num_accepted_tokens",
        "prompt_tokens": "vllm:prompt_tokens",
        "generation_tokens": "vllm:generation_tokens",
        "prefix_cache_queries": "vllm:prefix_cache_queries",
        "prefix_cache_hits": "vllm:prefix_cache_hits",
        "preemptions": "vllm:num_preemptions",
        "running": "vllm:num_requests_running",
        "waiting": "vllm:num_requests_waiting",
    },
    "sglang": {
        "drafts": "sglang:spec_verify_calls",
        "draft_tokens": "",
        "accepted_tokens": "",
        "prompt_tokens": "sglang:prompt_tokens",
        "generation_tokens": "sglang:generation_tokens",
        "prefix_cache_queries": "sglang:prompt_tokens",
        "prefix_cache_hits": "sglang:cached_tokens",
        "preemptions": "sglang:num_retracted_requests",
        "running": "sglang:num_running_reqs",
        "waiting": "sglang:num_queue_reqs",
    },
}
_PER_POSITION = "vllm:spec_decode_num_accepted_tokens_per_pos"
_NO_METRICS = "the server has no /metrics: start SGLang with --enable-metrics"


def acceptance(drafts: float | None, accepted: float | None) -> t.Tuple[float | None, str | None]:
    """Accepted tokens and the bonus token for each verified draft; or why that cannot be told."""
    if drafts is None or accepted is None:
        return None, "the server counts no drafts: speculation is off, or the release has no such counters"
    if drafts == 0:
        return None, "no draft was verified"
    return round(1 + accepted / drafts, 4), None


def rates(per_position: t.Sequence[float] | None, drafts: float | None) -> list[float] | None:
    """For each position the share of drafts whose token there was accepted."""
    return None if not per_position or not drafts else [round(count / drafts, 4) for count in per_position]


class Reading(t.NamedTuple):
    """The counters at one moment; ``per_position`` and the values of ``counters`` may be None."""

    engine: str
    counters: t.Dict[str, t.Optional[float]]
    per_position: t.Optional[t.List[float]]
    metrics: t.Optional[Metrics]


def _engine(metrics: Metrics, server: Server) -> str:
    for engine in COUNTERS:
        if metrics.has(engine + ":"):
            return engine
    raise BadInput(f"{server.url}/metrics has no name that begins with vllm: or sglang:, so the engine is unknown")


def read(server: Server, engine: str) -> Reading:
    """``engine`` is vllm, sglang, or auto: the one whose names are in the metrics."""
    try:
        metrics: Metrics | None = Metrics(parse(server.text("/metrics")))
    except NoAnswer as error:
        if engine == "vllm" or error.status != 404:
            raise
        metrics = None
        if engine == "auto":
            # vLLM always has metrics; SGLang has them on demand, and tells this instead.
            server.json("/get_server_info")
            engine = "sglang"
    if metrics is not None:
        found = _engine(metrics, server)
        if engine not in ("auto", found):
            raise BadInput(f"engine is {engine}, but {server.url}/metrics is that of {found}")
        engine = found
    counters: dict[str, float | None] = {
        key: None if metrics is None or not name else metrics.total(name) for key, name in COUNTERS[engine].items()
    }
    per_position: list[float] | None = None
    if metrics is not None and engine == "vllm":
        by = metrics.by(_PER_POSITION, "position")
        if by and all(key.isdigit() for key in by):
            per_position = [by[key] for key in sorted(by, key=int)]
    return Reading(engine, counters, per_position, metrics)


def _sglang(server: Server, reading: Reading) -> Facts:
    """The mean since the start that SGLang keeps itself, one for each data-parallel engine."""
    reason: str | None = None
    lengths: list[float] = []
    try:
        told = server.json("/get_server_info")
        states = told.get("internal_states") if isinstance(told, dict) else None
        for state in states or ():
            value = state.get("avg_spec_accept_length") if isinstance(state, dict) else None
            if isinstance(value, (int, float)) and value > 0:
                lengths.append(float(value))
    except NoAnswer as error:
        reason = error.message
    if reading.metrics is not None and not lengths:
        lengths = [sample.value for sample in reading.metrics.of("sglang:spec_accept_length") if sample.value > 0]
    if not lengths:
        reason = reason or "the server tells no accept length: speculation is off, or nothing was generated yet"
        return {"acceptance_length": None, "reason": reason}
    # The counts behind each engine's mean are not told, so a mean over engines would weigh them alike.
    if len(lengths) > 1 and max(lengths) != min(lengths):
        lengths_text = ", ".join(f"{value:.2f}" for value in lengths)
        reason = f"{len(lengths)} engines tell means of {lengths_text} and not how many drafts stand behind each"
        return {"acceptance_length": None, "reason": reason}
    return {"acceptance_length": round(lengths[0], 4), "reason": None}


def info(params: t.Mapping[str, t.Any], *, check_mode: bool) -> Facts:
    """The use case of ``speculative_metrics_info``."""
    server = Server(params["url"], read_key(params["api_key_file"]), params["timeout"])
    reading = read(server, params["engine"])
    counters = reading.counters
    facts: Facts = {
        "changed": False,
        "engine": reading.engine,
        "counters": counters,
        "accepted_per_position": reading.per_position,
        "by_position": rates(reading.per_position, counters["drafts"]),
        "engines": None,
        "metrics_reason": _NO_METRICS if reading.metrics is None else None,
    }
    if reading.metrics is not None:
        label = "engine" if reading.engine == "vllm" else "dp_rank"
        facts["engines"] = len(reading.metrics.by(COUNTERS[reading.engine]["running"], label)) or None
    if reading.engine == "vllm":
        length, reason = acceptance(counters["drafts"], counters["accepted_tokens"])
        facts.update(acceptance_length=length, reason=reason)
        facts["by_position_reason"] = reason if facts["by_position"] is None else None
    else:
        facts.update(_sglang(server, reading))
        facts["by_position_reason"] = "SGLang has no counters by position; speculative_benchmark reads its histogram"
    return facts


__all__ = ("COUNTERS", "Facts", "Reading", "acceptance", "info", "rates", "read")
