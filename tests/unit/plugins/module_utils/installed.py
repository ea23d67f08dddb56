# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real venvs with small distributions in them, and children that die or are another user."""

from __future__ import annotations

import base64
import hashlib
import importlib
import os
import pathlib
import shutil
import stat
import sys
import traceback
import typing as t
import venv

MODEL = b'''"""A model."""
from engine.interfaces import SupportsLoRA


class Outer(SupportsLoRA):
    names = ["a", "b"]

    def forward(self, x):
        return x
'''
REGISTRY = b"""MODELS = {
    "first": "engine.models.first",
}
"""
INTERFACES = b"class SupportsLoRA: ...\n\n\nclass SupportsDraft: ...\n"
FILES = {
    "engine/__init__.py": b"",
    "engine/interfaces.py": INTERFACES,
    "engine/model.py": MODEL,
    "engine/registry.py": REGISTRY,
}
MODEL_FILE, REGISTRY_FILE = "engine/model.py", "engine/registry.py"

IMPORT: dict[str, t.Any] = {"file": MODEL_FILE, "import": {"from": "engine.interfaces", "names": ["SupportsDraft"]}}
BASE: dict[str, t.Any] = {"file": MODEL_FILE, "in": "Outer", "base": "SupportsDraft"}
ENTRY: dict[str, t.Any] = {
    "file": REGISTRY_FILE,
    "element": {"to": "MODELS", "key": '"draft"', "value": '"engine.draft"'},
}
EDITS = [IMPORT, BASE, ENTRY]
METHOD: dict[str, t.Any] = {"file": MODEL_FILE, "in": "Outer", "method": "def draft(self):\n    return 1\n"}


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Venv:
    """A real venv. ``install`` does what an installer does, RECORD included."""

    def __init__(self, root: pathlib.Path, **options: t.Any) -> None:
        self.root = root
        venv.EnvBuilder(with_pip=False, symlinks=True, **options).create(root)
        self.python = str(root / "bin" / "python")
        name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.site = root / "lib" / name / "site-packages"
        self.ledger = root / ".specdec-blackwell"

    def install(
        self,
        name: str = "engine",
        version: str = "1.0",
        files: t.Mapping[str, bytes] | None = None,
        *,
        record: bool = True,
        extra: t.Mapping[str, str] | None = None,
    ) -> None:
        files = FILES if files is None else files
        self.uninstall(name)
        self.put(files)
        self.metadata(name, version, files if record else None, extra)

    def put(self, files: t.Mapping[str, bytes]) -> None:
        for path, data in files.items():
            place = self.site / path
            place.parent.mkdir(parents=True, exist_ok=True)
            # As an installer does: a new file, never the old inode with other bytes.
            place.unlink() if place.exists() else None
            place.write_bytes(data)

    def metadata(
        self, name: str, version: str, files: t.Mapping[str, bytes] | None, extra: t.Mapping[str, str] | None = None
    ) -> pathlib.Path:
        extra = {} if extra is None else extra
        info = self.site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nText.\n")
        for item, text in extra.items():
            (info / item).write_text(text)
        if files is not None:
            lines = []
            for path, data in files.items():
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                quoted = f'"{path}"' if "," in path else path
                lines.append(f"{quoted},sha256={digest},{len(data)}")
            lines += [f"{info.name}/{item},," for item in ("METADATA", "RECORD", *extra)]
            (info / "RECORD").write_text("\n".join(lines) + "\n")
        return info

    def uninstall(self, name: str = "engine") -> None:
        for info in self.site.glob(f"{name.replace('-', '_')}-*.dist-info"):
            record = info / "RECORD"
            if record.exists():
                for line in record.read_text().splitlines():
                    place = self.site / line.rsplit(",", 2)[0].strip('"')
                    if place.exists():
                        place.unlink()
            shutil.rmtree(info)

    def read(self, path: str) -> bytes:
        return (self.site / path).read_bytes()

    def tree(self) -> dict[str, bytes]:
        """All that is in site-packages, bytecode aside."""
        found = {}
        for place in sorted(self.site.rglob("*")):
            if place.is_file() and place.suffix != ".pyc":
                found[str(place.relative_to(self.site))] = place.read_bytes()
        return found


def snapshot(root: pathlib.Path) -> dict[str, tuple[t.Any, ...]]:
    """Everything below ``root`` that a write would change: content, inode, mode, owner, times."""
    found: dict[str, tuple[t.Any, ...]] = {}
    for folder, folders, names in os.walk(root):
        for name in [*folders, *names]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            data = pathlib.Path(path).read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[path] = (status.st_ino, status.st_mode, status.st_uid, status.st_mtime_ns, status.st_nlink, data)
    return found


# What the code imports when it needs it: another user may not be allowed to read this Python's library.
LATE = ("difflib", "encodings.ascii", "encodings.latin_1", "secrets", "random", "pwd", "grp", "linecache")


def in_child(function: t.Callable[[], t.Any], *, uid: int | None = None) -> int:
    """Runs ``function`` in a fork, as another user if this is root; 0 when it returned, else it tells on stderr."""
    for name in LATE:
        importlib.import_module(name)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if uid is not None and os.geteuid() == 0:
                os.setgroups([])
                os.setgid(uid)
                os.setuid(uid)
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _pid, status = os.waitpid(child, 0)
    return status
