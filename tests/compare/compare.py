# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same change through core's file modules, ansible.posix.patch and this collection, on files that make it hard.

Every tool runs twice, on a copy of its own of every file, in one playbook; then the bytes are judged against what the
tool said. ``--write`` puts the table into docs/compare.md.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.bench import posix_collection

from compare.hazards import ANCHOR, CALL, HAZARDS, PATCHED, PLAIN, Hazard

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compare.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"
Answers = dict[tuple[str, str], list[dict[str, Any]]]
MARKERS = ("# BEGIN check", "# END check")
TOOLS = ("lineinfile", "replace", "blockinfile", "ansible.posix.patch", "python_ast_edit")
OURS = "python_ast_edit"


def task(tool: str, path: str, patch: str) -> dict[str, Any]:
    """The change, as somebody writes it who saw ``PLAIN``."""
    line = f"        {CALL}"
    if tool == "lineinfile":
        return {
            "ansible.builtin.lineinfile": {"path": path, "line": line, "insertafter": f"^        {_regex(ANCHOR)}$"}
        }
    if tool == "replace":
        pattern = rf"^(        {_regex(ANCHOR)}\n)(?!{_regex(line)})"
        return {"ansible.builtin.replace": {"path": path, "regexp": pattern, "replace": rf"\1{line}\n"}}
    if tool == "blockinfile":
        marker = {"marker": "        # {mark} check", "insertafter": f"^        {_regex(ANCHOR)}$"}
        return {"ansible.builtin.blockinfile": {"path": path, "block": line, **marker}}
    if tool == "ansible.posix.patch":
        return {"ansible.posix.patch": {"src": patch, "dest": path, "remote_src": True}}
    edits = [{"in": "First.run", "insert": CALL, "after": "x = load($_)"}]
    return {
        "specdec.blackwell.python_ast_edit": {
            "name": "check",
            "path": path,
            "edits": edits,
            "ledger_dir": f"{path}.ledger",
        }
    }


def _regex(text: str) -> str:
    return text.replace("(", r"\(").replace(")", r"\)")


def lay(folder: Path, hazard: Hazard, tool: str) -> Path:
    """A file as the hazard has it; returns the path that the tool is given."""
    place = folder / hazard.name.replace(" ", "-") / tool
    place.mkdir(parents=True)
    path, other = place / "module.py", place / "other.py"
    if hazard.layout == "symlink":
        other.write_bytes(hazard.before)
        path.symlink_to(other)
        return path
    path.write_bytes(hazard.before)
    if hazard.layout == "hard link":
        os.link(path, other)
    return path


def run(folder: Path, tools: tuple[str, ...], hazards: tuple[Hazard, ...]) -> Answers:
    """What each tool said in its first and its second run, by hazard and tool."""
    patch = folder / "check.patch"
    lines = difflib.unified_diff(PLAIN.splitlines(True), PATCHED.splitlines(True), "a/module.py", "b/module.py")
    patch.write_text("".join(lines))
    tasks: list[dict[str, Any]] = []
    names: dict[str, tuple[str, str, int]] = {}
    for hazard in hazards:
        for tool in tools:
            path = lay(folder, hazard, tool)
            for turn in (0, 1):
                register = f"said_{len(names)}"
                names[register] = (hazard.name, tool, turn)
                item = task(tool, str(path), str(patch))
                tasks.append({"name": f"{hazard.name}, {tool}", "ignore_errors": True, "register": register, **item})
                if turn == 0:
                    keep = {"src": str(path), "dest": f"{path}.first", "remote_src": True, "mode": "preserve"}
                    tasks.append({"name": "Keep the first result", "ansible.builtin.copy": keep})
    report = folder / "said.json"
    said = "{{ dict(names | zip(names | map('extract', vars))) | to_json }}"
    tasks.append(
        {
            "name": "Report",
            "vars": {"names": list(names)},
            "ansible.builtin.copy": {"content": said, "dest": str(report), "mode": "0600"},
        }
    )
    play = [{"name": "Compare", "hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks}]
    playbook = folder / "compare.yml"
    playbook.write_text(json.dumps(play))
    paths = [str(ROOT / ".collections")]
    if "ansible.posix.patch" in tools:
        paths.append(str(posix_collection()))
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": ":".join(paths),
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
    }
    command = [str(Path(sys.executable).parent / "ansible-playbook"), "-i", "localhost,", str(playbook)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if not report.exists():
        raise SystemExit(f"the playbook ended before its report:\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}")
    answers: Answers = {}
    for register, answer in json.loads(report.read_text()).items():
        hazard_name, tool, _turn = names[register]
        answers.setdefault((hazard_name, tool), []).append(answer)
    return answers


def judge(folder: Path, hazard: Hazard, tool: str, said: list[dict[str, Any]]) -> str:
    """One word for what happened, or a few."""
    path = folder / hazard.name.replace(" ", "-") / tool / "module.py"
    other = path.with_name("other.py")
    first, second = said
    now = _without_markers(Path(f"{path}.first").read_bytes())
    failed, changed = bool(first.get("failed")), bool(first.get("changed"))
    if hazard.after is None:
        if now != _without_markers(hazard.before):
            return "**puts it elsewhere**"
        return "refuses" if failed else "**says ok, does nothing**"
    if hazard.layout == "symlink" and not path.is_symlink():
        return "**replaces the link**"
    if hazard.layout == "hard link" and other.read_bytes() != hazard.before:
        return "**changes both**"
    if failed:
        return "fails, file kept" if now == hazard.before else "**fails, file changed**"
    if now == hazard.after:
        if second.get("changed") or second.get("failed") or _without_markers(path.read_bytes()) != now:
            return "**not idempotent**"
        return "right"
    if now == hazard.before:
        return "**says ok, does nothing**" if not changed else "**says changed, does nothing**"
    if now.count(CALL.encode()) > hazard.after.count(CALL.encode()):
        return "**applies it twice**"
    if sorted(now.split()) == sorted(hazard.after.split()):
        return "**rewrites other bytes**" if now.split() == hazard.after.split() else "**wrong place**"
    return "**wrong result**"


def _without_markers(data: bytes) -> bytes:
    """blockinfile's own comment lines are how it works, and no fault."""
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines if line.strip().decode("latin-1") not in MARKERS)


def compare(tools: tuple[str, ...] = TOOLS) -> dict[str, dict[str, str]]:
    """Verdicts by hazard and tool."""
    with tempfile.TemporaryDirectory(prefix="specdec-compare-") as name:
        folder = Path(name)
        said = run(folder, tools, HAZARDS)
        return {
            hazard.name: {tool: judge(folder, hazard, tool, said[hazard.name, tool]) for tool in tools}
            for hazard in HAZARDS
        }


def table(verdicts: dict[str, dict[str, str]]) -> str:
    tools = list(next(iter(verdicts.values())))
    lines = ["| the file on the host | " + " | ".join(tools) + " |", "| --- " * (len(tools) + 1) + "|"]
    for hazard in HAZARDS:
        row = verdicts[hazard.name]
        lines.append(f"| {hazard.name}: {hazard.what} | " + " | ".join(row[tool] for tool in tools) + " |")
    return "\n".join(lines)


def versions() -> str:
    manifest = posix_collection() / "ansible_collections" / "ansible" / "posix" / "MANIFEST.json"
    posix = json.loads(manifest.read_text())["collection_info"]["version"]
    patch = subprocess.run(["patch", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    return f"ansible-core {metadata.version('ansible-core')}, ansible.posix {posix}, {patch}."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/compare.md")
    arguments = parser.parse_args()
    verdicts = compare()
    text = f"{versions()}\n\n{table(verdicts)}"
    print(text)
    if arguments.write:
        page = PAGE.read_text()
        start, end = page.index(BEGIN) + len(BEGIN), page.index(END)
        PAGE.write_text(f"{page[:start]}\n{text}\n{page[end:]}")
    wrong = [name for name, row in verdicts.items() if row[OURS] not in ("right", "refuses")]
    if wrong:
        print(f"python_ast_edit fails on: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
