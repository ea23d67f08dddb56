# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The one place below the modules that knows Ansible: a use case in, a module's result out.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError

Spec = t.Dict[str, t.Any]
UseCase = t.Callable[..., t.Dict[str, t.Any]]

ENVIRONMENT: Spec = {"python": {"type": "path"}, "ledger_dir": {"type": "path"}}
WRITES: Spec = {"force": {"type": "bool", "default": False}, "follow": {"type": "bool", "default": True}}
EAGLE3: Spec = {
    "engine": {"type": "str", "choices": ["vllm", "sglang", "speculators"], "required": True},
    "model": {"type": "path"},
    "architectures": {"type": "list", "elements": "str"},
    "last_layer": {"type": "bool", "default": False},
}


def run(use_case: UseCase, *, argument_spec: Spec, **rules: t.Any) -> None:
    """Run ``use_case(params, check_mode=...)`` and end the module with its result.

    ``warnings`` and ``diff`` of the result, or of the details of a SpecdecError, go where Ansible wants them.
    ``rules`` are AnsibleModule's, such as mutually_exclusive.
    """
    module = AnsibleModule(argument_spec=argument_spec, supports_check_mode=True, **rules)
    try:
        result = use_case(module.params, check_mode=module.check_mode)
    except SpecdecError as error:
        details = dict(error.details)
        _warn(module, details)
        details.pop("diff", None)
        module.fail_json(msg=error.message, **details)
    _warn(module, result)
    diff = result.pop("diff", None)
    if diff is not None and module._diff:
        result["diff"] = diff
    module.exit_json(**result)


def _warn(module: AnsibleModule, result: dict[str, t.Any]) -> None:
    for warning in result.pop("warnings", ()):
        module.warn(warning)


__all__ = ("EAGLE3", "ENVIRONMENT", "WRITES", "run")
