#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: eagle3_info
short_description: Tell which models of an installed engine can take an EAGLE-3 draft
version_added: 0.1.0
description:
  - Reads an installed engine and tells for a model, for named architectures or for the whole registry, whether it is
    a target of EAGLE-3 speculative decoding, natively or by a patch, or could be made one.
  - The engine is read, never imported, so it works on a host without a GPU too.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
  - specdec.blackwell._environment
  - specdec.blackwell._eagle3
seealso:
  - module: specdec.blackwell.eagle3_patch
  - module: specdec.blackwell.python_ast_edit_info
"""

EXAMPLES = r"""
- name: Can this vLLM speculate for Kimi-K2.5?
  specdec.blackwell.eagle3_info:
    engine: vllm
    python: /opt/vllm/bin/python
    architectures: [KimiK25ForConditionalGeneration]
  register: eagle3

- name: Stop here if not
  ansible.builtin.assert:
    that: eagle3.architectures['KimiK25ForConditionalGeneration'].state in ['native', 'patched', 'patchable']

- name: Everything that the registry of this SGLang knows
  specdec.blackwell.eagle3_info:
    engine: sglang
    python: /opt/sglang/bin/python
"""

RETURN = r"""
engine:
  description: The engine.
  returned: success
  type: str
  sample: vllm
distribution:
  description: Distribution that owns the engine's import package.
  returned: success
  type: str
  sample: vllm
version:
  description: Its version.
  returned: success
  type: str
  sample: 0.16.0
architectures:
  description:
    - State of each architecture that was asked for.
    - With neither O(model) nor O(architectures), of all in the engine's registry.
  returned: success
  type: dict
  contains:
    state:
      description:
        - V(native), the engine supports it by itself.
        - V(patched), it is supported, and the files are not those of the release.
        - V(patchable), M(specdec.blackwell.eagle3_patch) can make it a target.
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
      description: Architectures that a wrapper builds and that must be targets too.
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
      state: patchable
      shape: wrapper
      file: vllm/model_executor/models/kimi_k25.py
      text_architectures: [DeepseekV2ForCausalLM]
      reason:
      notes:
        - pipeline parallelism does not work with EAGLE-3 here
"""

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import EAGLE3, ENVIRONMENT, run
from ansible_collections.specdec.blackwell.plugins.module_utils._eagle3_patch import info

ARGUMENT_SPEC: dict[str, t.Any] = {**ENVIRONMENT, **EAGLE3}


def main() -> None:
    run(info, argument_spec=ARGUMENT_SPEC, mutually_exclusive=[("model", "architectures")])


if __name__ == "__main__":
    main()
