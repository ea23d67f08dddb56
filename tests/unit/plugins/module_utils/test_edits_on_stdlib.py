# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Operations on code that nobody wrote for a test: modules of the standard library, judged by Python's own compiler."""

from __future__ import annotations

import argparse
import ast
import csv
import dataclasses
import enum
import inspect
import json.decoder
import quopri
import shlex
import sys
import textwrap
import traceback
import types
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils._scope import Scope, all_scopes
from ansible_collections.specdec.blackwell.plugins.module_utils._source import Source
from ansible_collections.specdec.blackwell.plugins.module_utils._spelling import in_string
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.edit_cases import run

MODULES = (csv, json.decoder, quopri, shlex, textwrap)
PATHS = [Path(str(module.__file__)) for module in MODULES]
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def functions(source: Source) -> Iterator[Scope]:
    """Functions whose name means one definition."""
    scopes = list(all_scopes(source))
    names = [scope.name for scope in scopes]
    for scope in scopes:
        if isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)) and names.count(scope.name) == 1:
            yield scope


def shape(code: types.CodeType, names: Dict[str, str]) -> Tuple[Any, ...]:
    """All that code does, with some names written in another way."""

    def renamed(group: Tuple[str, ...]) -> List[str]:
        return [names.get(name, name) for name in group]

    constants = [
        shape(item, names) if isinstance(item, types.CodeType) else (type(item).__name__, repr(item))
        for item in code.co_consts
    ]
    groups = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    return (code.co_code, constants, names.get(code.co_name, code.co_name)) + tuple(map(renamed, groups))


def locals_of(scope: Scope) -> List[str]:
    """Names that the function assigns, and that no comprehension in it has too: those share their slot from 3.12 on."""
    inside = {
        name.id
        for node in ast.walk(scope.node)
        if isinstance(node, COMPREHENSIONS)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    own = {
        node.id for node in ast.walk(scope.node) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    return sorted(own - inside)


@pytest.mark.parametrize("path", PATHS, ids=[path.name for path in PATHS])
def test_a_renamed_variable_compiles_to_the_same_code(path: Path) -> None:
    data = path.read_bytes()
    before = compile(data, "x", "exec", dont_inherit=True)
    states = []
    source = Source.parse(data, path=path.name)
    pairs = [(scope.name, name) for scope in functions(source) for name in locals_of(scope)]
    for scope_name, name in pairs[:: len(pairs) // 8 + 1]:
        # Free variables are sorted: a longer name must not change their order.
        new = name + "_"
        result = run([{"in": scope_name, "rename": {"from": name, "to": new}}], data)
        assert not result["error"], result["error"]
        states.append(result["edits"][0]["state"])
        if states[-1] == "pristine":
            after = compile(result["after"], "x", "exec", dont_inherit=True)
            assert shape(after, {new: name}) == shape(before, {}), (scope_name, name)
        else:
            assert states[-1] == "drifted" and result["after"] == data
    assert "pristine" in states


@pytest.mark.parametrize(
    "edit",
    [
        {"parameter": {"name": "specdec_new", "default": "None"}},
        {"parameter": {"name": "specdec_new", "kind": "keyword_only", "annotation": "int"}},
        {"decorator": "@specdec.new(1)"},
        {"decorator": "@specdec_new", "position": "last"},
    ],
    ids=["normal", "keyword_only", "first", "last"],
)
@pytest.mark.parametrize("path", PATHS, ids=[path.name for path in PATHS])
def test_what_is_added_to_a_definition_and_taken_away_again_leaves_its_bytes(path: Path, edit: Dict[str, Any]) -> None:
    data = path.read_bytes()
    for scope in functions(Source.parse(data, path=path.name)):
        added = run([dict(edit, **{"in": scope.name})], data)
        assert added["ok"] and added["after"] != data, (scope.name, added)
        compile(added["after"], "x", "exec", dont_inherit=True)
        taken = {"parameter": {"name": "specdec_new"}} if "parameter" in edit else edit
        gone = run([dict(taken, **{"in": scope.name, "state": "absent"})], added["after"])
        assert gone["ok"] and gone["after"] == data, (scope.name, gone)


def outer_f_strings(node: ast.AST) -> Iterator[ast.JoinedStr]:
    if isinstance(node, ast.JoinedStr):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        yield from outer_f_strings(child)


def test_names_in_f_strings_are_found_where_the_parser_sees_them() -> None:
    looked_at = 0
    for module in (argparse, dataclasses, enum, inspect, traceback):
        path = Path(str(module.__file__))
        source = Source.parse(path.read_bytes(), path=path.name)
        for string in outer_f_strings(source.tree):
            names = [node for node in ast.walk(string) if isinstance(node, ast.Name)]
            for name in {node.id for node in names}:
                found = in_string(source, string, name)
                if found is None:
                    continue
                looked_at += 1
                same = [node for node in names if node.id == name]
                assert all(source.text[start:end] == name.encode("utf-8") for start, end in found)
                assert len(found) >= len(same)
                # Before, the parser itself does not know.
                if sys.version_info >= (3, 12):
                    assert {source.start(node) for node in same} <= {start for start, _end in found}
    assert looked_at >= 10


@pytest.mark.parametrize("path", PATHS, ids=[path.name for path in PATHS])
def test_the_first_statement_wrapped_and_unwrapped_is_the_same(path: Path) -> None:
    data = path.read_bytes()
    source = Source.parse(data, path=path.name)
    for scope in functions(source):
        body = scope.node.body[1:] if ast.get_docstring(scope.node) is not None else scope.node.body
        if not body:
            continue
        text = source.segment(body[0]).decode("utf-8")
        wrap = {"in": scope.name, "wrap": textwrap.dedent(" " * body[0].col_offset + text), "with": "if specdec_new:"}
        inside = run([dict(wrap, count="all")], data)
        if inside["edits"] and inside["edits"][0]["state"] == "ambiguous":
            continue
        assert inside["ok"] and inside["after"] != data, (scope.name, inside)
        compile(inside["after"], "x", "exec", dont_inherit=True)
        back = run([{"in": scope.name, "unwrap": "if specdec_new: $$$", "count": "all"}], inside["after"])
        assert back["ok"], (scope.name, back)
        assert ast.dump(ast.parse(back["after"])) == ast.dump(source.tree), scope.name
