# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The PCIe path from a GPU to its root port, out of /sys: link, NUMA node, ACS redirection, ASPM, IOMMU group.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
import struct
import typing as t

_ADDRESS = re.compile(r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$")
_CAPABILITIES = 0x34
_EXPRESS = 0x10
_LINK_CONTROL = 0x10
_EXTENDED = 0x100
_ACS = 0x000D
_ACS_CONTROL = 6
_REDIRECTS = {0x0004: "ReqRedir", 0x0008: "CmpltRedir"}
_ASPM = ("disabled", "L0s", "L1", "L0s L1")
# Without CAP_SYS_ADMIN the kernel hands out the standard header alone.
_HEADER = 64
NOT_PERMITTED = "only root may read a device's capabilities"


def device(root: str, address: str) -> dict[str, t.Any] | None:
    """Facts of the device at ``address`` below ``root`` + /sys; None where it is not there.

    ``path`` holds the bridges above it, root port first, each with ``acs`` (the redirections that are on) and ``aspm``;
    both are None where this user may not read them, or the bridge has no such capability.
    """
    folder = os.path.join(root, "sys/bus/pci/devices", address)
    if not os.path.isdir(folder):
        return None
    real = os.path.realpath(folder)
    above = [part for part in real.split(os.sep)[:-1] if _ADDRESS.match(part)]
    prefix = os.path.dirname(real)
    bridges = []
    for part in reversed(above):
        bridges.append((part, prefix))
        prefix = os.path.dirname(prefix)
    config = _bytes(os.path.join(folder, "config"))
    numa = _text(os.path.join(folder, "numa_node"))
    return {
        "numa": int(numa) if numa is not None and re.match(r"-?\d+$", numa) and int(numa) >= 0 else None,
        "speed": _text(os.path.join(folder, "current_link_speed")),
        "speed_max": _text(os.path.join(folder, "max_link_speed")),
        "width": _count(os.path.join(folder, "current_link_width")),
        "width_max": _count(os.path.join(folder, "max_link_width")),
        "iommu": _iommu(folder),
        "aspm": aspm(config),
        "readable": len(config) > _HEADER,
        "path": [_bridge(name, place) for name, place in reversed(bridges)],
    }


def _bridge(address: str, folder: str) -> dict[str, t.Any]:
    config = _bytes(os.path.join(folder, "config"))
    return {
        "address": address,
        "acs": acs(config),
        "aspm": aspm(config),
        "readable": len(config) > _HEADER,
    }


def _iommu(folder: str) -> dict[str, t.Any] | None:
    """The device's group and how its addresses are translated; None where no IOMMU stands before it."""
    group = os.path.join(folder, "iommu_group")
    if not os.path.exists(group):
        return None
    return {"group": os.path.basename(os.path.realpath(group)), "type": _text(os.path.join(group, "type"))}


def acs(config: bytes) -> list[str] | None:
    """The redirections that are switched on, out of a device's configuration space."""
    offset = _EXTENDED
    seen: set[int] = set()
    while offset >= _EXTENDED and offset not in seen and offset + 8 <= len(config):
        seen.add(offset)
        (head,) = struct.unpack_from("<I", config, offset)
        if head in (0, 0xFFFFFFFF):
            break
        if head & 0xFFFF == _ACS:
            (control,) = struct.unpack_from("<H", config, offset + _ACS_CONTROL)
            return [name for bit, name in sorted(_REDIRECTS.items()) if control & bit]
        offset = (head >> 20) & 0xFFC
    return None


def aspm(config: bytes) -> str | None:
    """The link's power saving that is switched on, out of a device's configuration space."""
    if len(config) <= _HEADER:
        return None
    offset = config[_CAPABILITIES] & 0xFC
    seen: set[int] = set()
    while offset >= 0x40 and offset not in seen and offset + _LINK_CONTROL + 2 <= min(len(config), 256):
        seen.add(offset)
        if config[offset] == _EXPRESS:
            (control,) = struct.unpack_from("<H", config, offset + _LINK_CONTROL)
            return _ASPM[control & 3]
        offset = config[offset + 1] & 0xFC
    return None


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            return stream.read().strip() or None
    except OSError:
        return None


def _count(path: str) -> int | None:
    value = _text(path)
    # 255 is what the kernel says of a link that is down.
    return int(value) if value is not None and value.isdigit() and 0 < int(value) < 255 else None


__all__ = ("NOT_PERMITTED", "acs", "aspm", "device")
