# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What nvidia-smi prints, as values: its XML, its CSV, and its two matrices, of driver series 535 to 580 and later.

Memory is in bytes, power in watts. What the tool calls N/A, or an older driver does not print, is None.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import csv
import re
import typing as t
from xml.etree import ElementTree

Gpu = t.Dict[str, t.Any]
Matrix = t.List[t.List[str]]

QUERY = (
    "index,uuid,name,pci.bus_id,compute_cap,memory.total,memory.used,memory.free,driver_version,persistence_mode,"
    "power.limit,ecc.mode.current,mig.mode.current,pcie.link.gen.max,pcie.link.gen.current,pcie.link.width.max,"
    "pcie.link.width.current"
)

_NOTHING = {"", "n/a", "[n/a]", "not supported", "[not supported]", "unknown error", "[unknown error]"}
_NOTHING_BEGINS = ("requested functionality", "[gpu requires reset", "insufficient permissions", "err!")
_UNITS = {"b": 1, "kb": 1024, "kib": 1024, "mb": 1024**2, "mib": 1024**2, "gb": 1024**3, "gib": 1024**3}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_DEVICE = re.compile(r"^(?:GPU|NIC|mlx)[\w.]*$")


class Unreadable(ValueError):
    """The output is not what nvidia-smi prints. The message says what it is instead."""


def text(value: str | None) -> str | None:
    """A value as nvidia-smi prints it, None for all its ways to say that there is none."""
    if value is None:
        return None
    value = value.strip()
    lowered = value.lower()
    return None if lowered in _NOTHING or lowered.startswith(_NOTHING_BEGINS) else value


def number(value: str | None) -> float | None:
    """The number at the start of ``700.00 W``, ``16x``, ``5``."""
    found = re.match(r"-?\d+(?:\.\d+)?", text(value) or "")
    return None if found is None else float(found.group())


def whole(value: str | None) -> int | None:
    found = number(value)
    return None if found is None else int(found)


def size(value: str | None) -> int | None:
    """Bytes of ``143771 MiB``."""
    found = re.match(r"(\d+)\s*([A-Za-z]+)$", text(value) or "")
    if found is None or found.group(2).lower() not in _UNITS:
        return None
    return int(found.group(1)) * _UNITS[found.group(2).lower()]


def flag(value: str | None) -> bool | None:
    """True for Enabled, Yes and Active, False for their opposites."""
    return {
        "enabled": True,
        "yes": True,
        "active": True,
        "on": True,
        "disabled": False,
        "no": False,
        "not active": False,
        "off": False,
    }.get((text(value) or "").lower())


def bus_id(value: str | None) -> str | None:
    """The PCI address as the kernel spells it: ``00000000:C1:00.0`` is ``0000:c1:00.0``."""
    found = re.match(r"(?:0000)?([0-9A-Fa-f]{4}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])$", text(value) or "")
    return None if found is None else f"{found.group(1)}:{found.group(2)}".lower()


def from_xml(output: str) -> dict[str, t.Any]:
    """``nvidia-smi -q -x``: {"driver", "cuda", "gpus"}. Raises Unreadable."""
    try:
        root = ElementTree.fromstring(output.lstrip())
    except ElementTree.ParseError as error:
        first = output.strip().splitlines()[:1]
        raise Unreadable(f"not XML ({error}): {first[0][:200] if first else 'no output'}") from error
    return {
        "driver": text(root.findtext("driver_version")),
        "cuda": text(root.findtext("cuda_version")),
        "gpus": [_gpu(index, element) for index, element in enumerate(root.findall("gpu"))],
    }


def _gpu(index: int, element: ElementTree.Element) -> Gpu:
    def at(*paths: str) -> str | None:
        # Releases moved things about: the first place that has a value counts.
        for path in paths:
            value = text(element.findtext(path))
            if value is not None:
                return value
        return None

    link = "pci/pci_gpu_link_info/"
    return {
        "index": index,
        "uuid": at("uuid"),
        "name": at("product_name"),
        "architecture": at("product_architecture"),
        "bus_id": bus_id(element.get("id") or at("pci/pci_bus_id")),
        "compute_capability": None,
        "memory": {
            "total": size(at("fb_memory_usage/total")),
            "used": size(at("fb_memory_usage/used")),
            "free": size(at("fb_memory_usage/free")),
            "bar1": size(at("bar1_memory_usage/total")),
        },
        "persistence_mode": flag(at("persistence_mode")),
        "ecc": {
            "enabled": flag(at("ecc_mode/current_ecc")),
            "pending": flag(at("ecc_mode/pending_ecc")),
            "remap_pending": flag(at("remapped_rows/remapped_row_pending")),
            "remap_failed": flag(at("remapped_rows/remapped_row_failure")),
        },
        "mig": {
            "enabled": flag(at("mig_mode/current_mig")),
            "devices": len(element.findall("mig_devices/mig_device")),
        },
        "power": {
            "limit": number(
                at(
                    "gpu_power_readings/current_power_limit",
                    "power_readings/enforced_power_limit",
                    "power_readings/power_limit",
                )
            ),
            "default": number(
                at("gpu_power_readings/default_power_limit", "power_readings/default_power_limit"),
            ),
            "max": number(at("gpu_power_readings/max_power_limit", "power_readings/max_power_limit")),
        },
        "pcie": {
            "generation": whole(at(link + "pcie_gen/device_current_link_gen", link + "pcie_gen/current_link_gen")),
            "generation_max": whole(at(link + "pcie_gen/max_link_gen")),
            "generation_gpu": whole(at(link + "pcie_gen/max_device_link_gen", link + "pcie_gen/max_link_gen")),
            "width": whole(at(link + "link_widths/current_link_width")),
            "width_max": whole(at(link + "link_widths/max_link_width")),
            "replays": whole(at("pci/replay_counter")),
        },
        "addressing_mode": _addressing(element.findtext("addressing_mode")),
        "recovery_action": at("gpu_recovery_action"),
        "fabric_state": at("fabric/state"),
        "virtualization": at("gpu_virtualization_mode/virtualization_mode"),
        "processes": [
            {
                "pid": whole(process.findtext("pid")),
                "name": text(process.findtext("process_name")),
                "type": text(process.findtext("type")),
                "memory": size(process.findtext("used_memory")),
            }
            for process in element.findall("processes/process_info")
        ],
    }


def _addressing(value: str | None) -> str | None:
    # "None" is an answer here: neither HMM nor ATS is active.
    return text(value)


def rows(output: str) -> list[dict[str, str]]:
    """CSV with its header line, keyed by the header without units: ``memory.total [MiB]`` is ``memory.total``."""
    lines = [line for line in output.splitlines() if line.strip()]
    if not lines or "," not in lines[0]:
        raise Unreadable(f"not CSV: {lines[0][:200] if lines else 'no output'}")
    names = [name.split(" [")[0].strip() for name in next(csv.reader(lines[:1], skipinitialspace=True))]
    return [
        dict(zip(names, (cell.strip() for cell in row))) for row in csv.reader(lines[1:], skipinitialspace=True) if row
    ]


def from_csv(output: str) -> dict[str, t.Any]:
    """``nvidia-smi --query-gpu=QUERY --format=csv`` as far as it tells what the XML does. Raises Unreadable."""
    table = rows(output)
    gpus: list[Gpu] = []
    for position, row in enumerate(table):
        known = {
            "index": whole(row.get("index")),
            "uuid": text(row.get("uuid")),
            "name": text(row.get("name")),
            "bus_id": bus_id(row.get("pci.bus_id")),
            "compute_capability": text(row.get("compute_cap")),
            "persistence_mode": flag(row.get("persistence_mode")),
        }
        if known["index"] is None:
            known["index"] = position
        gpu = _gpu(position, ElementTree.Element("gpu"))
        gpu.update(known)
        for key in ("total", "used", "free"):
            gpu["memory"][key] = size(row.get(f"memory.{key}"))
        gpu["ecc"]["enabled"] = flag(row.get("ecc.mode.current"))
        gpu["mig"].update(enabled=flag(row.get("mig.mode.current")), devices=None)
        gpu["power"]["limit"] = number(row.get("power.limit"))
        gpu["pcie"].update(
            generation=whole(row.get("pcie.link.gen.current")),
            generation_max=whole(row.get("pcie.link.gen.max")),
            width=whole(row.get("pcie.link.width.current")),
            width_max=whole(row.get("pcie.link.width.max")),
        )
        gpu["processes"] = None
        gpus.append(gpu)
    return {"driver": text(table[0].get("driver_version")) if table else None, "cuda": None, "gpus": gpus}


def matrix(output: str) -> dict[str, t.Any]:
    """``nvidia-smi topo -m`` or ``topo -p2p r``: {"gpus": matrix, "nics": {name: row}, "affinity": [...]}.

    ``matrix[i][j]`` is how GPU i reaches GPU j, ``X`` for itself. Raises Unreadable.
    """
    lines = [_ESCAPES.sub("", line) for line in output.splitlines()]
    header: list[str] = []
    body: dict[str, list[str]] = {}
    for line in lines:
        cells = [cell.strip() for cell in line.split("\t")]
        if not header:
            header = [cell for cell in cells if _DEVICE.match(cell)]
            continue
        if not line.strip():
            break
        if _DEVICE.match(cells[0]):
            body[cells[0]] = cells[1:]
    names = [name for name in header if name.startswith("GPU")]
    if not names or any(name not in body or len(body[name]) < len(header) for name in names):
        raise Unreadable(f"not a matrix of GPUs: {output.strip().splitlines()[0][:200] if output.strip() else 'empty'}")
    columns = [header.index(name) for name in names]
    return {
        "gpus": [[body[name][column] for column in columns] for name in names],
        "nics": {
            name: [body[name][column] for column in columns]
            for name in header
            if not name.startswith("GPU") and name in body and len(body[name]) >= len(header)
        },
        "affinity": [_affinity(body[name][len(header) :]) for name in names],
    }


def _affinity(cells: list[str]) -> dict[str, t.Any]:
    return {
        "cpus": text(cells[0]) if cells else None,
        "numa": whole(cells[1]) if len(cells) > 1 else None,
    }


def links(table: Matrix) -> list[str]:
    """The different kinds of path between two GPUs, sorted: ``["NODE", "PHB"]``."""
    kinds = {cell for row, line in enumerate(table) for column, cell in enumerate(line) if row != column}
    return sorted(kinds)


__all__ = (
    "Gpu",
    "Matrix",
    "QUERY",
    "Unreadable",
    "bus_id",
    "flag",
    "from_csv",
    "from_xml",
    "links",
    "matrix",
    "number",
    "rows",
    "size",
    "text",
    "whole",
)
