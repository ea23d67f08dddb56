# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. The header of a safetensors file, and the bytes of one small tensor. Never more."""

from __future__ import annotations

import json
import os
import struct
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError

# The format's own limit of a header; a tensor is read whole only below the other.
HEADER_LIMIT = 100_000_000
TENSOR_LIMIT = 64 * 1024 * 1024
WIDTHS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}
_INTEGERS = {"I8": "b", "U8": "B", "BOOL": "B", "I16": "h", "I32": "i", "I64": "q", "U16": "H", "U32": "I", "U64": "Q"}


class Damaged(SpecdecError):
    """The file is not a whole safetensors file. ``truncated`` of the details: bytes are missing at its end."""


class Tensor(t.NamedTuple):
    """A tensor as the header describes it. ``start`` and ``end`` are bytes from the start of the file ``path``."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def elements(self) -> int:
        product = 1
        for item in self.shape:
            product *= item
        return product


def read_header(path: str) -> dict[str, Tensor]:
    """The tensors of a file by name. Raises Damaged, and OSError where it cannot be read."""
    size = os.stat(path).st_size
    with open(path, "rb") as stream:
        start = stream.read(8)
        if start == b"version ":
            raise Damaged("it is a Git LFS pointer, not the file", truncated=False, pointer=True)
        if len(start) < 8:
            raise Damaged(f"it has {size} bytes, less than any safetensors file", truncated=True)
        (length,) = struct.unpack("<Q", start)
        if length > HEADER_LIMIT:
            raise Damaged(f"it says that its header has {length} bytes", truncated=False)
        if 8 + length > size:
            raise Damaged(f"its header ends at byte {8 + length}, the file at {size}", truncated=True)
        data = stream.read(length)
    try:
        header = json.loads(data.decode("utf-8"))
    except ValueError as error:
        raise Damaged(f"its header is not JSON: {error}", truncated=False) from error
    if not isinstance(header, dict):
        raise Damaged("its header is not an object", truncated=False)
    found = {name: _tensor(path, name, item, 8 + length) for name, item in header.items() if name != "__metadata__"}
    end = max((tensor.end for tensor in found.values()), default=8 + length)
    if end > size:
        raise Damaged(f"its tensors end at byte {end}, the file at {size}", truncated=True)
    return found


def _tensor(path: str, name: str, item: t.Any, base: int) -> Tensor:
    try:
        dtype, shape, (start, end) = item["dtype"], tuple(item["shape"]), item["data_offsets"]
    except (KeyError, TypeError, ValueError):
        raise Damaged(f"its header does not describe {name}", truncated=False) from None
    if not isinstance(dtype, str) or not all(_is_size(number) for number in (start, end, *shape)) or end < start:
        raise Damaged(f"its header describes {name} wrongly", truncated=False)
    tensor = Tensor(path, dtype, shape, base + start, base + end)
    width = WIDTHS.get(dtype)
    if width is not None and end - start != tensor.elements * width // 8:
        raise Damaged(f"{name} is {dtype} {list(shape)} but has {end - start} bytes", truncated=False)
    return tensor


def _is_size(number: t.Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def read_integers(tensor: Tensor) -> tuple[int, ...] | None:
    """The numbers of a tensor of integers or booleans; None for another type, or more than TENSOR_LIMIT bytes."""
    code = _INTEGERS.get(tensor.dtype)
    if code is None or tensor.end - tensor.start > TENSOR_LIMIT:
        return None
    with open(tensor.path, "rb") as stream:
        stream.seek(tensor.start)
        data = stream.read(tensor.end - tensor.start)
    if len(data) != tensor.end - tensor.start:
        raise Damaged(f"{tensor.path} became shorter while it was read", truncated=True)
    return struct.unpack(f"<{tensor.elements}{code}", data)


__all__ = ("Damaged", "HEADER_LIMIT", "TENSOR_LIMIT", "Tensor", "WIDTHS", "read_header", "read_integers")
