# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Options that name an engine and a model.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  engine:
    description:
      - The engine to read.
      - V(speculators) is the training tool, whose data generator loads the target through vLLM. It takes neither
        O(model) nor O(architectures), and has the single entry C(custom_worker).
    type: str
    choices: [vllm, sglang, speculators]
    required: true
  model:
    description:
      - Folder of the model on the host. Its C(config.json) tells the architectures and the text model inside a
        wrapper.
      - Mutually exclusive with O(architectures).
    type: path
  architectures:
    description:
      - Names of architectures as the engine's registry has them.
      - A wrapper named this way takes its text model along when the source names it literally.
    type: list
    elements: str
  last_layer:
    description:
      - Also ask for the hidden state after the last layer, which training wants and serving does not.
      - A class that supports EAGLE-3 but cannot hand it out is then V(patchable), with the shape V(last_layer).
    type: bool
    default: false
"""
