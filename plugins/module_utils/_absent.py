# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``state: absent``: give the bytes back that were there before, from the ledger alone.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

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
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import PatchRecord
from ansible_collections.specdec.blackwell.plugins.module_utils._replay import PRESENT, PRISTINE, over, replay
from ansible_collections.specdec.blackwell.plugins.module_utils._store import sha256


def decide_absent(job: Job) -> Decision:
    """Raises Refused when a file was edited by hand after us, or another patch does not stand without this one."""
    record = job.ledger.patches.get(job.key)
    if record is None:
        return _unknown(job)
    warnings: list[str] = []
    names = {path: name for name, path in record.places.items()}
    how: dict[str, str] = {}
    for path in sorted(record.files):
        # Whoever followed a link to put the patch on has noted where it led.
        job.files.add(path)
        how[path] = standing(job, path, names.get(path)) if path in job.ledger.files else STALE
    edited = [path for path, found in how.items() if found == EDITED]
    if edited and not job.request.force:
        raise hand_edit(job, edited)
    for path, found in how.items():
        if found != STALE:
            continue
        gone = job.files.now(path) is None
        warnings.append(f"{path} {'is gone' if gone else 'was replaced since'}: nothing to take back there")
        job.ledger.forget_file(path)
    rebuilt = sorted(with_neighbours(job, (path for path, found in how.items() if found in (CLEAN, EDITED))))
    running = {path: job.base(path) for path in rebuilt}
    replay(
        job.ledger, job.ledger.others_on(rebuilt, job.key), running, job.files, job.planner, without=job.request.name
    )
    keep = []
    for path in rebuilt:
        job.ledger.leave_file(path, job.key, sha256(running[path]))
        if path in job.ledger.files:
            keep.append((running[path], path))
    del job.ledger.patches[job.key]
    writes = {path: data for path, data in running.items() if data != job.files.now(path)}
    return Decision(writes, keep, _taken_back(job, record, running), warnings)


def _taken_back(job: Job, record: PatchRecord, running: dict[str, bytes]) -> list[dict[str, t.Any]]:
    try:
        left = job.planner.run(record.edits, record.places, over(running, job.files), known=True).edits
    except SpecdecError:
        left = []
    edits = []
    for index, state in enumerate(record.states):
        item: dict[str, t.Any] = {key: state.get(key) for key in ("id", "file", "scope", "op", "line")}
        item["matches"] = left[index].get("matches", 0) if index < len(left) else 0
        path = record.places.get(state.get("file") or "")
        if not state.get("ours"):
            item.update(state="skipped", message="this patch did not make it")
        elif path not in running:
            item.update(state="skipped", message="the file is gone or was replaced since")
        elif index < len(left) and left[index]["state"] == PRESENT:
            item.update(state="skipped", message="another patch has it too")
        else:
            item["state"] = "reverted"
        edits.append(item)
    return edits


def _unknown(job: Job) -> Decision:
    """The ledger does not know the patch: then it was never put on, or the ledger is lost."""
    edits: list[t.Any] = list(job.request.edits or [])
    if not edits:
        if job.ledger.state == "corrupt":
            raise Refused(
                f"the ledger in {job.target.ledger} is damaged, so what {job.request.name} changed is not known. "
                "Reinstall the engine, or give the 'edits' to see whether they are there.",
                path=job.target.ledger,
            )
        return Decision({}, [], [], [])
    if job.target.missing is not None:
        return Decision({}, [], [], [job.target.missing.message])
    places = {
        name: job.target.locate(job.files, name, job.request.follow)
        for name in job.target.names(edits, job.planner.memory, job.key)
    }
    planned = job.planner.run(edits, places, job.files.now, known=False)
    found = []
    for edit in planned.edits:
        name = edit["file"] or ""
        data = job.files.now(places[name])
        if edit["state"] == PRESENT and data is not None and job.target.is_release(name, data) is not True:
            found.append(edit)
    said = [dict(edit) for edit in planned.edits]
    for edit in said:
        if edit["state"] in (PRESENT, PRISTINE):
            edit["state"] = "skipped"
    if not found:
        return Decision({}, [], said, [])
    if job.ledger.state == "ok":
        names = ", ".join(str(edit["id"]) for edit in found)
        return Decision({}, [], said, [f"{names}: found in the code, but not put there by this patch; left as it is"])
    what = "is damaged" if job.ledger.state == "corrupt" else "does not exist"
    raise Refused(
        f"{job.request.name} is in the code, but the ledger {job.target.ledger} {what}, so the bytes that were there "
        f"before are not known. Nothing was written; reinstall {job.target.label()} to get them back.",
        edits=planned.edits,
        path=job.target.ledger,
    )


__all__ = ("decide_absent",)
