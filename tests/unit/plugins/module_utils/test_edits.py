# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The edit language, case by case: the result, a second run that changes nothing, and the way back."""

from __future__ import annotations

import base64
import codecs
import importlib
import json
import pathlib
import re
import sys
from typing import Any, Callable

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._operations import OPERATIONS
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan, run_request
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases._case import Case, Text
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.undo import applied_and_undone

PACKAGE = "ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.cases"
NAMES = sorted(path.stem for path in (pathlib.Path(__file__).parent / "cases").glob("[!_]*.py"))
SETTLED = {"present", "obsolete"}


def _cases() -> list[Any]:
    found = []
    for name in NAMES:
        for case in importlib.import_module(f"{PACKAGE}.{name}").CASES:
            if sys.version_info[:2] >= case.python:
                found.append(pytest.param(case, id=f"{name}-{case.id}"))
    return found


CASES = _cases()


def data(text: Text) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8")


def with_ends(ending: bytes) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(b"\n", ending)


def with_bom(content: bytes) -> bytes:
    return codecs.BOM_UTF8 + content


WRITTEN: dict[str, Callable[[bytes], bytes]] = {
    "lf": bytes,
    "crlf": with_ends(b"\r\n"),
    "cr": with_ends(b"\r"),
    "bom": with_bom,
    "crlf-bom": lambda content: with_bom(with_ends(b"\r\n")(content)),
}


def ways(before: Text) -> list[str]:
    """How a file can be written: one without a line end cannot have other ones."""
    if isinstance(before, bytes):
        return ["lf"]
    return sorted(WRITTEN) if "\n" in before else ["lf", "bom"]


def run(case: Case, content: bytes, *, known: bool) -> dict[str, Any]:
    return plan(case.edits, {"": File(content, case.module, case.is_package)}, known=known)


def said(result: dict[str, Any]) -> list[str]:
    texts: list[str] = []
    for edit in result["edits"]:
        texts.extend([edit["message"]] if "message" in edit else [])
        texts.extend(edit.get("candidates", []))
        texts.extend(edit.get("warnings", []))
    return texts


def _written() -> list[Any]:
    return [
        pytest.param(param.values[0], written, id=f"{param.id}-{written}")
        for param in CASES
        if param.values[0].fails is None
        for written in ways(param.values[0].before)
    ]


@pytest.mark.parametrize("case,written", _written())
def test_result_second_run_and_way_back(case: Case, written: str) -> None:
    write = WRITTEN[written]
    before = write(data(case.before))
    after = before if case.after is None else write(data(case.after))

    first = run(case, before, known=case.known)
    assert [edit["state"] for edit in first["edits"]] == case.wanted_states
    assert first["files"][""]["after"] == after
    assert first["files"][""]["changed"] is (after != before)
    assert said(first) == list(case.said)
    assert first["ok"] is (case.after is not None or SETTLED.issuperset(case.wanted_states))

    if case.after is not None:
        second = run(case, after, known=True)
        assert second["files"][""]["after"] == after
        assert second["ok"] is True
        assert {edit["state"] for edit in second["edits"] if edit["required"]} <= SETTLED
        assert applied_and_undone(before, list(case.edits), case.module)[1] == before


@pytest.mark.parametrize("case", [param for param in CASES if param.values[0].fails is not None])
def test_refused(case: Case) -> None:
    with pytest.raises(SpecdecError) as refused:
        run(case, data(case.before), known=case.known)
    wanted = re.escape(str(case.fails)).replace(re.escape("{parser}"), ".+")
    assert re.fullmatch(wanted, refused.value.message, re.DOTALL), refused.value.message
    json.dumps(refused.value.as_dict())


def test_every_operation_has_cases_and_they_begin_with_those_that_change_nothing() -> None:
    files = {path.stem for path in (pathlib.Path(__file__).parent / "cases").iterdir()}
    assert {f"{name}_" if name == "import" else name for name in OPERATIONS} <= files
    for name in NAMES:
        cases = importlib.import_module(f"{PACKAGE}.{name}").CASES
        assert len({case.id for case in cases}) == len(cases)
        noops = [case.id.startswith("noop-") for case in cases]
        assert noops == sorted(noops, reverse=True), f"{name}: the cases that change nothing come first"


@pytest.mark.parametrize(
    "edit",
    [
        {"replace": "f($A)", "with": "g($A)"},
        {"element": {"to": "f($$$)", "value": "2"}},
        {"argument": {"call": "f($$$)", "name": "b", "value": "2"}},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_inside_an_fstring_edited_where_positions_are_known_else_refused(edit: dict[str, Any]) -> None:
    before = 'x = "é", f"{f(1)}"\n'.encode()
    result = plan([edit], {"": File(before)})
    after = result["files"][""]["after"]
    if sys.version_info >= (3, 12):
        assert result["ok"] is True
        assert after != before
        assert plan([edit], {"": File(after)})["files"][""]["after"] == after
    else:
        assert after == before
        assert re.search(r"line 1: .* inside an f-string", said(result)[0])


def test_code_too_deep_for_recursion() -> None:
    chain = "".join(f"elif x == {number}: a()\n" for number in range(1, 80))
    terms = "x = " + " + ".join(["1"] * 700) + "\n"
    before = f"if x == 0: pass\n{chain}{terms}b('z')\n".encode()
    edits = [
        {"insert": "c()", "after": "b($_)"},
        {"replace": "'z'", "with": "'w'"},
        {"in": "A", "base": "B", "required": False},
    ]
    result = plan(edits, {"": File(before)})
    assert result["files"][""]["after"] == before.replace(b"b('z')\n", b"b('w')\nc()\n")


def test_a_request_is_json_in_and_out() -> None:
    request = {
        "edits": [{"file": "p/m.py", "in": "A", "base": "B"}],
        "files": {
            "p/m.py": {"data": base64.b64encode(b"class A: ...\n").decode(), "module": "p.m", "is_package": False}
        },
        "known": False,
    }
    response = run_request(json.loads(json.dumps(request)))
    assert json.loads(json.dumps(response)) == response
    assert response["error"] is None
    assert base64.b64decode(response["files"]["p/m.py"]["after"]) == b"class A(B): ...\n"


def test_a_request_on_files_that_are_not_there_or_do_not_parse() -> None:
    edit = {"file": "p/m.py", "in": "A", "base": "B"}
    missing = run_request({"edits": [edit], "files": {"p/m.py": None}})
    assert missing["ok"] is False
    assert missing["edits"][0]["message"] == "there is no file p/m.py"
    broken = run_request({"edits": [edit], "files": {"p/m.py": {"data": base64.b64encode(b"class A(:\n").decode()}}})
    assert broken["ok"] is False
    assert re.match(r"p/m\.py does not parse, line 1: ", broken["error"]["message"])
    assert (broken["error"]["file"], broken["error"]["line"], broken["error"]["source_line"]) == (
        "p/m.py",
        1,
        "class A(:",
    )


def test_many_files_all_or_nothing() -> None:
    edits = [{"file": f"p/{name}.py", "in": "A", "base": "B"} for name in ("one", "two")]
    files: dict[str, File | None] = {"p/one.py": File(b"class A: ...\n"), "p/two.py": File(b"class C: ...\n")}
    result = plan(edits, files)
    assert [edit["state"] for edit in result["edits"]] == ["pristine", "drifted"]
    assert [item["changed"] for item in result["files"].values()] == [False, False]


@pytest.mark.parametrize("name", ["/p/m.py", "../m.py", "p/../m.py", "p//m.py", "p/./m.py", "p\\m.py", "p/m\0.py"])
def test_a_file_outside_of_the_package_is_refused(name: str) -> None:
    with pytest.raises(SpecdecError, match="must be relative to the folder of the package"):
        plan([{"file": name, "in": "A", "base": "B"}], {name: File(b"")})
