#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: eagle3_draft_info
short_description: Tell whether an EAGLE-3 draft fits its target and an installed engine, before a long load
version_added: 0.1.0
description:
  - Compares a draft's folder with that of its target, and with an installed engine when one is named. A server finds
    out some of it after minutes of loading, and some of it never, except by low acceptance.
  - Reads JSON files and the headers of safetensors files. Of the weights themselves only C(d2t) and C(t2d) are read,
    up to 64 MiB each. The engine is read, never imported, so it works on a host without a GPU too.
  - Does not fail when something is wrong with the draft. Use RV(ok), or the severity of RV(findings).
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
options:
  draft:
    description: Folder of the draft on the host.
    type: path
    required: true
  target:
    description: Folder of the model that verifies, on the host. Its weights may be elsewhere, with a warning.
    type: path
    required: true
  engine:
    description:
      - Also compare with this engine, as it is installed.
      - Without it nothing is said about what an engine reads, and RV(layer_ids.captured) is unknown.
    type: str
    choices: [vllm, sglang]
  python:
    description:
      - Interpreter of the engine's environment, usually C(bin/python) of a virtual environment.
      - The default is the interpreter that runs Ansible's modules on the host.
    type: path
  method:
    description:
      - The method or algorithm that the server is to be given, as vLLM or SGLang spells it.
      - Without it, what vLLM would guess from the draft's path is checked.
    type: str
    choices: [eagle, eagle3, EAGLE, EAGLE3]
seealso:
  - module: specdec.blackwell.eagle3_info
  - module: specdec.blackwell.eagle3_patch
"""

EXAMPLES = r"""
- name: Does the draft fit?
  specdec.blackwell.eagle3_draft_info:
    draft: /models/Kimi-K2.5-eagle3
    target: /models/Kimi-K2.5
    engine: sglang
    python: /opt/sglang/bin/python
    method: EAGLE3
  register: draft

- name: Stop here if not
  ansible.builtin.assert:
    that: draft.ok
    fail_msg: "{{ draft.findings | selectattr('severity', 'equalto', 'error') }}"

- name: Show the layer ids that a local copy of the draft should name, if it was trained on the inputs of its layers
  ansible.builtin.debug:
    var: draft.layer_ids.corrected.inputs
"""

RETURN = r"""
ok:
  description: No finding is an error.
  returned: success
  type: bool
  sample: false
findings:
  description:
    - What is wrong or unknown, errors first.
    - An error makes the server refuse the pair, or the draft compute something else than it was trained to. A warning
      may cost acceptance, and only the draft's maker or a measurement can tell. A note explains.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description:
        - Name of the check, which stays the same between releases.
        - Of files, V(config_missing), V(config_unreadable), V(index_broken), V(shard_missing), V(shard_truncated),
          V(shard_damaged), V(shard_unreadable), V(tensor_missing), V(weights_missing), V(weights_unread).
        - Of sizes, V(hidden_size), V(embedding_missing), V(embedding_shape), V(embedding_shared), V(fc_missing),
          V(fc_shape), V(aux_count), V(head_dim), V(head_dim_rope), V(vocab_size), V(lm_head_shape),
          V(lm_head_missing), V(dtype), V(dtype_config), V(dtype_quantized).
        - Of the vocabulary, V(d2t_missing), V(d2t_shape), V(d2t_dtype), V(d2t_range), V(d2t_twice), V(d2t_zero),
          V(d2t_t2d), V(t2d_shape), V(t2d_dtype).
        - Of the pair, V(method), V(method_guessed), V(other_target), V(other_architecture), V(target_unrecorded).
        - Of the engine, V(architecture_absent), V(mla_draft), V(mla_renamed), V(mla_model_type), V(format),
          V(field_ignored), V(aux_count_fixed), V(target_unpatched), V(target_unsupported).
        - Of layer ids, V(layer_ids_default), V(layer_ids_differ), V(layer_ids_graphs), V(layer_ids_last),
          V(layer_ids_order), V(layer_ids_range), V(layer_ids_shifted), V(layer_ids_unknown), V(layer_ids_unread).
      type: str
      returned: always
    severity:
      description: V(error), V(warning) or V(note).
      type: str
      returned: always
    found:
      description: What is there.
      type: str
      returned: always
    wanted:
      description: What should be there.
      type: str
      returned: always
    fix:
      description: What to do about it.
      type: str
      returned: always
  sample:
    - id: layer_ids_shifted
      severity: warning
      found: sglang 0.5.12 captures [3, 31, 59] for the ids [2, 30, 58]
      wanted: "[2, 30, 58]"
      fix: >-
        if it was trained on [2, 30, 58], serve a local copy of the draft that names [1, 29, 57]; else measure both
        readings, or ask the draft's maker
draft:
  description: What the draft is, by its files. A number is null where they do not tell.
  returned: success
  type: dict
  contains:
    path:
      description: Its folder.
      type: str
      returned: always
    format:
      description: V(transformers), or V(speculators) for a config.json of that tool.
      type: str
      returned: always
    architecture:
      description: The class that its config.json names.
      type: str
      returned: always
    eagle:
      description: V(3) for EAGLE-3, V(1) for the earlier ones.
      type: int
      returned: always
    attention:
      description: V(mla) or V(mha).
      type: str
      returned: always
    hidden_size:
      description: Width of its states.
      type: int
      returned: always
    vocab_size:
      description: Size of the target's vocabulary, as the draft has it.
      type: int
      returned: always
    draft_vocab_size:
      description: How many of them it can say.
      type: int
      returned: always
    head_dim:
      description: Size of an attention head. Null with latent attention.
      type: int
      returned: always
    dtype:
      description: Type of most of its weights, as safetensors spells it.
      type: str
      returned: always
    size:
      description: Bytes of its weights.
      type: int
      returned: always
    recorded_targets:
      description: Models that it was trained for, as its files name them.
      type: list
      elements: str
      returned: always
target:
  description: What the target is, by its files.
  returned: success
  type: dict
  contains:
    path:
      description: Its folder.
      type: str
      returned: always
    architectures:
      description: The classes that its config.json names.
      type: list
      elements: str
      returned: always
    hidden_size:
      description: Width of its states.
      type: int
      returned: always
    vocab_size:
      description: Size of its vocabulary.
      type: int
      returned: always
    layers:
      description: Number of its layers.
      type: int
      returned: always
    dtype:
      description: Type that its config.json names.
      type: str
      returned: always
    size:
      description: Bytes of those of its weights that are there.
      type: int
      returned: always
engine:
  description: The engine as installed. Null when none was named.
  returned: success
  type: dict
  contains:
    name:
      description: The engine.
      type: str
      returned: always
    distribution:
      description: Distribution that owns its import package.
      type: str
      returned: always
    version:
      description: Its version.
      type: str
      returned: always
    drafts:
      description: Classes of EAGLE-3 drafts that it has.
      type: list
      elements: str
      returned: always
    layer_ids_read_from:
      description: Where it looks for layer ids, V(config) for the outer level of config.json and V(eagle_config).
      type: list
      elements: str
      returned: always
layer_ids:
  description: Which layers of the target the draft is fed from. Null for a draft that is not EAGLE-3.
  returned: success
  type: dict
  contains:
    recorded:
      description: The ids in the draft's config.json.
      type: list
      elements: int
      returned: always
    recorded_in:
      description: Where they are.
      type: str
      returned: always
    default:
      description: What an engine takes when it finds none.
      type: list
      elements: int
      returned: always
    used:
      description: The ids that the engine takes, read or default.
      type: list
      elements: int
      returned: always
    captured:
      description: The layers whose input it hands to the draft for these ids.
      type: list
      elements: int
      returned: always
    readings:
      description:
        - The layers whose input the draft wants, by either meaning of its ids. C(inputs), an id is the layer whose
          input it is (vLLM, and what is trained with its states). C(outputs), an id is the layer whose output it is.
      type: dict
      returned: always
    corrected:
      description: The ids that make this engine hand over each of RV(layer_ids.readings). Null where none do.
      type: dict
      returned: always
  sample:
    recorded: [2, 30, 58]
    recorded_in: eagle_config.eagle_aux_hidden_state_layer_ids
    default: [2, 30, 58]
    used: [2, 30, 58]
    captured: [3, 31, 59]
    readings:
      inputs: [2, 30, 58]
      outputs: [3, 31, 59]
    corrected:
      inputs: [1, 29, 57]
      outputs: [2, 30, 58]
"""

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import run
from ansible_collections.specdec.blackwell.plugins.module_utils._draft_info import info

ARGUMENT_SPEC: dict[str, t.Any] = {
    "draft": {"type": "path", "required": True},
    "target": {"type": "path", "required": True},
    "engine": {"type": "str", "choices": ["vllm", "sglang"]},
    "python": {"type": "path"},
    "method": {"type": "str", "choices": ["eagle", "eagle3", "EAGLE", "EAGLE3"]},
}


def main() -> None:
    run(info, argument_spec=ARGUMENT_SPEC, required_by={"python": ["engine"]})


if __name__ == "__main__":
    main()
