# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Edits on every file of a tree, and back: ``roundtrip.py FOLDER ... [--every N] [--seconds S]``.

Runs on any Python from 3.9 on, on the files that it can parse. Prints one JSON object: how many
files, edits, files that do not parse, seconds, and every failure.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import pathlib
import random
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".collections"))

from ansible_collections.specdec.blackwell.plugins.module_utils import _suite as suite
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import BadInput
from ansible_collections.specdec.blackwell.plugins.module_utils._parse import parse
from ansible_collections.specdec.blackwell.plugins.module_utils._pattern import Pattern
from ansible_collections.specdec.blackwell.plugins.module_utils._plan import File, plan
from ansible_collections.specdec.blackwell.plugins.module_utils._scope import (
    Block,
    Scope,
    all_scopes,
    is_overload,
    resolve,
)
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.undo import applied_and_undone

METHOD = '''\
@specdec_probe
def specdec_probe(self, x: int = 1) -> int:
    """Doc.

    More.
    """
    return x
'''
PLACES = 6


def files(folders: list[str], every: int) -> Iterator[pathlib.Path]:
    """Python files of the folders, or each one whose name's digest falls on the first of ``every``."""
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.py")):
            digest = hashlib.sha256(str(path.relative_to(folder)).encode()).digest()
            if "site-packages" not in path.parts and path.is_file() and not int.from_bytes(digest[:4], "big") % every:
                yield path


def named(source: Source, kinds: Any, pick: random.Random) -> dict[str, Any] | None:
    """A definition as an edit names it: ``in``, and ``occurrence`` where there are several."""
    scopes = [scope for scope in all_scopes(source) if isinstance(scope.node, kinds) and not stub(scope)]
    if not scopes:
        return None
    chosen = pick.choice(scopes)
    alike = [scope for scope in scopes if scope.name == chosen.name]
    place: dict[str, Any] = {"in": chosen.name}
    if len(alike) > 1:
        place["occurrence"] = [scope.node for scope in in_order(source, chosen.name)].index(chosen.node) + 1
    return place


def stub(scope: Scope) -> bool:
    nodes = scope.parents[1:] + (scope.node,)
    return any(is_overload(node) for node in nodes if not isinstance(node, ast.Module))


def in_order(source: Source, name: str) -> list[Scope]:
    """The definitions that ``name`` may mean, as ``occurrence`` counts them."""
    found = [Scope("", source.tree, source)]
    for part in name.split("."):
        inner: list[Scope] = []
        for scope in found:
            nodes = [node for node in scope.definitions() if node.name == part]
            real = [node for node in nodes if not is_overload(node)] or nodes
            inner.extend(Scope(part, node, source, scope.parents + (scope.node,)) for node in real)
        found = inner
    return found


def edits_for(source: Source, pick: random.Random) -> list[dict[str, Any]]:
    edits: list[dict[str, Any]] = [{"import": {"from": "specdec_probe", "names": ["Probe"]}}]
    place = named(source, ast.ClassDef, pick)
    if place is not None:
        edits.append(dict(place, base="Probe", position="first"))
        edits.append(dict(place, method=METHOD, position=pick.choice(["start", "end"])))
    place = named(source, (ast.FunctionDef, ast.AsyncFunctionDef), pick)
    if place is not None:
        edits.append(dict(place, insert="specdec_probe()", at="start"))
    return edits


def taken_back(edits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Edits that take away what ``edits`` add, the last one first."""
    back: list[dict[str, Any]] = []
    for edit in reversed(edits):
        if "insert" in edit:
            kept = {key: value for key, value in edit.items() if key in ("in", "occurrence")}
            back.append(dict(kept, remove=edit["insert"]))
        else:
            back.append(dict(edit, state="absent"))
    return back


def check_edits(content: bytes, source: Source, pick: random.Random) -> int:
    edits = edits_for(source, pick)
    result = plan(edits, {"": File(content)})
    assert result["ok"], [edit for edit in result["edits"] if edit["state"] != "pristine"]
    after, undone = applied_and_undone(content, edits)
    assert result["files"][""]["after"] == after != content
    assert undone == content
    back = plan(taken_back(edits), {"": File(after)}, known=True)
    assert back["ok"], [edit for edit in back["edits"] if edit["state"] != "pristine"]
    assert same_tree(Source.parse(back["files"][""]["after"], path="back").tree, source.tree)
    return 2 * len(edits)


def check_places(source: Source, pick: random.Random) -> int:
    """A statement into places in the midst of the code, and out again; and the one beside it found by its own text."""
    places = [(block, index) for block in blocks(source) for index in range(len(block.statements) + 1)]
    chosen = pick.sample(places, min(PLACES, len(places)))
    for block, index in chosen:
        code = pick.choice(
            [b"specdec_probe()", b"if specdec:\n    specdec_probe('''a\n  b''')", b"def specdec(): pass"]
        )
        splices = suite.insert(source, block, index, code)
        after = source.with_splices(splices)
        twin = next(other for other in blocks(after) if is_twin(other, block))
        assert len(twin.statements) == len(block.statements) + 1
        without = after.with_splices(suite.remove(after, twin, index, index + 1))
        assert same_tree(without.tree, source.tree)
        if index < len(block.statements):
            found_by_its_text(source, block, index)
    return 2 * len(chosen)


def check_calls(content: bytes, pick: random.Random) -> int:
    """Every call of a scope, also inside one another, gets an argument more; the tree says whether all are in place."""
    source = Source.parse(content, path="calls")
    place = named(source, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), pick)
    if place is None:
        return 0
    scope = resolve(source, place["in"], occurrence=place.get("occurrence"))
    calls = [node for node in scope.expressions() if isinstance(node, ast.Call)]
    edit = dict(place, replace="$F($$$A)", count="all", **{"with": "$F($$$A, specdec=1)"})
    result = plan([edit], {"": File(content)}) if calls else {"ok": False, "edits": [{"message": "f-string"}]}
    if not result["ok"]:
        # Before Python 3.12, what lies inside an f-string is refused.
        assert not calls or (sys.version_info < (3, 12) and "f-string" in result["edits"][0]["message"]), result[
            "edits"
        ]
        return 0
    for call in calls:
        call.keywords.append(ast.keyword("specdec", ast.Constant(1)))
    assert same_tree(Source.parse(result["files"][""]["after"], path="calls").tree, source.tree)
    return 1


def check_removal(source: Source, pick: random.Random) -> int:
    """Statements of a block go, and nothing else; it stays a block."""
    block = pick.choice(blocks(source) or [Scope("", source.tree, source).body])
    gone = sorted(pick.sample(range(len(block.statements)), min(len(block.statements), pick.randint(1, 3))))
    if not gone:
        return 0
    after = source.with_splices(suite.remove_many(source, block, [(index, index + 1) for index in gone]))
    kept = [node for index, node in enumerate(block.statements) if index not in gone]
    block.statements[:] = kept or ([] if isinstance(block.owner, ast.Module) else [ast.Pass()])
    assert same_tree(after.tree, source.tree)
    return 1


def found_by_its_text(source: Source, block: Block, index: int) -> None:
    statement = block.statements[index]
    if suite.block_indent(source, block) and not source.starts_line(source.start(statement)):
        return
    indent = source.indent_at(source.start(statement)).decode()
    pattern = Pattern(indent + source.segment(statement).decode("utf-8"), what="its own text")
    found = pattern.in_blocks([block], source)
    elif_ = source.segment(statement).startswith(b"elif")
    assert elif_ or any(match.nodes[0] is statement for match in found)


def blocks(source: Source) -> list[Block]:
    """Every block of a file in which a statement can stand: an ``elif`` is none of its own, and nothing goes above
    a docstring or ``__future__``."""
    found = []
    for scope in all_scopes(source):
        for block in scope.blocks():
            only = block.statements[0] if block.statements else None
            if isinstance(only, ast.If) and block.field == "orelse" and source.segment(only).startswith(b"elif"):
                continue
            if isinstance(only, ast.Expr) and isinstance(only.value, ast.Constant) and block.field == "body":
                continue
            if isinstance(block.owner, ast.Module) and any(
                isinstance(node, ast.ImportFrom) for node in block.statements
            ):
                continue
            found.append(block)
    return found


def is_twin(other: Block, block: Block) -> bool:
    """Whether a block after an insertion is the one before: of an owner of the same name at the same place."""
    kept = getattr(other.owner, "lineno", 0) == getattr(block.owner, "lineno", 0)
    return (
        kept
        and type(other.owner) is type(block.owner)
        and other.field == block.field
        and getattr(other.owner, "col_offset", 0) == getattr(block.owner, "col_offset", 0)
        and part(other) == part(block)
        and len(other.statements) == len(block.statements) + 1
    )


def part(block: Block) -> int:
    """Which of the handlers or cases of its owner a block is the body of."""
    parts = getattr(block.owner, block.field) if block.field in ("handlers", "cases") else []
    return next((number for number, one in enumerate(parts) if one.body is block.statements), 0)


def same_tree(left: ast.AST, right: ast.AST) -> bool:
    """Equal but for positions: ``ast.dump`` would take most of the time of a run."""
    pending: list[tuple[Any, Any]] = [(left, right)]
    while pending:
        one, other = pending.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            pending.extend((getattr(one, name, None), getattr(other, name, None)) for name in one._fields)
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pending.extend((item, other[index]) for index, item in enumerate(one))
        elif repr(one) != repr(other):
            return False
    return True


def run(folders: list[str], *, every: int = 1, seconds: float = 0.0) -> dict[str, Any]:
    """Try every file (of every ``every``) until the time, if it is given, is up."""
    started = time.monotonic()
    count = {"files": 0, "edits": 0, "unparsable": 0}
    failures: list[str] = []
    for path in files(folders, every):
        if seconds and time.monotonic() - started > seconds:
            break
        content = path.read_bytes()
        try:
            source = Source.parse(content, path=str(path))
            parse(source.text.decode("utf-8"))
        except BadInput:
            count["unparsable"] += 1
            continue
        pick = random.Random(hashlib.sha256(content).hexdigest())
        try:
            count["edits"] += check_edits(content, source, pick) + check_places(source, pick)
            count["edits"] += check_calls(content, pick) + check_removal(source, pick)
        except Exception:
            failures.append(f"{path}: {traceback.format_exc(limit=-3)}")
        count["files"] += 1
    return dict(count, seconds=round(time.monotonic() - started, 1), python=sys.version.split()[0], failures=failures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--every", type=int, default=1, help="only about one file in so many")
    parser.add_argument("--seconds", type=float, default=0.0, help="stop after this time")
    options = parser.parse_args()
    result = run(options.folders, every=options.every, seconds=options.seconds)
    print(json.dumps(result, indent=1))
    return 1 if result["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
