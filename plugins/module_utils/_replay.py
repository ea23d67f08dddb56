# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the planner on bytes, and replay patches with it.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import base64
import json
import os
import types
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _memory
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput, Drift, Refused, SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._ledger import Ledger, PatchRecord
from ansible_collections.specdec.blackwell.plugins.module_utils._places import Gone, Place, open_place
from ansible_collections.specdec.blackwell.plugins.module_utils._store import sha256

Plan = t.Callable[[t.Dict[str, t.Any]], t.Dict[str, t.Any]]
PRISTINE, PRESENT, OBSOLETE = "pristine", "present", "obsolete"
_RAISED = {kind.__name__: kind for kind in (SpecdecError, BadInput, Drift, Refused)}


class Planned:
    """What the planner says: a dict for each edit, and the bytes after by ``file``."""

    def __init__(self, ok: bool, edits: list[dict[str, t.Any]], after: dict[str, bytes]) -> None:
        self.ok = ok
        self.edits = edits
        self.after = after


class Planner:
    """The injected plan function; the same edits on the same bytes are planned once.

    ``syntax`` is the version of the Python whose syntax it plans in. With it, ``memory`` may answer in its place.
    """

    def __init__(self, plan: Plan, syntax: t.Sequence[int] | None = None) -> None:
        self._plan = plan
        self._syntax = syntax
        self._known: dict[str, Planned] = {}
        self.memory = _memory.Memory()

    def run(self, edits: t.Sequence[t.Any], places: t.Mapping[str, str], files: Contents, *, known: bool) -> Planned:
        """Plans ``edits`` on ``files`` (by path). Raises what the planner finds wrong with the input or the files."""
        contents = {name: files(path) for name, path in places.items()}
        memo = _memo(edits, contents, known)
        if memo not in self._known:
            remembered = self.memory.recall("plans", self._key(memo, places))
            if _are_states(remembered, edits):
                self._known[memo] = Planned(True, remembered, _there(contents))
                return self._known[memo]
            request = {
                "edits": list(edits),
                "state": "present",
                "known": known,
                "files": {name: _file(name, places[name], data) for name, data in contents.items()},
            }
            self._known[memo] = _planned(self._plan(request), contents)
        return self._known[memo]

    def remember(self, owner: str, edits: t.Sequence[t.Any], places: t.Mapping[str, str], files: Contents) -> None:
        """Notes what ``run`` says of a patch that is on, if it says that no byte changes."""
        contents = {name: files(path) for name, path in places.items()}
        memo_key = self._key(_memo(edits, contents, True), places)
        if memo_key is None or _are_states(self.memory.recall("plans", memo_key), edits):
            return
        try:
            planned = self.run(edits, places, files, known=True)
        except SpecdecError:
            return
        if planned.ok and planned.after == _there(contents):
            self.memory.note("plans", owner, memo_key, planned.edits)

    def _key(self, memo: str, places: t.Mapping[str, str]) -> str | None:
        if self._syntax is None:
            return None
        return _memory.key(self._syntax, memo, {name: module_name(name, path) for name, path in places.items()})


def _memo(edits: t.Sequence[t.Any], contents: t.Mapping[str, bytes | None], known: bool) -> str:
    digests = {name: None if data is None else sha256(data) for name, data in contents.items()}
    return json.dumps([list(edits), digests, known], sort_keys=True)


def _there(contents: t.Mapping[str, bytes | None]) -> dict[str, bytes]:
    return {name: data for name, data in contents.items() if data is not None}


def _are_states(answer: t.Any, edits: t.Sequence[t.Any]) -> bool:
    """Whether a remembered answer has the form of the planner's."""
    return (
        isinstance(answer, list)
        and len(answer) == len(edits)
        and all(
            isinstance(item, dict)
            and isinstance(item.get("id"), str)
            and isinstance(item.get("file"), (str, type(None)))
            and item.get("state") in (PRISTINE, PRESENT, OBSOLETE, "drifted")
            for item in answer
        )
    )


Contents = t.Callable[[str], t.Optional[bytes]]


def _file(name: str, path: str, data: bytes | None) -> dict[str, t.Any] | None:
    if data is None:
        return None
    module, is_package = module_name(name, path)
    return {"data": base64.b64encode(data).decode("ascii"), "module": module, "is_package": is_package}


def module_name(name: str, path: str) -> tuple[str | None, bool]:
    """The dotted name under which a file is imported, and whether it is a package's __init__."""
    if name:
        parts = name.split("/")
    else:
        parts = [os.path.basename(path)]
        folder = os.path.dirname(path)
        while os.path.isfile(os.path.join(folder, "__init__.py")) and folder != "/":
            parts.insert(0, os.path.basename(folder))
            folder = os.path.dirname(folder)
    stem, extension = os.path.splitext(parts[-1])
    if extension not in (".py", ".pyi"):
        return None, False
    if stem == "__init__":
        return ".".join(parts[:-1]) or None, True
    return ".".join([*parts[:-1], stem]), False


def _planned(answer: dict[str, t.Any], contents: t.Mapping[str, bytes | None]) -> Planned:
    error = answer.get("error")
    if error:
        details = {key: value for key, value in error.items() if key not in ("message", "kind")}
        details.setdefault("edits", answer.get("edits", []))
        raise _RAISED.get(str(error.get("kind")), SpecdecError)(str(error["message"]), **details)
    after = _there(contents)
    for name, item in answer["files"].items():
        after[name] = base64.b64decode(item["after"])
    return Planned(bool(answer["ok"]), list(answer["edits"]), after)


class Files:
    """The files of one run by real path, each opened and read once, with what the run has in mind for them.

    ``now`` is as the patches decided so far leave a file; nothing is written. Close it after use.
    """

    def __init__(self) -> None:
        self._places: dict[str, Place] = {}
        self._data: dict[str, bytes | None] = {}
        self._disk: dict[str, bytes] = {}
        self._status: dict[str, os.stat_result] = {}
        self.links: list[str] = []

    def add(self, path: str, *, below: str | None = None, follow: bool = True) -> str:
        """Opens a file and returns its path without links; a missing one has no bytes."""
        try:
            place = open_place(path, below=below, follow=follow)
        except Gone:
            self._data.setdefault(path, None)
            return path
        if place.path in self._places:
            real = place.path
            place.close()
            return real
        self._places[place.path] = place
        self.links += [link for link in place.links if link not in self.links]
        try:
            with open(place.open(), "rb") as stream:
                self._status[place.path] = os.fstat(stream.fileno())
                self._data[place.path] = stream.read()
        except Gone:
            self._data[place.path] = None
        return place.path

    def now(self, path: str) -> bytes | None:
        if path not in self._data:
            return self._data[self.add(path)]
        return self._data[path]

    def put(self, path: str, data: bytes) -> None:
        before = self._data[path]
        if before is None:
            raise AssertionError("before is not None")
        self._disk.setdefault(path, before)
        self._data[path] = data

    def changed(self) -> list[tuple[Place, bytes, str]]:
        """What has to be written: where, the new bytes, and the digest of those on the disk."""
        found = []
        for path, before in sorted(self._disk.items()):
            data = self._data[path]
            if data is not None and data != before:
                found.append((self._places[path], data, sha256(before)))
        return found

    def status(self, path: str) -> os.stat_result:
        """As it was when the file was read."""
        return self._status[path]

    def close(self) -> None:
        for place in self._places.values():
            place.close()

    def __enter__(self) -> Files:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: types.TracebackType | None,
    ) -> None:
        self.close()


def over(running: t.Mapping[str, bytes], files: Files) -> Contents:
    """The bytes in the making where there are any, else those on disk."""

    def read(path: str) -> bytes | None:
        return running[path] if path in running else files.now(path)

    return read


def replay(
    ledger: Ledger, keys: t.Sequence[str], running: dict[str, bytes], files: Files, planner: Planner, *, without: str
) -> None:
    """Applies the recorded patches ``keys`` in order to ``running``; the ledger learns which edits are theirs now.

    Raises Refused where one of them does not stand without the patch named ``without``.
    """
    for key in keys:
        record = ledger.patches[key]
        planned = planner.run(record.edits, record.places, over(running, files), known=True)
        if not planned.ok:
            culprits = [edit for edit in planned.edits if edit["state"] in ("drifted", "ambiguous")]
            reasons = "; ".join(f"{edit['id']}: {edit.get('message', edit['state'])}" for edit in culprits)
            raise Refused(
                f"{without} cannot be taken back alone: {record.name} was applied on top of it and does not stand "
                f"without it ({reasons}). Nothing was written; take {record.name} back first.",
                blocked_by=record.name,
                edits=planned.edits,
            )
        for name, path in record.places.items():
            if path in running and name in planned.after:
                running[path] = planned.after[name]
        for state, edit in zip(record.states, planned.edits):
            if record.places.get(edit["file"] or "") in running:
                state["ours"] = edit["state"] == PRISTINE
                state["state"] = edit["state"]


def ours_in(record: PatchRecord, path: str, files: Files, planner: Planner) -> bool:
    """Whether any edit that the patch made in the file is still there."""
    try:
        planned = planner.run(record.edits, record.places, files.now, known=True)
    except SpecdecError:
        return True
    return any(
        state.get("ours") and edit["state"] == PRESENT and record.places.get(edit["file"] or "") == path
        for state, edit in zip(record.states, planned.edits)
    )


__all__ = (
    "OBSOLETE",
    "PRESENT",
    "PRISTINE",
    "Contents",
    "Files",
    "Plan",
    "Planned",
    "Planner",
    "module_name",
    "ours_in",
    "over",
    "replay",
)
