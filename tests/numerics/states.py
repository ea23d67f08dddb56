# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the engine in process, as released, patched, and patched wrongly; and transformers on the same weights."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from corpus.patching import Patched, merged, survey

from . import plant
from .cases import APART, CASES
from .engine import Copy, Engine

WORKER = Path(__file__).parent / "worker"
MODEL_SECONDS = 300
Answer = dict[str, Any]
ORIGINAL, PATCHED = "original", "patched"
VARIANTS = (ORIGINAL, PATCHED, *plant.PLANTS)


class States:
    """The answers of one run, by architecture and variant."""

    def __init__(self, engine: Engine, folder: Path, architectures: list[str]) -> None:
        self.engine, self.folder = engine, folder
        self.cases = {name: dict(CASES[name]) for name in architectures}
        self.derived: dict[str, Answer] = {}
        self.answers: dict[str, dict[str, Answer]] = {name: {} for name in architectures}
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def run(self) -> None:
        original = self.engine.copy(self.folder / ORIGINAL)
        self._reference(original)
        self._derive(original)
        self._capture(original, ORIGINAL)
        self.cases = {name: case for name, case in self.cases.items() if name not in APART}
        wanted = [name for name in self.cases if "error" not in self.answers[name][ORIGINAL]]
        edits = {name: self.derived[name]["edits"] for name in wanted}
        copies = {PATCHED: self.engine.copy(self.folder / PATCHED)}
        texts = {text for name in wanted for text in self.cases[name]["texts"]}
        self.module = copies[PATCHED].module("eagle3_patch", architectures=sorted({*wanted, *texts}))
        for name, change in ((plant.RESIDUAL, plant.without_residual), (plant.SHIFT, plant.off_by_one)):
            copies[name] = self.engine.copy(self.folder / name)
            self._write(copies[name], [change(one) for one in edits.values()])
        mixin = copies[plant.RESIDUAL].site / plant.INTERFACES
        mixin.write_text(plant.mixin_without_residual(mixin.read_text()))
        for name, copy in copies.items():
            self._capture(copy, name)

    def _write(self, copy: Copy, edits: list[list[Answer]]) -> None:
        tree = Patched(copy.site)
        tree.apply(merged(edits))
        for name, data in tree.contents.items():
            (copy.site / name).write_bytes(data)

    def _reference(self, copy: Copy) -> None:
        for name, answer in self._work(copy, "reference.py", self.cases).items():
            self.answers[name]["reference"] = answer
            if "error" in answer:
                self.answers[name][ORIGINAL] = {"error": "transformers: " + answer["error"]}
            else:
                self.cases[name]["prompt"] = answer["prompt"]

    def _derive(self, copy: Copy) -> None:
        for name in self.cases:
            config = self.folder / name / "config.json"
            given = json.loads(config.read_text()) if config.exists() else None
            found = survey(copy.site, [name], model_config=given)[name]
            self.derived[name] = found
            self.cases[name]["texts"] = [*found["text_architectures"], *self.cases[name].get("also", ())]
            for text in self.cases[name].get("also", ()):
                found["edits"] = merged([found["edits"], survey(copy.site, [text])[text]["edits"]])

    def _capture(self, copy: Copy, variant: str) -> None:
        ready = {name: case for name, case in self.cases.items() if "error" not in self.answers[name].get(ORIGINAL, {})}
        for name, answer in self._work(copy, "capture.py", ready, capture=variant != ORIGINAL).items():
            self.answers[name][variant] = answer

    def _work(self, copy: Copy, script: str, cases: dict[str, Answer], **keys: Any) -> dict[str, Answer]:
        """Answers of a worker; when it dies in one case, another goes on after that."""
        answers: dict[str, Answer] = {}
        left = dict(cases)
        while left:
            request, result = self.folder / "request.json", self.folder / "answer.jsonl"
            request.write_text(json.dumps({"folder": str(self.folder), "cases": left, **keys}))
            result.write_text("")
            log = self.folder / f"{copy.python.parents[1].name}-{script}.log"
            with log.open("a") as stream:
                command = [str(copy.python), "-W", "ignore", str(WORKER / script), str(request), str(result)]
                limit = 120 + MODEL_SECONDS * len(left)
                done = subprocess.run(
                    command, stdout=stream, stderr=stream, env=copy.environment(), timeout=limit, check=False
                )
            for line in result.read_text().splitlines():
                answer = json.loads(line)
                answers[answer.pop("architecture")] = answer
            left = {name: case for name, case in cases.items() if name not in answers}
            if left:
                assert answers or done.returncode < 0, f"{script} did not start: see {log}"
                name = next(iter(left))
                answers[name] = {"error": f"the process ended with {done.returncode}"}
                del left[name]
        return answers

    def save(self, path: Path) -> None:
        """Results, to those of earlier runs."""
        known = json.loads(path.read_text()) if path.exists() else {}
        for name, answers in self.answers.items():
            short = {
                variant: {key: value for key, value in answer.items() if key != "trace"}
                for variant, answer in answers.items()
            }
            item = self.derived[name]
            known[name] = {"shape": item["shape"], "file": item["file"], "answers": short}
        path.parent.mkdir(parents=True, exist_ok=True)
        making = path.with_suffix(f".{os.getpid()}")
        making.write_text(json.dumps(known, indent=1, sort_keys=True))
        making.replace(path)


__all__ = ("ORIGINAL", "PATCHED", "VARIANTS", "States")
