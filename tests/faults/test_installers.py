# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What real installers do to a patched environment, and what a patch does to what they share.

uv links the files of all its venvs to one cache; build backends have several ways to make an install editable. The
names of releases here are those of packages made on the spot.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import typing as t
import zipfile

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import probe
from ansible_collections.specdec.blackwell.plugins.module_utils._patch_status import status
from ansible_collections.specdec.blackwell.plugins.module_utils._patchset import PatchRequest, PatchResult, apply
from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import find_package
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import (
    EDITS,
    FILES,
    MODEL,
    MODEL_FILE,
    snapshot,
)


def uv_command() -> list[str]:
    beside = pathlib.Path(sys.executable).with_name("uv")
    found = str(beside) if beside.exists() else shutil.which("uv")
    assert found is not None, "these tests need uv: pip install uv"
    return [found]


class Uv:
    """uv with a cache of its own, which links and does not copy."""

    def __init__(self, root: pathlib.Path) -> None:
        self.cache = root / "cache"

    def __call__(self, *arguments: str) -> str:
        variables = {**os.environ, "UV_CACHE_DIR": str(self.cache), "UV_LINK_MODE": "hardlink"}
        run = subprocess.run(
            [*uv_command(), *arguments],
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        output = run.stdout.decode()
        assert run.returncode == 0, output
        return output

    def venv(self, place: pathlib.Path) -> str:
        self("venv", "--quiet", "--python", sys.executable, str(place))
        return str(place / "bin" / "python")

    def pip(self, verb: str, python: str, *arguments: str) -> str:
        return self("pip", verb, "--python", python, *arguments)


@pytest.fixture
def uv(tmp_path: pathlib.Path) -> Uv:
    return Uv(tmp_path)


def wheel(folder: pathlib.Path, version: str, files: t.Mapping[str, bytes] | None = None) -> str:
    files = FILES if files is None else files
    path = folder / f"engine-{version}-py3-none-any.whl"
    info = f"engine-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: engine\nVersion: {version}\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: by-hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        lines = [f"{name},," for name in [*files, f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"]]
        archive.writestr(f"{info}/RECORD", "\n".join(lines) + "\n")
    return str(path)


def patch(python: str, **keys: t.Any) -> PatchResult:
    given: dict[str, t.Any] = {"name": "draft", "python": python, "package": "engine", "edits": EDITS, **keys}
    return apply(PatchRequest(**given), check_mode=False)


def model(python: str) -> pathlib.Path:
    return pathlib.Path(find_package(probe(python), "engine").root) / MODEL_FILE


def states(python: str) -> list[str]:
    return [found["state"] for found in status(python=python)["patches"]]


def test_uv_shares_inodes_and_a_patch_does_not(uv: Uv, tmp_path: pathlib.Path) -> None:
    built = wheel(tmp_path, "1.0")
    first, second = uv.venv(tmp_path / "first"), uv.venv(tmp_path / "second")
    for python in (first, second):
        uv.pip("install", python, built)
    assert os.stat(model(first)).st_ino == os.stat(model(second)).st_ino
    assert os.stat(model(first)).st_nlink == 3
    others = {path: item for path, item in snapshot(tmp_path).items() if not path.startswith(str(tmp_path / "first"))}
    kept = {path: (item[0], item[3], item[5]) for path, item in others.items()}

    result = patch(first)
    assert [item["hard_links"] for item in result.files] == [3, 3]
    assert b"SupportsDraft" in model(first).read_bytes()
    assert model(second).read_bytes() == MODEL
    now = {path: item for path, item in snapshot(tmp_path).items() if path in others}
    assert {path: (item[0], item[3], item[5]) for path, item in now.items()} == kept

    # Nor does it come back into a new venv, or into this one after a reinstall.
    third = uv.venv(tmp_path / "third")
    uv.pip("install", third, built)
    assert model(third).read_bytes() == MODEL
    uv.pip("uninstall", first, "engine")
    assert states(first) == ["gone"]
    uv.pip("install", first, built)
    assert model(first).read_bytes() == MODEL
    assert states(first) == ["gone"]
    assert patch(first).changed
    assert patch(first, state="absent").changed
    assert model(first).read_bytes() == MODEL


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_an_upgrade_and_an_uninstall_of_a_patched_engine(uv: Uv, tmp_path: pathlib.Path, installer: str) -> None:
    python = uv.venv(tmp_path / "venv")
    if installer == "pip":
        uv.pip("install", python, "pip")

    def install(verb: str, *arguments: str) -> None:
        if installer == "uv":
            uv.pip(verb, python, *arguments)
        else:
            answer = ["-y"] if verb == "uninstall" else ["--no-index"]
            subprocess.run(
                [python, "-m", "pip", "-q", verb, *answer, *arguments], check=True, stderr=subprocess.DEVNULL
            )

    install("install", wheel(tmp_path, "1.0"))
    assert patch(python).changed
    upgraded = {**FILES, MODEL_FILE: MODEL.replace(b"return x", b"return 2 * x")}
    install("install", "--upgrade", wheel(tmp_path, "2.0", upgraded))
    assert states(python) == ["gone"]
    result = patch(python)
    assert (result.changed, result.version) == (True, "2.0")
    assert b"return 2 * x" in model(python).read_bytes()

    package = model(python).parent
    install("uninstall", "engine")
    # A backup in the package would have left an empty namespace package behind.
    assert not package.exists()
    run = subprocess.run([python, "-c", "import engine"], stderr=subprocess.PIPE, check=False)
    assert b"No module named 'engine'" in run.stderr
    assert states(python) == ["gone"]
    assert not patch(python, state="absent").changed
    assert states(python) == []


class Project(t.NamedTuple):
    """Where the package is in the project, what builds it, and what that has to be told."""

    place: str
    requires: str
    backend: str
    settings: str


SETUPTOOLS = ("setuptools>=64", "setuptools.build_meta")
HATCH = ("hatchling", "hatchling.build")
HATCH_FILES = '[tool.hatch.build.targets.wheel]\npackages = ["src/engine"]\n'
ELSEWHERE = '[tool.setuptools]\npackages = ["engine"]\npackage-dir = {"engine" = "lib/code/engine"}\n'
PROJECTS = {
    "setuptools-src": Project("src/engine", *SETUPTOOLS, ""),
    "setuptools-flat": Project("engine", *SETUPTOOLS, '[tool.setuptools]\npackages = ["engine"]\n'),
    "setuptools-elsewhere": Project("lib/code/engine", *SETUPTOOLS, ELSEWHERE),
    "hatch": Project("src/engine", *HATCH, HATCH_FILES),
    "hatch-exact": Project("src/engine", *HATCH, HATCH_FILES + "[tool.hatch.build]\ndev-mode-exact = true\n"),
    "flit": Project("src/engine", "flit_core>=3.9", "flit_core.buildapi", '[tool.flit.module]\nname = "engine"\n'),
    "pdm": Project("src/engine", "pdm-backend", "pdm.backend", ""),
    "uv": Project("src/engine", "uv_build", "uv_build", '[tool.uv.build-backend]\nmodule-name = "engine"\n'),
}


@pytest.mark.parametrize("kind", PROJECTS)
def test_an_editable_install(uv: Uv, tmp_path: pathlib.Path, kind: str) -> None:
    """Found where the interpreter finds it, owned by the right distribution, patched and given back."""
    place, requires, backend, settings = PROJECTS[kind]
    project = tmp_path / "project"
    for path, data in FILES.items():
        file = project / place / pathlib.PurePath(path).relative_to("engine")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (project / "pyproject.toml").write_text(
        f'[build-system]\nrequires = ["{requires}"]\nbuild-backend = "{backend}"\n'
        f'[project]\nname = "engine-dist"\nversion = "3.2.1"\ndescription = "x"\n{settings}'
    )
    python = uv.venv(tmp_path / "venv")
    # uv reads the dependencies from pyproject.toml, where hatch's own is not.
    uv.pip("install", python, "-e", str(project), *(["editables"] if kind == "hatch-exact" else []))
    imported = (
        subprocess.check_output([python, "-I", "-c", "import engine; print(engine.__path__[0])"]).decode().strip()
    )
    package = find_package(probe(python), "engine")
    assert package.directory == imported == str(project / place)
    assert (package.editable, package.distribution, package.version) == (True, "engine-dist", "3.2.1")
    assert patch(python, version=">=3,<4").changed
    assert b"SupportsDraft" in (project / place / "model.py").read_bytes()
    assert not patch(python).changed
    assert patch(python, state="absent").changed
    assert (project / place / "model.py").read_bytes() == MODEL
