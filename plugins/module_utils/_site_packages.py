# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Find an import package the way the target's interpreter would, without starting it or importing anything.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import base64
import hashlib
import os
import typing as t
import zipfile

from ansible_collections.specdec.blackwell.plugins.module_utils._distributions import (
    Distribution,
    editable_owner,
    owner,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._editables import Finder, finder_of, pth_lines
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe, venv_prefix


class NotInstalled(SpecdecError):
    """The interpreter would not find the package at all."""


class Package:
    """An import package. ``root`` is the folder that ``file`` paths are relative to; ``record`` has RECORD's digests.

    ``links`` names the symbolic links on the way from an import folder to the package, ``notes`` what else is odd.
    """

    def __init__(self, name: str, root: str, found_in: str, distribution: Distribution | None, editable: bool) -> None:
        self.name = name
        self.root = root
        folder = os.path.join(root, name)
        self.directory = folder if os.path.isdir(folder) else root
        self.distribution = None if distribution is None else distribution.name
        self.version = None if distribution is None else distribution.version
        self.editable = editable
        self.record: dict[str, str | None] = {} if distribution is None else distribution.record
        places = dict.fromkeys([found_in, root, self.directory])
        self.links = [f"{place} -> {os.path.realpath(place)}" for place in places if os.path.islink(place)]
        self.notes: list[str] = []


class _Entry:
    """One sys.path entry; ``link`` is the .pth file that added it."""

    def __init__(self, folder: str, site: str, link: str | None) -> None:
        self.folder = folder
        self.site = site
        self.link = link


def find_package(env: Environment, name: str) -> Package:
    """The package that ``import name`` would load in ``env``.

    Raises NotInstalled, BadInput on a name that is no top-level package, and Refused where the package cannot be
    edited: inside a zip, without sources, an empty leftover directory, owned by two distributions.
    """
    if not name.isidentifier():
        raise BadInput(f"'package' is a top-level import package such as vllm, not {name!r}", package=name)
    entries, finders = _entries(env)
    hits: list[_Entry] = []
    leftovers: list[str] = []
    for entry in entries:
        kind = _look(entry.folder, name)
        if kind == "package":
            hits.append(entry)
        elif kind == "leftover":
            leftovers.append(os.path.join(entry.folder, name))
        elif kind is not None and not hits:
            raise Refused(f"the package {name!r} cannot be edited: {kind}", package=name, python=env.python)
    if hits:
        package = _installed(env, hits[0], name)
        others = [os.path.join(entry.folder, name) for entry in hits[1:]]
        package.notes += [f"{other} is another copy of {name}, shadowed by {package.directory}" for other in others]
        package.notes += [f"{place} has no __init__.py: a leftover of an uninstall" for place in leftovers]
        return package
    if leftovers:
        raise Refused(
            f"{leftovers[0]} has no __init__.py: it is what an uninstall left behind, and 'import {name}' gives an "
            f"empty namespace package. Remove that folder and install {name} again.",
            package=name,
            python=env.python,
            path=leftovers[0],
        )
    return _through_finder(env, finders, name)


def _entries(env: Environment) -> tuple[list[_Entry], list[Finder]]:
    entries: list[_Entry] = []
    finders: list[Finder] = []
    for site in env.site_packages:
        entries.append(_Entry(site, site, None))
        for name in sorted(item for item in _names(site) if item.endswith(".pth")):
            path = os.path.join(site, name)
            for line in pth_lines(path):
                if line.startswith(("import ", "import\t")):
                    finder = finder_of(site, line)
                    if finder is not None:
                        finders.append(finder)
                    continue
                folder = os.path.abspath(os.path.join(site, line))
                if os.path.exists(folder):
                    entries.append(_Entry(folder, site, path))
    unique: dict[str, _Entry] = {}
    for entry in entries:
        unique.setdefault(os.path.realpath(entry.folder), entry)
    return list(unique.values()), finders


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _look(folder: str, name: str) -> str | None:
    """``package``, ``leftover``, None for nothing, else why what stands there cannot be edited."""
    if os.path.isfile(folder):
        return f"{folder} is a zip archive; install it unpacked" if _in_zip(folder, name) else None
    place = os.path.join(folder, name)
    if os.path.isdir(place):
        if os.path.isfile(os.path.join(place, "__init__.py")):
            return "package"
        inside = _names(place)
        if "__init__.pyc" in inside:
            return f"{place} has bytecode only (__init__.pyc), no source; install a release with its sources"
        if any(item.startswith("__init__.") and item.endswith(".so") for item in inside):
            return f"{place} is compiled (__init__ is an extension module)"
        if not os.path.isfile(place + ".py"):
            return "leftover"
    if os.path.isfile(place + ".py"):
        return "package"
    if os.path.isfile(place + ".pyc"):
        return f"{place}.pyc is bytecode without its source; install a release with its sources"
    return None


def _in_zip(path: str, name: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return any(item.startswith((name + "/", name + ".py")) for item in archive.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


def _installed(env: Environment, entry: _Entry, name: str) -> Package:
    if entry.link is None:
        return Package(name, entry.folder, entry.site, owner(entry.folder, name), False)
    # A .pth entry may be another site-packages folder, with metadata of its own, or somebody's source tree.
    distribution = owner(entry.folder, name)
    if distribution is not None and distribution.record:
        return Package(name, entry.folder, entry.site, distribution, False)
    found = editable_owner(env.site_packages, name, os.path.join(entry.folder, name), entry.link)
    return Package(name, entry.folder, entry.site, found or distribution, True)


def _through_finder(env: Environment, finders: t.Sequence[Finder], name: str) -> Package:
    for finder in finders:
        place = finder.mapping.get(name)
        if place is None:
            continue
        if not os.path.exists(os.path.join(place, "__init__.py")):
            raise Refused(
                f"{finder.path} says that {name} is in {place}, but there is no {name}/__init__.py: the source tree of "
                "the editable install has moved. Install it again from where it is now.",
                package=name,
                python=env.python,
            )
        if os.path.basename(place) != name:
            raise Refused(
                f"{finder.path} maps {name} to a folder of another name, {place}; its files cannot be named as "
                f"{name}/... Install it in the usual way.",
                package=name,
                python=env.python,
            )
        site = os.path.dirname(finder.path)
        found = editable_owner(env.site_packages, name, place, finder.path)
        return Package(name, os.path.dirname(place), site, found, True)
    unread = [finder.path for finder in finders if not finder.known]
    hint = f" (editable finders that could not be read: {', '.join(unread)})" if unread else ""
    folders = ", ".join(env.site_packages) or "no folder at all"
    raise NotInstalled(
        f"{env.python} has no package {name!r}: looked in {folders}{hint}. Install it there, or correct 'python'.",
        package=name,
        python=env.python,
    )


def record_digest_matches(package: Package, path: str, data: bytes) -> bool | None:
    """Whether ``data`` is what RECORD lists for ``path`` (relative to ``package.root``); None if it does not say."""
    wanted = package.record.get(path)
    if wanted is None:
        return None
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode("ascii")
    return digest == wanted.rstrip("=")


__all__ = (
    "Environment",
    "NotInstalled",
    "Package",
    "find_package",
    "probe",
    "record_digest_matches",
    "venv_prefix",
)
