# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Caches of compiled code that do not notice an edit of the Python source they came from.

PRIVATE to the collection: it can have breaking changes at any time.

Most do notice. Triton and Inductor key on the source. vLLM's compile cache keys on the content of the traced files, its
ahead-of-time cache checks them, and its model info cache keys on the model file's digest. What is left is code that is
looked up by name.
"""

from __future__ import annotations

import os
import typing as t

# package, folder of generators in it, where the compiled code is, why it has to go
_BY_NAME = (
    (
        "flashinfer",
        "jit",
        "${FLASHINFER_WORKSPACE_BASE:-$HOME}/.cache/flashinfer",
        "compiled kernels are looked up by the name of the operation, not by the generator that was edited",
    ),
)


def caches_to_clear(package: str, paths: t.Sequence[str]) -> list[dict[str, str]]:
    """The caches to remove after ``paths`` of ``package`` were edited; mostly none."""
    found = []
    for name, folder, place, why in _BY_NAME:
        if name == package and any(f"{os.sep}{name}{os.sep}{folder}{os.sep}" in path for path in paths):
            found.append({"path": place, "why": why})
    return found


__all__ = ("caches_to_clear",)
