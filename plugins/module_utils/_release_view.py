# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A package as it was before this collection changed it, for readers that want the release and not the patch.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import typing as t

_MEMORY = "/dev/shm"
_SKIPPED = frozenset(("__pycache__",))


@contextlib.contextmanager
def release_view(
    root: str, package: str, contents: t.Mapping[str, bytes], *, linked_folders: bool = True
) -> t.Iterator[str]:
    """A folder that reads like ``root``, with ``contents`` (path below the root to bytes) in place of those files.

    Nothing is copied but ``contents``, all else is links. A reader that walks without following links to folders
    gets real ones for the whole package without ``linked_folders``. Without ``contents`` it is ``root`` itself.
    """
    if not contents:
        yield root
        return
    real = {package}
    for path in contents:
        parts = path.split("/")[:-1]
        real.update("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    view = tempfile.mkdtemp(prefix="specdec-", dir=_place())
    try:
        _mirror(os.path.abspath(root), view, "", real if linked_folders else None, package)
        for path, data in contents.items():
            place = os.path.join(view, *path.split("/"))
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)
            with open(place, "xb") as stream:
                stream.write(data)
        # The reader may be a child of another user; there is nothing here that the installed package does not show.
        os.chmod(view, 0o755)
        yield view
    finally:
        shutil.rmtree(view, ignore_errors=True)


def _place() -> str | None:
    """A folder in memory where there is one: hundreds of links take a while on a disk."""
    return _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None


def _mirror(source: str, target: str, path: str, real: set[str] | None, package: str) -> None:
    """Fill ``target`` with links; the folders in ``real`` (None: all of the package) are folders, filled in turn."""
    with os.scandir(source) as entries:
        for entry in entries:
            inner = f"{path}/{entry.name}" if path else entry.name
            place = os.path.join(target, entry.name)
            inside = inner == package or inner.startswith(package + "/")
            if (inner in real if real is not None else inside) and entry.is_dir():
                os.mkdir(place, 0o755)
                _mirror(entry.path, place, inner, real, package)
            elif entry.name not in _SKIPPED:
                os.symlink(entry.path, place)


__all__ = ("release_view",)
