# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.modules import engine_arguments_info
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.module_runner import Result, Runner

SERVE = b"""
from vllm.entrypoints.openai.cli_args import make_arg_parser
class ServeSubcommand:
    def subparser_init(self, subparsers):
        serve_parser = subparsers.add_parser("serve")
        serve_parser = make_arg_parser(serve_parser)
        return serve_parser
"""
CLI = b"""
from typing import ClassVar, Literal
from vllm.engine.arg_utils import AsyncEngineArgs, get_kwargs
class Base:
    host: str | None = None
    port: int = 8000
class FrontendArgs(Base):
    uvicorn_log_level: Literal["info", "debug"] = "info"
    hidden: ClassVar[int] = 0
    @staticmethod
    def add_cli_args(parser):
        frontend_kwargs = get_kwargs(FrontendArgs)
        frontend_group = parser.add_argument_group(title="Frontend")
        for key, value in frontend_kwargs.items():
            frontend_group.add_argument(f"--{key.replace('_', '-')}", **value)
        return parser
def make_arg_parser(parser):
    parser.add_argument("model_tag", nargs="?")
    parser.add_argument("--headless", action="store_true")
    parser = FrontendArgs.add_cli_args(parser)
    parser = AsyncEngineArgs.add_cli_args(parser)
    return parser
"""
ARGS = b"""
import argparse
from vllm.config import ModelConfig, SpeculativeConfig, VllmConfig
_OLD = "--old-switch is deprecated and has no effect."
class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        model_kwargs = get_kwargs(ModelConfig)
        model_kwargs["runner"]["choices"] = ["auto", "draft"]
        vllm_kwargs = get_kwargs(VllmConfig)
        group = parser.add_argument_group(title="ModelConfig")
        group.add_argument("--model", **model_kwargs["model"])
        group.add_argument("--dtype", **model_kwargs["dtype"])
        group.add_argument("--runner", **model_kwargs["runner"])
        group.add_argument("--quantization", "-q", **model_kwargs["quantization"])
        group.add_argument("--enforce-eager", **model_kwargs["enforce_eager"])
        group.add_argument("--tensor-parallel-size", "-tp", type=int)
        group.add_argument("--old-switch", action=argparse.BooleanOptionalAction, help=_OLD)
        group.add_argument("--speculative-config", **vllm_kwargs["speculative_config"])
        return parser
class AsyncEngineArgs(EngineArgs):
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--enable-log-requests", action=argparse.BooleanOptionalAction)
        parser = EngineArgs.add_cli_args(parser)
        return parser
"""
CONFIG = b"""
from typing import Literal
Small = Literal["half", "float16"]
DType = Literal["auto", Small]
class ModelConfig:
    model: str = ""
    dtype: DType | None = "auto"
    runner: Literal["auto", "generate"] = "auto"
    quantization: Literal["fp8"] | str | None = None
    enforce_eager: bool = False
class SpeculativeConfig:
    method: str | None = None
    num_speculative_tokens: int = 0
class VllmConfig:
    speculative_config: SpeculativeConfig | None = None
"""
RUNNER = b"""
class Runner:
    def __init__(self):
        if self.method == "eagle3" and self.use_pp:
            raise ValueError("EAGLE3 with pipeline parallel "
                             "is not supported.")
"""
VLLM = {
    "vllm/__init__.py": b"",
    "vllm/config/__init__.py": CONFIG,
    "vllm/engine/__init__.py": b"",
    "vllm/engine/arg_utils.py": ARGS,
    "vllm/entrypoints/__init__.py": b"",
    "vllm/entrypoints/cli/__init__.py": b"",
    "vllm/entrypoints/cli/serve.py": SERVE,
    "vllm/entrypoints/openai/__init__.py": b"",
    "vllm/entrypoints/openai/cli_args.py": CLI,
    "vllm/v1/worker/gpu/model_runner.py": RUNNER,
}
SERVER_ARGS = b"""
from sglang.srt.parsers import Detector
BACKENDS = ["triton", "flashinfer"]
_NAMESPACES = [Spec]
class Spec:
    speculative_algorithm: A[Optional[str], "The algorithm."] = None
    speculative_draft_model_path: A[Optional[str], Arg(help="The draft.", aliases=["--speculative-draft-model"])] = None
    mode: A[Literal["prefill", "decode"], "A mode."] = "prefill"
    inner: A[int, Arg(no_cli=True)] = 0
    unmarked: int = 0
class ServerArgs:
    model_path: A[str, "The model."]
    host: A[str, "The host."] = ""
    tp_size: A[int, Arg(help="Ranks.", aliases=["--tensor-parallel-size"])] = 1
    backend: A[Optional[str], Arg(help="The backend.", choices=BACKENDS)] = None
    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
        names = list(Detector.Map.keys())
        parser.add_argument("--reasoning-parser", choices=["auto"] + names)
        open_names = list(BACKENDS)
        open_names.append(found())
        parser.add_argument("--sampling-backend", choices=open_names)
        parser.add_argument("--gone", action=DeprecatedAction, error_message="Use --mode instead.")
        parser.add_argument("--renamed", action=DeprecatedStoreTrueAction, help="Deprecated. Use --mode.")
    def check(self):
        if self.pp_size > 1:
            if is_npu():
                assert self.overlap, "Pipeline parallelism on this platform wants speculative decoding off"
            else:
                assert self.speculative_algorithm is None, "Pipeline parallelism is not made for speculative decoding"
collect_input_fields(_NAMESPACES)
"""
SGLANG = {
    "sglang/__init__.py": b"",
    "sglang/srt/__init__.py": b"",
    "sglang/srt/parsers.py": b"class Detector:\n    Map = {'kimi': 1, 'qwen': 2}\n",
    "sglang/srt/server_args.py": SERVER_ARGS,
}


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Runner:
    return Runner(capfd)


@pytest.fixture
def venv(tmp_path: pathlib.Path) -> Venv:
    made = Venv(tmp_path / "venv")
    made.install("vllm", "1.2", VLLM)
    made.install("sglang", "3.4", SGLANG)
    return made


def ask(run: Runner, venv: Venv, engine: str, **arguments: t.Any) -> Result:
    spelled = {name.replace("__", ".").replace("_", "-"): value for name, value in arguments.items()}
    result = run.parity(engine_arguments_info, engine=engine, python=venv.python, arguments=spelled)
    assert result["changed"] is False
    return result


def names(result: Result, kind: str) -> list[str]:
    return [item["name"] for item in result[kind]]


def test_flags_of_vllm(run: Runner, venv: Venv) -> None:
    result = ask(run, venv, "vllm")
    assert result["ok"] and result["engine"]["version"] == "1.2"
    assert result["known"] == [
        "dtype",
        "enable-log-requests",
        "enforce-eager",
        "headless",
        "host",
        "model",
        "old-switch",
        "port",
        "quantization",
        "runner",
        "speculative-config",
        "tensor-parallel-size",
        "uvicorn-log-level",
    ]


def test_flags_of_sglang(run: Runner, venv: Venv) -> None:
    result = ask(run, venv, "sglang")
    assert result["known"] == [
        "backend",
        "gone",
        "host",
        "mode",
        "model-path",
        "reasoning-parser",
        "renamed",
        "sampling-backend",
        "speculative-algorithm",
        "speculative-draft-model",
        "speculative-draft-model-path",
        "tensor-parallel-size",
        "tp-size",
    ]


def test_unknown_names_the_nearest(run: Runner, venv: Venv) -> None:
    result = ask(run, venv, "sglang", speculative_draft_modelpath="/draft", enable_pcie_oneshot_allreduce=True)
    assert not result["ok"]
    first, second = result["unknown"]
    assert first["nearest"][0] == "speculative-draft-model-path"
    assert first["message"].startswith("sglang 3.4 has no argument named speculative-draft-modelpath; the nearest")
    assert second["nearest"] == [] and "nearest" not in second["message"]


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("dtype", "float16", False),
        ("dtype", "float61", True),
        ("dtype", None, False),
        ("runner", "draft", False),
        ("runner", "generate", True),
        ("quantization", "anything", False),
        ("uvicorn_log_level", "loud", True),
    ],
)
def test_choices_of_vllm(name: str, value: str | None, wrong: bool, run: Runner, venv: Venv) -> None:
    result = ask(run, venv, "vllm", **{name: value})
    assert result["ok"] is not wrong
    assert names(result, "choices") == ([name.replace("_", "-")] if wrong else [])


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("backend", "triton", False),
        ("backend", "tritno", True),
        ("mode", "decode", False),
        ("mode", "both", True),
        ("reasoning_parser", "auto", False),
        ("reasoning_parser", "qwen", False),
        ("reasoning_parser", "kimi_k9", True),
        ("sampling_backend", "anything", False),
    ],
)
def test_choices_of_sglang(name: str, value: str, wrong: bool, run: Runner, venv: Venv) -> None:
    result = ask(run, venv, "sglang", **{name: value})
    assert names(result, "choices") == ([name.replace("_", "-")] if wrong else [])
    if name == "backend" and wrong:
        assert result["choices"][0]["nearest"] == ["triton"]
        assert "sglang/srt/server_args.py:" in result["choices"][0]["message"]


def test_keys_of_a_mapping(run: Runner, venv: Venv) -> None:
    good = {"method": "eagle3", "num_speculative_tokens": 3}
    assert ask(run, venv, "vllm", speculative_config=good)["ok"]
    result = ask(run, venv, "vllm", speculative_config={**good, "num_speculative_token": 3})
    assert names(result, "unknown") == ["speculative-config.num_speculative_token"]
    assert result["unknown"][0]["nearest"] == ["num_speculative_tokens"]
    assert ask(run, venv, "vllm", speculative_config__method="eagle3")["ok"]
    assert names(ask(run, venv, "vllm", speculative_config__methud="eagle3"), "unknown") == [
        "speculative-config.methud"
    ]


def test_switches_and_spellings(run: Runner, venv: Venv) -> None:
    assert ask(run, venv, "vllm", no_enforce_eager=True)["ok"]
    assert names(ask(run, venv, "vllm", no_headless=True), "unknown") == ["no-headless"]
    options = {"engine": "vllm", "python": venv.python}
    assert run.parity(engine_arguments_info, arguments={"--tensor_parallel_size": 2}, **options)["ok"]
    assert not run.parity(engine_arguments_info, arguments={"tensor-parallel": 2}, **options)["ok"]


def test_deprecated(run: Runner, venv: Venv) -> None:
    result = ask(run, venv, "vllm", old_switch=True)
    assert result["ok"]
    assert result["deprecated"][0]["message"] == "--old-switch is deprecated and has no effect."
    result = ask(run, venv, "sglang", gone=True, renamed=True)
    assert not result["ok"]
    assert [(item["name"], item["fatal"]) for item in result["deprecated"]] == [("gone", True), ("renamed", False)]
    assert result["deprecated"][0]["message"] == "Use --mode instead."


def test_pipeline_parallelism(run: Runner, venv: Venv) -> None:
    facts = ask(run, venv, "vllm")["facts"]
    assert facts["release"] == "1.2" and facts["has_pp_spec"] is False
    assert facts["pp_spec"] == {
        "state": "refused",
        "reason": "EAGLE3 with pipeline parallel is not supported.",
        "source": "vllm/v1/worker/gpu/model_runner.py:5",
    }
    facts = ask(run, venv, "sglang")["facts"]
    assert facts["pp_spec"]["reason"] == "Pipeline parallelism is not made for speculative decoding"
    venv.put({"vllm/v1/worker/gpu/model_runner.py": b""})
    assert ask(run, venv, "vllm")["facts"]["pp_spec"]["state"] == "unsupported"
    relay = RUNNER.replace(b"self.use_pp", b"not getattr(self, 'supports_aux_hidden_states_over_pp', False)")
    venv.put({"vllm/v1/worker/gpu/model_runner.py": relay})
    facts = ask(run, venv, "vllm")["facts"]
    assert facts["has_pp_spec"] is None and facts["pp_spec_by_model"] is True


def test_a_layout_that_is_not_known_is_refused(run: Runner, venv: Venv) -> None:
    venv.put({"vllm/engine/arg_utils.py": b"class AsyncEngineArgs:\n    pass\n"})
    result = run.fails(engine_arguments_info, engine="vllm", python=venv.python)
    assert "no --model was found" in result["msg"]
    venv.put({"vllm/engine/arg_utils.py": b"class AsyncEngineArgs\n"})
    result = run.fails(engine_arguments_info, engine="vllm", python=venv.python)
    assert "vllm/engine/arg_utils.py does not parse at line 1" in result["msg"]


def test_no_engine(run: Runner, tmp_path: pathlib.Path) -> None:
    empty = Venv(tmp_path / "empty")
    assert run.fails(engine_arguments_info, engine="vllm", python=empty.python)["installed"] is False
