# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print what an EAGLE-3 draft of Kimi-K2.5 meets in the SGLang below a site-packages folder.

The methods in question are cut out of the installed class and called on an instance whose language model notes calls.
"""

import ast
import json
import sys
from pathlib import Path

METHODS = ("set_eagle3_layers_to_capture", "get_embed_and_head", "set_embed_and_head")


class LanguageModel:
    def __init__(self):
        self.calls = []

    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.calls.append(["set_eagle3_layers_to_capture", layer_ids])

    def get_embed_and_head(self):
        return "embed", "head"

    def set_embed_and_head(self, embed, head):
        self.calls.append(["set_embed_and_head", embed, head])


path = Path(sys.argv[1]) / "sglang/srt/models/kimi_k25.py"
tree = ast.parse(path.read_bytes())
node = next(
    item for item in tree.body if isinstance(item, ast.ClassDef) and item.name == "KimiK25ForConditionalGeneration"
)
node.bases = []
node.body = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name in METHODS] or [ast.Pass()]
future = ast.parse("from __future__ import annotations").body
module = ast.fix_missing_locations(ast.Module(body=[*future, node], type_ignores=[]))
namespace = {}
exec(compile(module, str(path), "exec"), namespace)
model = namespace[node.name]()
model.language_model = LanguageModel()
answer = {"methods": sorted(name for name in METHODS if hasattr(model, name))}
if len(answer["methods"]) == len(METHODS):
    model.set_eagle3_layers_to_capture([1, 29, 57])
    model.set_embed_and_head(*reversed(model.get_embed_and_head()))
    answer["calls"] = model.language_model.calls
print(json.dumps(answer))
