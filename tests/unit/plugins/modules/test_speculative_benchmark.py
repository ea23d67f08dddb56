# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import http.server
import json
import pathlib
import socketserver
import threading
import typing as t

import pytest
import yaml

from ansible_collections.specdec.blackwell.plugins.modules import speculative_benchmark
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Runner

Event = t.Dict[str, t.Any]


class Served(socketserver.ThreadingTCPServer):
    """Streams as an engine does: eight tokens in two steps, each with three drafted tokens accepted."""

    daemon_threads = True

    def __init__(self, engine: str, meta: Event) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.engine = engine
        self.meta = meta
        self.asked: list[tuple[str, Event]] = []
        self.others = 0
        self.lock = threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def metrics(self) -> str:
        if self.engine == "sglang":
            return "sglang:num_running_reqs 0.0\n"
        done = sum("BREAK" not in json.dumps(body) for _path, body in self.asked)
        lines = ['vllm:cache_config_info{enable_prefix_caching="True",engine="0"} 1.0']
        lines.append(f'vllm:generation_tokens_total{{engine="0"}} {done * 8 + self.others}')
        lines.append(f'vllm:spec_decode_num_drafts_total{{engine="0"}} {done * 2}')
        lines.append(f'vllm:spec_decode_num_accepted_tokens_total{{engine="0"}} {done * 5}')
        name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
        lines += [f'{name}{{engine="0",position="{at}"}} {done * n}' for at, n in enumerate((2, 2, 1))]
        return "\n".join(lines) + "\n"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Served

    def reply(self, text: str) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self) -> None:
        models = json.dumps({"data": [{"id": "tiny"}]})
        self.reply(models if self.path == "/v1/models" else self.server.metrics())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "REFUSE" in json.dumps(body):
            self.send_response(503)
            self.end_headers()
            return
        with self.server.lock:
            self.server.asked.append((self.path, body))
        events: list[Event] = [{"text": "ab"}, {"text": "abcd", "meta_info": self.server.meta}]
        if self.path == "/v1/completions":
            events = [{"choices": [{"text": "ab"}]}, {"choices": [{"text": "cd"}]}]
        if self.path == "/v1/chat/completions":
            events = [{"choices": [{"delta": {"content": text}}]} for text in ("", "ab", "cd")]
        if self.path != "/generate":
            events.append({"choices": [], "usage": {"completion_tokens": 8}})
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        self.reply(text if "BREAK" in json.dumps(body) else text + "data: [DONE]\n\n")

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        del code, size


@pytest.fixture
def serve() -> t.Iterator[t.Callable[..., Served]]:
    started: list[Served] = []

    def start(engine: str = "vllm", **meta: t.Any) -> Served:
        started.append(Served(engine, {"completion_tokens": 8, **meta}))
        return started[-1]

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


@pytest.mark.parametrize("endpoint", ["chat", "completions"])
def test_vllm(run: Runner, serve: t.Callable[..., Served], endpoint: str) -> None:
    server = serve()
    result = run.run(
        speculative_benchmark, url=server.url, prompts=["a", "b", "c"], repeat=2, concurrency=2, endpoint=endpoint
    )
    assert (result["acceptance_length"], result["by_position"]) == (3.5, [1.0, 1.0, 0.5])
    assert (result["tokens"], result["failed_requests"], result["prefix_cache"]) == (48, 0, "on")
    assert [request["prompt"] for request in result["requests"]] == [0, 1, 2, 0, 1, 2]
    assert 0 < result["time_to_first_token"]["min"] <= result["time_to_first_token"]["p95"]
    assert result["tokens_per_second"] == pytest.approx(48 / result["seconds"])
    assert len(server.asked) == 8
    assert server.asked[-1][1]["temperature"] == 0
    documented = yaml.safe_load(speculative_benchmark.RETURN)
    assert set(documented) == set(result) - {"changed", "invocation", "warnings", "deprecations"}


def test_check_mode_sends_nothing(run: Runner, serve: t.Callable[..., Served]) -> None:
    server = serve()
    result = run.run(speculative_benchmark, url=server.url, prompts=["a"], check=True)
    assert (result["changed"], result["skipped"], server.asked) == (False, True, [])


@pytest.mark.parametrize(("word", "said"), [("BREAK", "ended before [DONE]"), ("REFUSE", "status 503")])
def test_a_request_that_fails(run: Runner, serve: t.Callable[..., Served], word: str, said: str) -> None:
    result = run.run(speculative_benchmark, url=serve().url, prompts=["a", word], warmup=0)
    assert (result["failed_requests"], result["tokens"], result["acceptance_length"]) == (1, 8, None)
    assert said in result["requests"][1]["error"]
    assert "a request failed" in result["reason"]


def test_traffic_of_others(run: Runner, serve: t.Callable[..., Served], monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    metrics = server.metrics

    def moved() -> str:
        server.others = 5 if server.asked else 0
        return metrics()

    monkeypatch.setattr(server, "metrics", moved)
    result = run.run(speculative_benchmark, url=server.url, prompts=["a"], warmup=0)
    assert result["acceptance_length"] is None
    assert "counted 13.0 generated tokens and these requests got 8" in result["reason"]


@pytest.mark.parametrize("name", ["spec_accept_histogram", "spec_correct_drafts_histogram"])
def test_sglang(run: Runner, serve: t.Callable[..., Served], name: str) -> None:
    server = serve("sglang", spec_verify_ct=2, **{name: [0, 1, 0, 1]})
    result = run.run(speculative_benchmark, url=server.url, prompts=["a", "b"])
    assert (result["acceptance_length"], result["by_position"]) == (4.0, [1.0, 0.5, 0.5])
    assert {path for path, _body in server.asked} == {"/generate"}


def test_sglang_tells_less(run: Runner, serve: t.Callable[..., Served]) -> None:
    result = run.run(speculative_benchmark, url=serve("sglang", spec_verify_ct=4).url, prompts=["a"])
    assert (result["acceptance_length"], result["by_position"]) == (2.0, None)
    assert "spec_accept_histogram" in result["by_position_reason"]
    result = run.run(speculative_benchmark, url=serve("sglang").url, prompts=["a"])
    assert "no spec_verify_ct" in result["reason"]


def test_files_of_prompts(run: Runner, serve: t.Callable[..., Served], tmp_path: pathlib.Path) -> None:
    server = serve()
    place = tmp_path / "prompts.jsonl"
    place.write_text('{"prompt": "a\\nb"}\n\n{"prompt": "c"}\n')
    result = run.run(speculative_benchmark, url=server.url, prompts_file=str(place), warmup=0)
    assert result["settings"]["prompts"] == 2
    assert server.asked[0][1]["messages"][0]["content"] == "a\nb"
    place.write_text('{"prompt": "a"}\n{"text": "b"}\n')
    assert "line 2 has no text" in run.fails(speculative_benchmark, url=server.url, prompts_file=str(place))["msg"]
    place.write_text("")
    assert "there is no prompt" in run.fails(speculative_benchmark, url=server.url, prompts_file=str(place))["msg"]


def test_what_cannot_be_measured(run: Runner, serve: t.Callable[..., Served]) -> None:
    url = serve().url
    failed = run.fails(speculative_benchmark, url=url, prompts=["a"], max_tokens=1)
    assert "max_tokens is 1: it must be 2 or more" in failed["msg"]
    failed = run.fails(speculative_benchmark, url=url, prompts=["a"], model="big")
    assert "serves no model big, but: tiny" in failed["msg"]
