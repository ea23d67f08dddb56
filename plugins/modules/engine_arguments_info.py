#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: engine_arguments_info
short_description: Tell which command-line flags an installed engine knows, before a restart finds out
version_added: 0.1.0
description:
  - Reads the flags of vLLM's or SGLang's server from the source of the installed engine, and compares the arguments
    that it is to be given with them. There is no table of releases.
  - The engine is read, never imported, so it works on a host without a GPU too. Flags that a plugin or a platform adds
    while the engine runs are not seen.
  - Does not fail when an argument is wrong. Use RV(ok), or RV(unknown), RV(choices) and RV(deprecated).
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
options:
  engine:
    description: The engine.
    type: str
    choices: [vllm, sglang]
    required: true
  python:
    description:
      - Interpreter of the engine's environment, usually C(bin/python) of a virtual environment.
      - The default is the interpreter that runs Ansible's modules on the host.
    type: path
  arguments:
    description:
      - The arguments that the server is to be given, as in its YAML file, with or without leading dashes.
      - Of a mapping, such as vLLM's C(speculative-config), the keys are compared with the fields of the class that
        takes it.
      - An abbreviation is not accepted, even where the engine would.
    type: dict
seealso:
  - module: specdec.blackwell.eagle3_info
  - module: specdec.blackwell.eagle3_draft_info
"""

EXAMPLES = r"""
- name: Does this vLLM know these arguments?
  specdec.blackwell.engine_arguments_info:
    engine: vllm
    python: /opt/vllm/bin/python
    arguments:
      max-model-len: 32768
      kv-cache-dtype: fp8
      speculative-config:
        method: eagle3
        model: /models/Kimi-K2.5-eagle3
        num_speculative_tokens: 3
  register: arguments

- name: Stop here if not
  ansible.builtin.assert:
    that: arguments.ok
    fail_msg: "{{ (arguments.unknown + arguments.choices) | map(attribute='message') | join('; ') }}"
"""

RETURN = r"""
ok:
  description: Nothing is unknown, outside its choices, or removed.
  returned: success
  type: bool
  sample: true
engine:
  description: The engine as installed.
  returned: success
  type: dict
  contains:
    name:
      description: The engine.
      type: str
      returned: always
    engine:
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
known:
  description: Every long flag that its server has, other spellings included, without the dashes.
  returned: success
  type: list
  elements: str
  sample: [host, max-model-len, port, speculative-config]
unknown:
  description: Arguments that it does not have.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The argument, with the key after a dot where it is a mapping.
      type: str
      returned: always
    nearest:
      description: Names that it has and that are spelled alike, the nearest first.
      type: list
      elements: str
      returned: always
    message:
      description: The same as a sentence.
      type: str
      returned: always
  sample:
    - name: speculative-draft-modelpath
      nearest: [speculative-draft-model-path]
      message: >-
        sglang 0.5.23 has no argument named speculative-draft-modelpath; the nearest that it has:
        speculative-draft-model-path
choices:
  description: Arguments whose value is none of those that the source lists. What is computed at run time is not judged.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The argument.
      type: str
      returned: always
    value:
      description: The value that is not allowed.
      type: raw
      returned: always
    choices:
      description: The values that are.
      type: list
      elements: raw
      returned: always
    nearest:
      description: Those that are spelled alike.
      type: list
      elements: str
      returned: always
    message:
      description: The same as a sentence, with the place in the source.
      type: str
      returned: always
deprecated:
  description: Arguments that the source calls deprecated.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The argument.
      type: str
      returned: always
    message:
      description: What the source says, which often names a replacement.
      type: str
      returned: always
    fatal:
      description: The server stops when it is given.
      type: bool
      returned: always
    source:
      description: File and line.
      type: str
      returned: always
facts:
  description: What else the source says that decides how to serve.
  returned: success
  type: dict
  contains:
    release:
      description: Version of the engine.
      type: str
      returned: always
    has_pp_spec:
      description:
        - Whether EAGLE-3 goes with pipeline parallelism. V(false) where it is refused or cannot work.
        - Null where it depends on the model's class, or no check of it was found. Never V(true), since the source alone
          does not tell that it works.
      type: bool
      returned: always
    pp_spec_by_model:
      description: Whether it depends on the model's class, which must be made for it.
      type: bool
      returned: always
    pp_spec:
      description: Why.
      type: dict
      returned: always
      contains:
        state:
          description: V(refused), V(unsupported) where it fails later, V(by_model) or V(unknown).
          type: str
          returned: always
        reason:
          description: The message of the check, with the names of its values in braces.
          type: str
          returned: always
        source:
          description: File and line of the check. Null where there is none.
          type: str
          returned: always
  sample:
    release: 0.18.0
    has_pp_spec: false
    pp_spec_by_model: false
    pp_spec:
      state: refused
      reason: EAGLE3 with pipeline parallel is not supported.
      source: vllm/v1/worker/gpu/model_runner.py:181
"""

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import run
from ansible_collections.specdec.blackwell.plugins.module_utils._arguments_info import info

ARGUMENT_SPEC: dict[str, t.Any] = {
    "engine": {"type": "str", "choices": ["vllm", "sglang"], "required": True},
    "python": {"type": "path"},
    "arguments": {"type": "dict"},
}


def main() -> None:
    run(info, argument_spec=ARGUMENT_SPEC)


if __name__ == "__main__":
    main()
