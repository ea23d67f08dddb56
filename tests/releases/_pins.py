# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The releases that tests may ask for, and the digests of their archives."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from ._errors import ReleaseError

PINS = Path(__file__).with_name("releases.toml")
FIELDS = ("name", "version", "package", "file", "sha256", "record_sha256")


@dataclass(frozen=True)
class Release:
    """One archive on the package index.

    ``sha256`` is the digest of the whole archive. Where that is empty, ``record_sha256`` is the digest of the RECORD
    inside a wheel that is too large to fetch whole: the kept files are then checked one by one against that RECORD.
    """

    name: str
    version: str
    package: str
    file: str
    sha256: str = ""
    record_sha256: str = ""
    on_request: bool = False

    def __str__(self) -> str:
        return f"{self.name}=={self.version}"

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"

    @property
    def dist_info(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}.dist-info"


def pinned() -> list[Release]:
    """Every release of the pin file, in its order."""
    with PINS.open("rb") as stream:
        return [Release(**entry) for entry in tomllib.load(stream)["releases"]]


def find(name: str, version: str) -> Release:
    """The pinned release, or a ReleaseError that names the versions there are."""
    known = pinned()
    for release in known:
        if (release.name, release.version) == (name, version):
            return release
    versions = " ".join(release.version for release in known if release.name == name)
    raise ReleaseError(
        f"{name}=={version} is not in {PINS.name}"
        + (f" (there: {versions})" if versions else "")
        + f"; add it with: scripts/releases pin {name}=={version}"
    )


def save(releases: list[Release]) -> None:
    """Rewrite the pin file, keeping the comment at its top."""
    lines = []
    for line in PINS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        lines.append(line)
    lines += ["", "releases = ["]
    for release in releases:
        pairs = [f'{field} = "{getattr(release, field)}"' for field in FIELDS if getattr(release, field)]
        if release.on_request:
            pairs.append("on_request = true")
        lines.append("  { " + ", ".join(pairs) + " },")
    lines.append("]")
    PINS.write_text("\n".join(lines) + "\n", encoding="utf-8")


__all__ = ("PINS", "Release", "find", "pinned", "save")
