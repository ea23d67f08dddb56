# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Judge a host's facts by the checks of the role blackwell_preflight."""

from __future__ import annotations

import collections
import typing as t

from ansible.errors import AnsibleFilterError

from ansible_collections.specdec.blackwell.plugins.plugin_utils._checks import BadCheck, judge_all, reason
from ansible_collections.specdec.blackwell.plugins.plugin_utils._derived import SOURCES, derive

DOCUMENTATION = r"""
name: preflight
short_description: Judge a host's facts by checks that are data
version_added: 0.1.0
description:
  - Takes what M(specdec.blackwell.nvidia_gpu_info) returns, and tells for each check whether the host passes it.
  - It is what the role C(specdec.blackwell.blackwell_preflight) uses. Nothing is run, and no host is asked.
author:
  - The specdec.blackwell authors (@specdec)
positional: checks, settings
options:
  _input:
    description: The facts.
    type: dict
    required: true
  checks:
    description: The checks. Their form is in C(docs/preflight.md) of the collection.
    type: list
    elements: dict
    required: true
  settings:
    description: What is to be served, as the role's variables without their prefix.
    type: dict
    required: true
  policies:
    description: V(enforce), V(warn) or V(skip) by the id of a check, instead of the check's own severity.
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Judge
  ansible.builtin.set_fact:
    verdict: "{{ facts | specdec.blackwell.preflight(checks, settings, policies={'persistence-mode': 'skip'}) }}"
"""

RETURN = r"""
_value:
  description:
    - C(results), one for each check with C(id), C(status), C(found), C(wanted), C(fix), C(source) and C(message).
    - C(counts) of each status, the ids that C(failed), and the C(derived) facts.
  type: dict
"""


def preflight(
    facts: t.Mapping[str, t.Any],
    checks: t.Sequence[t.Mapping[str, t.Any]],
    settings: t.Mapping[str, t.Any],
    policies: t.Mapping[str, str] | None = None,
) -> dict[str, t.Any]:
    """See DOCUMENTATION."""
    try:
        derived = derive(facts, settings)
        reasons = dict(facts.get("unknown") or {})
        for name, source in SOURCES.items():
            if derived[name] is None:
                reasons[f"derived.{name}"] = reason(facts, source)
        known = {**facts, "settings": settings, "derived": derived, "unknown": reasons}
        results = judge_all(known, checks, policies or {})
    except (BadCheck, KeyError, TypeError) as error:
        raise AnsibleFilterError(f"preflight: {type(error).__name__}: {error}") from error
    counts = collections.Counter(result["status"] for result in results)
    return {
        "results": results,
        "counts": dict(sorted(counts.items())),
        "failed": [result["id"] for result in results if result["status"] == "failed"],
        "derived": derived,
    }


class FilterModule:
    def filters(self) -> dict[str, t.Callable[..., t.Any]]:
        return {"preflight": preflight}
