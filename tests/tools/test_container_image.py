# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe of the test hosts' image: where its packages come from, and when it is made again."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "container_image.py"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("container_image", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


container_image = load()

MIRROR = "Packages|Debian|bookworm|http://mirror.example/debian|bookworm|main"
UPDATES = "Packages|Debian|bookworm-updates|http://mirror.example/debian|bookworm-updates|main"
SECURITY = "Packages|Debian|bookworm-security|http://mirror.example/security|bookworm-security|main"
TRANSLATION = "Translations|Debian|bookworm|http://mirror.example/debian|bookworm|main"
TRIXIE = "Packages|Debian|trixie|http://mirror.example/debian|trixie|main"
OTHER = "Packages|Someone|bookworm|http://packages.example/apt|bookworm|main"
DEFAULT = ["deb http://deb.debian.org/debian bookworm main"]


@pytest.mark.parametrize(
    ("indexes", "entries"),
    [
        pytest.param([], DEFAULT, id="no apt"),
        pytest.param([TRIXIE], DEFAULT, id="another release"),
        pytest.param([OTHER], DEFAULT, id="a vendor's packages only"),
        pytest.param([UPDATES, SECURITY], DEFAULT, id="updates without a base"),
        pytest.param([MIRROR], ["deb http://mirror.example/debian bookworm main"], id="a mirror"),
        pytest.param(
            [OTHER, MIRROR, TRANSLATION, UPDATES, SECURITY, MIRROR],
            [
                "deb http://mirror.example/debian bookworm main",
                "deb http://mirror.example/debian bookworm-updates main",
                "deb http://mirror.example/security bookworm-security main",
            ],
            id="a whole machine",
        ),
    ],
)
def test_sources(indexes: list[str], entries: list[str]) -> None:
    assert container_image.sources(indexes) == entries


def test_digest_follows_the_recipe(tmp_path: Path) -> None:
    recipe = tmp_path / "image"
    shutil.copytree(container_image.RECIPE, recipe)
    first = container_image.digest(recipe)
    assert first == container_image.digest()
    (recipe / "packages.txt").write_text("zsh\n")
    assert container_image.digest(recipe) != first


def test_packages() -> None:
    names = container_image.packages()
    # python3-minimal lacks shutil, which Ansible's modules import.
    assert {"systemd-sysv", "openssh-server", "zsh", "python3", "python3-venv"} <= set(names)
    assert names == sorted(names)


def test_bootstrap_command(tmp_path: Path) -> None:
    command = container_image.bootstrap_command(container_image.RECIPE, DEFAULT, tmp_path / "proxies.conf")
    assert command[0] == "mmdebstrap"
    assert command[-3:] == ["bookworm", "-", DEFAULT[0]]
    assert f"--aptopt={tmp_path / 'proxies.conf'}" in command
    assert "--aptopt" not in " ".join(container_image.bootstrap_command(container_image.RECIPE, DEFAULT, None))
