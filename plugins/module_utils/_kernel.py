# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the running kernel and its NVIDIA module say: flavour, options, command line, IOMMU, errors since boot.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
import shlex
import typing as t

_FLAVOUR = re.compile(
    r"NVRM version:\s*NVIDIA UNIX (Open )?(?:Kernel Module for )?(\S+)\s+(?:Kernel Module\s+)?(\d\S*)"
)
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([^)]*)\): (\d+),?\s*(.*)")
_WATCHED = re.compile(r"^(?:amd_iommu|intel_iommu|iommu|iommu\.\w+|pcie_aspm|pcie_port_pm|pci|nvidia\S*|modprobe\S*)$")
_MAX_XIDS = 50


def module_version(text: str) -> dict[str, t.Any] | None:
    """The flavour (``open`` or ``closed``) and version in /proc/driver/nvidia/version."""
    found = _FLAVOUR.search(text)
    if found is None:
        return None
    return {"flavour": "open" if found.group(1) else "closed", "version": found.group(3)}


def command_line(text: str) -> dict[str, t.Any]:
    """The kernel's command line: all of it, and by name what matters to GPUs (the last of each name counts)."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    options: dict[str, str] = {}
    for word in words:
        name, _equals, value = word.partition("=")
        if _WATCHED.match(name):
            options[name] = value
    return {"text": text.strip(), "options": options}


def xids(log: str) -> list[dict[str, t.Any]]:
    """The driver's error reports in a kernel log, oldest first, equal ones counted."""
    found: dict[tuple[str, int], dict[str, t.Any]] = {}
    for line in log.splitlines():
        match = _XID.search(line)
        if match is None:
            continue
        address = match.group(1).lower()
        # Logs leave the function out: one board, one function.
        place = re.sub(r"^(?:0000)?([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})$", r"\1.0", address)
        key = (place, int(match.group(2)))
        if key in found:
            found[key]["count"] += 1
        elif len(found) < _MAX_XIDS:
            found[key] = {"bus_id": place, "xid": key[1], "count": 1, "text": match.group(3).strip()[:200]}
    return list(found.values())


def option_files(root: str, module: str, option: str) -> dict[str, str]:
    """The files of modprobe.d that set ``option`` of ``module``, each with the value."""
    names = {module, module.replace("_", "-")}
    found: dict[str, str] = {}
    for folder in ("run/modprobe.d", "etc/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d"):
        directory = os.path.join(root, folder)
        for file in _listed(directory):
            if not file.endswith(".conf"):
                continue
            for line in (read(os.path.join(directory, file)) or "").splitlines():
                words = line.split("#")[0].split()
                if len(words) < 3 or words[0] != "options" or words[1] not in names:
                    continue
                for word in words[2:]:
                    name, _equals, value = word.partition("=")
                    if name == option:
                        found["/" + folder + "/" + file] = value
    return found


def uvm(root: str) -> dict[str, t.Any]:
    """HMM of nvidia_uvm: ``active`` as the loaded module has it, and the files that set it for the next load."""
    value = read(os.path.join(root, "sys/module/nvidia_uvm/parameters/uvm_disable_hmm"))
    active = {"Y": False, "1": False, "N": True, "0": True}.get((value or "").strip())
    return {"loaded": value is not None, "hmm": active, "files": option_files(root, "nvidia_uvm", "uvm_disable_hmm")}


def iommu(root: str) -> dict[str, t.Any]:
    """Whether the kernel drives an IOMMU, and how the groups translate: {"active", "types": {type: count}}."""
    units = _listed(os.path.join(root, "sys/class/iommu"))
    types: dict[str, int] = {}
    groups = os.path.join(root, "sys/kernel/iommu_groups")
    for group in _listed(groups):
        kind = (read(os.path.join(groups, group, "type")) or "unknown").strip()
        types[kind] = types.get(kind, 0) + 1
    return {"active": bool(units), "types": types}


def aspm_policy(root: str) -> str | None:
    """The kernel's policy of PCIe power saving, the word in brackets."""
    text = read(os.path.join(root, "sys/module/pcie_aspm/parameters/policy"))
    found = re.search(r"\[(\w+)\]", text or "")
    return None if found is None else found.group(1)


def read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return None


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


__all__ = ("aspm_policy", "command_line", "iommu", "module_version", "option_files", "read", "uvm", "xids")
