# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write down what this collection's tasks answered, for the tests that follow.

One JSON object a line goes to the file that SPECDEC_RESULTS names: the playbook, whether it ran in check mode, and the
task's action, the file that the module was loaded from, and its whole result with the diff.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ansible import context
from ansible.plugins.callback import CallbackBase
from ansible.plugins.loader import module_loader

DOCUMENTATION = """
name: record_results
type: notification
short_description: Write down what the collection's tasks answered
description:
  - Appends one JSON object for each task of specdec.blackwell to the file that E(SPECDEC_RESULTS) names.
requirements:
  - enabling in configuration
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "record_results"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._path = os.environ.get("SPECDEC_RESULTS")
        self._playbook = ""
        self._run = time.time_ns()
        if self._path is None:
            self.disabled = True

    def v2_playbook_on_start(self, playbook: Any) -> None:
        self._playbook = os.path.basename(playbook._file_name)

    def _record(self, result: Any, status: str) -> None:
        task = result.task
        resolved = task.resolved_action or task.action
        if not resolved.startswith("specdec.blackwell."):
            return
        entry = {
            "run": self._run,
            "playbook": self._playbook,
            "check": bool(context.CLIARGS.get("check")),
            "host": result.host.get_name(),
            "task": task.get_name(),
            "action": resolved,
            "module": module_loader.find_plugin_with_context(resolved).plugin_resolved_path,
            "status": status,
            "result": result.result,
        }
        assert self._path is not None
        with open(self._path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry, default=str) + "\n")

    def v2_runner_on_ok(self, result: Any) -> None:
        self._record(result, "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._record(result, "failed")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._record(result, "skipped")

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._record(result, "item")

    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._record(result, "item failed")
