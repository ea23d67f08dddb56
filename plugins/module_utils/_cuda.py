# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""CUDA on the host: toolkits and their compilers, libraries for forward compatibility, and the variables that steer it.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._kernel import read

_VARIABLE = re.compile(
    r"^(?:CUDA_|CUDACXX$|NCCL_|NVCC_|LD_LIBRARY_PATH$|LIBRARY_PATH$|TORCH_|FLASHINFER_|VLLM_|SGLANG_)"
)
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
_RELEASE = re.compile(r"release (\d+\.\d+)(?:, V(\d+(?:\.\d+)*))?")
_LIBRARY = re.compile(r"libcuda\.so\.(\d+(?:\.\d+)+)$")


def toolkits(root: str, extra: t.Sequence[str] = ()) -> list[dict[str, t.Any]]:
    """Toolkits in the usual places and in the folders ``extra``: each once, with version, compiler and headers."""
    local = os.path.join(root, "usr/local")
    places = [os.path.join(local, name) for name in _listed(local) if re.match(r"cuda(-\d|$)", name)]
    places += [os.path.join(root, place.lstrip("/")) for place in (*extra, "/opt/cuda", "/usr/lib/cuda")]
    found: dict[str, dict[str, t.Any]] = {}
    for place in places:
        real = os.path.realpath(place)
        if not os.path.isdir(real) or real in found:
            continue
        compiler = os.path.join(real, "bin", "nvcc")
        version = _version(real)
        has_compiler = os.path.isfile(compiler)
        if version is None and not has_compiler:
            continue
        found[real] = {
            "path": real,
            "version": version,
            "nvcc": compiler if has_compiler else None,
            "nvrtc_h": os.path.isfile(os.path.join(real, "include", "nvrtc.h")),
        }
    return sorted(found.values(), key=lambda kit: str(kit["path"]))


def _version(folder: str) -> str | None:
    try:
        described = json.loads(read(os.path.join(folder, "version.json")) or "null")
    except ValueError:
        described = None
    if isinstance(described, dict):
        version = (described.get("cuda") or {}).get("version")
        return version if isinstance(version, str) else None
    found = re.search(r"CUDA Version (\d+(?:\.\d+)+)", read(os.path.join(folder, "version.txt")) or "")
    return None if found is None else found.group(1)


def compiler_version(output: str) -> str | None:
    """The version in ``nvcc --version``: ``13.0.88``."""
    found = _RELEASE.search(output)
    return None if found is None else found.group(2) or found.group(1)


def loader_paths(output: str) -> dict[str, str]:
    """``ldconfig -p``: name of a library to the first file that the loader finds for it."""
    paths: dict[str, str] = {}
    for line in output.splitlines():
        name, arrow, path = line.partition(" => ")
        if arrow:
            paths.setdefault(name.split()[0], path.strip())
    return paths


def compat(root: str, kits: t.Sequence[t.Mapping[str, t.Any]], search: str, loader: t.Mapping[str, str]) -> list[t.Any]:
    """Folders with a libcuda of another driver, for forward compatibility, and whether a process would load it.

    ``search`` is LD_LIBRARY_PATH, ``loader`` what ldconfig knows.
    """
    places = [os.path.join(str(kit["path"]), "compat") for kit in kits]
    places.append(os.path.join(root, "usr/local/cuda/compat"))
    searched = {os.path.realpath(place) for place in search.split(":") if place}
    cached = loader.get("libcuda.so.1")
    cached_in = None if cached is None else os.path.dirname(os.path.realpath(os.path.join(root, cached.lstrip("/"))))
    found: dict[str, dict[str, t.Any]] = {}
    for place in places:
        real = os.path.realpath(place)
        versions = [match.group(1) for match in map(_LIBRARY.match, _listed(real)) if match is not None]
        if versions and real not in found:
            how = "LD_LIBRARY_PATH" if real in searched else "ldconfig" if cached_in == real else None
            found[real] = {"path": real, "driver": versions[-1], "loaded_by": how}
    return list(found.values())


def variables(root: str, environment: t.Mapping[str, str]) -> dict[str, str]:
    """Variables of this session and of /etc/environment that steer CUDA, NCCL and the engines; no secrets."""
    found: dict[str, str] = {}
    for line in (read(os.path.join(root, "etc/environment")) or "").splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            try:
                found[name] = "".join(shlex.split(value)[:1])
            except ValueError:
                found[name] = value
    found.update(environment)
    return {name: value for name, value in sorted(found.items()) if _VARIABLE.match(name) and not _SECRET.search(name)}


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


__all__ = ("compat", "compiler_version", "loader_paths", "toolkits", "variables")
