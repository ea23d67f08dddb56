# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real vLLM on a real GPU: refused as released, patched by the collection, and how many guesses are then right.

Works on copies of the engine's Python files; the installed engine is only read. See README.md.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus.patching import Patched, merged, survey
from numerics import serve as server
from numerics.engine import ROOT, Copy
from numerics.plant import PLANTS
from numerics.test_served import CHANGES, REFUSAL, SHAPES, circle

Result = dict[str, Any]
WORKER = ROOT / "tests" / "numerics" / "worker" / "chain.py"
CHOSEN = (
    "MixtralForCausalLM",
    "Qwen2MoeForCausalLM",
    "Exaone4ForCausalLM",
    "Glm4ForCausalLM",
    "StableLmForCausalLM",
    "GPTJForCausalLM",
    "PaddleOCRVLForConditionalGeneration",
)
MISTAKEN = ("StableLmForCausalLM",)
RELEASED, PATCHED = "as released", "patched"
GUESSES = 3
ASK = """
import importlib.metadata, importlib.util, json, sys, torch
def folder(name):
    return importlib.util.find_spec(name).submodule_search_locations[0]
print(json.dumps({
    "base": sys._base_executable,
    "roots": [place for place in sys.path if place.endswith("-packages")],
    "package": folder("vllm"),
    "transformers": folder("transformers"),
    "versions": {
        "python": sys.version.split()[0],
        **{one: importlib.metadata.version(one) for one in ("vllm", "torch", "transformers", "triton")},
    },
    "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
    "capability": "sm%d%d" % torch.cuda.get_device_capability() if torch.cuda.is_available() else None,
}))
"""


def copy_of(engine: Result, folder: Path) -> Copy:
    """A venv with its own Python files of the engine; everything else is that of the installed one."""
    subprocess.run([engine["base"], "-m", "venv", "--without-pip", str(folder)], check=True)
    copy = Copy(folder)
    places = "".join(f"import site; site.addsitedir({root!r})\n" for root in engine["roots"])
    (copy.site / "engine.pth").write_text(places)
    os.symlink(engine["transformers"], copy.site / "transformers")
    package = Path(engine["package"])
    for part in [package, *package.parent.glob("vllm-*.dist-info")]:
        for here, folders, files in os.walk(part):
            folders[:] = [name for name in folders if name != "__pycache__"]
            there = copy.site / Path(here).relative_to(package.parent)
            there.mkdir()
            for name in files:
                if part is package and not name.endswith(".py"):
                    os.symlink(Path(here, name), there / name)
                else:
                    shutil.copy2(Path(here, name), there / name)
    return copy


def sources(copy: Copy) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (copy.site / "vllm").rglob("*.py")}


class Run:
    """All that is asked for, with results written down as they come."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.out: Path = given.out.resolve()
        self.work = self.out / "work"
        self.lock = threading.Lock()
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        asked = subprocess.run([given.python, "-W", "ignore", "-c", ASK], capture_output=True, text=True, check=True)
        self.engine: Result = json.loads(asked.stdout.splitlines()[-1])
        self.results: list[Result] = []
        self.began = datetime.datetime.now(datetime.UTC)

    def checkpoints(self, names: Sequence[str]) -> None:
        request = self.work / "request.json"
        cases = {name: SHAPES[name].case for name in names}
        request.write_text(json.dumps({"folder": str(self.work / "chain"), "cases": cases}))
        subprocess.run([self.given.python, "-W", "ignore", str(WORKER), str(request)], check=True)

    def one(self, name: str, how: str) -> None:
        start = time.monotonic()
        result: Result = {"architecture": name, "how": how}
        try:
            self._one(name, how, result)
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}"[-3000:]
        result["seconds"] = round(time.monotonic() - start)
        with self.lock:
            self.results.append(result)
            self.save()
        print(json.dumps({key: value for key, value in result.items() if key != "texts"}), flush=True)

    def _one(self, name: str, how: str, result: Result) -> None:
        label = f"{name}-{how.replace(' ', '-')}"
        copy = copy_of(self.engine, self.work / label)
        model = self.work / "chain" / name
        released = sources(copy)
        if how == PATCHED:
            first = copy.module("eagle3_patch", model=str(model))
            again = copy.module("eagle3_patch", model=str(model))
            result["module"] = {
                "changed": first["changed"],
                "state": first["architectures"][name]["state"],
                "shape": first["architectures"][name].get("shape"),
                "second run changed": again["changed"],
            }
        elif how in CHANGES:
            config = json.loads((model / "config.json").read_text())
            found = survey(copy.site, [name], model_config=config)[name]
            edits = CHANGES[how](found["edits"])
            if edits == found["edits"]:
                raise ValueError(f"{name} takes its states from a class that no edit touches: no place for {how}")
            tree = Patched(copy.site)
            tree.apply(merged([edits]))
            for file, data in tree.contents.items():
                (copy.site / file).write_bytes(data)
        self._serve(name, copy, self.out / f"{label}.log", result)
        if how == PATCHED:
            result["module"]["taken back"] = copy.module("eagle3_patch", model=str(model), state="absent")["changed"]
            result["module"]["as released again"] = sources(copy) == released

    def _serve(self, name: str, copy: Copy, log: Path, result: Result) -> None:
        shape = SHAPES[name]
        port = server.free_port()
        url = f"http://127.0.0.1:{port}"
        draft = {"method": "eagle3", "model": str(self.work / "chain" / "draft"), "num_speculative_tokens": GUESSES}
        command = [
            *(str(copy.python), "-W", "ignore", "-m", "vllm.entrypoints.openai.api_server"),
            *("--model", str(self.work / "chain" / name), "--served-model-name", "tiny"),
            *("--host", "127.0.0.1", "--port", str(port), "--max-model-len", "256", "--max-num-seqs", "4"),
            *("--speculative-config", json.dumps(draft), *shape.options, *self.given.serve.split()),
        ]
        # What a server compiles is its own: another server has the same model on another patch.
        own = {"VLLM_CACHE_ROOT": str(copy.site.parents[2] / "cache"), **shape.variables}
        own.update(item.split("=", 1) for item in self.given.set)
        start = time.monotonic()
        with log.open("w") as stream:
            process = subprocess.Popen(
                command, stdout=stream, stderr=stream, env={**copy.environment(), **own}, start_new_session=True
            )
        try:
            result["started"] = server.wait(process, url, self.given.start_seconds)
            result["start seconds"] = round(time.monotonic() - start)
            if result["started"]:
                self._ask(url, result)
        finally:
            server.stop(process)
        said = log.read_text(errors="replace")
        result["refused for EAGLE-3"] = REFUSAL in said
        result["compiled"] = bool(re.search(r"torch\.compile took|Compiling a graph|compile range", said))
        result["graphs"] = sorted(set(re.findall(r"Capturing CUDA graphs \([^)]*\)", said)))
        if not result["started"]:
            result["errors"] = re.findall(r"^.*\b\w*(?:Error|Exception): .*$", said, re.MULTILINE)[-3:]

    def _ask(self, url: str, result: Result) -> None:
        texts = server.ask(url)
        counted = server.get(url + "/metrics")
        result["texts"] = texts
        result["texts right"] = texts == [circle(prompt) for prompt in server.PROMPTS]
        result["drafted"], result["accepted"] = server.count(counted, "draft"), server.count(counted, "accepted")
        pattern = r'^vllm:spec_decode_num_accepted_tokens_per_pos_total\{.*position="\d+".*\} (\S+)$'
        result["by position"] = [int(float(one)) for one in re.findall(pattern, counted, re.MULTILINE)]

    def save(self) -> None:
        about = {key: self.engine[key] for key in ("gpu", "capability", "versions")}
        about["began"] = self.began.isoformat(timespec="seconds")
        (self.out / "results.json").write_text(json.dumps({**about, "results": self.results}, indent=1))
        (self.out / "table.md").write_text(self.table())

    def table(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.engine["versions"].items())
        lines = [f"{self.began:%Y-%m-%d}, {self.engine['gpu']} ({self.engine['capability']}): {versions}.", ""]
        lines += [
            "| architecture | engine | result | accepted / drafted | by position |",
            "| --- | --- | --- | --- | --- |",
        ]
        for one in sorted(self.results, key=lambda item: (item["architecture"], item["how"])):
            accepted = f"{one['accepted']} / {one['drafted']}" if "drafted" in one else ""
            places = " / ".join(map(str, one.get("by position", [])))
            cells = (one["architecture"], one["how"], verdict(one), accepted, places)
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"


def verdict(one: Result) -> str:
    if one.get("started"):
        return "served, right text" if one["texts right"] else "served, wrong text"
    if one.get("refused for EAGLE-3"):
        return "refused: " + REFUSAL
    said = one.get("error") or next(iter(one.get("errors", [])), "see the log")
    return "not started: " + re.sub(r"^\(.*?\] ", "", said)[:160].replace("\n", " ")


def as_wanted(one: Result) -> bool:
    """What this collection promises of such a run."""
    if one["how"] == RELEASED:
        # Not always in the same words: some models fail before the engine asks for support. The patched server of the
        # same checkpoint has to start, so the patch is what makes the difference.
        return one.get("started") is False
    if not one.get("started") or not one["texts right"] or not one["drafted"] or "error" in one:
        return False
    if one["how"] == PATCHED:
        module = one["module"]
        kept = module["changed"] and not module["second run changed"] and module["as released again"]
        return bool(kept and one["accepted"] == one["drafted"])
    return bool(one["accepted"] == 0)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="interpreter of the environment that has vLLM")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu" / "run", help="folder for results and logs")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=CHOSEN, metavar="ARCHITECTURE")
    parser.add_argument("--planted", nargs="*", choices=SHAPES, default=MISTAKEN, metavar="ARCHITECTURE")
    parser.add_argument("--jobs", type=int, default=2, help="servers side by side")
    parser.add_argument("--start-seconds", type=int, default=600, help="how long a server may take to start")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="environment variables of servers")
    parser.add_argument(
        "--serve",
        default="--dtype bfloat16 --gpu-memory-utilization 0.04 --kv-cache-memory-bytes 268435456",
        help="options of the servers; default: %(default)s",
    )
    return parser.parse_args()


def main() -> int:
    given = arguments()
    os.environ.pop("PYTHONPATH", None)
    run = Run(given)
    run.checkpoints(list(dict.fromkeys([*given.shapes, *given.planted])))
    tasks = [(name, PATCHED) for name in given.shapes]
    tasks += [(name, mistake) for name in given.planted for mistake in PLANTS]
    tasks += [(name, RELEASED) for name in given.shapes]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for done in [pool.submit(run.one, *task) for task in tasks]:
            done.result()
    run.save()
    print(run.table())
    wrong = [f"{one['architecture']} {one['how']}" for one in run.results if not as_wanted(one)]
    print(f"{len(run.results) - len(wrong)} of {len(run.results)} as they should be", *wrong, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
