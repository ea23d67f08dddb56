#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: inference_server_info
short_description: Tell the state of a vLLM or SGLang server, how far its start is, and why it failed
version_added: 0.1.0
description:
  - Reads the systemd unit of a server, its journal or log file, its health and models over HTTP, and the ledger of its
    environment's patches.
  - Needs no package on the host, changes nothing and waits for nothing; run it again to follow a start.
  - What cannot be told is null, and RV(unknown) says why. That is so too without systemd, for instance in a container.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
options:
  unit:
    description: Name of the server's systemd service.
    type: str
  scope:
    description:
      - Whose service O(unit) is.
      - With V(user) it is one of the user that the task runs as, see C(become_user).
    type: str
    choices: [system, user]
    default: system
  url:
    description: Address of the server, without a path of its API. Proxies are not used, and redirects not followed.
    type: str
  api_key_file:
    description:
      - File on the host that holds the server's API key and nothing else.
      - The key is sent to O(url) only, and replaced by asterisks in what is returned.
    type: path
  python:
    description: Interpreter of the engine's virtual environment, for the facts about patches.
    type: path
  ledger_dir:
    description: Folder of the ledger, where the patches were made with that option.
    type: path
  since:
    description:
      - Read the journal after this cursor, as RV(cursor) gives it, or from this time on, as C(journalctl --since)
        takes it.
      - The default is the last start of the service.
    type: str
  log_file:
    description: File to read instead of the journal. Of several starts in it the last one counts.
    type: path
  engine:
    description: The engine. The default is what the log tells.
    type: str
    choices: [vllm, sglang]
  lines:
    description: The most lines to return in RV(lines).
    type: int
    default: 20
  timeout:
    description: Seconds that each answer, of a program or of the server, may take.
    type: int
    default: 10
seealso:
  - module: specdec.blackwell.eagle3_info
  - module: specdec.blackwell.nvidia_gpu_info
"""

EXAMPLES = r"""
- name: Read the state of a server
  specdec.blackwell.inference_server_info:
    unit: vllm
    url: http://127.0.0.1:8000
    python: /opt/vllm/bin/python
  register: server

- name: Follow its start
  specdec.blackwell.inference_server_info:
    unit: vllm
    url: http://127.0.0.1:8000
  register: server
  until: server.stage in ['ready', 'failed', 'dead', 'absent', 'stopped']
  retries: 270
  delay: 10

- name: Say what stopped it
  ansible.builtin.fail:
    msg: "{{ server.causes | map(attribute='fix') | list + server.lines }}"
  when: server.stage != 'ready'

- name: Read a server that runs without systemd
  specdec.blackwell.inference_server_info:
    url: http://127.0.0.1:30000
    log_file: /var/log/sglang.log
    engine: sglang
"""

RETURN = r"""
unit:
  description: The service as systemd tells it, null without O(unit) or without systemd.
  returned: success
  type: dict
  contains:
    load:
      description: Whether the unit's file was read, V(loaded) or V(not-found) among others.
      type: str
    active:
      description: State of the unit.
      type: str
    sub:
      description: State of the service.
      type: str
    main_pid:
      description: Its main process, null when there is none.
      type: int
    started:
      description: When the main process was last started, in seconds since 1970.
      type: float
    restarts:
      description: How often systemd has restarted it by itself.
      type: int
    result:
      description: V(success), or how it last failed.
      type: str
    exit_status:
      description: Exit code or signal of the last main process; 0 while it runs, null when there never was one.
      type: int
  sample:
    load: loaded
    active: active
    sub: running
    main_pid: 4711
    started: 1764547159.25
    restarts: 0
    result: success
    exit_status: 0
health:
  description: What C(/health) answers, null without O(url).
  returned: success
  type: dict
  contains:
    ok:
      description: Whether the server is well.
      type: bool
    status:
      description: Status of HTTP, null when there was no answer.
      type: int
    reason:
      description: Why it is not well.
      type: str
  sample:
    ok: false
    status: null
    reason: "nothing listens there: the connection was refused"
models:
  description: Names under which the server serves.
  returned: success
  type: list
  elements: str
  sample: [Kimi-K2.5]
engine:
  description: The engine, O(engine) or what the log tells.
  returned: success
  type: str
  sample: vllm
stage:
  description:
    - V(absent), there is no such unit; V(stopped), it does not run; V(starting), V(loading) the weights, V(compiling)
      kernels or graphs, V(capturing) CUDA graphs; V(ready), it serves; V(failed), it ended or said that it cannot
      start; V(dead), the process is there, but after it served it answers no more, or says that its engine died.
    - Without O(url) the log alone tells V(ready).
    - A service that systemd is about to start again after a failure is V(failed); see RV(unit.restarts).
  returned: success
  type: str
  sample: loading
progress:
  description: The last line of the log that tells how far the server is.
  returned: success
  type: dict
  contains:
    percent:
      description: Percentage in that line, null when it has none. It is of the step that the text names.
      type: int
    text:
      description: The line, without what the logger puts before it.
      type: str
  sample:
    percent: 45
    text: "Loading safetensors checkpoint shards:  45% Completed | 29/64 [02:10<02:37,  4.49s/it]"
lines:
  description:
    - The decisive lines of the log, the last at the end. After a failure those are the errors, each once, with those
      that only point at another one first; otherwise the steps of the start.
  returned: success
  type: list
  elements: str
causes:
  description: Known causes of failures and delays that the log shows, in its order. A server may run in spite of one.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: Name of the cause.
      type: str
    found:
      description: The line that shows it.
      type: str
    why:
      description: What it means.
      type: str
    fix:
      description: What to do.
      type: str
    source:
      description: Where that is known from.
      type: str
  sample:
    - id: port_taken
      found: "OSError: [Errno 98] Address already in use"
      why: Another process listens on the server's port, perhaps an earlier server that has not ended.
      fix: "Stop that process or take another port. Tell who it is with: ss -ltnp"
      source: Linux
cursor:
  description: The journal's last entry that was read, for O(since).
  returned: success
  type: str
pid_older_than_patch:
  description:
    - Whether the server was started before the environment of O(python) was patched last, so that it runs the old code.
    - Without O(unit), whether any Python process of the environment was.
  returned: success
  type: bool
patch_digest:
  description:
    - One value for the patches that the ledger knows and the bytes that they left. Two hosts with the same release and
      the same patches have the same. Null when nothing was patched.
  returned: success
  type: str
  sample: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
unknown:
  description: Why a fact is null, by its name.
  returned: success
  type: dict
  sample:
    unit: "systemctl: System has not been booted with systemd as init system (PID 1). Can't operate."
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._server_info import Request, collect

ARGUMENT_SPEC: dict[str, t.Any] = {
    "unit": {"type": "str"},
    "scope": {"type": "str", "choices": ["system", "user"], "default": "system"},
    "url": {"type": "str"},
    "api_key_file": {"type": "path", "no_log": False},
    "python": {"type": "path"},
    "ledger_dir": {"type": "path"},
    "since": {"type": "str"},
    "log_file": {"type": "path"},
    "engine": {"type": "str", "choices": ["vllm", "sglang"]},
    "lines": {"type": "int", "default": 20},
    "timeout": {"type": "int", "default": 10},
}


def main() -> None:
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC,
        supports_check_mode=True,
        required_one_of=[("unit", "url", "log_file")],
        mutually_exclusive=[("since", "log_file")],
    )
    for name in ("lines", "timeout"):
        if module.params[name] < 1:
            module.fail_json(msg=f"'{name}' must be 1 or more, not {module.params[name]}")
    # The module that runs a program has no time limit of its own.
    guard = module.get_bin_path("timeout")
    environment = {"LC_ALL": "C", **_session()}

    def run(command: t.Sequence[str]) -> tuple[int, str, str]:
        if guard is None:
            return 127, "", "there is no program timeout here to bound it"
        if module.get_bin_path(command[0]) is None:
            return 127, "", f"there is no {command[0]} here"
        limit = [guard, "--kill-after=5", str(module.params["timeout"])]
        try:
            code, output, error = module.run_command(
                limit + list(command), environ_update=environment, handle_exceptions=False, errors="replace"
            )
        except OSError as problem:
            return 126, "", str(problem)
        return int(code), str(output), str(error)

    try:
        facts = collect(Request(**module.params), run)
    except SpecdecError as error:
        module.fail_json(msg=error.message, **error.details)
    module.exit_json(changed=False, **facts)


def _session() -> dict[str, str]:
    """The way to the user's own systemd, which a session made by become does not name."""
    folder = f"/run/user/{os.geteuid()}"
    return {} if "XDG_RUNTIME_DIR" in os.environ or not os.path.isdir(folder) else {"XDG_RUNTIME_DIR": folder}


if __name__ == "__main__":
    main()
