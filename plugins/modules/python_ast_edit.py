#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: python_ast_edit
short_description: Edit installed Python source by its structure
version_added: 0.1.0
description:
  - Edits Python files of an installed package, or one file, where the structure says, not where a text happens to
    stand.
  - An edit finds its place with the target's own syntax tree, and only the bytes of that place change. Newlines,
    encoding, byte order mark, comments, quotes and everything else stay as they were.
  - The state of each edit is read from the code itself. An edit that finds neither its before-image nor its
    after-image fails the task, names the nearest candidates, and no byte is written.
  - The original bytes are kept in a ledger outside the package. O(state=absent) gives them back, byte for byte.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.changes
  - specdec.blackwell._environment
  - specdec.blackwell._environment.writes
options:
  name:
    description:
      - Name of the patch. Together with its target it is the key in the ledger.
    type: str
    required: true
  package:
    description:
      - Import package to edit, for example V(vllm). It is found from O(python); the distribution may have another
        name.
      - Exactly one of O(package) and O(path) is required.
    type: str
  path:
    description:
      - One Python file to edit. The edits then carry no C(file).
    type: path
  version:
    description:
      - PEP 440 specifier for the version of the distribution that owns O(package). With another version installed the
        task is skipped and says why.
      - Not consulted for O(state=absent).
    type: str
  state:
    description:
      - V(present) makes the edits.
      - V(absent) takes back what the patch O(name) did to this target, from the ledger. O(edits) may then be left
        out.
    type: str
    choices: [present, absent]
    default: present
  reason:
    description: Why the patch is needed. Kept in the ledger and shown by M(specdec.blackwell.python_ast_edit_info).
    type: str
  upstream:
    description: Address of the upstream change or report. Kept in the ledger.
    type: str
  drop_when:
    description: When the patch is no longer needed, for example V(>=0.18). Kept in the ledger.
    type: str
  edits:
    description:
      - The edits, applied in order. A later one sees what an earlier one made.
      - Each has one operation, V(import), V(base), V(method), V(insert), V(replace), V(remove), V(wrap), V(unwrap),
        V(parameter), V(branch), V(element), V(argument), V(decorator) or V(rename), and says where with C(file) (a path
        as C(RECORD) has it) and C(in) (a scope such as C(Class.method)).
      - Every edit may have C(id), C(required), C(count), C(occurrence), C(state), C(obsolete_when) and C(any_of).
      - Python source is given as a string. V(value=true) in YAML is a boolean, not source, and is refused; quote it.
      - Source with C({{), C({%) or C({#) needs the YAML tag C(!unsafe).
      - The whole language, with its fine print, is described in C(docs/edit-language.md) of this collection.
      - Required with O(state=present).
    type: list
    elements: dict
seealso:
  - module: specdec.blackwell.python_ast_edit_info
  - module: specdec.blackwell.eagle3_patch
"""

EXAMPLES = r"""
- name: Kimi-K2.5 takes an EAGLE-3 draft
  specdec.blackwell.python_ast_edit:
    name: kimi-k25-eagle3
    python: /opt/vllm/bin/python
    package: vllm
    version: ">=0.16,<0.18"
    reason: upstream lacks it before 0.18
    upstream: https://github.com/vllm-project/vllm/pull/36361
    drop_when: ">=0.18"
    edits:
      - file: vllm/model_executor/models/kimi_k25.py
        import: {from: vllm.model_executor.models.interfaces, names: [SupportsEagle3]}
      - file: vllm/model_executor/models/kimi_k25.py
        in: KimiK25ForConditionalGeneration
        base: SupportsEagle3
      - file: vllm/model_executor/models/kimi_k25.py
        in: KimiK25ForConditionalGeneration
        method: |
          def set_aux_hidden_state_layers(self, layers: tuple[int, ...]) -> None:
              self.language_model.set_aux_hidden_state_layers(layers)

- name: A longer timeout in one file of our own, with a place that may be gone in a new release
  specdec.blackwell.python_ast_edit:
    name: longer-timeout
    path: /srv/app/config.py
    edits:
      - in: Client.__init__
        replace: self.timeout = $OLD
        with: self.timeout = 600
        required: false

- name: Take the first patch back, byte for byte
  specdec.blackwell.python_ast_edit:
    name: kimi-k25-eagle3
    python: /opt/vllm/bin/python
    package: vllm
    state: absent
"""

RETURN = r"""
edits:
  description: Every edit, with what became of it. A failed task returns the same list.
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Name of the edit, as given, or its position and operation.
      type: str
      returned: always
    file:
      description: Path as given in the edit, empty with O(path).
      type: str
      returned: always
    scope:
      description: Scope as given in the edit, empty for the module.
      type: str
      returned: always
    line:
      description: Line of the place, from 1. Null when there is none.
      type: int
      returned: always
    op:
      description: Operation.
      type: str
      returned: always
    state:
      description:
        - One of V(applied), V(present), V(obsolete), V(reverted), V(skipped), V(drifted), V(ambiguous).
        - In a failed task, V(pristine) is an edit that would have applied.
      type: str
      returned: always
    matches:
      description: How many places matched.
      type: int
      returned: always
  sample:
    - id: 2 base
      file: vllm/model_executor/models/kimi_k25.py
      scope: KimiK25ForConditionalGeneration
      line: 321
      op: base
      state: applied
      matches: 1
files:
  description: Every file that the patch is on, or was.
  returned: success
  type: list
  elements: dict
  contains:
    path:
      description: Path of the file.
      type: str
      returned: always
    before_sha256:
      description: Digest before the task.
      type: str
      returned: always
    after_sha256:
      description: Digest after the task.
      type: str
      returned: always
    changed:
      description: Whether the task changed it.
      type: bool
      returned: always
distribution:
  description: Distribution that owns the package. Null with O(path).
  returned: always
  type: str
  sample: vllm
version:
  description: Its version. Null with O(path).
  returned: always
  type: str
  sample: 0.16.0
name:
  description: Name of the patch.
  returned: success
  type: str
state:
  description: As O(state).
  returned: success
  type: str
ledger:
  description: Folder of the ledger.
  returned: success
  type: str
skipped:
  description: Whether O(version) excludes the installed version.
  returned: when the patch is not for this version
  type: bool
skip_reason:
  description: Which version is installed, and which was asked for.
  returned: when the patch is not for this version
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

from ansible_collections.specdec.blackwell.plugins.module_utils._ansible import ENVIRONMENT, WRITES, run
from ansible_collections.specdec.blackwell.plugins.module_utils._ast_edit import edit

ARGUMENT_SPEC: dict[str, t.Any] = {
    **ENVIRONMENT,
    **WRITES,
    "name": {"type": "str", "required": True},
    "package": {"type": "str"},
    "path": {"type": "path"},
    "version": {"type": "str"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "reason": {"type": "str"},
    "upstream": {"type": "str"},
    "drop_when": {"type": "str"},
    "edits": {"type": "list", "elements": "dict"},
}


def main() -> None:
    run(
        edit,
        argument_spec=ARGUMENT_SPEC,
        mutually_exclusive=[("package", "path")],
        required_one_of=[("package", "path")],
        required_if=[("state", "present", ["edits"])],
    )


if __name__ == "__main__":
    main()
