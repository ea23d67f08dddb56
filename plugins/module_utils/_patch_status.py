# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every patch that a ledger knows, with its state read from the code as it is now.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import Environment, probe, venv_prefix
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import Ledger, PatchRecord, target_key
from ansible_collections.specdec.blackwell.plugins.module_utils._locks import share
from ansible_collections.specdec.blackwell.plugins.module_utils._pep440 import SpecifierSet
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import run_request
from ansible_collections.specdec.blackwell.plugins.module_utils._processes import older_processes, traces
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import (
    OBSOLETE,
    PRESENT,
    PRISTINE,
    Files,
    Planner,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._site_packages import (
    Package,
    find_package,
    record_digest_matches,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._store import (
    IN_VENV,
    default_folder,
    open_store,
    sha256,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._target import call
from ansible_collections.specdec.blackwell.plugins.module_utils._transaction import pending

WHOLE, DRIFTED, GONE = "whole", "drifted", "gone"
EnvironmentPlan = t.Callable[[Environment, t.Dict[str, t.Any]], t.Dict[str, t.Any]]


def status(
    *, python: str | None = None, ledger_dir: str | None = None, plan: EnvironmentPlan | None = None
) -> dict[str, t.Any]:
    """The ledger of an environment or of a folder. Writes nothing, and bears engines that are gone.

    ``plan`` runs _plan.run_request for an environment; left out: in its interpreter's syntax. Returns ``ledger``,
    ``ledger_state`` (ok, none, corrupt), ``patches`` and ``warnings``.
    """
    warnings: list[str] = []
    env: Environment | None = None
    try:
        env = probe(python)
    except SpecdecError as error:
        if ledger_dir is None and _lost_prefix(python) is None:
            raise
        warnings.append(error.message)
    folder = _folder(python, ledger_dir, env)
    answer: dict[str, t.Any] = {"ledger": folder, "ledger_state": "none", "patches": [], "warnings": warnings}
    store = open_store(folder, create=False)
    if store is None:
        return answer
    with store, share(store):
        ledger = Ledger.load(store)
        answer["ledger_state"] = ledger.state
        unfinished = pending(store)
        if unfinished:
            warnings.append(unfinished)
        if ledger.state == "corrupt":
            warnings.append(f"the ledger in {folder} is damaged, so its patches cannot be listed")
        reader = _Reader(env, plan or _call, warnings)
        for key in ledger.ordered(ledger.patches):
            record = ledger.patches[key]
            # A shared ledger knows other environments too; 'python' asks for one of them.
            if ledger_dir is None and env is not None and record.target.get("prefix") not in (None, _real(env.prefix)):
                continue
            answer["patches"].append(reader.describe(record, ledger))
    return answer


def _call(env: Environment, payload: dict[str, t.Any]) -> dict[str, t.Any]:
    return call(env, run_request, payload)


def _real(path: str) -> str:
    return os.path.realpath(path)


def _lost_prefix(python: str | None) -> str | None:
    """The venv of an interpreter that does not run any more, if there is something left of it."""
    if python is None:
        return None
    path = os.path.abspath(os.path.expanduser(python))
    above = os.path.dirname(os.path.dirname(path))
    return venv_prefix(path) or (above if os.path.isdir(os.path.join(above, IN_VENV)) else None)


def _folder(python: str | None, ledger_dir: str | None, env: Environment | None) -> str:
    if ledger_dir is not None:
        return os.path.abspath(os.path.expanduser(ledger_dir))
    if env is not None:
        return default_folder(env)
    return os.path.join(_lost_prefix(python) or "/", IN_VENV)


class _Reader:
    """Reads what the patches of one ledger have become; looks each package up once."""

    def __init__(self, env: Environment | None, plan: EnvironmentPlan, warnings: list[str]) -> None:
        self._env = env
        self._plan = plan
        self._warnings = warnings
        self._packages: dict[tuple[str, str], Package | SpecdecError] = {}
        self._older: dict[str, bool] = {}

    def describe(self, record: PatchRecord, ledger: Ledger) -> dict[str, t.Any]:
        env = self._environment(record)
        package = self._package(record, env)
        state, edits, why = self._state(record, ledger, env, package)
        version = package.version if package is not None else None
        due = bool(record.drop_when and version and _meets(version, record.drop_when))
        return {
            "name": record.name,
            "target": record.target,
            "python": record.python,
            "files": sorted(record.files),
            "distribution": {"then": record.distribution, "now": package.distribution if package is not None else None},
            "version": {"then": record.version, "now": version},
            "state": state,
            "why": why,
            "edits": edits,
            "ours": record.ours,
            "reason": record.reason,
            "upstream": record.upstream,
            "drop_when": record.drop_when,
            "drop_due": due,
            "when": record.when,
            "who": record.who,
            "restart_needed": self._runs_old_code(record, ledger, env, package),
        }

    def _runs_old_code(
        self, record: PatchRecord, ledger: Ledger, env: Environment | None, package: Package | None
    ) -> bool:
        key = target_key(record.target)
        written = ledger.writes.get(key, 0.0)
        if env is None or not written:
            return False
        if key not in self._older:
            folders, words = traces(env, record.target, package)
            self._older[key] = bool(older_processes(folders, words, written))
        return self._older[key]

    def _environment(self, record: PatchRecord) -> Environment | None:
        if self._env is not None and record.target.get("prefix") in (None, _real(self._env.prefix)):
            return self._env
        try:
            return probe(record.python or None)
        except SpecdecError:
            return None

    def _package(self, record: PatchRecord, env: Environment | None) -> Package | None:
        name = record.target.get("package")
        if name is None or env is None:
            return None
        key = (env.python, name)
        if key not in self._packages:
            try:
                self._packages[key] = find_package(env, name)
            except SpecdecError as error:
                self._packages[key] = error
        found = self._packages[key]
        return found if isinstance(found, Package) else None

    def _state(
        self, record: PatchRecord, ledger: Ledger, env: Environment | None, package: Package | None
    ) -> tuple[str, list[dict[str, t.Any]], str | None]:
        if env is None:
            return GONE, [], f"there is no interpreter {record.python} any more"
        if record.target.get("package") is not None and package is None:
            return GONE, [], f"the package {record.target['package']} is not installed any more"
        places = dict(record.places)
        if package is not None:
            places = {name: os.path.join(package.root, name) for name in record.places}
        here = env

        def plan(payload: dict[str, t.Any]) -> dict[str, t.Any]:
            return self._plan(here, payload)

        with Files() as files:
            try:
                real = {name: files.add(path) for name, path in places.items()}
                if all(files.now(path) is None for path in real.values()):
                    return GONE, [], "its files are gone"
                edits = Planner(plan).run(record.edits, real, files.now, known=True).edits
                released = package is not None and all(
                    record_digest_matches(package, name, files.now(path) or b"") is True for name, path in real.items()
                )
                state, edits = _judged(edits, released)
                if state == DRIFTED and _untouched(record, ledger, files):
                    return WHOLE, _as_made(record, edits), None
            except BadInput as error:
                return DRIFTED, [], error.message
            except SpecdecError as error:
                self._warnings.append(f"{record.name}: {error.message}")
                return DRIFTED, [], error.message
        return state, edits, None


def _untouched(record: PatchRecord, ledger: Ledger, files: Files) -> bool:
    """Whether all files are byte for byte as our runs left them.

    Then every edit is there, even one whose work a later patch has changed so that it cannot be seen any more.
    """
    entries = [(path, ledger.files.get(path)) for path in record.files]
    return bool(entries) and all(
        entry is not None and sha256(files.now(path) or b"") == entry.current for path, entry in entries
    )


def _as_made(record: PatchRecord, edits: list[dict[str, t.Any]]) -> list[dict[str, t.Any]]:
    said = []
    for edit, state in zip(edits, record.states):
        if state["ours"] and edit["state"] != PRESENT:
            edit = {**edit, "state": PRESENT, "message": "there, and changed further by a later patch"}
            edit.pop("candidates", None)
        said.append(edit)
    return said


def _judged(edits: list[dict[str, t.Any]], released: bool) -> tuple[str, list[dict[str, t.Any]]]:
    """The state of a patch from those of its edits; ``released``: every file is just as the release has it."""
    counted = [edit["state"] for edit in edits if edit.get("required", True) or edit["state"] != "drifted"]
    if all(state in (PRESENT, OBSOLETE) for state in counted):
        upstream = released or all(state == OBSOLETE for state in counted)
        return (OBSOLETE if upstream else WHOLE), edits
    if not any(state == PRESENT for state in counted) and any(state == PRISTINE for state in counted):
        return GONE, edits
    return DRIFTED, edits


def _meets(version: str, wanted: str) -> bool:
    try:
        return SpecifierSet(wanted).contains(version)
    except BadInput:
        return False


__all__ = ("EnvironmentPlan", "status")
