# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the edit engine costs on a large file, in units of one ``ast.parse`` of it: ``engine.py [FILE]``.

The split: start (a new interpreter that imports the engine), parse (the file, once), locate (places found, splices
made), apply (splices put in, what changed parsed), prove (the result parses, twice is once), compile (it compiles),
write (the bytes in the file's encoding). Without FILE: ``test_typing.py`` of the standard library, or its largest file.
"""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".collections"))

ENGINE = "ansible_collections.specdec.blackwell.plugins.module_utils._plan"
ROUNDS = 7
LIMIT = 3.0


def edits_for(tree: ast.Module) -> list[dict[str, Any]]:
    """A patch as people write them: an import, a base, two methods, statements, an expression in the whole file."""
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and functions(node)]
    target = classes[len(classes) // 2]
    method = functions(target)[0]
    scope = f"{target.name}.{method.name}"
    return [
        {"import": {"from": "specdec_probe", "names": ["Probe", "probe"]}},
        {"in": target.name, "base": "Probe", "position": "first"},
        {"in": target.name, "method": "def probe_one(self):\n    return 1\n"},
        {"in": target.name, "method": "def probe_two(self):\n    return 2\n", "position": "start"},
        {"in": scope, "insert": "probe()", "at": "start"},
        {"in": scope, "insert": "probe(2)", "after": "probe()"},
        next(edit for edit in map(rewritten, classes) if edit),
    ]


def rewritten(node: ast.ClassDef) -> dict[str, Any] | None:
    """A call in a class, put into another one; None without one."""
    for method in functions(node):
        calls = [ast.unparse(item) for item in method.body if isinstance(item, ast.Expr)]
        for call in calls:
            if calls.count(call) == 1:
                return {"in": f"{node.name}.{method.name}", "replace": call, "with": f"probe({call})"}
    return None


def functions(node: ast.ClassDef) -> list[ast.FunctionDef]:
    names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
    return [item for item in node.body if isinstance(item, ast.FunctionDef) and names.count(item.name) == 1]


def largest() -> pathlib.Path:
    folder = pathlib.Path(sysconfig.get_path("stdlib"))
    files = [path for path in folder.rglob("*.py") if "site-packages" not in path.parts]
    # Files with a class of which most is data would say little.
    tests = [path for path in files if path.name == "test_typing.py"]
    return max(tests or files, key=lambda path: path.stat().st_size)


def once(data: bytes, edits: list[dict[str, Any]]) -> dict[str, float]:
    """One plan by hand, step by step as ``plan`` does it."""
    engine = importlib.import_module(ENGINE)
    spent = dict.fromkeys(("parse", "locate", "apply", "prove", "compile", "write"), 0.0)

    def timed(name: str, function: Callable[..., Any], *args: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*args)
        finally:
            spent[name] += time.perf_counter() - started

    parsed = engine.parse_edits(edits, files_named=False)
    space = engine.Workspace({"": engine.File(data)}, known=False)
    draft = timed("parse", space.load, "")
    for edit in parsed:
        verdict, scope = timed("locate", engine._verdict, edit.alternatives[0], space)
        assert verdict.state == "pristine", verdict
        timed("apply", draft.apply, scope, verdict.splices)
    after = timed("write", timed("prove", draft.whole).encode)
    assert after != data
    assert timed("compile", engine.compile_error, draft.whole().text.decode("utf-8")) is None
    again = engine.Workspace({"": engine.File(after)}, known=True)
    results = timed("prove", engine.run_edits, parsed, again)
    assert {result.verdict.state for result in results} == {"present"}
    return spent


def best(function: Callable[[], Any]) -> float:
    times = []
    for _round in range(ROUNDS):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> int:
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else largest()
    data = path.read_bytes()
    text = data.decode()
    unit = best(lambda: ast.parse(text))
    edits = edits_for(ast.parse(text))
    rounds = [once(data, edits) for _round in range(ROUNDS)]
    spent = min(rounds, key=lambda split: sum(split.values()))
    code = f"import sys; sys.path.insert(0, {str(ROOT / '.collections')!r}); import {ENGINE}"
    bare = best(lambda: subprocess.run([sys.executable, "-I", "-c", "pass"], check=True))
    start = best(lambda: subprocess.run([sys.executable, "-I", "-c", code], check=True))

    print(f"{path.name}, {len(data) / 1024:.0f} KiB, {len(edits)} edits; one ast.parse: {unit * 1000:.0f} ms")
    print(f"  start   {start * 1000:7.1f} ms, of which Python itself {bare * 1000:.1f} ms")
    for name, seconds in spent.items():
        print(f"  {name:7} {seconds * 1000:7.1f} ms {seconds / unit:6.2f} x")
    edit_cost = sum(spent.values()) - spent["prove"] - spent["compile"]
    print(f"  all but start, prove and compile: {edit_cost / unit:.2f} x one ast.parse (limit {LIMIT:.0f})")
    return 0 if edit_cost <= LIMIT * unit else 1


if __name__ == "__main__":
    sys.exit(main())
