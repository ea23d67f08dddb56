# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a task asks for, and the place that it means.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import dataclasses
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import WAIT_SECONDS
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import Files
from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import (
    Package,
    find_package,
    record_digest_matches,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._store import IN_VENV, default_folder


@dataclasses.dataclass
class PatchRequest:
    """The keys of the task. Exactly one of ``package`` and ``path``; ``wait`` is in seconds, for another run's lock."""

    name: str
    edits: list[t.Any] | None = None
    python: str | None = None
    package: str | None = None
    path: str | None = None
    state: str = "present"
    version: str | None = None
    force: bool = False
    follow: bool = True
    ledger_dir: str | None = None
    reason: str | None = None
    upstream: str | None = None
    drop_when: str | None = None
    who: str | None = None
    wait: float = WAIT_SECONDS

    def check(self) -> None:
        if not self.name or any(ord(letter) < 32 for letter in self.name):
            raise BadInput("'name' is the patch's key in the ledger: one line of text, not empty")
        if (self.package is None) == (self.path is None):
            raise BadInput("give either 'package' or 'path'")
        if self.state not in ("present", "absent"):
            raise BadInput(f"'state' is present or absent, not {self.state!r}")
        if self.state == "present" and not self.edits:
            raise BadInput("state: present needs 'edits'")
        if self.path is not None and self.version is not None:
            raise BadInput("'version' is that of the distribution that owns a 'package'; a 'path' has none")


@dataclasses.dataclass
class Target:
    """Where the files are. ``env`` and ``package`` are None when they are gone, which only ``absent`` bears."""

    key: dict[str, str]
    python: str
    env: Environment | None
    package: Package | None
    missing: SpecdecError | None
    ledger: str
    path: str = ""

    @property
    def version(self) -> str | None:
        return None if self.package is None else self.package.version

    @property
    def distribution(self) -> str | None:
        return None if self.package is None else self.package.distribution

    def label(self) -> str:
        """The target in words."""
        if self.package is not None:
            name = self.distribution or self.package.name
            return f"{name} {self.version}" if self.version else name
        return self.key.get("package") or self.key["path"]

    def names(self, edits: t.Sequence[t.Any], memory: _memory.Memory, owner: str) -> list[str]:
        """The files that the edits name; '' for the one of the path form. ``owner`` is the patch's key."""
        asked = _memory.key((), list(edits))
        named = memory.recall("names", asked)
        if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
            # It brings the whole planner along, which an unchanged host does not need.
            from ansible_collections.specdec.blackwell.plugins.module_utils._plan import files_of

            named = files_of(list(edits))
            if asked is not None:
                memory.note("names", owner, asked, named)
        return named if named or "path" not in self.key else [""]

    def locate(self, files: Files, name: str, follow: bool) -> str:
        """The path of a file that the edits name; opens it. Raises BadInput on one that is outside of the target."""
        if "path" in self.key:
            if name:
                raise BadInput("with 'path', the edits carry no 'file'", file=name)
            return files.add(self.path, follow=follow)
        package = self.package
        if package is None:
            raise self.missing or SpecdecError(f"the package {self.key['package']} is gone")
        parts = name.split("/")
        if not name:
            raise BadInput(f"with 'package', every edit needs 'file', as in {package.name}/__init__.py")
        if os.path.isabs(name) or any(part in ("", ".", "..") for part in parts) or "\0" in name:
            raise BadInput(f"'file' is a path below {package.root} without '..', not {name!r}", file=name)
        if parts[0] not in (package.name, package.name + ".py"):
            raise BadInput(f"{name} is not in {package.name}: 'file' begins with {package.name}/", file=name)
        return files.add(os.path.join(package.root, name), below=package.root, follow=follow)

    def is_release(self, name: str, data: bytes) -> bool | None:
        """Whether the bytes are the installed release's own; None if RECORD does not say."""
        return None if self.package is None else record_digest_matches(self.package, name, data)


def resolve(request: PatchRequest) -> Target:
    """Finds interpreter, package and ledger. With ``absent`` a missing engine is no error."""
    request.check()
    env: Environment | None = None
    package: Package | None = None
    missing: SpecdecError | None = None
    try:
        env = probe(request.python)
        if request.package is not None:
            package = find_package(env, request.package)
    except SpecdecError as error:
        # Taking back works on the files that the ledger names, whatever has become of the engine.
        if request.state == "present":
            raise
        missing = error
    path = ""
    python = os.path.abspath(os.path.expanduser(request.python)) if env is None and request.python else ""
    python = env.python if env is not None else python
    # The interpreter of a venv is two levels below its prefix, also when it is no longer there.
    prefix = env.prefix if env is not None else os.path.dirname(os.path.dirname(python))
    if request.package is not None:
        key = {"package": request.package, "prefix": os.path.realpath(prefix)}
    else:
        path = os.path.abspath(os.path.expanduser(str(request.path)))
        key = {"path": os.path.realpath(path)}
    if request.ledger_dir is not None:
        ledger = os.path.abspath(os.path.expanduser(request.ledger_dir))
        if package is not None and package.directory != package.root and _inside(ledger, package.directory):
            raise BadInput(
                f"'ledger_dir' is inside the package {package.name}: what an uninstall leaves there makes it an empty "
                "namespace package",
                path=ledger,
            )
    else:
        ledger = default_folder(env) if env is not None else os.path.join(prefix, IN_VENV)
    return Target(key, python, env, package, missing, ledger, path)


def _inside(path: str, folder: str) -> bool:
    return (os.path.realpath(path) + os.sep).startswith(os.path.realpath(folder) + os.sep)


__all__ = ("PatchRequest", "Target", "resolve")
