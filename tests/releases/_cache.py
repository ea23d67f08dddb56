# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Trees in a cache: made once, whole or not at all, by one process at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from . import _archive
from ._errors import ReleaseError
from ._index import Index, progress
from ._pins import Release, find
from ._ranges import open_wheel

LAYOUT = "1"
_checked: set[Path] = set()


def cache_root() -> Path:
    """Where trees are kept: SPECDEC_CACHE, else specdec-blackwell in the user's cache folder."""
    chosen = os.environ.get("SPECDEC_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specdec-blackwell"


@contextlib.contextmanager
def _lock(name: str) -> Iterator[None]:
    folder = cache_root() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def tree(name: str, version: str, *, again: bool = False) -> Path:
    """A folder that looks like site-packages with that one release in it. It is shared: copy it, do not write to it.

    The first use in a process compares every file with RECORD, so that a test which wrote into the cache is found out.
    again: fetch anew and replace what is there.
    """
    release = find(name, version)
    target = cache_root() / "trees" / LAYOUT / release.folder
    if target in _checked and not again:
        return target
    with _lock(release.folder):
        if again and target.exists():
            shutil.rmtree(target)
        if not target.exists():
            _make(release, target)
        bad = _archive.damaged(release, target)
    if bad:
        raise ReleaseError(
            f"the cached tree of {release} was changed by someone: {', '.join(bad[:5])}"
            f"{' ...' if len(bad) > 5 else ''}. Get it anew with: scripts/releases fetch --again {release}"
        )
    _checked.add(target)
    return target


def forget() -> None:
    """Compare every tree anew at its next use, as a new process would."""
    _checked.clear()


def _make(release: Release, target: Path) -> None:
    making = target.parent / f".making-{release.folder}"
    # What a killed process left; the lock says that it is nobody's.
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    try:
        _archive.write_tree(release, _files(release, making), making / "tree")
        (making / "tree").rename(target)
    finally:
        shutil.rmtree(making)


def _files(release: Release, scratch: Path) -> dict[str, bytes]:
    with Index() as index:
        link = index.link(release.name, release.version, release.file)
        if not release.sha256:
            with progress(f"{release} (the Python files of {release.file})"):
                return _archive.from_wheel(release, open_wheel(index, link, release))
        archive = scratch / release.file
        with progress(f"{release} ({release.file})") as report:
            digest = index.download(link, archive, report)
        if digest != release.sha256:
            raise ReleaseError(
                f"{release.file} has sha256 {digest}, and releases.toml says {release.sha256}: not used. "
                "The index serves another file under this name; ask whoever runs it."
            )
        if release.file.endswith(".whl"):
            return _archive.from_wheel(release, archive)
        return _archive.from_sdist(release, archive)


def copy_tree(name: str, version: str, dest: str | os.PathLike[str], *, hardlink: bool = False) -> Path:
    """Put the release into dest, which may be a site-packages folder that holds other packages.

    hardlink: share inodes with the cache as uv does. Only for tests that prove that nothing writes through a link.
    """
    source = tree(name, version)
    dest = Path(dest)
    for folder, _dirs, files in os.walk(source):
        there = dest / Path(folder).relative_to(source)
        there.mkdir(parents=True, exist_ok=True)
        for file in files:
            if (there / file).exists():
                raise ReleaseError(f"{there / file} is already there")
            if hardlink:
                os.link(Path(folder, file), there / file)
            else:
                shutil.copyfile(Path(folder, file), there / file)
    return dest


__all__ = ("cache_root", "copy_tree", "forget", "tree")
