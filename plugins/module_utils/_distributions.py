# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which installed distribution owns an import package, and what its RECORD says.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import csv
import json
import os
import re
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused


class Distribution:
    """An installed distribution. ``record`` maps this package's paths to RECORD's sha256 (urlsafe base64)."""

    def __init__(self, path: str, name: str, version: str, record: dict[str, str | None]) -> None:
        self.path = path
        self.name = name
        self.version = version
        self.record = record


def owner(folder: str, package: str) -> Distribution | None:
    """The distribution in ``folder`` whose files make up ``package``; Refused where two claim it."""
    claims: list[tuple[int, Distribution]] = []
    for path in _metadata_folders(folder):
        claim = _claim(path, package)
        if claim is not None:
            claims.append(claim)
    return _one(claims, package)


def editable_owner(folders: t.Iterable[str], package: str, source: str, link: str | None) -> Distribution | None:
    """The distribution whose editable install brings ``package``, whose files are in ``source``.

    ``link`` is the .pth or finder file in one of ``folders`` that led there: its distribution lists it in RECORD.
    """
    claims: list[tuple[int, Distribution]] = []
    for folder in folders:
        for path in _metadata_folders(folder):
            record = _read(os.path.join(path, "RECORD"))
            listed = link is not None and os.path.dirname(link) == folder
            if listed and record is not None and _lists(record, os.path.basename(str(link))):
                claims.append((0, _distribution(path, {})))
            elif _comes_from(path, source):
                claims.append((1, _distribution(path, {})))
    if not claims:
        for path in _metadata_folders(os.path.dirname(source)):
            if package in _top_level(path):
                claims.append((2, _distribution(path, {})))
    return _one(claims, package)


def _one(claims: list[tuple[int, Distribution]], package: str) -> Distribution | None:
    if not claims:
        return None
    best = min(rank for rank, _found in claims)
    found = [distribution for rank, distribution in claims if rank == best]
    if len(found) > 1:
        names = ", ".join(f"{item.name} {item.version} ({item.path})" for item in found)
        raise Refused(
            f"more than one distribution owns the package {package!r}: {names}. Their files overwrite each other; "
            "uninstall all of them and install the one you want.",
            package=package,
            distributions=[item.name for item in found],
        )
    return found[0]


def _metadata_folders(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith((".dist-info", ".egg-info"))]


def _claim(path: str, package: str) -> tuple[int, Distribution] | None:
    """How well a distribution claims the package (0 is best), with the distribution."""
    data = _read(os.path.join(path, "RECORD"))
    if data is not None:
        if not _mentions(data, package):
            return None
        record = _entries(data, package)
        if f"{package}/__init__.py" in record or f"{package}.py" in record:
            return 0, _distribution(path, record)
        # Plugins put single files into another's package: they own it only if nobody has its __init__.py.
        return (3, _distribution(path, record)) if record else None
    if package in _top_level(path):
        return 1, _distribution(path, {})
    if _normal(os.path.basename(path).split("-")[0]) == _normal(package):
        return 2, _distribution(path, {})
    return None


def _mentions(record: bytes, package: str) -> bool:
    name = package.encode("utf-8")
    return record.startswith((name + b"/", name + b".py,")) or b"\n" + name in record or b'"' + name in record


def _lists(record: bytes, name: str) -> bool:
    raw = name.encode("utf-8")
    return record.startswith((raw + b",", b'"' + raw)) or b"\n" + raw + b"," in record or b'\n"' + raw in record


def _entries(data: bytes, package: str) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    prefix, single = package + "/", package + ".py"
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    for row in csv.reader(line for line in lines if line.lstrip('"').startswith((prefix, single))):
        if len(row) >= 2:
            algorithm, _equals, digest = row[1].partition("=")
            found[row[0]] = digest if algorithm == "sha256" else None
    return found


def _distribution(path: str, record: dict[str, str | None]) -> Distribution:
    name, version = "", ""
    for candidate in ("METADATA", "PKG-INFO", ""):
        data = _read(os.path.join(path, candidate) if candidate else path)
        if data is None:
            continue
        for line in data.decode("utf-8", "replace").splitlines():
            if not line.strip():
                break
            key, _colon, value = line.partition(":")
            if key.lower() == "name":
                name = value.strip()
            elif key.lower() == "version":
                version = value.strip()
        break
    if not name or not version:
        stem = os.path.basename(path).rpartition(".")[0].split("-")
        name = name or stem[0]
        version = version or (stem[1] if len(stem) > 1 else "")
    return Distribution(path, name, version, record)


def _top_level(path: str) -> list[str]:
    data = _read(os.path.join(path, "top_level.txt"))
    return [] if data is None else data.decode("utf-8", "replace").split()


def _comes_from(path: str, source: str) -> bool:
    data = _read(os.path.join(path, "direct_url.json"))
    if data is None:
        return False
    import urllib.parse

    try:
        origin = json.loads(data.decode("utf-8"))
    except ValueError:
        return False
    url = urllib.parse.urlsplit(str(origin.get("url", ""))) if isinstance(origin, dict) else None
    if url is None or url.scheme != "file":
        return False
    project = os.path.realpath(urllib.parse.unquote(url.path))
    return os.path.realpath(source).startswith(project + os.sep)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return None


__all__ = ("Distribution", "editable_owner", "owner")
