# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``state: present``: bring a patch on, in place of its former self if it was another.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import glob
import os
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._decision import (
    CLEAN,
    EDITED,
    STALE,
    Decision,
    Job,
    hand_edit,
    standing,
    with_neighbours,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Drift, Refused
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import FileEntry, PatchRecord, spec_digest
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import (
    OBSOLETE,
    PRESENT,
    PRISTINE,
    Planned,
    over,
    replay,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._store import sha256

_DONE = (PRESENT, OBSOLETE)


def decide_present(job: Job) -> Decision:
    """Raises Drift when a required edit has no place, Refused when it would lose what somebody else did."""
    edits: list[t.Any] = list(job.request.edits or [])
    ledger = job.ledger
    places = _places(job, edits)
    record = ledger.patches.get(job.key)
    revised = record is not None and record.spec_sha256 != spec_digest(edits)
    names = {path: name for name, path in places.items()}
    mine = [path for path, entry in ledger.files.items() if job.key in entry.chain]
    how = {
        path: standing(job, path, names.get(path)) for path in {**names, **dict.fromkeys(mine)} if path in ledger.files
    }
    edited = sorted(path for path, found in how.items() if found == EDITED)
    if edited and not job.request.force:
        return _left_alone(job, edits, places, edited, revised)

    for path, found in how.items():
        if found == STALE:
            ledger.forget_file(path)
    clean = {path for path in mine if how[path] == CLEAN}
    # The former self goes from where it was; so it does where the engine has moved away from.
    rebuilt = with_neighbours(job, [*edited, *(path for path in clean if revised or path not in names)])
    made = _make(job, edits, places, rebuilt)
    if not made.planned.ok or not clean - rebuilt <= made.joined(places):
        # A later patch may have changed what this one made: on its own ground it still stands. Or an alternative
        # is taken in another file now.
        rebuilt = with_neighbours(job, rebuilt | clean)
        made = _make(job, edits, places, rebuilt)
    if not made.planned.ok:
        raise drift(job, made.planned)
    keep = _enter(job, edits, places, made, rebuilt)
    writes = {path: data for path, data in made.final.items() if data != job.files.now(path)}
    return Decision(writes, keep, said(made.planned, places, writes), _warnings(made.planned))


class _Made(t.NamedTuple):
    """``under`` are the bytes that the edits were planned on, ``final`` those that the files get, both by path."""

    planned: Planned
    under: dict[str, bytes]
    final: dict[str, bytes]

    def joined(self, places: t.Mapping[str, str]) -> set[str]:
        """The files that the patch is on."""
        return {places[edit["file"] or ""] for edit in self.planned.edits if edit["state"] in (PRISTINE, PRESENT)}


def _make(job: Job, edits: list[t.Any], places: dict[str, str], rebuilt: set[str]) -> _Made:
    """Plans the edits on the files as they are, and on those to be rebuilt in the patch's turn among the others.

    So what stands on the patch stands on its new self, and a revised host gets the bytes of a fresh one.
    """
    ledger, files, name = job.ledger, job.files, job.request.name
    keys = set(ledger.others_on(rebuilt, job.key)) | ({job.key} & set(ledger.patches))
    order = ledger.ordered(keys)
    turn = order.index(job.key) if job.key in order else len(order)
    running = {path: job.base(path) for path in sorted(rebuilt)}
    replay(ledger, order[:turn], running, files, job.planner, without=name)
    under = dict(running)
    for path in places.values():
        data = files.now(path)
        if data is not None:
            under.setdefault(path, data)
    planned = job.planner.run(edits, places, over(running, files), known=job.key in ledger.patches)
    final = dict(running)
    if planned.ok:
        final.update((places[file], data) for file, data in planned.after.items())
        running = {path: final[path] for path in running}
        replay(ledger, order[turn + 1 :], running, files, job.planner, without=f"the former {name}")
        final.update(running)
    return _Made(planned, under, final)


def _places(job: Job, edits: list[t.Any]) -> dict[str, str]:
    places: dict[str, str] = {}
    for name in job.target.names(edits, job.planner.memory, job.key):
        path = job.target.locate(job.files, name, job.request.follow)
        same = [other for other, place in places.items() if place == path]
        if same:
            raise BadInput(f"{name} and {same[0]} are one file, {path}; name it in one way", path=path)
        if job.files.now(path) is None and not name:
            raise BadInput(f"there is no file {path}", path=path)
        stem, extension = os.path.splitext(path)
        compiled = glob.glob(glob.escape(stem) + ".*.so") if extension == ".py" else []
        if compiled:
            raise Refused(
                f"{path} is never run: {compiled[0]} is what Python imports in its place. Install a release that is "
                "not compiled.",
                path=path,
            )
        places[name] = path
    return places


def _left_alone(job: Job, edits: list[t.Any], places: dict[str, str], edited: list[str], revised: bool) -> Decision:
    """A file was edited by hand: fine as long as there is nothing to do."""
    if not revised:
        planned = job.planner.run(edits, places, job.files.now, known=True)
        if planned.ok and not any(edit["state"] == PRISTINE for edit in planned.edits):
            warnings = [f"{path} was changed by hand after the last run; the patch is still there" for path in edited]
            return Decision({}, [], said(planned, places, ()), warnings + _warnings(planned))
    raise hand_edit(job, edited)


def _enter(
    job: Job,
    edits: list[t.Any],
    places: dict[str, str],
    made: _Made,
    rebuilt: set[str],
) -> list[tuple[bytes, str]]:
    """Notes the patch in the ledger; returns the bytes that must be kept, each with the path of their file."""
    ledger, target = job.ledger, job.target
    planned, under, final = made
    old = ledger.patches.get(job.key)
    joined = made.joined(places)
    keep: list[tuple[bytes, str]] = []
    for path in sorted(rebuilt - joined):
        ledger.leave_file(path, job.key, sha256(final[path]))
        if path in ledger.files:
            keep.append((final[path], path))
    entered: dict[str, dict[str, str]] = {}
    for path in sorted(joined):
        entry = ledger.files.get(path)
        if entry is None:
            entry = ledger.files[path] = FileEntry(sha256(under[path]), "", [], None, None)
            keep.append((under[path], path))
        entry.chain = [key for key in entry.chain if key != job.key] + [job.key]
        was = old.files.get(path, {}).get("before") if old is not None and path not in rebuilt else None
        entry.current = sha256(final[path])
        entry.distribution, entry.version = target.distribution, target.version
        keep.append((final[path], path))
        entered[path] = {"before": was or sha256(under[path]), "after": entry.current}
    ledger.patches[job.key] = PatchRecord(
        name=job.request.name,
        target=target.key,
        python=target.python,
        python_version="" if target.env is None else ".".join(str(number) for number in target.env.version),
        edits=edits,
        spec_sha256=spec_digest(edits),
        states=_states(old, places, planned, rebuilt, spec_digest(edits)),
        places=places,
        files=entered,
        distribution=target.distribution,
        version=target.version,
        wanted_version=job.request.version,
        reason=job.request.reason,
        upstream=job.request.upstream,
        drop_when=job.request.drop_when,
        when=job.when,
        who=job.request.who or "",
        sequence=ledger.next_sequence() if old is None else old.sequence,
    )
    for path in entered:
        ledger.files[path].chain = ledger.ordered(ledger.files[path].chain)
    return keep


def _states(
    old: PatchRecord | None, places: dict[str, str], planned: Planned, rebuilt: set[str], digest: str
) -> list[dict[str, t.Any]]:
    known = old.states if old is not None and old.spec_sha256 == digest else []
    states = []
    for index, edit in enumerate(planned.edits):
        path = places.get(edit["file"] or "")
        # An edit that is there because an earlier run made it stays ours, unless its file became another one.
        kept = index < len(known) and path not in rebuilt and old is not None and path in old.files
        ours = edit["state"] == PRISTINE or (kept and edit["state"] == PRESENT and bool(known[index].get("ours")))
        state = {key: edit.get(key) for key in ("id", "file", "scope", "op", "line")}
        state.update(state=edit["state"], ours=ours)
        states.append(state)
    return states


def said(planned: Planned, places: t.Mapping[str, str], writes: t.Container[str]) -> list[dict[str, t.Any]]:
    """The edits as the module returns them when all went well."""
    edits = []
    for edit in planned.edits:
        item = {key: value for key, value in edit.items() if key != "warnings"}
        if edit["state"] == PRISTINE:
            item["state"] = "applied" if places[edit["file"] or ""] in writes else PRESENT
        edits.append(item)
    return edits


def _warnings(planned: Planned) -> list[str]:
    found = [f"{edit['id']}: {warning}" for edit in planned.edits for warning in edit.get("warnings", ())]
    for edit in planned.edits:
        if edit["state"] not in (PRISTINE, *_DONE):
            found.append(f"{edit['id']} was left out (required: false): {edit.get('message', edit['state'])}")
    return found


def drift(job: Job, planned: Planned) -> Drift:
    """The failure that names each culprit, what was looked for, and what is near it."""
    culprits = [
        edit
        for edit in planned.edits
        if edit["state"] == "ambiguous" or (edit["state"] == "drifted" and edit.get("required", True))
    ]
    parts = []
    for edit in culprits:
        where = f" ({edit['file']})" if edit.get("file") else ""
        near = edit.get("candidates") or []
        hint = f" Nearest: {'; '.join(str(item) for item in near)}." if near else ""
        parts.append(f"{edit['id']}{where}: {edit.get('message', edit['state'])}.{hint}")
    count = f"{len(culprits)} of {len(planned.edits)} edits" if len(planned.edits) > 1 else "the edit"
    where = job.target.label()
    return Drift(
        f"{job.request.name}: {count} cannot be applied to {where}; nothing was written. " + " ".join(parts),
        edits=planned.edits,
        distribution=job.target.distribution,
        version=job.target.version,
    )


__all__ = ("decide_present", "drift", "said")
