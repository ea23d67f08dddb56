# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The use case that ``python_ast_edit`` and ``eagle3_patch`` share: put patches on, or take them back.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._caches import caches_to_clear
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._processes import older_processes, traces
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import Plan, Planner
from ansible_collections.specdec.blackwell.plugins.module_utils._request import PatchRequest, Target, resolve
from ansible_collections.specdec.blackwell.plugins.module_utils._run import Outcome, Task, bring_about, foresee
from ansible_collections.specdec.blackwell.plugins.module_utils._store import sha256


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
    links: list[str] = dataclasses.field(default_factory=list)
    warnings: list[str] = dataclasses.field(default_factory=list)
    # Bytes of each file before, by path; not for the module's result.
    before: dict[str, bytes] = dataclasses.field(default_factory=dict)

    def as_dict(self) -> dict[str, t.Any]:
        shown = dataclasses.asdict(self)
        del shown["before"]
        optional = ("skip_reason", "links")
        return {key: value for key, value in shown.items() if key not in optional or value}


def apply(request: PatchRequest, plan: Plan | None = None, *, check_mode: bool) -> PatchResult:
    """Brings ``request`` about, or in check mode says what that would be, without writing a byte.

    ``plan`` is _plan.run_request in the target's syntax; left out: it is called there. Raises SpecdecError, with
    nothing changed.
    """
    return apply_all([request], plan, check_mode=check_mode)[0]


def apply_all(requests: t.Sequence[PatchRequest], plan: Plan | None = None, *, check_mode: bool) -> list[PatchResult]:
    """``apply`` for several patches on one ledger, in order, each on what those before it make; all or none.

    A result's diff is that of its own patch. Warnings that concern the whole run are in the first.
    """
    results: list[PatchResult] = []
    pairs: list[tuple[Task, PatchResult]] = []
    for request in requests:
        target = resolve(request)
        result = PatchResult(request.name, request.state, ledger=target.ledger)
        result.distribution, result.version = target.distribution, target.version
        if target.package is not None:
            result.warnings += target.package.notes
        result.skip_reason = _out_of_range(request, target)
        result.skipped = result.skip_reason is not None
        results.append(result)
        if not result.skipped:
            pairs.append((Task(request, target, _planner(target, plan)), result))
    if not pairs:
        return results
    folder = pairs[0][0].target.ledger
    if any(task.target.ledger != folder for task, _result in pairs):
        raise BadInput("patches that go together need one ledger; give 'ledger_dir'")
    if len({task.key for task, _result in pairs}) < len(pairs):
        raise BadInput("two patches of one name on one target")
    run = foresee if check_mode else bring_about
    warnings: list[str] = []
    tasks = [task for task, _result in pairs]
    outcomes = run(tasks, folder, warnings, wait=max(request.wait for request in requests))
    pairs[0][1].warnings += warnings
    for (_task, result), outcome in zip(pairs, outcomes):
        _tell(result, outcome)
    return results


def _planner(target: Target, injected: Plan | None) -> Planner:
    def plan(payload: dict[str, t.Any]) -> dict[str, t.Any]:
        if target.env is None:
            raise target.missing or SpecdecError("the target's interpreter is gone")
        # The largest part of the collection, which an unchanged host does not need.
        from ansible_collections.specdec.blackwell.plugins.module_utils._plan import run_request
        from ansible_collections.specdec.blackwell.plugins.module_utils._target import call

        return call(target.env, run_request, payload)

    return Planner(injected or plan, None if target.env is None else target.env.version)


def _out_of_range(request: PatchRequest, target: Target) -> str | None:
    if request.version is None or request.state == "absent":
        return None
    # Few patches name a range.
    from ansible_collections.specdec.blackwell.plugins.module_utils._pep440 import SpecifierSet

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


def _tell(result: PatchResult, outcome: Outcome) -> None:
    result.changed = outcome.changed
    result.edits = outcome.edits
    result.warnings += outcome.warnings
    package = outcome.task.target.package
    result.links = list(dict.fromkeys([*(package.links if package is not None else ()), *outcome.links]))
    for path, before, after, links in outcome.files:
        item: dict[str, t.Any] = {"path": path, "changed": before != after}
        item.update(before_sha256=sha256(before), after_sha256=sha256(after))
        result.files.append(item)
        result.before[path] = before
        if before == after:
            continue
        # Other names of the old file (an installer's cache, another venv) keep the old bytes.
        if links > 1:
            item["hard_links"] = links
        result.diff.append(_diff(path, before, after))
    target = outcome.task.target
    if outcome.changed and target.package is not None:
        result.caches_to_clear = caches_to_clear(target.package.name, [item["path"] for item in result.files])
    if target.env is not None and outcome.written:
        folders, words = traces(target.env, target.key, target.package)
        result.older_processes = older_processes(folders, words, outcome.written)
    result.restart_needed = result.changed or bool(result.older_processes)


def _diff(path: str, before: bytes, after: bytes) -> dict[str, t.Any]:
    # Only what is written has one.
    from ansible_collections.specdec.blackwell.plugins.module_utils._text import diff

    return diff(path, before, after)


__all__ = ("PatchRequest", "PatchResult", "apply", "apply_all")
