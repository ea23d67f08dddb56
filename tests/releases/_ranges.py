# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read a few members of a large remote wheel without fetching all of it."""

from __future__ import annotations

import io
import zipfile
from typing import BinaryIO, cast

from unearth import Link

from ._archive import wanted
from ._errors import ReleaseError
from ._index import Index
from ._pins import Release

TAIL = 1 << 20
GAP = 1 << 18
SPAN = 1 << 25


class RemoteFile(io.RawIOBase):
    """A seekable view of a remote file; bytes are fetched in the pieces that fetch() is told of, or as read."""

    def __init__(self, index: Index, link: Link) -> None:
        self._index = index
        self._link = link
        self._size = index.size(link)
        if not self._size:
            raise ReleaseError(f"the server of {link.filename} does not serve parts of a file")
        self._pieces: list[tuple[int, bytes]] = []
        self._at = 0
        self.fetch(max(0, self._size - TAIL), self._size)

    def fetch(self, start: int, end: int) -> None:
        self._pieces.insert(0, (start, self._index.read_range(self._link, start, end)))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._size, self._at + size)
        if end <= self._at:
            return b""
        for start, data in self._pieces:
            if start <= self._at and end <= start + len(data):
                break
        else:
            self.fetch(self._at, end)
            start, data = self._pieces[0]
        piece = data[self._at - start : end - start]
        self._at = end
        return piece


def open_wheel(index: Index, link: Link, release: Release) -> BinaryIO:
    """The wheel with the members that a tree keeps already fetched, neighbours in one request."""
    remote = RemoteFile(index, link)
    with zipfile.ZipFile(remote) as wheel:
        infos = sorted(wheel.infolist(), key=lambda info: info.header_offset)
        ends = [info.header_offset for info in infos[1:]] + [wheel.start_dir]
    names = set(wanted(release, [info.filename for info in infos])) | {f"{release.dist_info}/RECORD"}
    spans: list[list[int]] = []
    for info, end in zip(infos, ends, strict=True):
        if info.filename not in names:
            continue
        start = info.header_offset
        if spans and start - spans[-1][1] <= GAP and end - spans[-1][0] <= SPAN:
            spans[-1][1] = end
        else:
            spans.append([start, end])
    for start, end in spans:
        remote.fetch(start, end)
    return cast(BinaryIO, remote)


__all__ = ("RemoteFile", "open_wheel")
