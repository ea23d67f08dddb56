# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers of slow, pure functions, kept beside the ledger for the run that finds everything as it was.

PRIVATE to the collection: it can have breaking changes at any time.

A key names all that its answer follows from, this collection's code included. So an answer is the right one or is not
found; a lost, torn or foreign memory only costs the time to ask again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import sys
import typing as t
import zipfile

from ansible_collections.specdec.blackwell.plugins.module_utils import _errors, _store

NAME = "memory.json"
_SECTIONS = ("names", "plans", "derived")
_MOST = 64

Answers = t.Dict[str, t.Dict[str, t.Any]]


class Memory:
    """Per section and owner the last answer: ``{"key": ..., "answer": ...}``."""

    def __init__(self, sections: dict[str, Answers] | None = None) -> None:
        self._sections = sections or {name: {} for name in _SECTIONS}
        self._changed = False

    @classmethod
    def load(cls, store: _store.Store | None) -> Memory:
        """An empty one where there is none that can be relied upon."""
        # What another user may write does not speak for this one.
        if store is None or store.owner not in (0, os.geteuid()):
            return cls()
        try:
            data = store.read(NAME)
            note = json.loads(data.decode("ascii")) if data is not None else None
        except (OSError, ValueError, _errors.SpecdecError):
            return cls()
        if not isinstance(note, dict) or not _well_formed(note.get("sections")):
            return cls()
        return cls(note["sections"]) if note.get("sha256") == digest(note["sections"]) else cls()

    def recall(self, section: str, key: str | None) -> t.Any:
        """The answer that was noted under ``key``, None when there is none."""
        for item in self._sections[section].values():
            if key is not None and item["key"] == key:
                return json.loads(json.dumps(item["answer"]))
        return None

    def note(self, section: str, owner: str, key: str, answer: t.Any) -> None:
        """Takes the place of what ``owner`` had in the section. What is not JSON is not noted."""
        try:
            item = {"key": key, "answer": json.loads(json.dumps(answer))}
        except (TypeError, ValueError):
            return
        answers = self._sections[section]
        # A tuple would come back as a list.
        if item["answer"] == answer and answers.get(owner) != item:
            answers.pop(owner, None)
            answers[owner] = item
            self._changed = True

    def keep_plans_of(self, owners: t.Collection[str]) -> None:
        """Forgets what is no patch's any more; all, where there is none left."""
        for section in ("names", "plans") if owners else _SECTIONS:
            for owner in [owner for owner in self._sections[section] if owner not in owners]:
                del self._sections[section][owner]
                self._changed = True

    def save(self, store: _store.Store) -> None:
        """Writes what is new; the ledger's lock must be held. A memory that cannot be written is none."""
        if not self._changed or store.owner not in (0, os.geteuid()):
            return
        for answers in self._sections.values():
            for owner in list(answers)[:-_MOST]:
                del answers[owner]
        note = {"sha256": digest(self._sections), "sections": self._sections}
        with contextlib.suppress(OSError):
            # A torn file is told by its digest, so there is no second name to leave behind.
            store.remove(NAME)
            if any(self._sections.values()):
                store.create(NAME, json.dumps(note).encode("ascii") + b"\n", store.folder, durable=False)
        self._changed = False


def _well_formed(sections: t.Any) -> bool:
    if not isinstance(sections, dict) or set(sections) != set(_SECTIONS):
        return False
    return all(
        isinstance(answers, dict)
        and all(isinstance(item, dict) and set(item) == {"key", "answer"} for item in answers.values())
        for answers in sections.values()
    )


def digest(value: t.Any) -> str:
    """sha256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def key(version: t.Sequence[int], *parts: t.Any) -> str | None:
    """The key of an answer given in the syntax of Python ``version``; None where the code in use cannot be told."""
    code = shipped_code()
    return None if code is None else digest([code, sys.version, list(version), *parts])


@functools.lru_cache(maxsize=None)
def shipped_code() -> str | None:
    """A digest of this collection's code as it runs here: in Ansible's zip or in a folder."""
    folder = os.path.dirname(os.path.abspath(__file__))
    package = __name__.rpartition(".")[0].replace(".", "/")
    root = folder[: -len(package)].rstrip(os.sep) if folder.replace(os.sep, "/").endswith(package) else folder
    found: list[t.Any] = []
    try:
        if os.path.isfile(root):
            with zipfile.ZipFile(root) as archive:
                for item in archive.infolist():
                    if item.filename.startswith(package + "/"):
                        found.append([item.filename, item.CRC, item.file_size])
        else:
            for place, _folders, names in os.walk(folder):
                for name in names:
                    if name.endswith(".py"):
                        with open(os.path.join(place, name), "rb") as stream:
                            content = hashlib.sha256(stream.read()).hexdigest()
                        found.append([os.path.relpath(os.path.join(place, name), folder), content])
    except (OSError, zipfile.BadZipFile):
        return None
    return digest(sorted(found)) if found else None


__all__ = ("NAME", "Memory", "digest", "key", "shipped_code")
