# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. Edits and files in, new bytes out. Knows nothing of disks.

Edits apply in order, a later one sees what an earlier one made. Either all required edits have their place and
every proof holds, or no file changes.
"""

from __future__ import annotations

import base64
from typing import Any, NamedTuple, Sequence, cast

from ansible_collections.specdec.blackwell.plugins.module_utils import _proof as proof
from ansible_collections.specdec.blackwell.plugins.module_utils._draft import Draft
from ansible_collections.specdec.blackwell.plugins.module_utils._edit import Alternative, Edit, files_of, parse_edits
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Drift, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import (
    AMBIGUOUS,
    DRIFTED,
    OBSOLETE,
    PRESENT,
    PRISTINE,
    Context,
    Verdict,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import compile_error, reason
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope, all_scopes, resolve
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source


class File(NamedTuple):
    """A file as it was read. ``module``: its dotted name, where it is known."""

    data: bytes
    module: str | None = None
    is_package: bool = False


class Result(NamedTuple):
    """What became of one edit."""

    edit: Edit
    taken: Alternative
    verdict: Verdict
    scope: Scope | None = None

    @property
    def fatal(self) -> bool:
        return self.verdict.state == AMBIGUOUS or (self.verdict.state == DRIFTED and self.edit.required)

    def as_dict(self) -> dict[str, Any]:
        verdict = self.verdict
        result: dict[str, Any] = {
            "id": self.edit.id,
            "file": self.taken.file,
            "scope": self.taken.scope,
            "line": verdict.line,
            "op": self.taken.key,
            "state": verdict.state,
            "matches": verdict.matches,
            "required": self.edit.required,
        }
        if verdict.message:
            result["message"] = verdict.message
        if verdict.candidates:
            result["candidates"] = list(verdict.candidates)
        if verdict.warnings:
            result["warnings"] = list(verdict.warnings)
        return result


class Workspace:
    """The files of one plan: as read, and as they stand after the edits so far."""

    def __init__(self, files: dict[str, File | None], *, known: bool) -> None:
        self.files = files
        self.known = known
        self.before: dict[str, Source] = {}
        self.drafts: dict[str, Draft] = {}

    def load(self, name: str) -> Draft | None:
        """The file as it stands now; None when it does not exist."""
        if name not in self.drafts:
            file = self.files.get(name)
            if file is None:
                return None
            self.before[name] = Source.parse(file.data, path=name or "the file")
            self.drafts[name] = Draft(self.before[name])
        return self.drafts[name]

    def context(self, name: str) -> Context:
        file = cast(File, self.files[name])
        return Context(file.module, file.is_package, self.known)

    def apply(self, result: Result) -> None:
        """Take an edit's splices over."""
        self.drafts[result.taken.file].apply(cast(Scope, result.scope), result.verdict.splices)


def run_edits(edits: Sequence[Edit], space: Workspace) -> list[Result]:
    """Examine and apply the edits in order; a drifted or ambiguous one is left out."""
    results: list[Result] = []
    for edit in edits:
        result = _examine(edit, space)
        if result.verdict.state == PRISTINE and result.verdict.splices:
            space.apply(result)
        results.append(result)
    return results


def _examine(edit: Edit, space: Workspace) -> Result:
    """The first alternative that is pristine or present; else one that is obsolete; else the first of the failures."""
    results = []
    for alternative in edit.alternatives:
        result = Result(edit, alternative, *_verdict(alternative, space))
        if result.verdict.state in (PRISTINE, PRESENT):
            return result
        results.append(result)
    for state in (OBSOLETE, AMBIGUOUS):
        for result in results:
            if result.verdict.state == state:
                return result
    if len(results) == 1:
        return results[0]
    message = "; ".join(f"alternative {number}: {result.verdict.message}" for number, result in enumerate(results, 1))
    candidates = [text for result in results for text in result.verdict.candidates]
    return results[0]._replace(verdict=results[0].verdict._replace(message=message, candidates=candidates))


def _verdict(alternative: Alternative, space: Workspace) -> tuple[Verdict, Scope | None]:
    draft = space.load(alternative.file)
    if draft is None:
        return Verdict(DRIFTED, message=f"there is no file {alternative.file}"), None
    local = alternative.operation.local and alternative.scope and alternative.occurrence is None
    scope = draft.scope(alternative.scope) if local else None
    if scope is not None:
        verdict, scope = _examined(alternative, scope.source, scope, space)
        if verdict.state in (PRISTINE, PRESENT):
            return _or_obsolete(alternative, verdict, space), scope
    verdict, scope = _examined(alternative, draft.whole(), None, space)
    return _or_obsolete(alternative, verdict, space), scope


def _examined(
    alternative: Alternative, source: Source, scope: Scope | None, space: Workspace
) -> tuple[Verdict, Scope | None]:
    try:
        scope = scope or resolve(source, alternative.scope, occurrence=alternative.occurrence)
        return alternative.operation.examine(scope, space.context(alternative.file)), scope
    except Drift as error:
        state, candidates, matches = (error.details[key] for key in ("state", "candidates", "matches"))
        return Verdict(state, message=error.message, candidates=candidates, matches=matches), None
    except Refused as error:
        return Verdict(DRIFTED, message=error.message), None
    except RecursionError:
        raise Refused(f"{source.path} is nested too deeply") from None


def _or_obsolete(alternative: Alternative, verdict: Verdict, space: Workspace) -> Verdict:
    if verdict.state != PRESENT and _is_obsolete(alternative, space):
        return Verdict(OBSOLETE, message="upstream has it another way", line=verdict.line)
    return verdict


def _is_obsolete(alternative: Alternative, space: Workspace) -> bool:
    """Judged on the file as it was read: what this task's own edits make is no upstream."""
    obsolete = alternative.obsolete
    if obsolete is None:
        return False
    source = space.before[alternative.file]
    if obsolete.scope is None:
        return obsolete.pattern.anywhere(source)
    try:
        scope = resolve(source, obsolete.scope)
    except Drift:
        return False
    return bool(obsolete.pattern.as_statements(scope) or obsolete.pattern.as_expression(scope))


def plan(edits: Any, files: dict[str, File | None], *, known: bool = False) -> dict[str, Any]:
    """Plan ``edits`` on ``files`` (by the name that the edits give; '' in path form).

    :returns: ``ok``, ``edits`` (one dict each), ``files`` (name to ``after`` bytes and ``changed``).
    :raises SpecdecError: bad input, a file that does not parse, a failed proof.
    """
    parsed = parse_edits(edits, files_named=set(files) != {""})
    space = Workspace(files, known=known)
    results = run_edits(parsed, space)
    ok = not any(result.fatal for result in results)
    planned: dict[str, dict[str, Any]] = {}
    for name, _source in space.before.items():
        file = cast(File, files[name])
        after = space.drafts[name].whole().encode() if ok else file.data
        planned[name] = {"after": after, "changed": after != file.data}
    if ok:
        _check_compiles(parsed, space, planned)
        _check_twice(parsed, files, planned)
    return {"ok": ok, "edits": [result.as_dict() for result in results], "files": planned}


def _check_compiles(edits: Sequence[Edit], space: Workspace, planned: dict[str, dict[str, Any]]) -> None:
    """What the parser takes may still be no program: ``return`` outside a function, ``await`` outside an async one.

    :raises Refused: a changed file does not compile, and did before.
    """
    for name in (name for name, item in planned.items() if item["changed"]):
        after = space.drafts[name].whole()
        error = compile_error(after.text.decode("utf-8"))
        if error is None or compile_error(space.before[name].text.decode("utf-8")) is not None:
            continue
        line = error.lineno or 0
        inside = [scope for scope in all_scopes(after) if scope.name and _spans(scope, line)]
        edit = _breaking(edits, space, name)
        shown = f", {after.line_text(line)!r}" if line > 0 else ""
        raise Refused(
            f"{after.path}: with edit {edit.id} it would not compile any more, though it does now: "
            f"{reason(error)}{shown}, in {inside[-1].name if inside else 'the module'}; nothing was written, "
            "correct the source that the edit gives or the place it goes to",
            file=name,
            edits=[edit.id],
            line=line,
        )


def _spans(scope: Scope, line: int) -> bool:
    return cast(int, getattr(scope.node, "lineno", 0)) <= line <= cast(int, getattr(scope.node, "end_lineno", 0))


def _breaking(edits: Sequence[Edit], space: Workspace, name: str) -> Edit:
    """The edit after which the file ``name`` does not compile and does not become better again."""
    found = edits[-1]
    for stop in range(len(edits) - 1, -1, -1):
        earlier = Workspace(space.files, known=space.known)
        run_edits(edits[:stop], earlier)
        found = edits[stop]
        draft = earlier.load(name)
        if draft is None or compile_error(draft.text.decode("utf-8")) is None:
            break
    return found


def _check_twice(edits: Sequence[Edit], files: dict[str, File | None], planned: dict[str, dict[str, Any]]) -> None:
    """``apply(apply(x)) == apply(x)``: on the result, no edit has anything left to do.

    :raises Refused: a later edit undoes what an earlier one needs.
    """
    if not any(item["changed"] for item in planned.values()):
        return
    again: dict[str, File | None] = {}
    for name, file in files.items():
        again[name] = file._replace(data=planned[name]["after"]) if file is not None and name in planned else file
    results = run_edits(edits, Workspace(again, known=True))
    for number, result in enumerate(results):
        if not _unsettled(result):
            continue
        rival = _rival(edits, files, number)
        if rival is not None:
            raise Refused(
                f"edits {result.edit.id} and {rival.id} work against each other: after {rival.id}, {result.edit.id} "
                f"would be {_becomes(result)} on a second run; say in one edit what the end shall be",
                edits=[result.edit.id, rival.id],
            )
        what = f"edit {result.edit.id} would be {_becomes(result)} on a second run"
        message = result.verdict.message
        raise proof.fail(result.taken.file or "the file", f"{what}: {message}" if message else what)


def _unsettled(result: Result) -> bool:
    return (result.verdict.state == PRISTINE and bool(result.verdict.splices)) or result.fatal


def _becomes(result: Result) -> str:
    return "applied again" if result.verdict.state == PRISTINE else result.verdict.state


def _rival(edits: Sequence[Edit], files: dict[str, File | None], number: int) -> Edit | None:
    """The later edit after which edit ``number`` is not done any more; None when it is not done even by itself."""
    for stop in range(number + 1, len(edits) + 1):
        space = Workspace(files, known=True)
        run_edits(edits[:stop], space)
        if _unsettled(_examine(edits[number], space)):
            return edits[stop - 1] if stop > number + 1 else None
    return None


def run_request(request: dict[str, Any]) -> dict[str, Any]:
    """The same with JSON in and out, for a target whose Python is another one; see the fields of :func:`plan`.

    ``files`` maps a name to None or ``{"data": base64, "module": ..., "is_package": ...}``; failures come in ``error``.
    """
    files: dict[str, File | None] = {}
    for name, item in request["files"].items():
        files[name] = (
            None
            if item is None
            else File(base64.b64decode(item["data"]), item.get("module"), bool(item.get("is_package")))
        )
    try:
        result = plan(request["edits"], files, known=bool(request.get("known")))
    except SpecdecError as error:
        return {"ok": False, "edits": [], "files": {}, "error": error.as_dict()}
    for item in result["files"].values():
        item["after"] = base64.b64encode(item["after"]).decode("ascii")
    result["error"] = None
    return result


__all__ = ("File", "plan", "run_request", "files_of")
