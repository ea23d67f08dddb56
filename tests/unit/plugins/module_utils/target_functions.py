# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What test_target.py runs in a child."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._errors import Drift

Payload = t.Dict[str, t.Any]


def same(payload: Payload) -> Payload:
    return payload


def process(payload: Payload) -> Payload:
    return {
        "pid": os.getpid(),
        "uid": os.geteuid(),
        "executable": sys.executable,
        "isolated": sys.flags.isolated,
        "modules": sorted(sys.modules),
    }


def modes(payload: Payload) -> Payload:
    source = sys.argv[-2]
    return {
        os.path.basename(source): oct(os.stat(source).st_mode & 0o777),
        "folder": oct(os.stat(os.path.dirname(source)).st_mode & 0o777),
    }


def raises(payload: Payload) -> Payload:
    return {"value": 1 // 0}


def dies(payload: Payload) -> Payload:
    sys.stderr.write("last words\n")
    raise SystemExit(3)


def is_killed(payload: Payload) -> Payload:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def says_nothing(payload: Payload) -> Payload:
    os._exit(0)


def hangs(payload: Payload) -> Payload:
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
    sys.stderr.write(f"waiting, child {child.pid}")
    sys.stderr.flush()
    time.sleep(600)
    return {}


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and was not yet collected does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def drifts(payload: Payload) -> Payload:
    raise Drift("nothing there", candidates=[{"line": 3}])
