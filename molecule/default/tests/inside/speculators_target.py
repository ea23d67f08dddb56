# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print which module speculators' capture takes hold of, for targets of four shapes.

HiddenStatesWorkerExtension._setup_hidden_states_capture is cut out of the installed file and run on stand-ins.
"""

import ast
import json
import logging
import sys
import types
from pathlib import Path
from types import SimpleNamespace


def decoder(name):
    return SimpleNamespace(name=name, layers=[], forward=None)


def targets():
    """Name -> model, and whether it names the interface."""
    direct = SimpleNamespace(model=decoder("model"))
    wrapped = SimpleNamespace(language_model=SimpleNamespace(model=decoder("language_model.model")))
    inner = SimpleNamespace(language_model=decoder("language_model"))
    return {
        "decoder with the interface": (direct, True),
        "wrapper with the interface": (wrapped, True),
        "wrapper without the interface": (wrapped, False),
        "wrapper around the layers": (inner, False),
        "decoder without the interface": (direct, False),
        "neither": (SimpleNamespace(), False),
    }


path = Path(sys.argv[1]) / "speculators/data_generation/custom_worker.py"
tree = ast.parse(path.read_bytes())
wanted = ("_patched_forward", "HiddenStatesWorkerExtension")
nodes = [item for item in tree.body if getattr(item, "name", "") in wanted]
answer = {}
for name, (model, named) in targets().items():
    namespace = {"types": types, "logger": logging.getLogger(), "supports_eagle3": lambda _, named=named: named}
    exec(compile(ast.Module(body=nodes, type_ignores=[]), str(path), "exec"), namespace)
    worker = namespace["HiddenStatesWorkerExtension"]()
    worker.model_runner = SimpleNamespace(model=model)
    try:
        worker._setup_hidden_states_capture([2, 30])
    except (AttributeError, ValueError) as error:
        answer[name] = type(error).__name__
        continue
    parts = [getattr(model, "model", None), getattr(model, "language_model", None)]
    parts.append(getattr(parts[1], "model", None))
    found = [part.name for part in parts if getattr(part, "_extension", None) is worker]
    answer[name] = found
print(json.dumps(answer))
