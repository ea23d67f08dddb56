#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: python_ast_edit_info
short_description: List the patches of an environment, with their present state
version_added: 0.1.0
description:
  - Lists every patch that the ledger of an environment knows, whether it was made by
    M(specdec.blackwell.python_ast_edit) or by M(specdec.blackwell.eagle3_patch).
  - The state of each is read from the code as it is now.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
  - specdec.blackwell._environment
seealso:
  - module: specdec.blackwell.python_ast_edit
  - module: specdec.blackwell.eagle3_info
"""

EXAMPLES = r"""
- name: What is patched in this environment?
  specdec.blackwell.python_ast_edit_info:
    python: /opt/vllm/bin/python
  register: patches

- name: Tell of patches that are due to be dropped
  ansible.builtin.debug:
    msg: "{{ patches.patches | selectattr('drop_due') | map(attribute='name') }}"
"""

RETURN = r"""
ledger:
  description: Folder of the ledger.
  returned: success
  type: str
  sample: /opt/vllm/.specdec-blackwell
ledger_state:
  description: Whether the ledger could be read, V(ok), V(none) (there is none) or V(corrupt).
  returned: success
  type: str
patches:
  description: The patches, in the order in which they were applied.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the patch.
      type: str
      returned: always
    target:
      description: What it is on, C(package) and C(prefix), or C(path).
      type: dict
      returned: always
    python:
      description: Interpreter of the environment.
      type: str
      returned: always
    files:
      description: Files that it is on.
      type: list
      elements: str
      returned: always
    distribution:
      description: Owner of the package, C(then) and C(now).
      type: dict
      returned: always
    version:
      description: Its version, C(then) and C(now).
      type: dict
      returned: always
    state:
      description:
        - V(whole), all of it is there.
        - V(drifted), something of it is neither there nor can it be applied.
        - V(gone), the files are without it, as after an upgrade.
        - V(obsolete), the release has it by itself.
      type: str
      returned: always
    why:
      description: Why the state could not be read from the code.
      type: str
      returned: always
    edits:
      description: State of each edit, as M(specdec.blackwell.python_ast_edit) returns it.
      type: list
      elements: dict
      returned: always
    ours:
      description: Whether the patch made at least one of its edits. What stood there before is not ours.
      type: bool
      returned: always
    reason:
      description: Why the patch is needed.
      type: str
      returned: always
    upstream:
      description: Address of the upstream change or report.
      type: str
      returned: always
    drop_when:
      description: When the patch is no longer needed.
      type: str
      returned: always
    drop_due:
      description: Whether RV(patches[].drop_when) is a version specifier that the installed version meets.
      type: bool
      returned: always
    when:
      description: When it was applied, in UTC.
      type: str
      returned: always
    who:
      description: Who asked for it.
      type: str
      returned: always
    restart_needed:
      description: Whether a process of the environment is older than the last change.
      type: bool
      returned: always
  sample:
    - name: eagle3-vllm-KimiK25ForConditionalGeneration
      target: {package: vllm, prefix: /opt/vllm}
      state: whole
"""

import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import ENVIRONMENT, run
from ansible_collections.specdec.blackwell.plugins.module_utils._ast_edit_info import edit_info

ARGUMENT_SPEC: dict[str, t.Any] = {**ENVIRONMENT}


def main() -> None:
    run(edit_info, argument_spec=ARGUMENT_SPEC)


if __name__ == "__main__":
    main()
