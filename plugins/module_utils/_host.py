# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host around the GPUs: memory, NUMA, /dev/shm, limits, container, clock, disks, ports.

Sizes are in bytes. A limit of -1 means that there is none.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
import resource
import socket
import struct
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._kernel import read

UNLIMITED = -1
_LISTENS = "0A"
_SYSCTL = ("kernel.numa_balancing", "kernel.pid_max", "vm.max_map_count", "vm.overcommit_memory")


def memory(root: str) -> dict[str, t.Any]:
    text = read(os.path.join(root, "proc/meminfo")) or ""
    found = {name: int(value) * 1024 for name, value in re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}
    return {"total": found.get("MemTotal"), "available": found.get("MemAvailable")}


def numa(root: str) -> list[dict[str, t.Any]]:
    """The nodes with their processors as the kernel lists them."""
    folder = os.path.join(root, "sys/devices/system/node")
    nodes = []
    for name in _listed(folder):
        if re.match(r"node\d+$", name):
            cpus = (read(os.path.join(folder, name, "cpulist")) or "").strip()
            nodes.append({"node": int(name[4:]), "cpus": cpus or None})
    return sorted(nodes, key=lambda node: node["node"])


def space(root: str, path: str) -> dict[str, t.Any]:
    """Room for a file at ``path``, which need not exist: the nearest folder above it that does tells."""
    place = os.path.join(root, path.lstrip("/"))
    while not os.path.exists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    try:
        status = os.statvfs(place)
    except OSError as error:
        return {"path": path, "exists": None, "size": None, "free": None, "reason": error.strerror}
    return {
        "path": path,
        "exists": os.path.exists(os.path.join(root, path.lstrip("/"))),
        "size": status.f_frsize * status.f_blocks,
        "free": status.f_frsize * status.f_bavail,
        "reason": None,
    }


def limits(root: str) -> dict[str, t.Any]:
    """This session's own limits, which a service's unit may change, and the processes that its cgroup may have."""
    found: dict[str, t.Any] = {"pids_max": pids_max(root)}
    for name, key in (("memlock", "RLIMIT_MEMLOCK"), ("nofile", "RLIMIT_NOFILE"), ("nproc", "RLIMIT_NPROC")):
        soft, hard = resource.getrlimit(getattr(resource, key))
        found[name] = {
            "soft": UNLIMITED if soft == resource.RLIM_INFINITY else soft,
            "hard": UNLIMITED if hard == resource.RLIM_INFINITY else hard,
        }
    return found


def pids_max(root: str) -> int | None:
    """The smallest limit on processes of the cgroups that this process is in; None where no cgroup tells."""
    smallest: int | None = None
    for line in (read(os.path.join(root, "proc/self/cgroup")) or "").splitlines():
        hierarchy, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if hierarchy == "0" and not controllers:
            base = os.path.join(root, "sys/fs/cgroup")
        elif "pids" in controllers.split(","):
            base = os.path.join(root, "sys/fs/cgroup/pids")
        else:
            continue
        parts = [part for part in path.split("/") if part]
        for depth in range(len(parts), -1, -1):
            value = (read(os.path.join(base, *parts[:depth], "pids.max")) or "").strip()
            if value == "max":
                smallest = UNLIMITED if smallest is None else smallest
            elif value.isdigit():
                smallest = int(value) if smallest is None or smallest == UNLIMITED else min(int(value), smallest)
    return smallest


def container(root: str) -> str | None:
    """The kind of container that this is, ``docker`` or ``podman`` or what systemd was told; None on a host."""
    told = (read(os.path.join(root, "run/systemd/container")) or "").strip()
    for place, kind in (("run/.containerenv", "podman"), (".dockerenv", "docker")):
        if os.path.exists(os.path.join(root, place)):
            return kind
    if told:
        return told
    found = re.search(r"(?:^|\0)container=([^\0]+)", read(os.path.join(root, "proc/1/environ")) or "")
    if found is not None:
        return found.group(1)
    marks = re.search(r"(kubepods|docker|libpod|lxc)", read(os.path.join(root, "proc/1/cgroup")) or "")
    return None if marks is None else marks.group(1)


def sysctl(root: str) -> dict[str, int | None]:
    found: dict[str, int | None] = {}
    for name in _SYSCTL:
        value = (read(os.path.join(root, "proc/sys", *name.split("."))) or "").strip()
        found[name] = int(value) if re.match(r"-?\d+$", value) else None
    return found


def listening(root: str) -> dict[int, list[str]] | None:
    """Ports that somebody listens on, each with the addresses; None where /proc does not tell."""
    ports: dict[int, list[str]] = {}
    read_any = False
    for name in ("tcp", "tcp6"):
        text = read(os.path.join(root, "proc/net", name))
        if text is None:
            continue
        read_any = True
        for line in text.splitlines()[1:]:
            words = line.split()
            if len(words) < 4 or words[3] != _LISTENS:
                continue
            address, _colon, port = words[1].rpartition(":")
            ports.setdefault(int(port, 16), []).append(_address(address))
    return ports if read_any else None


def _address(digits: str) -> str:
    # The kernel prints each 32 bits of the address in the machine's own byte order.
    raw = b"".join(struct.pack("=I", int(digits[place : place + 8], 16)) for place in range(0, len(digits), 8))
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def clock() -> dict[str, t.Any] | None:
    """Whether the kernel's clock is synchronised, and its greatest error in milliseconds; None where it cannot tell."""
    try:
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        # struct timex: modes, offset, freq, maxerror, esterror, status, and much that is not needed here.
        buffer = ctypes.create_string_buffer(512)
        state = library.adjtimex(buffer)
    except (AttributeError, ImportError, OSError):
        return None
    if state < 0:
        return None
    long_size = struct.calcsize("l")
    maxerror, _esterror = struct.unpack_from("ll", buffer.raw, 3 * long_size)
    (status,) = struct.unpack_from("i", buffer.raw, 5 * long_size)
    unsynchronised = 0x0040
    return {"synchronized": state != 5 and not status & unsynchronised, "max_error_ms": maxerror / 1000.0}


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


__all__ = (
    "UNLIMITED",
    "clock",
    "container",
    "limits",
    "listening",
    "memory",
    "numa",
    "pids_max",
    "space",
    "sysctl",
)
