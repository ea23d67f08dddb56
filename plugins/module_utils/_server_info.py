# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The state of one served model on a host. What cannot be told is None, and ``unknown`` says why.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _server_causes as causes
from ansible_collections.specdec.blackwell.plugins.module_utils import _server_log as log
from ansible_collections.specdec.blackwell.plugins.module_utils import _server_unit as unit
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import Ledger
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import share
from ansible_collections.specdec.blackwell.plugins.module_utils._processes import older_processes
from ansible_collections.specdec.blackwell.plugins.module_utils._server_health import Health
from ansible_collections.specdec.blackwell.plugins.module_utils._server_http import is_key
from ansible_collections.specdec.blackwell.plugins.module_utils._store import default_folder, open_store

Facts = t.Dict[str, t.Any]
# An argument list in; return code, standard output and standard error out. It does not raise, and it ends in time.
Runner = t.Callable[[t.Sequence[str]], t.Tuple[int, str, str]]

ABSENT, DEAD = "absent", "dead"
STAGES = (
    ABSENT,
    log.STOPPED,
    log.STARTING,
    log.LOADING,
    log.COMPILING,
    log.CAPTURING,
    log.READY,
    log.FAILED,
    DEAD,
)
_TAIL = 4 << 20
_BROKEN = ("bad-setting", "error", "masked")
_HIDDEN = "********"


class Request(t.NamedTuple):
    """What the module was asked."""

    unit: t.Optional[str] = None
    scope: str = "system"
    url: t.Optional[str] = None
    api_key_file: t.Optional[str] = None
    python: t.Optional[str] = None
    ledger_dir: t.Optional[str] = None
    since: t.Optional[str] = None
    log_file: t.Optional[str] = None
    engine: t.Optional[str] = None
    lines: int = 20
    timeout: int = 10


class _Collector:
    """Collects the facts of one server; each method below ``collect`` adds one part."""

    def __init__(self, request: Request, run: Runner) -> None:
        self._request = request
        self._run = run
        self._unknown: dict[str, str] = {}
        self._key: str | None = None

    def collect(self) -> Facts:
        request = self._request
        name = None if request.unit is None else unit.check_name(request.unit)
        self._key = self._read_key()
        server = None if request.url is None else Health(request.url, timeout=request.timeout, key=self._key)
        told = self._unit(name)
        invocation = None if told is None else told.pop("invocation")
        health = None if server is None else server.health()
        lines, cursor = self._log(name, told, invocation)
        seen = log.read(log.last_run(lines), request.engine)
        stage = self._stage(told, health, seen, bool(lines))
        failed = stage in (log.FAILED, DEAD)
        return {
            "unit": told,
            "health": health,
            "models": self._models(server, health),
            "engine": seen.engine or request.engine,
            "stage": stage,
            "progress": None if seen.text is None else {"percent": seen.percent, "text": seen.text},
            "lines": self._decisive(lines, seen, failed)[-request.lines :],
            "causes": causes.match([log.clean(line) for line in lines] + _last_words(told)),
            "cursor": cursor,
            **self._patches(told),
            "unknown": self._unknown,
        }

    def _cannot(self, fact: str, reason: str) -> None:
        self._unknown.setdefault(fact, reason)

    def _read_key(self) -> str | None:
        path = self._request.api_key_file
        if path is None:
            return None
        try:
            with open(path, encoding="utf-8") as stream:
                key = stream.read(1 << 16).strip()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text"
            self._cannot("models", f"cannot read the key from {path}: {why}")
            return None
        if not is_key(key):
            self._cannot("models", f"{path} does not hold one key and nothing else")
            return None
        return key

    def _unit(self, name: str | None) -> Facts | None:
        if name is None:
            self._cannot("unit", "no unit was asked for")
            return None
        code, output, error = self._run(unit.show_command(name, user=self._request.scope == "user"))
        told = unit.parse_show(output) if code == 0 else None
        if told is None:
            self._cannot("unit", f"systemctl: {_why(code, error, self._request.timeout)}")
        return told

    def _log(self, name: str | None, told: Facts | None, invocation: str | None) -> tuple[list[str], str | None]:
        if self._request.log_file is not None:
            self._cannot("cursor", "the log is a file")
            return self._log_file(self._request.log_file), None
        if name is None:
            self._cannot("lines", "neither a unit nor a log file was given")
            return [], None
        started = None if told is None else told["started"]
        since = self._request.since
        if started is None and since is None:
            self._cannot("lines", "the unit has not been started since boot" if told else self._unknown["unit"])
            return [], None
        user = self._request.scope == "user"
        code, output, error = self._run(unit.journal_command(name, user=user, since=since, started=started))
        if code != 0 and not output:
            self._cannot("lines", f"journalctl: {_why(code, error, self._request.timeout)}")
            return [], None
        lines, cursor = unit.parse_journal(output, invocation if since is None else None)
        if not lines:
            self._cannot(
                "lines", "the journal shows nothing, or nothing that this user may read (group systemd-journal)"
            )
        return self._shown("\n".join(lines)), cursor

    def _log_file(self, path: str) -> list[str]:
        try:
            # A FIFO would keep the reader for ever.
            if not os.path.isfile(path):
                raise FileNotFoundError(2, "there is no such file")
            with open(path, "rb") as stream:
                size = stream.seek(0, os.SEEK_END)
                stream.seek(max(0, size - _TAIL))
                text = stream.read(_TAIL).decode("utf-8", "replace")
        except OSError as error:
            self._cannot("lines", f"cannot read {path}: {error.strerror}")
            return []
        return log.last_run(self._shown(text))

    def _shown(self, text: str) -> list[str]:
        """The lines, without the key: vLLM logs its arguments."""
        return log.split(text if self._key is None else text.replace(self._key, _HIDDEN))

    def _models(self, server: Health | None, health: Facts | None) -> list[str] | None:
        if server is None or health is None:
            self._cannot("health", "no url was given")
            self._cannot("models", "no url was given")
            return None
        if health["status"] is None:
            self._cannot("models", health["reason"])
            return None
        models, reason = server.models()
        if reason is not None:
            self._cannot("models", reason)
        elif models is not None:
            self._unknown.pop("models", None)
        return models

    def _stage(self, told: Facts | None, health: Facts | None, seen: log.Progress, has_log: bool) -> str | None:
        stage = _by_unit(told)
        if stage is not None:
            return stage
        healthy = None if health is None else health["ok"]
        if healthy:
            return log.READY
        if seen.stage == log.FAILED:
            return DEAD if seen.was_ready else log.FAILED
        if seen.stage == log.STOPPED and told is None:
            return log.STOPPED
        if seen.was_ready:
            return log.READY if healthy is None else DEAD
        if told is not None or has_log:
            return seen.stage or log.STARTING
        if health is not None and health["status"] == 503:
            return log.STARTING
        self._cannot("stage", "neither the unit, nor health, nor a log tells it")
        return None

    def _decisive(self, lines: t.Sequence[str], seen: log.Progress, failed: bool) -> list[str]:
        chosen = seen.errors if failed else seen.stages
        return chosen or [log.clean(line) for line in lines]

    def _patches(self, told: Facts | None) -> Facts:
        facts: Facts = {"pid_older_than_patch": None, "patch_digest": None}
        if self._request.python is None:
            reason = "no interpreter was given"
        else:
            try:
                env = probe(self._request.python)
                ledger, reason = self._ledger(env)
            except SpecdecError as error:
                ledger, reason = None, error.message
            if ledger is not None and not ledger.patches:
                reason = "the ledger knows no patch any more"
            elif ledger is not None:
                facts["patch_digest"] = patch_digest(ledger, env, shared=self._shared(env))
            if ledger is not None:
                facts["pid_older_than_patch"] = self._is_older(ledger, env, told)
        for fact, value in facts.items():
            if value is None:
                self._cannot(fact, reason)
        return facts

    def _ledger(self, env: Environment) -> tuple[Ledger | None, str]:
        folder = os.path.abspath(self._request.ledger_dir or default_folder(env))
        store = open_store(folder, create=False)
        if store is None:
            return None, f"there is no ledger in {folder}: nothing was patched"
        with store, share(store, wait=self._request.timeout):
            ledger = Ledger.load(store)
        if ledger.state != "ok":
            what = "is damaged" if ledger.state == "corrupt" else "is empty"
            return None, f"the ledger in {folder} {what}"
        return ledger, ""

    def _shared(self, env: Environment) -> bool:
        """Whether the ledger may know other environments than this one."""
        return self._request.ledger_dir is not None or not env.is_venv

    def _is_older(self, ledger: Ledger, env: Environment, told: Facts | None) -> bool | None:
        shared = self._shared(env)
        written = max((when for key, when in ledger.writes.items() if not shared or _of(key, env)), default=0.0)
        if not written:
            return False
        if told is not None:
            if told["main_pid"] is None or told["started"] is None:
                self._cannot("pid_older_than_patch", "the unit has no process")
                return None
            return bool(told["started"] < written)
        if not env.is_venv:
            self._cannot("pid_older_than_patch", "without a unit, only processes of a virtual environment are known")
            return None
        return bool(older_processes([env.prefix], [], written))


def _by_unit(told: Facts | None) -> str | None:
    """The stage where the unit alone tells it: it has no running process."""
    if told is None or told["active"] in ("active", "reloading", "refreshing"):
        return None
    if told["load"] == "not-found" and told["active"] == "inactive":
        return ABSENT
    if told["active"] == "failed" or told["load"] in _BROKEN:
        return log.FAILED
    if told["sub"] in ("auto-restart", "auto-restart-queued") and told["result"] != "success":
        return log.FAILED
    if told["active"] in ("inactive", "deactivating", "maintenance"):
        return log.STOPPED
    return None


def _last_words(told: Facts | None) -> list[str]:
    """What systemd says of a failure where the journal cannot be read."""
    if told is None or told["result"] in (None, "success"):
        return []
    return [f"systemd: result '{told['result']}', exit status {told['exit_status']}"]


def _why(code: int, error: str, timeout: int) -> str:
    if code in (124, 137):
        return f"no answer within {timeout} s"
    said = [line for line in error.strip().splitlines() if line.strip()]
    return said[-1][:200] if said else f"exit code {code}, and it said nothing"


def _of(key: str, env: Environment) -> bool:
    prefix = os.path.realpath(env.prefix)
    return key.endswith(f" in {prefix}") or key.startswith(prefix + os.sep)


def patch_digest(ledger: Ledger, env: Environment, *, shared: bool) -> str:
    """One value for what the patches made of the environment, equal on two hosts whose environments are alike.

    It covers the name and spec of each patch and the bytes that its files have now by the ledger; not when, by whom
    or where the environment lies.
    """
    told = []
    for key in ledger.ordered(ledger.patches):
        record = ledger.patches[key]
        if shared and record.target.get("prefix", record.target.get("path")) is not None:
            of = record.target.get("prefix")
            if not (of == os.path.realpath(env.prefix) if of is not None else _of(record.target["path"], env)):
                continue
        files = {}
        for name, path in record.places.items():
            entry = ledger.files.get(path)
            files[name] = None if entry is None else entry.current
        told.append([record.name, record.spec_sha256, sorted(files.items())])
    text = json.dumps(sorted(told, key=str), separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()


def collect(request: Request, run: Runner) -> Facts:
    """The facts; see the documentation of the module inference_server_info for their shape."""
    return _Collector(request, run).collect()


__all__ = ("STAGES", "Facts", "Request", "Runner", "collect", "patch_digest")
