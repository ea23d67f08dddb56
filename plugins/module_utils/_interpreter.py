# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An interpreter and the folders that it imports from, without running anything that lies in them.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import (
    Credentials,
    credentials_for,
    user_name,
)

_PROBE_SECONDS = 30

# -S keeps .pth files and sitecustomize, which are code, from running; site's functions work without them.
_PROBE = """
import json, os, site, sys
prefixes = []
for item in (sys.base_prefix, sys.base_exec_prefix):
    if item not in prefixes:
        prefixes.append(item)
json.dump({
    "version": list(sys.version_info[:3]),
    "base_prefix": sys.base_prefix,
    "user": site.getusersitepackages(),
    "folders": site.getsitepackages(prefixes),
}, sys.stdout)
"""


class Environment:
    """An interpreter with its import folders, in the interpreter's own order."""

    def __init__(
        self,
        *,
        python: str,
        version: tuple[int, int, int],
        prefix: str,
        base_prefix: str,
        is_venv: bool,
        site_packages: list[str],
    ) -> None:
        self.python = python
        self.version = version
        self.prefix = prefix
        self.base_prefix = base_prefix
        self.is_venv = is_venv
        self.site_packages = site_packages


_known: dict[str, Environment] = {}


def probe(python: str | None = None) -> Environment:
    """The environment of ``python``: a path, a name on PATH, or None for this process's own interpreter.

    A venv is read from its pyvenv.cfg. Only where that does not tell (no venv, system site-packages, a foreign
    layout) the interpreter is started, once. Raises SpecdecError when it is missing or does not run.
    """
    path = _interpreter_path(python)
    if path not in _known:
        _known[path] = _venv(path) or _started(path)
    return _known[path]


def venv_prefix(python: str) -> str | None:
    """The folder with the pyvenv.cfg that the interpreter ``python`` would read, whether or not it still exists."""
    folder = os.path.dirname(os.path.abspath(python))
    for place in (folder, os.path.dirname(folder)):
        if os.path.isfile(os.path.join(place, "pyvenv.cfg")):
            return place
    return None


def _interpreter_path(python: str | None) -> str:
    if python is None:
        if not sys.executable:
            raise BadInput("this Python does not know its own path; name the target's interpreter with 'python'")
        return os.path.abspath(sys.executable)
    given = os.path.expanduser(python)
    if os.sep not in given:
        found = shutil.which(given)
        if found is None:
            raise BadInput(f"no interpreter {python!r} on PATH; give its full path in 'python'", python=python)
        given = found
    path = os.path.abspath(given)
    if os.path.isdir(path):
        inside = os.path.join(path, "bin", "python")
        hint = f"; did you mean {inside}?" if os.path.exists(inside) else ""
        raise BadInput(f"'python' is a folder, not an interpreter: {path}{hint}", python=path)
    try:
        os.stat(path)
    except PermissionError:
        raise BadInput(f"{user_name(os.geteuid())} may not reach the interpreter {path}", python=path) from None
    except OSError:
        if os.path.islink(path):
            raise BadInput(
                f"the interpreter {path} is a link to {os.readlink(path)}, which is gone: the venv has lost its "
                "Python. Make the venv anew.",
                python=path,
            ) from None
        hint = "install the engine first, or correct 'python'"
        raise BadInput(f"there is no interpreter at {path}; {hint}", python=path) from None
    if not os.access(path, os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise BadInput(f"{path} is not an interpreter that this user may run", python=path)
    return path


def _venv(python: str) -> Environment | None:
    """The environment as pyvenv.cfg tells it; None where it does not suffice."""
    prefix = venv_prefix(python)
    if prefix is None:
        return None
    settings = _settings(os.path.join(prefix, "pyvenv.cfg"))
    numbers = settings.get("version_info", settings.get("version", "")).split(".")[:3]
    home = settings.get("home")
    if home is None or len(numbers) < 3 or not all(number.isdigit() for number in numbers):
        return None
    if settings.get("include-system-site-packages", "false").lower() == "true":
        return None
    version = (int(numbers[0]), int(numbers[1]), int(numbers[2]))
    folders = _venv_folders(prefix, version)
    if not folders:
        return None
    return Environment(
        python=python,
        version=version,
        prefix=prefix,
        base_prefix=_base(python, home, version),
        is_venv=True,
        site_packages=folders,
    )


def _base(python: str, home: str, version: tuple[int, int, int]) -> str:
    """The prefix that holds the standard library; ``home`` may be the bin of yet another venv."""
    above = os.path.dirname(home)
    if os.path.isfile(os.path.join(above, "lib", f"python{version[0]}.{version[1]}", "os.py")):
        return above
    return os.path.dirname(os.path.dirname(os.path.realpath(python)))


def _settings(path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            lines = stream.read().splitlines()
    except OSError as error:
        raise SpecdecError(f"cannot read {path}: {error.strerror}", path=path) from error
    for line in lines:
        key, separator, value = line.partition("=")
        if separator:
            found[key.strip().lower()] = value.strip()
    return found


def _venv_folders(prefix: str, version: tuple[int, int, int]) -> list[str]:
    # Where lib64 is a folder of its own (Fedora) site puts it first; elsewhere it is a link to lib.
    names = ["lib"] if os.path.islink(os.path.join(prefix, "lib64")) else ["lib64", "lib"]
    folders = [os.path.join(prefix, name, f"python{version[0]}.{version[1]}", "site-packages") for name in names]
    return [folder for folder in folders if os.path.isdir(folder)]


def _started(python: str) -> Environment:
    facts = _own_facts() if _is_own(python) else _ask(python)
    prefix = venv_prefix(python)
    version = (facts["version"][0], facts["version"][1], facts["version"][2])
    folders: list[str] = []
    shared = True
    if prefix is not None:
        settings = _settings(os.path.join(prefix, "pyvenv.cfg"))
        shared = settings.get("include-system-site-packages", "false").lower() == "true"
        folders = _venv_folders(prefix, version) or _named_like(prefix, facts["folders"], facts["base_prefix"])
    if shared:
        folders += [facts["user"], *facts["folders"]]
    existing = [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]
    return Environment(
        python=python,
        version=version,
        prefix=prefix or facts["base_prefix"],
        base_prefix=facts["base_prefix"],
        is_venv=prefix is not None,
        site_packages=existing,
    )


def _named_like(prefix: str, folders: list[str], base: str) -> list[str]:
    """The base's folders moved under ``prefix``: PyPy and free-threaded builds have their own."""
    moved = [prefix + folder[len(base) :] for folder in folders if folder.startswith(base + os.sep)]
    return [folder for folder in moved if os.path.isdir(folder)]


def _is_own(python: str) -> bool:
    return bool(sys.executable) and os.path.abspath(sys.executable) == python and not sys.flags.no_site


def _own_facts() -> dict[str, t.Any]:
    bases = list(dict.fromkeys([sys.base_prefix, sys.base_exec_prefix]))
    return {
        "version": list(sys.version_info[:3]),
        "base_prefix": sys.base_prefix,
        "user": site.getusersitepackages(),
        "folders": site.getsitepackages(bases),
    }


if t.TYPE_CHECKING:
    _Process = subprocess.Popen[bytes]
else:
    _Process = subprocess.Popen


class _Child(_Process):
    """A probing interpreter; below Ansible's own layer there is no run_command."""


def _ask(python: str) -> dict[str, t.Any]:
    credentials = credentials_for([python, venv_prefix(python) or python], python)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    if credentials is not None:
        variables.update(credentials.environment)
    try:
        child = _Child(
            [python, "-I", "-S", "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=variables,
            preexec_fn=_assume(credentials),
        )
        try:
            output, said = child.communicate(timeout=_PROBE_SECONDS)
        except subprocess.TimeoutExpired as error:
            child.kill()
            child.communicate()
            raise SpecdecError(f"{python} did not answer within {_PROBE_SECONDS} s", python=python) from error
        if child.returncode != 0:
            raise SpecdecError(
                f"{python} does not run: exit code {child.returncode}",
                python=python,
                output=said.decode("utf-8", "replace")[-2000:].strip(),
            )
        facts = json.loads(output.decode("utf-8"))
    except (OSError, subprocess.SubprocessError) as error:
        raise SpecdecError(f"cannot start {python}: {error}", python=python) from error
    except ValueError as error:
        raise SpecdecError(f"{python} does not answer as a Python 3 interpreter does", python=python) from error
    if not isinstance(facts, dict):
        raise SpecdecError(f"{python} does not answer as a Python 3 interpreter does", python=python)
    return facts


def _assume(credentials: Credentials | None) -> t.Callable[[], None] | None:
    return None if credentials is None else credentials.assume


__all__ = ("Environment", "probe", "venv_prefix")
