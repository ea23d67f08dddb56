# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One run on one ledger: decide what every patch of it changes, then write all of that or nothing.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import dataclasses
import os
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory
from ansible_collections.specdec.blackwell.plugins.module_utils._decision import Decision, Job
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._journal import open_journal
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import NAME, Ledger, patch_key, target_key
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import hold, share
from ansible_collections.specdec.blackwell.plugins.module_utils._present import decide_present
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import Files, Planner
from ansible_collections.specdec.blackwell.plugins.module_utils._request import PatchRequest, Target
from ansible_collections.specdec.blackwell.plugins.module_utils._store import Store, open_store, sha256
from ansible_collections.specdec.blackwell.plugins.module_utils._trust import user_name


@dataclasses.dataclass
class Task:
    """A patch of the run, and the planner of its target's syntax."""

    request: PatchRequest
    target: Target
    planner: Planner

    @property
    def key(self) -> str:
        return patch_key(self.request.name, self.target.key)


@dataclasses.dataclass
class Outcome:
    """What became of a task: its edits, and (path, bytes before, bytes after, link count) of each file it is on.

    ``links`` are the symbolic links that were followed to the files.
    """

    task: Task
    edits: list[dict[str, t.Any]]
    files: list[tuple[str, bytes, bytes, int]]
    warnings: list[str]
    links: list[str]
    written: float = 0.0

    @property
    def changed(self) -> bool:
        return any(before != after for _path, before, after, _links in self.files)


class _Plan:
    """What the whole run is going to change. ``ledger`` is as it is, ``later`` as it will be."""

    def __init__(self, tasks: t.Sequence[Task], store: Store | None, files: Files) -> None:
        """Raises whatever is wrong with any of the tasks."""
        self.files = files
        self.ledger = Ledger.load(store)
        self.later = self.ledger.copy()
        self.outcomes: list[Outcome] = []
        self._kept: dict[str, bytes] = {}
        self._modes: dict[str, int] = {}
        self.memory = _memory.Memory.load(store)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for task in tasks:
            request = dataclasses.replace(task.request, who=task.request.who or _who())
            job = Job(request, task.target, task.key, self.later, store, self._kept, files, task.planner, when)
            task.planner.memory = self.memory
            decision = decide_present(job) if request.state == "present" else _decide_absent(job)
            self._take(task, decision)

    def _take(self, task: Task, decision: Decision) -> None:
        record = self.later.patches.get(task.key)
        told = []
        for path in sorted({*decision.writes, *(record.files if record is not None else ())}):
            before = self.files.now(path)
            after = decision.writes.get(path, before)
            if before is not None and after is not None:
                told.append((path, before, after, self.files.status(path).st_nlink))
        for path, data in decision.writes.items():
            self.files.put(path, data)
        for data, path in decision.keep:
            digest = sha256(data)
            self._kept[digest] = data
            # The same bytes may be those of several files: as closed as the most closed of them.
            mode = self.files.status(path).st_mode
            self._modes[digest] = self._modes.get(digest, mode) & mode
        warnings = list(decision.warnings)
        if self.ledger.state == "corrupt":
            warnings.append(f"the ledger in {task.target.ledger} is damaged; the state is read from the code")
        self.outcomes.append(Outcome(task, decision.edits, told, warnings, list(self.files.links)))

    @property
    def writes(self) -> bool:
        return bool(self.files.changed())

    @property
    def worth_noting(self) -> bool:
        """Whether the ledger would say something else than it does, apart from time and asker."""
        now, later = self.ledger, self.later
        if later.files != now.files or set(later.patches) != set(now.patches):
            return True
        return any(not record.same_as(now.patches[key]) for key, record in later.patches.items())

    def originals(self) -> list[tuple[bytes, int]]:
        """What the ledger to be names and the store may not have yet, with the modes of their files."""
        named = self.later.originals()
        return [(data, self._modes[digest]) for digest, data in self._kept.items() if digest in named]

    def remember(self, store: Store) -> None:
        """For the next run: what the planner says of the files as they are now."""
        for outcome in self.outcomes:
            record = self.ledger.patches.get(outcome.task.key)
            if outcome.task.request.state == "present" and record is not None:
                outcome.task.planner.remember(outcome.task.key, record.edits, record.places, self.files.now)
        self.memory.keep_plans_of(self.ledger.patches)
        self.memory.save(store)

    def since(self) -> list[Outcome]:
        """The outcomes, each with when its target was written last, in seconds since 1970; 0 for never."""
        for outcome in self.outcomes:
            outcome.written = self.ledger.writes.get(target_key(outcome.task.target.key), 0.0)
        return self.outcomes


def foresee(tasks: t.Sequence[Task], folder: str, warnings: list[str], *, wait: float) -> list[Outcome]:
    """What ``bring_about`` would do, without a byte written. Raises also what would be in the way of its writes."""
    store = open_store(folder, create=False)
    with Files() as files:
        if store is None:
            plan = _Plan(tasks, None, files)
        else:
            with store, share(store, wait=wait):
                if open_journal(store) is not None:
                    from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import pending

                    unfinished = pending(store)
                    if unfinished:
                        warnings.append(unfinished)
                plan = _Plan(tasks, store, files)
        if plan.writes:
            from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import obstacles

            problem = obstacles(folder, [place for place, _data, _digest in files.changed()])
            if problem is not None:
                raise problem
        return plan.since()


def bring_about(tasks: t.Sequence[Task], folder: str, warnings: list[str], *, wait: float) -> list[Outcome]:
    """Decides and writes, alone on the ledger. Raises SpecdecError with everything as it was."""
    store = open_store(folder, create=False)
    if store is None:
        # No ledger is made where nothing has to be written.
        with Files() as files:
            plan = _Plan(tasks, None, files)
            if not plan.writes and not plan.worth_noting:
                return plan.since()
            needed = plan.writes
        try:
            store = open_store(folder, create=True)
        except SpecdecError as error:
            if needed:
                raise
            warnings.append(_unnoted(error))
            return plan.since()
    if store is None:
        raise AssertionError("store is not None")
    with store, hold(store, _title(tasks), wait=wait):
        # What writes is left out as long as nothing has to be written.
        if open_journal(store) is not None:
            from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import recover

            recovery = recover(store)
            if recovery is not None:
                warnings.append(str(recovery))
        with Files() as files:
            plan = _Plan(tasks, store, files)
            if plan.writes or plan.worth_noting:
                _commit(plan, store, _title(tasks), warnings)
            plan.remember(store)
            return plan.since()


def _title(tasks: t.Sequence[Task]) -> str:
    more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
    return tasks[0].key + more


def _commit(plan: _Plan, store: Store, title: str, warnings: list[str]) -> None:
    try:
        _write(plan, store, title, warnings)
    except SpecdecError as error:
        if plan.writes:
            raise
        warnings.append(_unnoted(error))


def _decide_absent(job: Job) -> Decision:
    from ansible_collections.specdec.blackwell.plugins.module_utils._absent import decide_absent

    return decide_absent(job)


def _write(plan: _Plan, store: Store, title: str, warnings: list[str]) -> None:
    from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import Transaction

    for outcome in plan.outcomes:
        if outcome.changed:
            plan.later.writes[target_key(outcome.task.target.key)] = time.time()
    try:
        if plan.ledger.state == "corrupt":
            warnings.append(_set_aside(store))
        store.keep_originals(plan.originals())
    except OSError as error:
        raise SpecdecError(
            f"cannot keep the originals in {store.path}: {error.strerror}. Nothing was changed.", path=store.path
        ) from error
    transaction = Transaction(store, title)
    for place, data, before in plan.files.changed():
        transaction.write(place, data, before)
    now = store.read(NAME)
    with store.place(NAME) as place:
        transaction.write(place, plan.later.dump(), None if now is None else sha256(now))
        transaction.commit()
    plan.ledger = plan.later
    warnings += transaction.warnings
    if not any(name.startswith(NAME + ".damaged") for name in os.listdir(store.path)):
        store.drop_originals(plan.later.originals())


def _set_aside(store: Store) -> str:
    """A damaged ledger may still help a person, so it is kept under another name, with its originals."""
    data = store.read(NAME) or b""
    name = f"{NAME}.damaged-{sha256(data)[:8]}"
    store.write_new(name, data)
    return (
        f"the ledger {os.path.join(store.path, NAME)} was damaged; it is kept as {name}, and a new one begins. What "
        "was patched before cannot be taken back; reinstall the engine to get its own files."
    )


def _unnoted(error: SpecdecError) -> str:
    return f"nothing had to be changed, but the ledger could not note that: {error.message}"


def _who() -> str:
    name = user_name(os.geteuid())
    asked = os.environ.get("SUDO_USER")
    return f"{asked} as {name}" if asked and asked != name else name


__all__ = ("Outcome", "Task", "bring_about", "foresee")
