# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PRIVATE to the collection. One edit of the public language: its keys checked, its alternatives laid out."""

from __future__ import annotations

import difflib
from typing import Any, NamedTuple, Sequence

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._fields import Fields, describe
from ansible_collections.specdec.blackwell.plugins.module_utils._operations import OPERATIONS
from ansible_collections.specdec.blackwell.plugins.module_utils._ops._base import Operation
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern

COMMON = ("file", "in", "occurrence", "id", "required", "count", "state", "obsolete_when", "any_of")


class Obsolete(NamedTuple):
    """What proves that upstream solved it another way: a pattern, in one scope or (None) in any of the file."""

    pattern: Pattern
    scope: str | None


class Alternative(NamedTuple):
    """One place and one operation."""

    file: str
    scope: str
    occurrence: int | None
    key: str
    operation: Operation
    obsolete: Obsolete | None


class Edit(NamedTuple):
    """One edit: the first alternative that fits is taken."""

    id: str
    required: bool
    alternatives: list[Alternative]


def parse_edits(edits: Any, *, files_named: bool = True) -> list[Edit]:
    """Check and compile a list of edits.

    :param files_named: package form, where every edit says its ``file``; in path form none does.
    :raises BadInput: names the edit by position and operation, the key, and what to write.
    """
    if not isinstance(edits, list) or not edits:
        raise BadInput(f"`edits` must be a list with at least one edit, got {describe(edits)}")
    parsed: list[Edit] = []
    seen: dict[str, int] = {}
    for number, values in enumerate(edits, 1):
        edit = _parse_edit(values, number, files_named=files_named)
        if edit.id in seen:
            raise BadInput(f"edits {seen[edit.id]} and {number} have the same id {edit.id!r}")
        seen[edit.id] = number
        parsed.append(edit)
    return parsed


def files_of(edits: Any) -> list[str]:
    """Every file that the edits name, alternatives included, in order; what is no text is left to ``parse_edits``."""
    found: list[str] = []
    for edit in edits if isinstance(edits, list) else []:
        if not isinstance(edit, dict):
            continue
        alternatives = edit.get("any_of")
        for values in [edit] + (alternatives if isinstance(alternatives, list) else []):
            name = values.get("file") if isinstance(values, dict) else None
            if isinstance(name, str) and name not in found:
                found.append(name)
    return found


def _parse_edit(values: Any, number: int, *, files_named: bool) -> Edit:
    what = f"edit {number}"
    fields = Fields(values, what)
    named = fields.optional("id")
    if named is not None:
        what = f"{what} ({named})"
    if "any_of" not in fields:
        alternative = _parse_alternative(fields.values, what, files_named=files_named)
        identity = named or f"{number}-{alternative.key}"
        return Edit(identity, fields.flag("required", True), [alternative])
    items = fields.values["any_of"]
    if not isinstance(items, list) or not items:
        raise BadInput(f"{what}: any_of must be a list of alternatives, got {describe(items)}")
    common = {key: value for key, value in fields.values.items() if key not in ("any_of", "id", "required")}
    alternatives: list[Alternative] = []
    for place, item in enumerate(items, 1):
        inner = f"{what}, alternative {place}"
        for key in Fields(item, inner).values:
            if key in ("any_of", "id", "required"):
                raise BadInput(f"{inner}: {key} belongs to the edit, not to an alternative")
        merged = dict(common)
        merged.update(item)
        alternatives.append(_parse_alternative(merged, inner, files_named=files_named))
    identity = named or f"{number}-{alternatives[0].key}"
    return Edit(identity, fields.flag("required", True), alternatives)


def _parse_alternative(values: dict[str, Any], what: str, *, files_named: bool) -> Alternative:
    keys = [key for key in OPERATIONS if values.get(key) is not None]
    if len(keys) != 1:
        _unknown_first(values, what)
        given = "none" if not keys else ", ".join(keys)
        raise BadInput("{}: give exactly one operation of {}; got {}".format(what, ", ".join(OPERATIONS), given))
    key = keys[0]
    operation = OPERATIONS[key]
    fields = Fields(values, f"{what}, {key}")
    allowed = COMMON + (key,) + tuple(operation.MODIFIERS)
    for name in values:
        if name not in allowed:
            raise BadInput(
                "{}: unknown key {!r}{}; {} takes {}".format(
                    what, name, _hint(name, allowed), key, ", ".join(sorted(set(allowed) - {"any_of"}))
                ),
                key=str(name),
            )
    if "count" in fields and "count" not in operation.MODIFIERS:
        raise BadInput(f"{what}: {key} has no count")
    absent = fields.choice("state", ("present", "absent"), "present") == "absent"
    if absent and not operation.ABSENT:
        raise BadInput(f"{what}: {key} cannot be absent; state: absent goes with {_absent_keys()}")
    if "occurrence" in fields and "in" not in fields:
        raise BadInput(f"{what}: `occurrence` goes with `in`")
    file = fields.optional("file")
    if files_named and file is None:
        raise BadInput(f"{what}: `file` is required, as RECORD writes it (vllm/config/speculative.py)")
    if not files_named and file is not None:
        raise BadInput(f"{what}: with `path`, edits carry no `file`")
    if file is not None:
        _check_file(file, what)
    return Alternative(
        file or "",
        fields.text("in", default="-") if "in" in fields else "",
        fields.number("occurrence"),
        key,
        operation.parse(fields, absent=absent),
        _obsolete(fields),
    )


def _check_file(file: str, what: str) -> None:
    parts = file.split("/")
    if file.startswith("/") or ".." in parts or "" in parts or "." in parts or "\\" in file or "\0" in file:
        raise BadInput(f"{what}: file {file!r} must be relative to the folder of the package, with / and without ..")


def _obsolete(fields: Fields) -> Obsolete | None:
    value = fields.values.get("obsolete_when")
    if value is None:
        return None
    what = f"{fields.what}, obsolete_when"
    if isinstance(value, str):
        return Obsolete(Pattern(fields.text("obsolete_when"), what=what), None)
    inner = Fields(value, what)
    inner.only(("in", "find"))
    return Obsolete(Pattern(inner.text("find"), what=what), inner.optional("in") or "")


def _unknown_first(values: dict[str, Any], what: str) -> None:
    """A misspelled operation is an unknown key; say that rather than that none was given."""
    known = set(COMMON) | set(OPERATIONS)
    for operation in OPERATIONS.values():
        known |= set(operation.MODIFIERS)
    for key in values:
        if key not in known:
            raise BadInput(f"{what}: unknown key {key!r}{_hint(key, sorted(known))}", key=str(key))


def _hint(key: Any, known: Sequence[str] | list[str]) -> str:
    near = difflib.get_close_matches(str(key), known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def _absent_keys() -> str:
    return ", ".join(key for key, operation in OPERATIONS.items() if operation.ABSENT)


__all__ = ("Edit", "Alternative", "Obsolete", "parse_edits", "files_of")
