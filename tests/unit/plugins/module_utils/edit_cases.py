# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits tested as data: Markdown in which every heading is a case.

A case has fenced blocks, told apart by the second word after the fence: ``python before``, ``yaml edits`` (or
``yaml task``, a whole task), and either ``python after`` (what comes out, and comes out of a second run too) or
``text STATE`` (present, obsolete, drifted, ambiguous, or error): the file stays as it was, and every line of the block
is in what is said. ``diff change``, the whole file as a diff, stands for before and after. Flags behind it: ``noeol``,
the file does not end with a line end; ``lf``, its line ends are part of the case; ``3.11``, the Python that it
needs; ``<3.12``, only older ones.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import yaml

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan

_HEADING = re.compile(r"^#+ +(.*)$")
_FENCE = re.compile(r"^```(\w+)(?: +(\S.*))?$")
MODULE = "engine.models.kimi"


class Case(NamedTuple):
    """One case; ``after`` None: nothing changes, the last edit has ``state`` and ``said`` is in the messages."""

    title: str
    before: str
    edits: List[Any]
    after: Optional[str]
    state: str
    said: List[str]
    lf: bool
    runs_here: bool


def read_cases(path: Path) -> List[Case]:
    """The cases of a Markdown file."""
    cases: List[Case] = []
    title = ""
    blocks: Dict[str, Tuple[List[str], str]] = {}
    lines = iter(path.read_text(encoding="utf-8").split("\n"))
    for line in lines:
        heading, fence = _HEADING.match(line), _FENCE.match(line)
        if heading:
            title = heading.group(1)
        if not fence:
            continue
        words = (fence.group(2) or "").split()
        body: List[str] = []
        for inner in lines:
            if inner == "```":
                break
            body.append(inner)
        if not words:
            continue
        assert words[0] not in blocks, f"{path}: {title}: a case without an end"
        blocks[words[0]] = words[1:], "".join(item + "\n" for item in body)
        closes = {"edits", "task"} if "change" in blocks else set(blocks) - {"before", "edits", "task", "change"}
        if closes & set(blocks):
            cases.append(_case(f"{len(cases) + 1} {title}", blocks))
            blocks = {}
    assert not blocks, f"{path}: the last case has no end"
    return cases


def _case(title: str, blocks: Dict[str, Tuple[List[str], str]]) -> Case:
    if "change" in blocks:
        flags, diff = blocks.pop("change")
        lines = diff.splitlines()
        blocks["before"] = flags, "".join(line[1:] + "\n" for line in lines if line[:1] != "+")
        blocks["after"] = [], "".join(line[1:] + "\n" for line in lines if line[:1] != "-")
    flags, before = blocks.get("before", ([], ""))
    after = blocks["after"][1] if "after" in blocks else None
    state, (_flags, said) = next(
        (item for item in blocks.items() if item[0] not in ("before", "after", "edits", "task")), ("applied", ([], ""))
    )
    if "noeol" in flags:
        before = before[:-1]
        after = None if after is None else after[:-1]
    runs_here = all(_fits(flag) for flag in flags if "." in flag)
    return Case(title, before, _edits(blocks), after, state, said.splitlines(), "lf" in flags, runs_here)


def _fits(flag: str) -> bool:
    older = flag.startswith("<")
    version = tuple(int(part) for part in flag.lstrip("<").split("."))
    return (sys.version_info < version) if older else (sys.version_info >= version)


def _edits(blocks: Dict[str, Tuple[List[str], str]]) -> List[Any]:
    if "edits" in blocks:
        edits: List[Any] = yaml.safe_load(blocks["edits"][1])
        return edits
    (task,) = yaml.safe_load(blocks["task"][1])
    edits = task["specdec.blackwell.python_ast_edit"]["edits"]
    # A case has one file, which needs no name.
    assert len({edit.pop("file", "") for edit in edits}) == 1
    return edits


def spellings(case: Case) -> Dict[str, Tuple[bytes, bytes]]:
    """Before and after as bytes, in every way that must not matter."""
    before, after = case.before.encode("utf-8"), (case.before if case.after is None else case.after).encode("utf-8")
    ways = {"lf": (before, after), "bom": (b"\xef\xbb\xbf" + before, b"\xef\xbb\xbf" + after)}
    if not case.lf:
        for name, newline in (("crlf", b"\r\n"), ("cr", b"\r")):
            ways[name] = before.replace(b"\n", newline), after.replace(b"\n", newline)
    return ways


def run(edits: Any, before: bytes) -> Dict[str, Any]:
    """One plan of a file in path form; a failure comes as ``error``."""
    try:
        result = plan(edits, {"": File(before, MODULE)})
    except SpecdecError as error:
        return {"ok": False, "error": error.message, "edits": [], "after": before}
    return {"ok": result["ok"], "error": "", "edits": result["edits"], "after": result["files"][""]["after"]}


def check(case: Case) -> None:
    """Run a case in all its spellings."""
    for way, (before, after) in spellings(case).items():
        where = f"{case.title} ({way})"
        first = run(case.edits, before)
        said = "\n".join([first["error"]] + [_said(edit) for edit in first["edits"]])
        assert first["after"] == after, f"{where}: {said}\n{first['after'].decode('utf-8')}"
        for text in case.said:
            assert text in said, f"{where}: {text!r} is not said, but:\n{said}"
        if case.state == "error":
            assert first["error"], where
            continue
        assert not first["error"], f"{where}: {first['error']}"
        states = [edit["state"] for edit in first["edits"]]
        if case.state == "applied":
            assert first["ok"] and before != after, f"{where}: {said}"
            assert set(states) <= {"pristine", "present", "obsolete", "drifted"}, f"{where}: {said}"
            again = run(case.edits, after)
            assert again["after"] == after, where
            assert {edit["state"] for edit in again["edits"]} <= {"present", "obsolete", "drifted"}, where
            assert again["ok"], f"{where}: {again['edits']}"
        else:
            assert states[-1] == case.state, f"{where}: {states} {said}"
            assert first["ok"] is (case.state in ("present", "obsolete")) or not first["edits"][-1]["required"], where


def _said(edit: Dict[str, Any]) -> str:
    lines = [edit.get("message", "")] + list(edit.get("candidates", [])) + list(edit.get("warnings", []))
    return "\n".join([f"{edit['id']}: {edit['state']}"] + lines)


__all__ = ("Case", "check", "read_cases", "run", "spellings")
