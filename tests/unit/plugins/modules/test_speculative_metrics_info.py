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

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._prometheus import Metrics, parse
from ansible_collections.specdec.blackwell.plugins.modules import speculative_metrics_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Runner

# The form of vLLM's text, of a server with two data-parallel engines.
VLLM = """\
# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="tiny"} 1.0
vllm:num_requests_running{engine="1",model_name="tiny"} 2.0
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="tiny"} 200.0
vllm:generation_tokens_total{engine="1",model_name="tiny"} 20.0
# TYPE vllm:generation_tokens_created gauge
vllm:generation_tokens_created{engine="0",model_name="tiny"} 1.796e+09
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="tiny"} 50.0
vllm:spec_decode_num_drafts_total{engine="1",model_name="tiny"} 10.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="tiny"} 1.796e+09
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="tiny"} 150.0
vllm:spec_decode_num_draft_tokens_total{engine="1",model_name="tiny"} 30.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="tiny"} 100.0
vllm:spec_decode_num_accepted_tokens_total{engine="1",model_name="tiny"} 2.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="tiny",position="0"} 50.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="tiny",position="1"} 30.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="tiny",position="2"} 20.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",model_name="tiny",position="0"} 1.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",model_name="tiny",position="1"} 1.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="1",model_name="tiny",position="2"} 0.0
vllm:spec_decode_num_accepted_tokens_per_pos_created{engine="0",model_name="tiny",position="0"} 1.796e+09
"""
SGLANG = """\
sglang:num_running_reqs{engine_type="unified",model_name="tiny",tp_rank="0"} 3.0
sglang:generation_tokens_total{model_name="tiny"} 70.0
sglang:spec_accept_length{engine_type="unified",model_name="tiny",tp_rank="0"} 2.5
"""


class Replies(t.NamedTuple):
    """What a path answers with, and the key that is wanted."""

    texts: t.Dict[str, t.Union[str, int]]
    key: t.Optional[str] = None


@pytest.fixture
def serve() -> t.Iterator[t.Callable[..., str]]:
    started: list[socketserver.ThreadingTCPServer] = []

    def start(texts: dict[str, str | int], key: str | None = None) -> str:
        replies = Replies(texts, key)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                reply = replies.texts.get(self.path, 404)
                if replies.key is not None and self.headers["Authorization"] != f"Bearer {replies.key}":
                    reply = 401
                status, body = (200, reply) if isinstance(reply, str) else (reply, '{"error": "no"}')
                data = body.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                del code, size

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        started.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


def test_two_engines_of_vllm_are_summed(run: Runner, serve: t.Callable[..., str]) -> None:
    url = serve({"/metrics": VLLM})
    result = run.run(speculative_metrics_info, url=url)
    assert (result["changed"], result["engine"], result["engines"]) == (False, "vllm", 2)
    assert result["counters"]["drafts"] == 60
    assert result["counters"]["accepted_tokens"] == 102
    assert result["counters"]["generation_tokens"] == 220
    assert result["counters"]["running"] == 3
    assert result["counters"]["preemptions"] is None
    assert result["acceptance_length"] == 2.7
    assert result["reason"] is None
    assert result["accepted_per_position"] == [51, 31, 20]
    assert result["by_position"] == [0.85, 0.5167, 0.3333]
    assert run.run(speculative_metrics_info, url=url, check=True)["counters"] == result["counters"]


def test_what_it_returns_is_documented(run: Runner, serve: t.Callable[..., str]) -> None:
    documented = yaml.safe_load(speculative_metrics_info.RETURN)
    for text in (VLLM, SGLANG):
        result = run.run(speculative_metrics_info, url=serve({"/metrics": text}))
        assert set(documented) == set(result) - {"changed", "invocation", "warnings", "deprecations"}
        assert set(documented["counters"]["contains"]) == set(result["counters"])


def test_vllm_without_speculation(run: Runner, serve: t.Callable[..., str]) -> None:
    text = "\n".join(line for line in VLLM.splitlines() if "spec_decode" not in line)
    result = run.run(speculative_metrics_info, url=serve({"/metrics": text}))
    assert (result["acceptance_length"], result["by_position"]) == (None, None)
    assert "counts no drafts: speculation is off" in result["reason"]


def test_vllm_before_the_first_draft(run: Runner, serve: t.Callable[..., str]) -> None:
    text = 'vllm:spec_decode_num_drafts_total 0.0\nvllm:spec_decode_num_accepted_tokens_total{engine="0"} 0.0\n'
    result = run.run(speculative_metrics_info, url=serve({"/metrics": text}))
    assert (result["acceptance_length"], result["reason"]) == (None, "no draft was verified")


def test_sglang_with_metrics(run: Runner, serve: t.Callable[..., str]) -> None:
    info = json.dumps({"internal_states": [{"avg_spec_accept_length": 2.25}]})
    result = run.run(speculative_metrics_info, url=serve({"/metrics": SGLANG, "/get_server_info": info}))
    assert (result["engine"], result["acceptance_length"], result["counters"]["running"]) == ("sglang", 2.25, 3)
    assert (result["by_position"], result["counters"]["accepted_tokens"]) == (None, None)
    assert "no counters by position" in result["by_position_reason"]


def test_sglang_without_metrics(run: Runner, serve: t.Callable[..., str]) -> None:
    info = json.dumps({"internal_states": [{"avg_spec_accept_length": 2.25}]})
    result = run.run(speculative_metrics_info, url=serve({"/get_server_info": info}))
    assert (result["engine"], result["acceptance_length"], result["engines"]) == ("sglang", 2.25, None)
    assert "--enable-metrics" in result["metrics_reason"]
    assert set(result["counters"].values()) == {None}


def test_means_of_several_engines_are_not_averaged(run: Runner, serve: t.Callable[..., str]) -> None:
    info = json.dumps({"internal_states": [{"avg_spec_accept_length": value} for value in (2.0, 3.0)]})
    result = run.run(speculative_metrics_info, url=serve({"/get_server_info": info}))
    assert result["acceptance_length"] is None
    assert "2 engines tell means of 2.00, 3.00" in result["reason"]


def test_the_key(run: Runner, serve: t.Callable[..., str], tmp_path: pathlib.Path) -> None:
    url = serve({"/metrics": VLLM}, "secret-1")
    key = tmp_path / "key"
    key.write_text("secret-1\n")
    assert run.run(speculative_metrics_info, url=url, api_key_file=str(key))["engine"] == "vllm"
    assert "status 401" in run.fails(speculative_metrics_info, url=url)["msg"]
    key.write_text("secret-1\nsecret-2\n")
    failed = run.fails(speculative_metrics_info, url=url, api_key_file=str(key))
    assert f"{key} must hold one key" in failed["msg"]
    assert "secret" not in json.dumps(failed)
    assert "cannot be read" in run.fails(speculative_metrics_info, url=url, api_key_file=str(tmp_path / "no"))["msg"]


def test_another_engine_than_was_said(run: Runner, serve: t.Callable[..., str]) -> None:
    failed = run.fails(speculative_metrics_info, url=serve({"/metrics": VLLM}), engine="sglang")
    assert "engine is sglang, but" in failed["msg"]
    failed = run.fails(speculative_metrics_info, url=serve({"/metrics": "up 1\n"}))
    assert "the engine is unknown" in failed["msg"]


def test_no_server(run: Runner, serve: t.Callable[..., str]) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        url = f"http://127.0.0.1:{closed.server_address[1]}"
    assert "ConnectionRefusedError" in run.fails(speculative_metrics_info, url=url)["msg"]
    assert "status 500" in run.fails(speculative_metrics_info, url=serve({"/metrics": 500}))["msg"]
    assert "status 404" in run.fails(speculative_metrics_info, url=serve({}), engine="vllm")["msg"]


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://host", "http://", "http://h:port", "http://h/?a=1"])
def test_a_url_that_is_none(run: Runner, url: str) -> None:
    assert "it must be http://host:port" in run.fails(speculative_metrics_info, url=url)["msg"]


def test_a_key_in_the_url(run: Runner) -> None:
    failed = run.fails(speculative_metrics_info, url="http://user:word@127.0.0.1:1")
    assert "api_key_file instead" in failed["msg"]


def test_labels_and_numbers() -> None:
    text = 'a{x="1,\\"}\\\\\\n",y = "" ,} 1e3 1796000000000\nb +Inf\n\n# c 1\nd_bucket{le="+Inf"} 2 # {id="1"} 0.5\n'
    first, second, third = parse(text)
    assert (first.name, first.labels, first.value) == ("a", {"x": '1,"}\\\n', "y": ""}, 1000.0)
    assert (second.name, second.value, third.labels) == ("b", float("inf"), {"le": "+Inf"})


@pytest.mark.parametrize(
    ("text", "what"),
    [("a 1\n<html> 1", "line 2 .* no name"), ('a{x="1} 2', "no label"), ("a{x=1} 2", "no label"), ("a one", "no num")],
)
def test_text_that_is_no_metrics(text: str, what: str) -> None:
    with pytest.raises(BadInput, match=what):
        parse(text)


def test_names_of_counters() -> None:
    metrics = Metrics(parse('old{e="0"} 1\nold{e="1"} 2\nnew_total 4\nnew_created 9\n'))
    assert (metrics.total("old"), metrics.total("new"), metrics.total("none")) == (3, 4, None)
    assert metrics.by("old", "e") == {"0": 1, "1": 2}
