# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A host as it was recorded, with the edits of a variant: its files below a folder, its programs as a runner."""

from __future__ import annotations

import json
import os
import pathlib
import struct
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils._gpu_info import Facts, Request, collect
from ansible_collections.specdec.blackwell.tests.fixtures.nvidia_smi import replay

FOLDER = os.path.dirname(os.path.abspath(replay.__file__))
VARIANTS = replay.load_variants(FOLDER)
TOOL = "/usr/bin/env"  # any program that exists: the runner answers in its place


def config_space(*, acs: int | None, aspm: int) -> bytes:
    """A bridge's configuration space with a PCI Express capability, and an ACS one behind another extended one."""
    space = bytearray(4096)
    struct.pack_into("<HH", space, 0, 0x10DE, 0x2335)
    space[0x34] = 0x40
    space[0x40:0x42] = bytes([0x01, 0x60])
    space[0x60:0x62] = bytes([0x10, 0x00])
    struct.pack_into("<H", space, 0x60 + 0x10, aspm)
    struct.pack_into("<I", space, 0x100, 0x0001 | 1 << 16 | 0x148 << 20)
    if acs is not None:
        struct.pack_into("<I", space, 0x148, 0x000D | 1 << 16)
        struct.pack_into("<H", space, 0x148 + 6, acs)
    return bytes(space)


class RecordedHost:
    """``facts()`` are those of the variant ``name``, collected below ``root``."""

    def __init__(self, root: pathlib.Path, name: str) -> None:
        self.root = root
        self.name = name
        self.chain = replay.lineage(VARIANTS, name)
        self.recording = os.path.join(FOLDER, self.chain[0]["recording"])
        self._files()
        if not self.setting("exit"):
            self._pci(self.setting("pci") or {})
            self._cuda()

    def setting(self, key: str) -> t.Any:
        found = [variant[key] for variant in self.chain if key in variant]
        return found[-1] if found else None

    @property
    def settings(self) -> dict[str, t.Any]:
        merged: dict[str, t.Any] = {}
        for variant in self.chain:
            merged.update(variant.get("settings", {}))
        return merged

    def write(self, path: str, text: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)

    def _files(self) -> None:
        described = os.path.join(self.recording, "host.json")
        if os.path.exists(described) and not self.setting("exit"):
            with open(described, encoding="utf-8") as stream:
                for path, text in json.load(stream).items():
                    self.write(path, replay.edited(text, f"host:{path}", self.chain))
        for path, text in (self.setting("extra") or {}).items():
            self.write(path, text)
        (self.root / "dev/shm").mkdir(parents=True, exist_ok=True)

    def _pci(self, edits: dict[str, t.Any]) -> None:
        devices = self.root / "sys/bus/pci/devices"
        devices.mkdir(parents=True)
        bridge = self.root / "sys/devices/pci0000:00/0000:00:01.0"
        bridge.mkdir(parents=True)
        (bridge / "config").write_bytes(config_space(acs=edits.get("acs", 0x11), aspm=edits.get("aspm", 0)))
        for address in ("0000:00:06.0", "0000:00:07.0"):
            place = bridge / address
            place.mkdir()
            (place / "config").write_bytes(config_space(acs=None, aspm=0))
            (place / "numa_node").write_text("0\n")
            if "iommu" in edits:
                group = self.root / "sys/kernel/iommu_groups" / address[5:7]
                group.mkdir(parents=True, exist_ok=True)
                (group / "type").write_text(edits["iommu"] + "\n")
                (place / "iommu_group").symlink_to(group)
            (devices / address).symlink_to(place)

    def _cuda(self) -> None:
        kit = self.root / "usr/local/cuda-13.0"
        for path in ("bin/nvcc", "include/nvrtc.h", "compat/libcuda.so.580.95.05"):
            self.write(f"usr/local/cuda-13.0/{path}", "")
        (self.root / "usr/local/cuda").symlink_to(kit)

    def run(self, command: t.Sequence[str]) -> tuple[int, str, str]:
        """What the recorded programs answered."""
        name = os.path.basename(command[0])
        if command[0] == TOOL:
            code, output = replay.answer(FOLDER, self.name, command[1:])
            return code, output, ""
        file = {"dmesg": "dmesg", "nvcc": "nvcc-version", "ldconfig": "ldconfig-p"}.get(name)
        path = os.path.join(self.recording, f"{file}.txt")
        if file is None or not os.path.exists(path):
            return 127, "", f"there is no {name} here"
        with open(path, encoding="utf-8") as stream:
            return 0, replay.edited(stream.read(), file, self.chain), ""

    def request(self) -> Request:
        engine, model = self.setting("engine"), self.setting("model")
        pythons = [] if engine is None else [self.engine(engine)]
        if model is not None:
            config = {"kv_lora_rank": 512, "hidden_size": 7168, **({"index_topk": 1} if "sparse" in model else {})}
            self.write("models/m/config.json", json.dumps({"architectures": ["M"], "text_config": config}))
        return Request(
            nvidia_smi=TOOL,
            root=str(self.root),
            pythons=pythons,
            model=None if model is None else "/models/m",
            paths=self.setting("paths") or (),
            ports=self.setting("ports") or (),
        )

    def engine(self, described: dict[str, t.Any]) -> str:
        """A virtual environment with torch's own files, and the names of other distributions."""
        site = "venv/lib/python3.12/site-packages"
        self.write("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.12.3\n")
        self.write("venv/bin/python", "#!/bin/sh\n")
        os.chmod(str(self.root / "venv/bin/python"), 0o755)
        torch = described["torch"]
        lines = ["from typing import Optional", f"__version__ = '{torch['version']}'"]
        self.write(f"{site}/torch/version.py", "\n".join([*lines, f"cuda: Optional[str] = '{torch['cuda']}'", ""]))
        targets = ";".join(f"-gencode;arch=compute_{target[3:]},code={target}" for target in torch["targets"].split())
        self.write(f"{site}/torch/lib/libtorch_cuda.so", "\0" * 99 + targets + "\0more")
        for name, version in {"torch": torch["version"].split("+")[0], **described.get("packages", {})}.items():
            self.write(f"{site}/{name.replace('-', '_')}-{version}.dist-info/METADATA", "")
        return str(self.root / "venv/bin/python")

    def facts(self) -> Facts:
        variables = {
            key: value.replace("ROOT", str(self.root)) for key, value in (self.setting("variables") or {}).items()
        }
        return collect(self.request(), self.run, {"PATH": "/usr/bin:/bin", **variables})


__all__ = ("FOLDER", "TOOL", "VARIANTS", "RecordedHost", "config_space")
