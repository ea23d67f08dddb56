# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read the Python files of one import package out of a source archive or a wheel."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import posixpath
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ._errors import ReleaseError
from ._pins import Release

KEPT = (".py", ".pyi")
WHEEL_TEXT = "Wheel-Version: 1.0\nGenerator: specdec.blackwell releases\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def kept(path: str, package: str) -> bool:
    """Whether a file of the import package is of use without its compiled parts."""
    return path.startswith(f"{package}/") and (path.endswith(KEPT) or posixpath.basename(path) == "py.typed")


def record_hash(data: bytes) -> str:
    """A digest the way RECORD files write it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def from_sdist(release: Release, archive: Path) -> dict[str, bytes]:
    """path -> bytes, with the dist-info that an installer would have made (RECORD comes later)."""
    files: dict[str, bytes] = {}
    info = release.dist_info
    with tarfile.open(archive, "r:*") as tar:
        for member in tar:
            path = member.name.removeprefix("./").partition("/")[2]
            if not member.isfile() or not path or ".." in path.split("/"):
                continue
            if kept(path, release.package):
                target = path
            elif path == "PKG-INFO":
                target = f"{info}/METADATA"
            elif path.split("/")[0].endswith(".egg-info") and posixpath.basename(path) in (
                "entry_points.txt",
                "top_level.txt",
            ):
                target = f"{info}/{posixpath.basename(path)}"
            else:
                continue
            stream = tar.extractfile(member)
            assert stream is not None
            files[target] = stream.read()
    files[f"{info}/WHEEL"] = WHEEL_TEXT.encode()
    return files


def from_wheel(release: Release, stream: BinaryIO | Path) -> dict[str, bytes]:
    """path -> bytes; every file is checked against the wheel's own RECORD."""
    with zipfile.ZipFile(stream) as wheel:
        record_data = wheel.read(f"{release.dist_info}/RECORD")
        if release.record_sha256 and hashlib.sha256(record_data).hexdigest() != release.record_sha256:
            raise ReleaseError(f"{release.file}: its RECORD is not the one named in releases.toml")
        record = {row[0]: row[1] for row in csv.reader(io.StringIO(record_data.decode())) if row}
        files: dict[str, bytes] = {}
        for path in wanted(release, wheel.namelist()):
            data = wheel.read(path)
            if record_hash(data) != record.get(path):
                raise ReleaseError(f"{release.file}: {path} differs from the wheel's own RECORD")
            files[path] = data
    return files


def wanted(release: Release, names: Iterable[str]) -> list[str]:
    """The members of a wheel that a tree keeps; RECORD is written anew."""
    info = f"{release.dist_info}/"
    return [
        name
        for name in names
        if ".." not in name.split("/")
        and not name.endswith("/")
        and (kept(name, release.package) or (name.startswith(info) and name != f"{info}RECORD"))
    ]


def write_tree(release: Release, files: dict[str, bytes], folder: Path) -> None:
    """Write the files and a true RECORD below folder, which must not exist."""
    info = release.dist_info
    if f"{release.package}/__init__.py" not in files or f"{info}/METADATA" not in files:
        raise ReleaseError(f"{release.file} holds no {release.package}/__init__.py or no metadata")
    files = {**files, f"{info}/INSTALLER": b"pip\n"}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for path in sorted(files):
        writer.writerow((path, record_hash(files[path]), len(files[path])))
    writer.writerow((f"{info}/RECORD", "", ""))
    files[f"{info}/RECORD"] = out.getvalue().encode()
    made = set()
    for path, data in files.items():
        target = folder / path
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        target.write_bytes(data)
        target.chmod(0o444)


def damaged(release: Release, folder: Path) -> list[str]:
    """Paths of the tree that are missing or differ from its RECORD."""
    bad = []
    with (folder / release.dist_info / "RECORD").open(encoding="utf-8", newline="") as stream:
        for path, digest, _size in csv.reader(stream):
            try:
                if digest and record_hash((folder / path).read_bytes()) != digest:
                    bad.append(path)
            except OSError:
                bad.append(path)
    return bad


__all__ = ("damaged", "from_sdist", "from_wheel", "kept", "record_hash", "wanted", "write_tree")
