# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run a function of this collection where the target's syntax is: in this process, or in the target's interpreter.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Drift, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import child_credentials

if t.TYPE_CHECKING:
    from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import Environment
    from ansible_collections.specdec.blackwell.plugins.module_utils._trust import Credentials

Payload = t.Dict[str, t.Any]
Function = t.Callable[[Payload], Payload]

_TAIL = 4000
_RAISED = {kind.__name__: kind for kind in (SpecdecError, BadInput, Drift, Refused)}

# Runs in the target's interpreter, which may be older or newer than anything Ansible supports.
_CHILD = """
import importlib, json, sys
root, name, function, keep, source, target = sys.argv[1:]
sys.path.insert(0, root)
call = getattr(importlib.import_module(name), function)
if keep != "1":
    sys.path.remove(root)
with open(source, encoding="ascii") as stream:
    payload = json.load(stream)
try:
    answer = {"value": call(payload)}
except Exception as error:
    if not isinstance(getattr(error, "details", None), dict):
        raise
    answer = {"raised": type(error).__name__, "message": str(error), "details": error.details}
with open(target, "w", encoding="ascii") as stream:
    json.dump(answer, stream)
"""


def call(env: Environment, function: Function, payload: Payload, *, timeout: float = 600) -> Payload:
    """``function(payload)`` in the syntax of ``env``; ``timeout`` in seconds holds for another interpreter only.

    ``function`` is a public top-level function of a module in plugins/module_utils; payload and result are JSON.
    """
    if tuple(env.version[:2]) == sys.version_info[:2]:
        return function(payload)
    # -S: nothing of the target's site-packages is needed to read a file, and a .pth there is code.
    return run_child(env, function, payload, timeout=timeout, flags=("-I", "-S", "-B"), lazy_imports=True)


def run_child(
    env: Environment,
    function: Function,
    payload: Payload,
    *,
    timeout: float,
    flags: t.Sequence[str] = ("-I", "-B"),
    lazy_imports: bool = False,
    variables: t.Mapping[str, str] | None = None,
) -> Payload:
    """``function(payload)`` in a child of ``env.python``, whatever this process runs.

    The collection's root stays on the child's sys.path only with ``lazy_imports``. As root, a child whose interpreter
    belongs to another user runs as that user. Raises SpecdecError with the child's last words when it dies,
    and when it takes longer than ``timeout`` seconds.
    """
    credentials = child_credentials(env)
    work = tempfile.mkdtemp(prefix="specdec-")
    try:
        root = _code_root(work, private=credentials is not None)
        source, target = os.path.join(work, "request.json"), os.path.join(work, "response.json")
        with open(os.open(source, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
            json.dump(payload, stream)
        if credentials is not None:
            _hand_over(work, credentials)
        arguments = [env.python, *flags, "-c", _CHILD, root, function.__module__, function.__name__]
        arguments += ["1" if lazy_imports else "0", source, target]
        trade = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        code, output = _wait(arguments, trade, timeout, credentials, variables or {})
        answer = _read_answer(target) if code == 0 else None
        if answer is None:
            raise SpecdecError(
                f"{env.python} {_fate(code)} while it ran {trade}: {output or 'it said nothing'}",
                python=env.python,
                returncode=code,
            )
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if "raised" in answer:
        raise _RAISED.get(answer["raised"], SpecdecError)(answer["message"], **answer["details"])
    value: Payload = answer["value"]
    return value


def _code_root(work: str, *, private: bool) -> str:
    """What a child puts on its sys.path: Ansible's zip or the folder that this module was loaded from.

    A child of another user cannot enter root's private temporary folder, and a checkout may lie anywhere:
    then the collection's Python files are copied into ``work``.
    """
    parts = os.path.abspath(__file__).split(os.sep)
    depth = len(__name__.split("."))
    root = os.sep.join(parts[:-depth])
    inside = parts[-depth:-1] == __name__.split(".")[:-1]
    if inside and not private:
        return root
    if os.path.isfile(root):
        copy = os.path.join(work, "code.zip")
        shutil.copyfile(root, copy)
        return copy
    copy = os.path.join(work, "code")
    package = os.path.join(copy, *__name__.split(".")[:-1])
    shutil.copytree(os.path.dirname(os.path.abspath(__file__)), package, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _hand_over(work: str, credentials: Credentials) -> None:
    for folder, _folders, files in os.walk(work):
        for path in [folder, *(os.path.join(folder, name) for name in files)]:
            os.chown(path, credentials.uid, credentials.gid)


if t.TYPE_CHECKING:
    _Process = subprocess.Popen[bytes]
else:
    _Process = subprocess.Popen


class _Group(_Process):
    """A child that leads a group of its own, so that it ends with all that it started."""

    def finish(self, timeout: float) -> int | None:
        """The exit code; None when it took longer than ``timeout`` seconds, and the whole group was ended."""
        try:
            return self.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(self.pid, signal.SIGKILL)
            self.wait()
            return None


def _wait(
    arguments: t.Sequence[str],
    trade: str,
    timeout: float,
    credentials: Credentials | None,
    variables: t.Mapping[str, str],
) -> tuple[int, str]:
    """Exit code and last output of a child that cannot outlive ``timeout`` seconds."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.update(variables)
    if credentials is not None:
        environment.update(credentials.environment)
    python = arguments[0]
    with tempfile.TemporaryFile() as stream:
        try:
            child = _Group(
                list(arguments),
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=environment,
                start_new_session=True,
                preexec_fn=None if credentials is None else credentials.assume,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise SpecdecError(f"cannot start {python}: {error}", python=python) from error
        code = child.finish(timeout)
        output = _tail(stream)
    if code is None:
        said = output or "it said nothing"
        raise SpecdecError(f"{python} did not finish {trade} within {timeout:g} s and was ended: {said}", python=python)
    return code, output


def _read_answer(path: str) -> Payload | None:
    try:
        # The child may be another user's: neither a link nor a FIFO is followed.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    with open(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        try:
            answer = json.loads(stream.read().decode("ascii"))
        except ValueError:
            return None
    return answer if isinstance(answer, dict) else None


def _tail(stream: t.IO[bytes]) -> str:
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - _TAIL))
    return stream.read().decode("utf-8", "replace").strip()


def _fate(code: int) -> str:
    if code < 0:
        return f"was ended by signal {-code}"
    return "gave no answer" if code == 0 else f"failed with exit code {code}"


__all__ = ("Function", "Payload", "call", "run_child")
