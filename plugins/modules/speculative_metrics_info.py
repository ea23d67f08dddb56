#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: speculative_metrics_info
short_description: Read how well a served draft does
version_added: 0.1.0
description:
  - Reads the metrics of a running vLLM or SGLang, and tells the acceptance length of its draft, as a whole and by
    position.
  - The counters are sums over all engines of a data-parallel server, since the server was started, and over everybody
    who used it. M(specdec.blackwell.speculative_benchmark) measures known requests.
  - It sends no prompt.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._server
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
options:
  timeout:
    description: Seconds that each answer may take.
    type: int
    default: 30
seealso:
  - module: specdec.blackwell.speculative_benchmark
  - module: specdec.blackwell.eagle3_draft_info
"""

EXAMPLES = r"""
- name: Read the counters
  specdec.blackwell.speculative_metrics_info:
    url: http://127.0.0.1:8000
  register: served

- name: The draft must be of some use
  ansible.builtin.assert:
    that: served.acceptance_length is none or served.acceptance_length > 1.5
"""

RETURN = r"""
engine:
  description: The engine that answered.
  returned: success
  type: str
  sample: vllm
acceptance_length:
  description:
    - Tokens for each verified draft, the bonus token included. V(1.0) means that nothing of the draft was accepted.
    - For vLLM since its start. SGLang keeps such a mean itself, and forgets it when its cache is flushed.
  returned: success
  type: float
  sample: 2.84
reason:
  description: Why RV(acceptance_length) is null.
  returned: success
  type: str
by_position:
  description: For each position of the draft the share of drafts whose token there was accepted.
  returned: success
  type: list
  elements: float
  sample: [0.81, 0.62, 0.41]
by_position_reason:
  description: Why RV(by_position) is null.
  returned: success
  type: str
accepted_per_position:
  description: For each position how many tokens were accepted.
  returned: success
  type: list
  elements: float
engines:
  description: How many data-parallel engines the counters come from, null where their labels do not tell.
  returned: success
  type: int
metrics_reason:
  description: Why there are no counters.
  returned: success
  type: str
counters:
  description: Sums over all engines. Null is what the engine or its release does not count.
  returned: success
  type: dict
  contains:
    drafts:
      description: Drafts that were verified.
      type: float
    draft_tokens:
      description: Tokens that were drafted.
      type: float
    accepted_tokens:
      description: Tokens that were accepted, without the bonus token.
      type: float
    prompt_tokens:
      description: Tokens of prompts.
      type: float
    generation_tokens:
      description: Tokens generated.
      type: float
    prefix_cache_queries:
      description: Tokens looked up in the prefix cache.
      type: float
    prefix_cache_hits:
      description: Tokens found there.
      type: float
    preemptions:
      description: Requests that had to give their memory back.
      type: float
    running:
      description: Requests that run now.
      type: float
    waiting:
      description: Requests that wait now.
      type: float
"""

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import run
from ansible_collections.specdec.blackwell.plugins.module_utils._speculative_metrics import info

ARGUMENT_SPEC: dict[str, t.Any] = {
    "url": {"type": "str", "default": "http://127.0.0.1:8000"},
    "engine": {"type": "str", "choices": ["auto", "vllm", "sglang"], "default": "auto"},
    "api_key_file": {"type": "path", "no_log": False},
    "timeout": {"type": "int", "default": 30},
}


def main() -> None:
    run(info, argument_spec=ARGUMENT_SPEC)


if __name__ == "__main__":
    main()
