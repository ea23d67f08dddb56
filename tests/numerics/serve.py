# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real server of the engine: started, asked, stopped; and what it counted."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

from .engine import Copy

START_SECONDS = 600
TOKENS = 60
PROMPTS = ("abc", "Hello, wor", "x = 12")


class Served(NamedTuple):
    """started: it became healthy; texts: one for each prompt; drafted and accepted: tokens over all prompts."""

    started: bool
    texts: list[str]
    drafted: int
    accepted: int
    log: str


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def get(url: str, body: dict[str, Any] | None = None) -> str:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return str(answer.read().decode())


def serve(copy: Copy, model: Path, draft: Path, log: Path, *, options: tuple[str, ...], **variables: str) -> Served:
    """Serve a model with its draft. A server that ends before it is healthy is an answer too."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    speculation = {"method": "eagle3", "model": str(draft), "num_speculative_tokens": 3}
    command = [
        *(str(copy.python), "-W", "ignore", "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(model), "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port)),
        *("--max-model-len", "256", "--max-num-seqs", "2", "--dtype", "float32", "--enforce-eager"),
        *("--speculative-config", json.dumps(speculation)),
        *options,
    ]
    with log.open("w") as stream:
        server = subprocess.Popen(
            command, stdout=stream, stderr=stream, env={**copy.environment(), **variables}, start_new_session=True
        )
    try:
        if not wait(server, url, START_SECONDS):
            return Served(False, [], 0, 0, log.read_text(errors="replace"))
        texts = ask(url)
        counted = get(url + "/metrics")
        return Served(True, texts, count(counted, "draft"), count(counted, "accepted"), log.read_text(errors="replace"))
    finally:
        stop(server)


def ask(url: str) -> list[str]:
    """What the server goes on with after each prompt, greedily."""
    texts = []
    for prompt in PROMPTS:
        asked = {"model": "tiny", "prompt": prompt, "max_tokens": TOKENS, "temperature": 0, "ignore_eos": True}
        texts.append(json.loads(get(url + "/v1/completions", asked))["choices"][0]["text"])
    return texts


def wait(server: subprocess.Popen[bytes], url: str, seconds: float) -> bool:
    """Whether a server becomes healthy; False when it ends before."""
    end = time.monotonic() + seconds
    while server.poll() is None:
        try:
            get(url + "/health")
        except OSError:
            if time.monotonic() > end:
                raise TimeoutError(f"no answer in {seconds} s") from None
            time.sleep(0.3)
        else:
            return True
    return False


def stop(server: subprocess.Popen[bytes]) -> None:
    for how, seconds in ((signal.SIGTERM, 30), (signal.SIGKILL, 10)):
        try:
            os.killpg(server.pid, how)
            server.wait(seconds)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
    server.wait(10)


def count(metrics: str, what: str) -> int:
    found = re.findall(rf"^vllm:spec_decode_num_{what}_tokens_total\{{.*\}} (\S+)$", metrics, re.MULTILINE)
    return int(sum(map(float, found)))


__all__ = ("PROMPTS", "TOKENS", "Served", "ask", "count", "free_port", "get", "serve", "stop", "wait")
