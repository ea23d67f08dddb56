# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The use case that ``python_ast_edit`` and ``eagle3_patch`` share: put a patch on, or take it back.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import dataclasses
import os
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._absent import decide_absent
from ansible_collections.specdec.blackwell.plugins.module_utils._caches import caches_to_clear
from ansible_collections.specdec.blackwell.plugins.module_utils._decision import Decision, Job
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import NAME, Ledger, patch_key
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import hold, share
from ansible_collections.specdec.blackwell.plugins.module_utils._patch_status import status
from ansible_collections.specdec.blackwell.plugins.module_utils._pep440 import SpecifierSet
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import run_request
from ansible_collections.specdec.blackwell.plugins.module_utils._present import decide_present
from ansible_collections.specdec.blackwell.plugins.module_utils._processes import older_processes
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import Files, Plan, Planner
from ansible_collections.specdec.blackwell.plugins.module_utils._request import PatchRequest, Target, resolve
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, open_store, sha256
from ansible_collections.specdec.blackwell.plugins.module_utils._target import call
from ansible_collections.specdec.blackwell.plugins.module_utils._text import diff
from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import (
    Transaction,
    obstacles,
    pending,
    recover,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import user_name


@dataclasses.dataclass
class PatchResult:
    """What the module returns; ``as_dict`` is its form for exit_json."""

    name: str
    state: str
    changed: bool = False
    skipped: bool = False
    skip_reason: str | None = None
    edits: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)
    files: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)
    distribution: str | None = None
    version: str | None = None
    diff: list[dict[str, t.Any]] = dataclasses.field(default_factory=list)
    restart_needed: bool = False
    older_processes: list[int] = dataclasses.field(default_factory=list)
    caches_to_clear: list[dict[str, str]] = dataclasses.field(default_factory=list)
    ledger: str = ""
    warnings: list[str] = dataclasses.field(default_factory=list)

    def as_dict(self) -> dict[str, t.Any]:
        return {key: value for key, value in dataclasses.asdict(self).items() if key != "skip_reason" or value}


def apply(request: PatchRequest, plan: Plan | None = None, *, check_mode: bool) -> PatchResult:
    """Brings ``request`` about, or in check mode says what that would be, without writing a byte.

    ``plan`` is _plan.run_request in the target's syntax; left out: it is called there. Raises SpecdecError, with
    nothing changed.
    """
    target = resolve(request)
    result = PatchResult(request.name, request.state, ledger=target.ledger)
    result.distribution, result.version = target.distribution, target.version
    if target.package is not None:
        result.warnings += target.package.notes
    reason = _out_of_range(request, target)
    if reason is not None:
        result.skipped, result.skip_reason = True, reason
        return result
    run = _Run(request, target, Planner(plan or _planner(target)), result)
    if check_mode:
        run.check()
    else:
        run.make()
    _say_restart(result, target, run.written)
    return result


def _planner(target: Target) -> Plan:
    def plan(payload: dict[str, t.Any]) -> dict[str, t.Any]:
        if target.env is None:
            raise target.missing or SpecdecError("the target's interpreter is gone")
        return call(target.env, run_request, payload)

    return plan


def _out_of_range(request: PatchRequest, target: Target) -> str | None:
    if request.version is None or request.state == "absent":
        return None
    wanted = SpecifierSet(request.version)
    if target.version is None:
        raise SpecdecError(
            f"no distribution says that it owns {request.package}, so its version cannot be compared with "
            f"{request.version!r}; leave 'version' out, or install {request.package} with its metadata",
            package=request.package,
        )
    if wanted.contains(target.version):
        return None
    return f"{target.label()} is not within {request.version}"


class _Run:
    """One apply. ``written`` is when this environment was written last, in seconds since 1970; 0 for never."""

    def __init__(self, request: PatchRequest, target: Target, planner: Planner, result: PatchResult) -> None:
        self.request = request
        self.target = target
        self.planner = planner
        self.result = result
        self.key = patch_key(request.name, target.key)
        self.written = 0.0

    def check(self) -> None:
        store = open_store(self.target.ledger, create=False)
        try:
            with Files() as files:
                if store is None:
                    job, decision, ledger = self._decide(None, files)
                else:
                    with share(store, wait=self.request.wait):
                        unfinished = pending(store)
                        if unfinished:
                            self.result.warnings.append(unfinished)
                        job, decision, ledger = self._decide(store, files)
                if decision.writes:
                    problem = obstacles(self.target.ledger, [files.place(path) for path in decision.writes])
                    if problem is not None:
                        raise problem
                self._tell(job, decision)
                self.written = self._last_write(ledger)
        finally:
            if store is not None:
                store.close()

    def make(self) -> None:
        store = open_store(self.target.ledger, create=False)
        if store is None:
            with Files() as files:
                job, decision, ledger = self._decide(None, files)
                if not decision.writes and not self._to_note(job, ledger):
                    self._tell(job, decision)
                    return
            try:
                store = open_store(self.target.ledger, create=True)
            except SpecdecError as error:
                if decision.writes:
                    raise
                self._unnoted(error)
                self._tell(job, decision)
                return
        assert store is not None
        with store, hold(store, self.key, wait=self.request.wait):
            recovery = recover(store)
            if recovery is not None:
                self.result.warnings.append(str(recovery))
            with Files() as files:
                job, decision, ledger = self._decide(store, files)
                if decision.writes or self._to_note(job, ledger):
                    self._commit(store, job, decision, ledger)
                self._tell(job, decision)
                self.written = self._last_write(job.ledger)

    def _decide(self, store: Store | None, files: Files) -> tuple[Job, Decision, Ledger]:
        """The ledger in the job is the one to be; the other is the one that is."""
        ledger = Ledger.load(store)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        request = dataclasses.replace(self.request, who=self.request.who or _who())
        job = Job(request, self.target, self.key, ledger.copy(), store, files, self.planner, when)
        decision = decide_present(job) if request.state == "present" else decide_absent(job)
        return job, decision, ledger

    def _to_note(self, job: Job, ledger: Ledger) -> bool:
        """Whether the ledger would say something else than it does, apart from time and asker."""
        if job.ledger.files != ledger.files or set(job.ledger.patches) != set(ledger.patches):
            return True
        return any(not record.same_as(ledger.patches[key]) for key, record in job.ledger.patches.items())

    def _commit(self, store: Store, job: Job, decision: Decision, ledger: Ledger) -> None:
        try:
            self._write(store, job, decision, ledger)
        except SpecdecError as error:
            if decision.writes:
                raise
            self._unnoted(error)

    def _write(self, store: Store, job: Job, decision: Decision, ledger: Ledger) -> None:
        if decision.writes:
            job.ledger.writes[self._prefix()] = time.time()
        transaction = Transaction(store, self.key)
        try:
            if ledger.state == "corrupt":
                self._set_aside(store)
            store.keep_originals((data, job.files.status(path).st_mode) for data, path in decision.keep)
        except OSError as error:
            raise SpecdecError(
                f"cannot keep the originals in {store.path}: {error.strerror}. Nothing was changed.", path=store.path
            ) from error
        for path, data in decision.writes.items():
            before = job.files.now(path)
            assert before is not None
            transaction.write(job.files.place(path), data, sha256(before))
        now = store.read(NAME)
        with store.place(NAME) as place:
            transaction.write(place, job.ledger.dump(), None if now is None else sha256(now))
            transaction.commit()
        self.result.warnings += transaction.warnings
        if not any(name.startswith(NAME + ".damaged") for name in os.listdir(store.path)):
            store.drop_originals(job.ledger.originals())

    def _set_aside(self, store: Store) -> None:
        """A damaged ledger may still help a person, so it is kept under another name, with its originals."""
        data = store.read(NAME) or b""
        name = f"{NAME}.damaged-{sha256(data)[:8]}"
        store.write_new(name, data)
        self.result.warnings.append(
            f"the ledger {os.path.join(store.path, NAME)} was damaged; it is kept as {name}, and a new one begins. "
            "What was patched before cannot be taken back; reinstall the engine to get its own files."
        )

    def _unnoted(self, error: SpecdecError) -> None:
        self.result.warnings.append(f"nothing had to be changed, but the ledger could not note that: {error.message}")

    def _prefix(self) -> str:
        return self.target.key.get("prefix") or (self.target.env.prefix if self.target.env is not None else "")

    def _last_write(self, ledger: Ledger) -> float:
        return ledger.writes.get(self._prefix(), 0.0)

    def _tell(self, job: Job, decision: Decision) -> None:
        result, files = self.result, job.files
        result.changed = bool(decision.writes)
        result.edits = decision.edits
        result.warnings += decision.warnings
        if job.ledger.state == "corrupt" and not any("damaged" in warning for warning in result.warnings):
            result.warnings.append(f"the ledger in {self.target.ledger} is damaged; the state is read from the code")
        record = job.ledger.patches.get(self.key)
        paths = dict.fromkeys([*decision.writes, *(record.files if record is not None else ())])
        for path in sorted(paths):
            before = files.now(path)
            after = decision.writes.get(path, before)
            if before is None or after is None:
                continue
            item: dict[str, t.Any] = {"path": path, "changed": before != after}
            item.update(before_sha256=sha256(before), after_sha256=sha256(after))
            # Other names of the old file (an installer's cache, another venv) keep the old bytes.
            if before != after and files.status(path).st_nlink > 1:
                item["hard_links"] = files.status(path).st_nlink
            result.files.append(item)
            if before != after:
                result.diff.append(diff(path, before, after))
        package = self.target.package
        if decision.writes and package is not None:
            result.caches_to_clear = caches_to_clear(package.name, list(decision.writes))


def _say_restart(result: PatchResult, target: Target, written: float) -> None:
    if target.env is not None and written:
        result.older_processes = older_processes(target.env.prefix, written)
    result.restart_needed = result.changed or bool(result.older_processes)


def _who() -> str:
    name = user_name(os.geteuid())
    asked = os.environ.get("SUDO_USER")
    return f"{asked} as {name}" if asked and asked != name else name


__all__ = ("PatchRequest", "PatchResult", "apply", "status")
