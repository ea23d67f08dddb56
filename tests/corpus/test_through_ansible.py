# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module as Ansible ships it to a host: from a zip, options over stdin."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import subprocess
import sys

from ansible_collections.specdec.blackwell.plugins.modules import python_ast_edit
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.installed import FILES, MODEL_FILE, Venv
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.other_pythons import other_pythons
from ansible_collections.specdec.blackwell.tests.unit.plugins.modules.payloads import large_edits, write


def test_200_kib_of_edits_and_back(tmp_path: pathlib.Path) -> None:
    """The target in another interpreter, where there is one."""
    venv = Venv(tmp_path / "venv")
    venv.install()
    others = other_pythons()
    python, site = venv.python, venv.site
    if others:
        root = tmp_path / "other"
        subprocess.run([others[0].path, "-m", "venv", "--without-pip", str(root)], check=True)
        (site,) = root.glob("lib/python3*/site-packages")
        write(site, FILES)
        python = str(root / "bin/python")
    before = (site / MODEL_FILE).read_bytes()
    play = tmp_path / "play.yml"
    task = {"name": "many", "python": python, "package": "engine", "edits": large_edits()}
    back = {key: copy.copy(value) for key, value in task.items() if key != "edits"}
    play.write_text(
        json.dumps(
            [
                {
                    "hosts": "localhost",
                    "gather_facts": False,
                    "tasks": [
                        {"specdec.blackwell.python_ast_edit": task, "register": "first"},
                        {"specdec.blackwell.python_ast_edit": task, "register": "second"},
                        {"ansible.builtin.assert": {"that": ["first is changed", "second is not changed"]}},
                        {"specdec.blackwell.python_ast_edit": {**back, "state": "absent"}, "register": "third"},
                        {"ansible.builtin.assert": {"that": ["third is changed"]}},
                    ],
                }
            ]
        ),
        encoding="utf-8",
    )
    collections = str(pathlib.Path(python_ast_edit.__file__).parents[5])
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": collections,
        "ANSIBLE_PYTHON_INTERPRETER": sys.executable,
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        "ANSIBLE_LOCAL_TEMP": str(tmp_path / "local"),
        "ANSIBLE_REMOTE_TEMP": str(tmp_path / "remote"),
    }
    done = subprocess.run(
        [sys.executable, "-m", "ansible", "playbook", str(play)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=str(tmp_path),
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (site / MODEL_FILE).read_bytes() == before
