# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Send prompts to a server, and measure its speed and the acceptance of its draft.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import http.client
import json
import queue
import threading
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._server_http import NoAnswer, Server, read_key
from ansible_collections.specdec.blackwell.plugins.module_utils._speculative_metrics import (
    Reading,
    acceptance,
    rates,
    read,
)

Facts = t.Dict[str, t.Any]

# The server counts a step a moment after it has sent the tokens of it.
_SETTLE = 3.0
_HISTOGRAMS = ("spec_correct_drafts_histogram", "spec_accept_histogram")


def read_prompts(path: str) -> list[str]:
    """Prompts of a file: JSON lines with ``prompt``, or one prompt a line."""
    try:
        with open(path, encoding="utf-8") as stream:
            lines = [line.strip() for line in stream.read().split("\n")]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"prompts_file {path} cannot be read: {error}") from error
    prompts = []
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        if not path.endswith(".jsonl"):
            prompts.append(line)
            continue
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path} line {number} is not JSON: {error}") from error
        prompt = entry.get("prompt") if isinstance(entry, dict) else None
        if not isinstance(prompt, str) or not prompt:
            raise BadInput(f'{path} line {number} has no text in "prompt": each line must be {{"prompt": "..."}}')
        prompts.append(prompt)
    return prompts


class Load:
    """One kind of request, sent by several threads, each request once."""

    def __init__(self, server: Server, engine: str, model: str | None, params: t.Mapping[str, t.Any]) -> None:
        self._server = server
        self._engine = engine
        self._model = model
        self._params = params

    def _request(self, prompt: str) -> t.Tuple[str, Facts]:
        given = self._params
        sampling: Facts = {"temperature": given["temperature"], "ignore_eos": given["ignore_eos"]}
        if self._engine == "sglang":
            sampling["max_new_tokens"] = given["max_tokens"]
            if given["seed"] is not None:
                sampling["sampling_seed"] = given["seed"]
            return "/generate", {"text": prompt, "sampling_params": sampling, "stream": True}
        body: Facts = {**sampling, "model": self._model, "max_tokens": given["max_tokens"], "stream": True}
        body["stream_options"] = {"include_usage": True}
        if given["seed"] is not None:
            body["seed"] = given["seed"]
        if given["endpoint"] == "completions":
            return "/v1/completions", {**body, "prompt": prompt}
        return "/v1/chat/completions", {**body, "messages": [{"role": "user", "content": prompt}]}

    def send(self, index: int, prompt: str) -> Facts:
        """One request's result; a failure is told in ``error``."""
        result: Facts = dict.fromkeys(("tokens", "time_to_first_token", "time_per_output_token", "seconds", "error"))
        result["prompt"] = index
        path, body = self._request(prompt)
        began = time.monotonic()
        first = last = None
        final: Facts = {}
        try:
            connection, answer = self._server.open(path, body)
            try:
                for event in _events(answer):
                    if _said(event):
                        last = time.monotonic()
                        first = last if first is None else first
                    final.update({key: event[key] for key in ("usage", "meta_info") if event.get(key)})
            finally:
                connection.close()
        except NoAnswer as error:
            result["error"] = error.message
            return result
        except (OSError, http.client.HTTPException, ValueError) as error:
            result["error"] = f"the stream broke: {type(error).__name__}: {error}"
            return result
        result["seconds"] = time.monotonic() - began
        result["meta"] = final.get("meta_info", {})
        tokens = (final.get("usage") or result["meta"]).get("completion_tokens")
        if not isinstance(tokens, int) or first is None or last is None:
            result["error"] = "the stream ended without text, or without the number of its tokens"
            return result
        result.update(tokens=tokens, time_to_first_token=first - began)
        if tokens > 1:
            result["time_per_output_token"] = (last - first) / (tokens - 1)
        return result

    def run(self, prompts: t.Sequence[str], concurrency: int) -> t.Tuple[list[Facts], float]:
        """Results in the order of the prompts, and the seconds that all took together."""
        waiting: queue.Queue[t.Tuple[int, str]] = queue.Queue()
        for item in enumerate(prompts):
            waiting.put(item)
        results: list[Facts] = []

        def work() -> None:
            while True:
                try:
                    index, prompt = waiting.get_nowait()
                except queue.Empty:
                    return
                results.append(self.send(index, prompt))

        threads = [threading.Thread(target=work, daemon=True) for _number in range(min(concurrency, len(prompts)))]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(results, key=lambda result: int(result["prompt"])), time.monotonic() - began


def _events(answer: http.client.HTTPResponse) -> t.Iterator[Facts]:
    """The events of a stream; one that does not end as it should raises ValueError."""
    for raw in iter(answer.readline, b""):
        line = raw.decode("utf-8").strip()
        if not line.startswith("data:"):
            continue
        data = line[len("data:") :].strip()
        if data == "[DONE]":
            return
        event = json.loads(data)
        if not isinstance(event, dict):
            raise ValueError(f"an event is no object: {data[:120]}")
        if event.get("error"):
            raise ValueError(f"the server says {json.dumps(event['error'])[:300]}")
        yield event
    raise ValueError("it ended before [DONE]")


def _said(event: Facts) -> bool:
    """Whether the event carries text; that of a model's reasoning counts."""
    if event.get("text"):
        return True
    for choice in event.get("choices") or ():
        delta = choice.get("delta") or {}
        if choice.get("text") or any(delta.get(key) for key in ("content", "reasoning", "reasoning_content")):
            return True
    return False


def _no(reason: str) -> Facts:
    return {"acceptance_length": None, "by_position": None, "reason": reason, "by_position_reason": reason}


def _difference(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def by_counters(server: Server, before: Reading, results: t.Sequence[Facts]) -> Facts:
    """Acceptance by vLLM's counters, only when they count these requests and no others."""
    if any(result["error"] for result in results):
        return _no("a request failed, so how many tokens the counters have of it is not known")
    own = sum(result["tokens"] for result in results)
    until = time.monotonic() + _SETTLE
    while True:
        after = read(server, "vllm")
        counted = _difference(after.counters["generation_tokens"], before.counters["generation_tokens"])
        if counted is None or counted >= own or time.monotonic() > until:
            break
        time.sleep(0.2)
    if counted is None or counted != own:
        return _no(f"the server counted {counted} generated tokens and these requests got {own}: others used it")
    drafts = _difference(after.counters["drafts"], before.counters["drafts"])
    accepted = _difference(after.counters["accepted_tokens"], before.counters["accepted_tokens"])
    length, reason = acceptance(drafts, accepted)
    positions = None
    if after.per_position is not None and before.per_position is not None:
        positions = rates([new - old for new, old in zip(after.per_position, before.per_position)], drafts)
    return {
        "acceptance_length": length,
        "by_position": positions,
        "reason": reason,
        "by_position_reason": None if positions else reason or "the server has no counters by position",
    }


def by_answers(results: t.Sequence[Facts]) -> Facts:
    """Acceptance by what SGLang says of each request."""
    metas = [result["meta"] for result in results if not result["error"]]
    if len(metas) != len(results):
        return _no("a request failed")
    verified = [meta.get("spec_verify_ct") for meta in metas]
    counts = [count for count in verified if isinstance(count, int) and count > 0]
    if len(counts) != len(metas):
        return _no("an answer tells no spec_verify_ct: speculation is off, or one token was enough")
    steps = sum(counts)
    found: Facts = {"acceptance_length": round(sum(meta["completion_tokens"] for meta in metas) / steps, 4)}
    found.update(by_position=None, reason=None, by_position_reason=None)
    name = next((name for name in _HISTOGRAMS if all(isinstance(meta.get(name), list) for meta in metas)), None)
    if name is None:
        found["by_position_reason"] = f"the answers have no {' or '.join(_HISTOGRAMS)}: this release does not tell"
        return found
    # Entry n counts the steps that accepted n drafted tokens.
    width = max(len(meta[name]) for meta in metas)
    steps_by = [sum(meta[name][n] for meta in metas if n < len(meta[name])) for n in range(width)]
    found["by_position"] = rates([float(sum(steps_by[n:])) for n in range(1, width)], float(sum(steps_by)))
    return found


def spread(values: t.Sequence[float]) -> Facts | None:
    """Mean, median, 95th percentile (nearest rank) and extremes."""
    if not values:
        return None
    ordered = sorted(values)
    last = len(ordered) - 1
    middle = (ordered[last // 2] + ordered[(last + 1) // 2]) / 2
    return {
        "mean": sum(ordered) / len(ordered),
        "median": middle,
        "p95": ordered[-(-95 * len(ordered) // 100) - 1],
        "min": ordered[0],
        "max": ordered[-1],
    }


def _model(server: Server, wanted: str | None) -> str | None:
    told = server.json("/v1/models")
    entries = told.get("data") if isinstance(told, dict) else None
    names = [str(entry["id"]) for entry in entries or () if isinstance(entry, dict) and "id" in entry]
    if wanted is not None and wanted not in names:
        raise BadInput(f"{server.url} serves no model {wanted}, but: {', '.join(names)}")
    if not names:
        raise BadInput(f"{server.url}/v1/models names no model")
    return wanted or names[0]


def _check(params: t.Mapping[str, t.Any]) -> list[str]:
    for name, least in (("max_tokens", 2), ("concurrency", 1), ("repeat", 1), ("warmup", 0), ("temperature", 0)):
        if params[name] < least:
            raise BadInput(f"{name} is {params[name]}: it must be {least} or more")
    prompts = params["prompts"] if params["prompts_file"] is None else read_prompts(params["prompts_file"])
    if not prompts:
        raise BadInput(f"there is no prompt in {params['prompts_file'] or 'prompts'}")
    return list(prompts)


def benchmark(params: t.Mapping[str, t.Any], *, check_mode: bool) -> Facts:
    """The use case of ``speculative_benchmark``."""
    if check_mode:
        return {"changed": False, "skipped": True, "msg": "check mode sends no prompt"}
    prompts = _check(params)
    server = Server(params["url"], read_key(params["api_key_file"]), params["timeout"])
    engine = read(server, params["engine"]).engine
    model = _model(server, params["model"])
    load = Load(server, engine, model, params)
    warm = [prompts[number % len(prompts)] for number in range(params["warmup"])]
    if warm:
        load.run(warm, params["concurrency"])
    # What the warm-up left must be counted before the start.
    before = _settled(server, engine) if engine == "vllm" else None
    results, seconds = load.run(prompts * params["repeat"], params["concurrency"])
    found = by_answers(results) if before is None else by_counters(server, before, results)
    good = [result for result in results if not result["error"]]
    tokens = sum(result["tokens"] for result in good)
    for result in results:
        result["prompt"] %= len(prompts)
        result.pop("meta", None)
    kept = ("endpoint", "max_tokens", "concurrency", "temperature", "warmup", "ignore_eos", "seed", "repeat")
    settings = {name: params[name] for name in kept}
    settings.update(prompts=len(prompts), endpoint=params["endpoint"] if engine == "vllm" else "generate")
    return {
        "changed": False,
        "engine": engine,
        "model": model,
        **found,
        "tokens": tokens,
        "seconds": seconds,
        "tokens_per_second": tokens / seconds if seconds else None,
        "request_tokens_per_second": spread([result["tokens"] / result["seconds"] for result in good]),
        "time_to_first_token": spread([result["time_to_first_token"] for result in good]),
        "time_per_output_token": spread(
            [result["time_per_output_token"] for result in good if result["time_per_output_token"] is not None]
        ),
        "failed_requests": len(results) - len(good),
        "requests": results,
        "settings": settings,
        "prefix_cache": _prefix_cache(before),
    }


def _settled(server: Server, engine: str) -> Reading:
    """Counters that did not move for a moment, or the last that were read."""
    until = time.monotonic() + _SETTLE
    reading = read(server, engine)
    while time.monotonic() < until:
        time.sleep(0.3)
        newer = read(server, engine)
        if newer.counters == reading.counters:
            return newer
        reading = newer
    return reading


def _prefix_cache(before: Reading | None) -> str:
    """``on`` or ``off`` by what vLLM tells of its cache, else ``unknown``."""
    metrics = None if before is None else before.metrics
    for sample in () if metrics is None else metrics.of("vllm:cache_config_info"):
        told = sample.labels.get("enable_prefix_caching")
        if told in ("True", "False"):
            return "on" if told == "True" else "off"
    return "unknown"


__all__ = ("Facts", "Load", "benchmark", "by_answers", "by_counters", "read_prompts", "spread")
