#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: eagle3_patch
short_description: Make a model of an installed engine a working EAGLE-3 target
version_added: 0.1.0
description:
  - Reads the installed engine, derives the smallest set of edits that make a model a working target of EAGLE-3
    speculative decoding, and applies them as M(specdec.blackwell.python_ast_edit) does.
  - No table of releases decides; what is installed does. Where an engine supports the model by itself, the state is
    V(native) and no byte changes. So the patch retires itself with an upgrade.
  - Where the source does not tell what to capture, the module refuses and gives the reason. A wrong capture serves
    quietly badly, which is worse than an error.
  - After a write it verifies in the engine's interpreter, and takes the patch back when the engine can no longer be
    imported because of it.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.changes
  - specdec.blackwell._environment
  - specdec.blackwell._environment.writes
  - specdec.blackwell._eagle3
options:
  state:
    description:
      - V(present) patches what is not supported yet.
      - V(absent) takes the patch back from the ledger, byte for byte. With neither O(model) nor O(architectures) it
        takes back every EAGLE-3 patch of O(engine).
    type: str
    choices: [present, absent]
    default: present
seealso:
  - module: specdec.blackwell.eagle3_info
  - module: specdec.blackwell.python_ast_edit
"""

EXAMPLES = r"""
- name: Kimi-K2.5 takes an EAGLE-3 draft
  specdec.blackwell.eagle3_patch:
    engine: vllm
    python: /opt/vllm/bin/python
    model: /models/Kimi-K2.5

- name: The same, by the name that the engine's registry has
  specdec.blackwell.eagle3_patch:
    engine: sglang
    python: /opt/sglang/bin/python
    architectures: [KimiK25ForConditionalGeneration]

- name: The environment that extracts training data also needs the last layer
  specdec.blackwell.eagle3_patch:
    engine: vllm
    python: /opt/train/bin/python
    model: /models/Kimi-K2.5
    last_layer: true

- name: Take back every EAGLE-3 patch of this vLLM
  specdec.blackwell.eagle3_patch:
    engine: vllm
    python: /opt/vllm/bin/python
    state: absent
"""

RETURN = r"""
engine:
  description: The engine.
  returned: always
  type: str
  sample: vllm
distribution:
  description: Distribution that owns the engine's import package.
  returned: always
  type: str
  sample: vllm
version:
  description: Its version.
  returned: always
  type: str
  sample: 0.16.0
architectures:
  description:
    - What became of each architecture that was asked for.
    - Empty for O(state=absent) with neither O(model) nor O(architectures).
  returned: always
  type: dict
  contains:
    state:
      description:
        - V(native), the engine supports it by itself.
        - V(patched), it is supported, and the files are not those of the release.
        - V(patchable), edits can make it a target.
        - V(by_hand), it cannot be derived from the source; RV(architectures.reason) tells why.
        - V(absent), this engine does not have it.
      type: str
      returned: always
    shape:
      description: Kind of change that it needs or has.
      type: str
      returned: always
    file:
      description: File of the model's class, relative to the folder that holds the package.
      type: str
      returned: always
    text_architectures:
      description: Architectures that a wrapper builds, patched along with it.
      type: list
      elements: str
      returned: always
    reason:
      description: Why it is in this state.
      type: str
      returned: always
    notes:
      description: What will not work even so.
      type: list
      elements: str
      returned: always
  sample:
    KimiK25ForConditionalGeneration:
      state: patched
      shape: wrapper
      file: vllm/model_executor/models/kimi_k25.py
      text_architectures: [DeepseekV2ForCausalLM]
      reason:
      notes:
        - pipeline parallelism does not work with EAGLE-3 here
generated_edits:
  description:
    - The edits that were derived, in the language of M(specdec.blackwell.python_ast_edit), each once.
    - Empty where the engine supports the model by itself.
  returned: O(state=present)
  type: list
  elements: dict
edits:
  description:
    - Every edit with what became of it, as M(specdec.blackwell.python_ast_edit) returns it.
    - A failed task returns it too.
  returned: always
  type: list
  elements: dict
files:
  description: Every file of the patch, as M(specdec.blackwell.python_ast_edit) returns it.
  returned: success
  type: list
  elements: dict
verified:
  description: What the engine's own interpreter says of the files, after a write.
  returned: when files were written
  type: dict
  contains:
    compiled:
      description: Whether all files compile. Null when the interpreter did not answer.
      type: bool
      returned: always
    imported:
      description: Whether the engine could be imported there.
      type: bool
      returned: always
    supports_eagle3:
      description: The engine's own answer for the patched classes. Null when it could not be asked.
      type: bool
      returned: always
    reason:
      description: Why it could not be asked, or what it said.
      type: str
      returned: always
installed:
  description:
    - V(false) where the engine is not there yet, which fails the task outside of check mode.
    - In check mode RV(msg) then says that the engine would be installed first.
  returned: when there is no engine
  type: bool
msg:
  description: What comes first.
  returned: when there is no engine
  type: str
restart_needed:
  description: Whether this task changed something, or a process runs that is older than the last change.
  returned: success
  type: bool
older_processes:
  description: Process ids of those that are older than the last change.
  returned: success
  type: list
  elements: int
caches_to_clear:
  description: Caches of compiled code that may still hold what the former source gave, as far as they are known.
  returned: success
  type: list
  elements: dict
"""

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import EAGLE3, ENVIRONMENT, WRITES, run
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_patch import patch

ARGUMENT_SPEC: dict[str, t.Any] = {
    **ENVIRONMENT,
    **WRITES,
    **EAGLE3,
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def main() -> None:
    run(patch, argument_spec=ARGUMENT_SPEC, mutually_exclusive=[("model", "architectures")])


if __name__ == "__main__":
    main()
