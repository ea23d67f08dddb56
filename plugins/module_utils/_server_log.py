# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the log of vLLM or SGLang says about how far the server is.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import re
import typing as t

STARTING, LOADING, COMPILING, CAPTURING = "starting", "loading", "compiling", "capturing"
READY, FAILED, STOPPED = "ready", "failed", "stopped"
VLLM, SGLANG = "vllm", "sglang"

_LONGEST = 1000
_PREFIX = re.compile(
    r"^(?:\([\w:.-]+ pid=\d+\) )*"
    r"(?:(?:INFO|WARNING|ERROR|CRITICAL|DEBUG) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? \[[^\]]*\] ?)?"
    r"(?:\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[^\]]*\] )?"
)
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_PERCENT = re.compile(r"(\d{1,3})%(?:\||\s+Completed\b)")
_STEP = re.compile(r"^\[(\d+)/(\d+)\] ")

# Where a server's own log begins again after a restart.
_BEGIN = tuple(
    re.compile(pattern)
    for pattern in (
        r"vLLM API server version",
        r"non-default args: ",
        r"█     █     █▄   ▄█",
        r"\bserver_args=ServerArgs\(",
    )
)
_OF_SGLANG = re.compile(r"\bserver_args=ServerArgs\(|\bsglang\b|The server is fired up")
_OF_VLLM = re.compile(r"\(EngineCore|vLLM API server|\(APIServer pid=|vllm\.v1\.")

# The first that matches a line tells its stage; None leaves the stage as it is.
_STAGES: tuple[tuple[str | None, str, str], ...] = (
    # engine, stage, pattern
    (None, READY, r"The server is fired up and ready to roll|Decode batch[ ,.\[]|Avg prompt throughput: "),
    (VLLM, READY, r"Application startup complete|\"POST /\S+ HTTP/1\.\d\" 200"),
    (SGLANG, STARTING, r"Application startup complete|Uvicorn running on"),
    (
        None,
        FAILED,
        r"EngineCore failed to start|WorkerProc failed|Engine core initialization failed|EngineDeadError"
        r"|EngineCore encountered a fatal error|EngineCore encountered an issue|Engine core proc .* died unexpectedly"
        r"|Scheduler hit an exception|Initialization failed\.|Received sigquit from a child process"
        r"|Main process exited, code=(?!exited, status=0)|Failed with result '",
    ),
    (None, STOPPED, r"\[shutdown\] API server: shutdown triggered|Application shutdown complete|: Deactivated success"),
    (
        None,
        CAPTURING,
        r"Capturing (?:\w[\w-]* ){0,4}CUDA graphs|Graph capturing finished|Capturing model for .*speculator",
    ),
    (
        None,
        CAPTURING,
        r"Capture (?:\w+ ){0,4}(?:cuda|CUDA|npu|cpu) graph|Capturing (?:batches|prefill shape|num tokens) \(",
    ),
    (
        None,
        COMPILING,
        r"Dynamo bytecode transform time|Start compiling function|Compiling a graph for|Cache the graph of compile"
        r"|Directly load (?:the|AOT)|torch\.compile (?:took|takes)|for vLLM's torch\.compile"
        r"|[Ww]arming up model for the compilation|Loading JIT ops|loading JIT ops|Running FlashInfer autotune"
        r"|FlashInfer autotune|Autotuning process|DeepGEMM JIT|DeepGEMM warmup|Warming up (?!done)"
        r"|^\[\d+/\d+\] .*(?:nvcc|c\+\+|g\+\+|ptxas)",
    ),
    (
        None,
        LOADING,
        r"Starting to load model|Loading model from scratch|Loading drafter model|Initializing model took"
        r"|Loading safetensors |(?:Loading|Multi-thread loading) (?:\w+ )*(?:checkpoint )?shards"
        r"|Prefetching checkpoint files|Loading weights took|Model loading took|Load weight (?:begin|end)"
        r"|Checkpoint size: ",
    ),
    (None, STARTING, r"vLLM API server version|non-default args: |Initializing a V1 LLM engine|server_args=ServerArgs"),
    (None, STARTING, r"Waiting for .* core engine proc|Init torch distributed|Starting vLLM (?:API )?server"),
    (None, "", r"KV cache size: |KV Cache is allocated|Available KV cache memory|Memory profiling|init engine \("),
    (None, "", r"No available shared memory broadcast block found|max_total_num_tokens="),
)
_COMPILED = tuple((engine, stage or None, re.compile(pattern)) for engine, stage, pattern in _STAGES)

_RAISED = re.compile(r"^(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)\b(?::|$)|^Exception: ")
_SERIOUS = re.compile(
    r"Main process exited|Failed with result|Start request repeated|start operation timed out|Failed at step"
    r"|Failed to locate|: error: |\bout of memory\b|Segmentation fault|SIGKILL|SIGSEGV|SIGILL"
)
# These only point at another line.
_WRAPPER = re.compile(
    r"See (?:the )?(?:root cause|stack trace|error messages? above)|^(?:EngineCore|WorkerProc) failed(?: to start)?\.$"
    r"|EngineCore encountered |: Main process exited, |: Failed with result '"
)
_ACCESS = re.compile(r'"POST /\S+ HTTP|throughput: |Decode batch')


class Progress(t.NamedTuple):
    """How far a server is by its log; ``was_ready`` tells whether it has ever served in it."""

    engine: str | None
    stage: str | None
    percent: int | None
    text: str | None
    was_ready: bool
    stages: list[str]
    errors: list[str]


def split(text: str) -> list[str]:
    """The lines of a log as one sees them on a terminal: of a line written over, the last."""
    lines = []
    for line in text.split("\n"):
        shown = [part for part in _ANSI.sub("", line).split("\r") if part.strip()]
        lines.append(shown[-1].rstrip() if shown else "")
    return [line for line in lines if line]


def last_run(lines: t.Sequence[str]) -> list[str]:
    """The lines since the server was started last, all where no second start is seen.

    A start says several things once each; the first one that is said again belongs to the next start.
    """
    start = 0
    seen: set[int] = set()
    for number, line in enumerate(lines):
        for kind, pattern in enumerate(_BEGIN):
            if pattern.search(line):
                if kind in seen:
                    start = number
                    seen.clear()
                seen.add(kind)
    return list(lines[start:])


def clean(line: str) -> str:
    """The message without the logger's prefix."""
    return _PREFIX.sub("", line, count=1).strip()[:_LONGEST]


def guess_engine(lines: t.Iterable[str]) -> str | None:
    for line in lines:
        if _OF_VLLM.search(line):
            return VLLM
        if _OF_SGLANG.search(line):
            return SGLANG
    return None


def read(lines: t.Sequence[str], engine: str | None = None) -> Progress:
    """Where the last decisive line of the log puts the server."""
    engine = engine or guess_engine(lines)
    stage: str | None = None
    text: str | None = None
    percent: int | None = None
    was_ready = False
    stages: list[str] = []
    errors: list[str] = []
    for line in lines:
        message = clean(line)
        found, of_stage = _stage(message, engine)
        if _RAISED.search(message) or _SERIOUS.search(message) or of_stage == FAILED:
            errors.append(message)
        if not found:
            continue
        was_ready = was_ready or of_stage == READY
        # After a failure the log goes on with the end of the other processes.
        if stage == FAILED and of_stage != FAILED:
            continue
        stage = of_stage or stage
        text, percent = message, _percent(message)
        stages.append(message)
    errors = _ranked(errors)
    if stage == FAILED and errors:
        text = errors[-1]
    return Progress(engine, stage, percent, text, was_ready, _once(stages), errors)


def _stage(message: str, engine: str | None) -> tuple[bool, str | None]:
    for of_engine, stage, pattern in _COMPILED:
        if of_engine in (None, engine) and pattern.search(message):
            return True, stage
    return False, None


def _percent(message: str) -> int | None:
    found = _PERCENT.search(message)
    if found is not None:
        return min(100, int(found.group(1)))
    step = _STEP.search(message)
    if step is not None and int(step.group(2)):
        return min(100, 100 * int(step.group(1)) // int(step.group(2)))
    return None


def _once(lines: t.Iterable[str]) -> list[str]:
    """Each line where it came last; of a bar that moves, its last state."""
    kept: dict[str, str] = {}
    for line in lines:
        key = line.partition(":")[0] if _percent(line) is not None else line
        key = "request" if _ACCESS.search(line) else key
        kept.pop(key, None)
        kept[key] = line
    return list(kept.values())


def _ranked(lines: t.Iterable[str]) -> list[str]:
    """Each line once, and those that name a cause behind those that point at them: readers look at the end."""
    unique = list(dict.fromkeys(lines))
    return [line for line in unique if _WRAPPER.search(line)] + [line for line in unique if not _WRAPPER.search(line)]


__all__ = (
    "CAPTURING",
    "COMPILING",
    "FAILED",
    "LOADING",
    "READY",
    "SGLANG",
    "STARTING",
    "STOPPED",
    "VLLM",
    "Progress",
    "clean",
    "guess_engine",
    "last_run",
    "read",
    "split",
)
