# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print what an EAGLE-3 draft of Kimi-K2.5 meets in the vLLM below a site-packages folder.

The engine itself needs torch. Here the functions in question are cut out of its files and run on stand-ins whose hidden
states are plain numbers, so what is printed comes from running the installed source.
"""

import ast
import json
import sys
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

PACKAGE = Path(sys.argv[1]) / "vllm"
LAYERS = 61
WANTED = (2, 30, 58)


def parse(path):
    return ast.parse((PACKAGE / path).read_bytes())


def find(tree, kind, name):
    return next(node for node in ast.walk(tree) if isinstance(node, kind) and node.name == name)


def execute(nodes, namespace):
    future = ast.parse("from __future__ import annotations").body
    module = ast.Module(body=[*future, *nodes], type_ignores=[])
    exec(compile(ast.fix_missing_locations(module), "cut out", "exec"), namespace)


def protocols():
    """SupportsEagle3 and what it derives from, as the release defines them."""
    tree = parse("model_executor/models/interfaces.py")
    namespace = {}
    execute(ast.parse("from typing import *").body, namespace)
    wanted, nodes = ["SupportsEagle3"], []
    while wanted:
        node = find(tree, ast.ClassDef, wanted.pop())
        nodes.insert(0, node)
        wanted += [base.id for base in node.bases if isinstance(base, ast.Name) and base.id != "Protocol"]
    execute(nodes, namespace)
    return namespace


def model(path, name, namespace, methods):
    """The class with the protocol's bases and the named methods only."""
    node = find(parse(path), ast.ClassDef, name)
    node.bases = [base for base in node.bases if isinstance(base, ast.Name) and base.id == "SupportsEagle3"]
    kept = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name in methods]
    node.body = kept or [ast.Pass()]
    node.decorator_list = []
    namespace = {**namespace, "islice": islice}
    execute([node], namespace)
    return namespace[name]


namespace = protocols()
interface = namespace["SupportsEagle3"]
hooks = {name for name in vars(interface) if "aux_hidden_state" in name}
namespace["get_pp_group"] = lambda: SimpleNamespace(is_first_rank=True, is_last_rank=True)

decoder = model("model_executor/models/deepseek_v2.py", "DeepseekV2Model", namespace, {"forward"})()
decoder.layers = [lambda positions, hidden, residual, scaling: (1000, (residual or 0) + hidden)] * LAYERS
decoder.start_layer, decoder.end_layer = 0, LAYERS
decoder.config = SimpleNamespace()
decoder.norm = lambda hidden, residual: (("final", hidden + residual), None)
decoder.aux_hidden_state_layers = ()

text = model("model_executor/models/deepseek_v2.py", "DeepseekV2ForCausalLM", namespace, hooks)()
text.model = decoder
wrapper = model("model_executor/models/kimi_k25.py", "KimiK25ForConditionalGeneration", namespace, hooks)()
wrapper.language_model = text

answer = {
    "text is an EAGLE-3 target": isinstance(text, interface),
    "wrapper is an EAGLE-3 target": isinstance(wrapper, interface),
    "default layers": None,
}
if isinstance(wrapper, interface):
    (getter,) = [name for name in hooks if name.startswith("get_")]
    answer["default layers"] = getattr(wrapper, getter)()
    wrapper.set_aux_hidden_state_layers(WANTED)
answer["forward"] = decoder.forward(None, None, None, 5)

supported = next(
    ast.literal_eval(node.value)
    for node in ast.walk(parse("config/speculative.py"))
    if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "eagle3_target_supported"
)
answer["model type is let through"] = any(name in "kimi_k2" for name in supported)

proposer = parse("v1/spec_decode/eagle.py")
branch = next(
    node
    for node in ast.walk(proposer)
    if isinstance(node, ast.If)
    and ast.unparse(node.test) == "supports_multimodal(target_model)"
    and "image_token_index" in ast.unparse(node)
)
draft = SimpleNamespace(config=SimpleNamespace())
target = SimpleNamespace(
    config=SimpleNamespace(media_placeholder_token_id=163605),
    get_language_model=lambda: "language model",
)
names = {
    "self": SimpleNamespace(model=draft, get_model_name=lambda _: "KimiK25ForConditionalGeneration"),
    "target_model": target,
    "supports_multimodal": lambda _: True,
    "SupportsMultiModal": None,
    "cast": lambda _, value: value,
}
try:
    execute([branch], names)
except AttributeError as error:
    answer["image token"] = str(error)
else:
    answer["image token"] = draft.config.image_token_index

print(json.dumps(answer))
