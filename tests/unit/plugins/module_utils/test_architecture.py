# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the code for managed hosts may depend on: the standard library alone, and inside it only downwards."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

import pytest

COLLECTION = Path(__file__).resolve().parents[4]
FOLDER = COLLECTION / "plugins" / "module_utils"
PACKAGE = "ansible_collections.specdec.blackwell.plugins.module_utils"
# ansible-test runs this in .../ansible_collections/specdec/blackwell; a checkout has a link that looks like that.
LINK = COLLECTION / ".collections"
SEARCH_PATH = LINK if LINK.exists() else COLLECTION.parents[2]

DISK = {"fcntl", "glob", "os", "pathlib", "shutil", "socket", "subprocess", "tempfile"}
PROCESSES = {"fcntl", "shutil", "signal", "socket", "subprocess", "tempfile"}

IMPORT_ALL = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
foreign = sorted({
    name.split(".")[0] for name, module in sys.modules.items()
    if "-packages" in (getattr(module, "__file__", None) or "")
})
print(" ".join(foreign))
"""


def modules() -> Dict[str, Path]:
    """Dotted name below module_utils -> file."""
    found = {}
    for path in sorted(FOLDER.rglob("*.py")):
        parts = path.relative_to(FOLDER).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


MODULES = modules()


def nodes(parent: ast.AST) -> Iterator[ast.AST]:
    """Every node that is run; what only a type checker reads is left out."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from nodes(node)


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it; own ones without the collection's prefix, with a dot before."""
    for node in nodes(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield "." + alias.name[len(PACKAGE) + 1 :] if alias.name.startswith(PACKAGE) else alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports inside the collection are written absolute"
            module = node.module or ""
            if not module.startswith(PACKAGE):
                yield module
                continue
            for alias in node.names:
                inner = f"{module}.{alias.name}"[len(PACKAGE) + 1 :]
                yield "." + (inner if inner in MODULES else module[len(PACKAGE) + 1 :])


GRAPH: Dict[str, Set[str]] = {name: set(imports(path)) for name, path in MODULES.items()}


def inner(name: str) -> Set[str]:
    return {target[1:] for target in GRAPH[name] if target.startswith(".")}


def reach(name: str) -> Set[str]:
    """Modules below name, itself included."""
    seen: Set[str] = set()
    todo = [name]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += inner(here)
    return seen


def outside(names: Set[str]) -> Set[Tuple[str, str]]:
    """(module, top level import from outside the collection)."""
    return {(name, target.split(".")[0]) for name in names for target in GRAPH[name] if not target.startswith(".")}


def test_there_is_something_to_check() -> None:
    assert {"_errors", "_plan", "_source", "_eagle3.derive", "_ansible"} <= set(MODULES)


def test_every_import_inside_the_collection_exists() -> None:
    missing = {(name, target) for name in GRAPH for target in inner(name) if target not in MODULES}
    assert missing == set()


def test_no_module_is_below_itself() -> None:
    circles: List[str] = [name for name in MODULES if any(name in reach(below) for below in inner(name))]
    assert circles == []


def test_ansible_is_known_in_one_place() -> None:
    assert {name for name, target in outside(set(MODULES)) if target == "ansible"} == {"_ansible"}


def test_the_planner_knows_no_disk_and_no_engine() -> None:
    below = reach("_plan")
    assert {(name, target) for name, target in outside(below) if target in DISK} == set()
    assert {name for name in below if name.startswith(("_eagle3", "_ledger", "_transaction", "_patchset"))} == set()


def test_the_knowledge_only_reads() -> None:
    below = reach("_eagle3.derive")
    assert {(name, target) for name, target in outside(below) if target in PROCESSES} == set()
    assert below & {"_plan", "_ledger", "_transaction", "_patchset", "_target", "_site_packages"} == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_a_module_says_what_it_is_for_and_defers_its_annotations(name: str) -> None:
    tree = ast.parse(MODULES[name].read_bytes())
    if not tree.body:
        return
    assert ast.get_docstring(tree), "no docstring"
    first, last = tree.body[1], tree.body[-1]
    assert isinstance(first, ast.ImportFrom) and first.module == "__future__" and first.names[0].name == "annotations"
    # Each operation offers the same names: those that _operations.py asks for.
    if not name.startswith("_ops."):
        assert isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name)
        assert last.targets[0].id == "__all__" and isinstance(last.value, ast.Tuple)


def test_all_of_it_imports_on_this_python_with_the_standard_library_alone() -> None:
    names = [f"{PACKAGE}.{name}" for name in MODULES if "_ansible" not in reach(name)]
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", IMPORT_ALL, str(SEARCH_PATH), *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
    )
    assert (shown.returncode, shown.stdout) == (0, "\n")
