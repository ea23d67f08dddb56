# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an engine's environment was built for, read from its files: torch, CUDA, architectures, NCCL, flashinfer.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._kernel import read

_WANTED = {
    "vllm",
    "sglang",
    "speculators",
    "torch",
    "triton",
    "transformers",
    "flashinfer-python",
    "flashinfer-cubin",
    "flashinfer-jit-cache",
    "sgl-kernel",
    "sglang-kernel",
}
_NCCL = re.compile(r"^nvidia-nccl-cu\d+$")
_INFO = re.compile(r"^([A-Za-z0-9._]+)-([^-]+)\.(?:dist|egg)-info$")
_ASSIGNED = r"^{}(?::[^=\n]*)?\s*=\s*['\"]([^'\"]+)['\"]"
_CHUNK = 1 << 23
_LONGEST = 4096
# The text behind torch.cuda.get_arch_list(), and the compiler's arguments that torch keeps beside its kernels.
_LIST = re.compile(rb"(?:(?:sm|compute)_\d{2,3}[af]? ){1,40}(?:sm|compute)_\d{2,3}[af]?(?=\0)")
_ARGUMENTS = re.compile(rb"-gencode;arch=compute_\d{2,3}[af]?,code=[\w,\[\];=-]{1,2000}")
_MARKS = ((b"-gencode;arch=compute_", _ARGUMENTS), (b"sm_", _LIST))


def packages(folders: t.Sequence[str]) -> dict[str, str]:
    """Versions of the distributions that matter, by normalised name, out of the folders' names alone."""
    found: dict[str, str] = {}
    for folder in folders:
        for entry in _listed(folder):
            match = _INFO.match(entry)
            if match is None:
                continue
            name = re.sub(r"[-_.]+", "-", match.group(1)).lower()
            if name in _WANTED or _NCCL.match(name):
                found.setdefault("nccl" if _NCCL.match(name) else name, match.group(2))
    return found


def torch(folders: t.Sequence[str]) -> dict[str, t.Any] | None:
    """torch's own version and CUDA, and the architectures that it has code for; None where it is not installed.

    ``architectures`` is None where the libraries do not tell.
    """
    for folder in folders:
        home = os.path.join(folder, "torch")
        text = read(os.path.join(home, "version.py"))
        if text is None:
            continue
        version = _assigned("__version__", text)
        cuda = _assigned("cuda", text)
        return {"version": version, "cuda": cuda, "architectures": [] if cuda is None else architectures(home)}
    return None


def _assigned(name: str, text: str) -> str | None:
    found = re.search(_ASSIGNED.format(name), text, re.MULTILINE)
    return None if found is None else found.group(1)


def architectures(home: str) -> list[str] | None:
    """``['sm_90', 'sm_120']``: the targets that torch in the folder ``home`` was compiled for, as its libraries say."""
    for library in ("libtorch_cuda.so", "libtorch_python.so"):
        for mark, pattern in _MARKS if library == "libtorch_python.so" else _MARKS[:1]:
            text = _search(os.path.join(home, "lib", library), mark, pattern)
            if text is not None:
                return _targets(text)
    return None


def _targets(text: str) -> list[str]:
    if text.startswith("-gencode"):
        names = re.findall(r"(?<![\w])(?:sm|compute)_\d{2,3}[af]?", " ".join(re.findall(r"code=([^;]+)", text)))
    else:
        names = text.split()
    return list(dict.fromkeys(names))


def _search(path: str, mark: bytes, pattern: t.Pattern[bytes]) -> str | None:
    """The first match of ``pattern``, which begins with ``mark``, in a library of hundreds of megabytes."""
    try:
        with open(path, "rb", buffering=0) as stream:
            return _scan(stream, mark, pattern)
    except OSError:
        return None


def _scan(stream: t.Any, mark: bytes, pattern: t.Pattern[bytes]) -> str | None:
    rest = b""
    while True:
        data = stream.read(_CHUNK)
        buffer = rest + data
        place = buffer.find(mark)
        while place >= 0 and (place + _LONGEST <= len(buffer) or not data):
            match = pattern.match(buffer, place)
            if match is not None:
                return str(match.group().decode("ascii"))
            place = buffer.find(mark, place + 1)
        if not data:
            return None
        rest = buffer[place if place >= 0 else max(0, len(buffer) - len(mark)) :]


def has_header(folders: t.Sequence[str], name: str) -> bool:
    """Whether one of NVIDIA's wheels in the environment brings the header ``name``."""
    for folder in folders:
        vendor = os.path.join(folder, "nvidia")
        for part in _listed(vendor):
            if os.path.isfile(os.path.join(vendor, part, "include", name)):
                return True
    return False


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


__all__ = ("architectures", "has_header", "packages", "torch")
