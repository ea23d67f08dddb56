# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks and the role through ansible-playbook on this machine: search, check mode, patch, status, revert."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from corpus.patching import survey

import releases
from ansible_collections.specdec.blackwell.plugins import modules
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import Venv
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.small_vllm import FILES

PLAIN = "PlainForCausalLM"
# Named twice where a worker of pytest-xdist has the same folder on its path twice.
COLLECTION = Path(next(iter(modules.__path__))).parents[1]


class Site:
    """A host of its own: this machine, with other places to search."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opt = root / "opt"
        self.opt.mkdir()
        (root / "home").mkdir()
        self.inventory = root / "hosts.yml"
        host = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        self.inventory.write_text(json.dumps({"blackwell": {"hosts": {"here": host}}}), encoding="utf-8")

    def engine(self, name: str) -> Venv:
        venv = Venv(self.opt / name)
        venv.install("vllm", "0.1", FILES)
        return venv

    def release(self, engine: str, version: str) -> Venv:
        venv = Venv(self.opt / f"{engine}-{version}")
        releases.copy_tree(engine, version, venv.site)
        return venv

    def play(self, playbook: str, *arguments: str, rc: int = 0, **variables: Any) -> str:
        variables["__eagle3_patch_places"] = [str(self.opt)]
        variables["blackwell_preflight_policies"] = {"driver-answers": "warn"}
        environment = {
            **os.environ,
            "ANSIBLE_COLLECTIONS_PATH": str(COLLECTION.parents[2]),
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml",
            "ANSIBLE_INJECT_FACT_VARS": "false",
            "ANSIBLE_LOCAL_TEMP": str(self.root / "local"),
            "ANSIBLE_REMOTE_TEMP": str(self.root / "remote"),
            "HOME": str(self.root / "home"),
        }
        command = [
            sys.executable,
            "-m",
            "ansible",
            "playbook",
            f"specdec.blackwell.{playbook}",
            "-i",
            str(self.inventory),
        ]
        done = subprocess.run(
            [*command, "-e", json.dumps(variables), *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.root,
            timeout=300,
            check=False,
        )
        assert done.returncode == rc, done.stdout + done.stderr
        return done.stdout

    def changed(self, output: str) -> int:
        found = re.search(r"^here .*changed=(\d+)", output, re.MULTILINE)
        assert found is not None
        return int(found[1])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def said(output: str) -> str:
    """Without the breaks that YAML's folding adds."""
    return " ".join(output.split())


def test_check_patch_again_status_revert(site: Site) -> None:
    venv = site.engine("vllm")
    venv.put({"settings.py": b"TIMEOUT = 5\n"})
    release = venv.tree()
    own = {
        "name": "longer",
        "path": str(venv.site / "settings.py"),
        "reason": "it is slow",
        "edits": [{"replace": "TIMEOUT = 5", "with": "TIMEOUT = 600"}],
    }
    given: dict[str, Any] = {"eagle3_patch_architectures": [PLAIN], "eagle3_patch_extra_edits": [own]}
    assert re.search(rf"{PLAIN} +patchable", site.play("status", **given))

    foretold = site.play("site", "--tags", "patch", "--check", "--diff", **given)
    assert venv.tree() == release
    assert site.play("site", "--tags", "patch", "--diff", **given) == foretold
    assert site.changed(foretold) == 2
    assert "+TIMEOUT = 600" in foretold
    assert site.changed(site.play("site", **given)) == 0

    table = site.play("status", **given)
    assert re.search(rf"vllm +0\.1 +{PLAIN} +patched", table)
    assert f"patch eagle3-vllm-{PLAIN}: whole" in table
    assert "patch longer: whole" in table
    assert "reason: it is slow" in table

    foretold = site.play("revert", "--check", "--diff", **given)
    reverted = site.play("revert", "--diff", **given)
    assert reverted == foretold
    assert f"- eagle3-vllm-{PLAIN}" in reverted
    assert "- longer" in reverted
    assert venv.tree() == release
    again = site.play("revert", **given)
    assert (site.changed(again), "nothing to take back" in again) == (0, True)


def test_no_engine_yet(site: Site) -> None:
    given: dict[str, Any] = {"eagle3_patch_architectures": [PLAIN]}
    named: dict[str, Any] = {**given, "eagle3_patch_venv": str(site.opt / "vllm")}
    for variables in (given, named):
        first = said(site.play("patch", "--check", **variables))
        assert "engine would be installed first: no vllm" in first
    assert "Install it first, or set eagle3_patch_python" in said(site.play("patch", rc=2, **given))
    assert "there is no interpreter at" in said(site.play("patch", rc=2, **named))
    assert "no vllm at" in said(site.play("status", **named))
    assert "nothing to take back" in said(site.play("revert", **named))


def test_a_venv_without_the_engine_yet(site: Site) -> None:
    Venv(site.opt / "vllm")
    given: dict[str, Any] = {"eagle3_patch_architectures": [PLAIN], "eagle3_patch_venv": str(site.opt / "vllm")}
    assert "engine would be installed first: no vllm" in said(site.play("patch", "--check", **given))
    assert "has no package 'vllm'" in said(site.play("patch", rc=2, **given))


def test_several_environments_are_refused_unless_one_is_named(site: Site) -> None:
    first, second = site.engine("vllm"), site.engine("other")
    given: dict[str, Any] = {"eagle3_patch_architectures": [PLAIN]}
    before = (first.tree(), second.tree())
    refused = said(site.play("patch", rc=2, **given))
    assert f"vllm is in several environments: {second.python}, {first.python}" in refused
    assert (first.tree(), second.tree()) == before
    site.play("patch", eagle3_patch_venv=str(second.root), **given)
    assert first.tree() == before[0]
    assert second.tree() != before[1]


def test_targets_on_one_host_are_each_patched(site: Site) -> None:
    first, second = site.engine("vllm"), site.engine("other")
    targets = [
        {"venv": str(first.root), "architectures": [PLAIN]},
        {"python": second.python, "architectures": ["SeeingForConditionalGeneration"]},
    ]
    before = (first.tree(), second.tree())
    assert site.changed(site.play("patch", eagle3_patch_targets=targets)) == 2
    assert site.changed(site.play("revert", eagle3_patch_targets=targets)) == 2
    assert (first.tree(), second.tree()) == before


def test_what_cannot_be_patched_fails_with_the_reason(site: Site) -> None:
    venv = site.engine("vllm")
    before = venv.tree()
    failed = said(site.play("patch", rc=2, eagle3_patch_architectures=["OpaqueForCausalLM"]))
    assert "the class of self.model" in failed
    assert venv.tree() == before


class Page(HTMLParser):
    """The rows of a report's page, and whatever it would load from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.states: list[str] = []
        self.titles: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.loads += [f"{tag} {name}" for name in ("src", "href", "srcset", "data") if name in given]
        if tag == "tr" and "data-state" in given:
            self.states.append(given["data-state"])
        elif tag == "span" and "title" in given:
            self.titles.append(given["title"])


def test_report_on_every_architecture_of_real_releases(site: Site) -> None:
    wanted = {"vllm": "0.33.0", "sglang": "0.5.23"}
    venvs = {engine: site.release(engine, version) for engine, version in wanted.items()}
    before = {engine: venv.tree() for engine, venv in venvs.items()}
    targets = [{"engine": engine, "venv": str(venv.root)} for engine, venv in venvs.items()]
    targets.append({"engine": "vllm", "venv": str(site.opt / "nowhere")})
    folder = site.root / "report"
    given: dict[str, Any] = {"eagle3_patch_targets": targets, "eagle3_patch_report_dir": str(folder)}
    output = site.play("status", "--check", "--tags", "report", **given)
    assert site.changed(output) == 0
    assert {engine: venv.tree() for engine, venv in venvs.items()} == before

    found = json.loads((folder / "eagle3.json").read_text(encoding="utf-8"))["hosts"]["here"]
    assert [(one["engine"], one["version"]) for one in found] == [*wanted.items(), ("vllm", None)]
    assert "no vllm at" in found[2]["message"] and "no vllm at" in output
    states, reasons = [], []
    for one in found[:2]:
        items = survey(releases.tree(one["engine"], one["version"]), None, engine=one["engine"])
        assert {name: item["state"] for name, item in one["architectures"].items()} == {
            name: item["state"] for name, item in items.items()
        }
        states += [item["state"] for item in items.values()]
        reasons += [item["reason"] for item in items.values() if item["reason"]]
        for name, item in items.items():
            assert re.search(rf"^ *(- )?{name} +{item['state']}\b", output, re.MULTILINE), name
    assert {"native", "patchable", "by_hand"} <= set(states)

    text = (folder / "eagle3.html").read_text(encoding="utf-8")
    page = Page(text)
    assert sorted(page.states) == sorted(states)
    assert set(reasons) <= set(page.titles)
    assert page.loads == [] and "url(" not in text and "@import" not in text
