# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A remembered answer holds as long as nothing differs that ``derive`` reads; so it must be known what it reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import releases
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_memory import READS, Tree

CASES = [
    ("vllm", "0.16.0", ["KimiK25ForConditionalGeneration"]),
    ("vllm", "0.33.0", None),
    ("sglang", "0.5.9", ["KimiK25ForConditionalGeneration"]),
    ("sglang", "0.5.23", None),
    ("speculators", "0.3.0", None),
]

# Prints every path below the root that is opened or listed, relative to it.
TRACE = """
import json, os, sys
root, request = sys.argv[1], json.loads(sys.argv[2])
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3 import derive
seen = set()
def note(event, arguments):
    if event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], (str, os.PathLike)):
        seen.add(os.path.abspath(os.fspath(arguments[0])))
sys.addaudithook(note)
answer = derive.run_request({**request, "root": root})
here = [os.path.relpath(path, root) for path in seen if path.startswith(root + os.sep)]
print(json.dumps([answer["error"], sorted(here)]))
"""


@pytest.mark.parametrize(("engine", "version", "architectures"), CASES)
def test_all_that_is_read_is_watched(
    engine: str, version: str, architectures: list[str] | None, tmp_path: Path
) -> None:
    releases.copy_tree(engine, version, tmp_path, hardlink=False)
    request = {
        "engine": engine,
        "architectures": architectures,
        "model_config": None,
        "last_layer": False,
        "distribution": engine,
        "version": version,
        "others": {},
    }
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", TRACE, str(tmp_path), json.dumps(request)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    error, read = json.loads(output)
    assert error is None
    assert len(read) > 5
    strangers = [
        path for path in read if not any(path == name or path.startswith(name + "/") for name in READS[engine])
    ]
    assert strangers == []
    tree = Tree(str(tmp_path), engine)
    assert tree.told
    files = [path for path in read if (tmp_path / path).is_file()]
    assert files
    assert [path for path in files if path not in tree.files] == []
