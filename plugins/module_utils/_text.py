# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Source bytes as text for people: diffs.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import io
import tokenize
import typing as t


def decoded(data: bytes) -> str:
    """The text by the file's own coding cookie or BOM; what it cannot decode is replaced."""
    try:
        encoding, _lines = tokenize.detect_encoding(io.BytesIO(data).readline)
    except (SyntaxError, LookupError):
        encoding = "latin-1"
    return data.decode(encoding, "replace")


def lines_of(data: bytes) -> list[str]:
    """Lines without their ends, split as Python's parser splits them."""
    return decoded(data).replace("\r\n", "\n").replace("\r", "\n").split("\n")


def diff(path: str, before: bytes, after: bytes) -> dict[str, t.Any]:
    """What Ansible shows for --diff."""
    return {"before_header": path, "after_header": path, "before": decoded(before), "after": decoded(after)}


__all__ = ("decoded", "diff", "lines_of")
