# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of a host that are no GPU: kernel, PCI, limits, CUDA, environments, models. Files below a folder."""

from __future__ import annotations

import json
import os
import pathlib
import typing as t

import pytest

from ansible_collections.specdec.blackwell.plugins.module_utils import _cuda as cuda
from ansible_collections.specdec.blackwell.plugins.module_utils import _engine_stack as stack
from ansible_collections.specdec.blackwell.plugins.module_utils import _gpu_info as gpu_info
from ansible_collections.specdec.blackwell.plugins.module_utils import _host as host
from ansible_collections.specdec.blackwell.plugins.module_utils import _kernel as kernel
from ansible_collections.specdec.blackwell.plugins.module_utils import _model as model
from ansible_collections.specdec.blackwell.plugins.module_utils import _pci as pci
from ansible_collections.specdec.blackwell.plugins.module_utils import _torch_probe as torch_probe
from ansible_collections.specdec.blackwell.tests.unit.plugins.module_utils.recorded_host import (
    RecordedHost,
    config_space,
)


def put(root: pathlib.Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return str(root)


@pytest.mark.parametrize(
    ("line", "flavour", "version"),
    [
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (b@)",
            "open",
            "580.159.04",
        ),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31", "closed", "550.90.07"),
        ("NVRM version: NVIDIA UNIX aarch64 Kernel Module  535.183.01  Sun May 12", "closed", "535.183.01"),
        ("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.26  Release", "open", "570.26"),
    ],
)
def test_module_flavours(line: str, flavour: str, version: str) -> None:
    assert kernel.module_version(line + "\nGCC version: 12\n") == {"flavour": flavour, "version": version}
    assert kernel.module_version("something else") is None


def test_command_line() -> None:
    told = kernel.command_line('BOOT_IMAGE=/vmlinuz root=/dev/sda1 quiet iommu=pt amd_iommu=on amd_iommu=off x="a b"\n')
    assert told["options"] == {"iommu": "pt", "amd_iommu": "off"}
    assert kernel.command_line("pcie_aspm=off 'unclosed")["options"] == {"pcie_aspm": "off"}


def test_xids_are_counted_by_board() -> None:
    log = (
        "[    1.0] NVRM: loading NVIDIA UNIX Open Kernel Module\n"
        "[ 2.5] NVRM: Xid (PCI:0000:C1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
        "Nov 30 host kernel: NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.\n"
        "[ 3.5] NVRM: Xid (PCI:0000:41:00.0): 31, pid=77, name=python3, MMU Fault\n"
    )
    assert kernel.xids(log) == [
        {
            "bus_id": "0000:c1:00.0",
            "xid": 79,
            "count": 2,
            "text": "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        },
        {"bus_id": "0000:41:00.0", "xid": 31, "count": 1, "text": "pid=77, name=python3, MMU Fault"},
    ]


def test_uvm_option(tmp_path: pathlib.Path) -> None:
    assert kernel.uvm(str(tmp_path)) == {"loaded": False, "hmm": None, "files": {}}
    put(
        tmp_path,
        {
            "sys/module/nvidia_uvm/parameters/uvm_disable_hmm": "N\n",
            "etc/modprobe.d/nv.conf": "# options nvidia_uvm uvm_disable_hmm=0\noptions nvidia-uvm uvm_disable_hmm=1\n",
            "etc/modprobe.d/other.conf": "options nvidia NVreg_X=1\nblacklist nouveau\n",
            "etc/modprobe.d/backup.old": "options nvidia_uvm uvm_disable_hmm=0\n",
        },
    )
    assert kernel.uvm(str(tmp_path)) == {"loaded": True, "hmm": True, "files": {"/etc/modprobe.d/nv.conf": "1"}}


def test_iommu_and_aspm(tmp_path: pathlib.Path) -> None:
    assert kernel.iommu(str(tmp_path)) == {"active": False, "types": {}}
    assert kernel.aspm_policy(str(tmp_path)) is None
    put(
        tmp_path,
        {
            "sys/class/iommu/ivhd0/x": "",
            "sys/kernel/iommu_groups/0/type": "DMA-FQ\n",
            "sys/kernel/iommu_groups/1/type": "identity\n",
            "sys/kernel/iommu_groups/2/type": "identity\n",
            "sys/module/pcie_aspm/parameters/policy": "[default] performance powersave\n",
        },
    )
    assert kernel.iommu(str(tmp_path)) == {"active": True, "types": {"DMA-FQ": 1, "identity": 2}}
    assert kernel.aspm_policy(str(tmp_path)) == "default"


@pytest.mark.parametrize(
    ("control", "expected"), [(0x11, []), (0x1D, ["ReqRedir", "CmpltRedir"]), (0x04, ["ReqRedir"]), (None, None)]
)
def test_acs(control: int | None, expected: list[str] | None) -> None:
    assert pci.acs(config_space(acs=control, aspm=0)) == expected


@pytest.mark.parametrize(("control", "expected"), [(0, "disabled"), (1, "L0s"), (2, "L1"), (3, "L0s L1")])
def test_aspm(control: int, expected: str) -> None:
    space = config_space(acs=None, aspm=control)
    assert pci.aspm(space) == expected
    # What a user without rights is given.
    assert (pci.aspm(space[:64]), pci.acs(space[:64])) == (None, None)


def test_damaged_capability_lists_end() -> None:
    space = bytearray(config_space(acs=None, aspm=0))
    space[0x41] = 0x40
    assert pci.aspm(bytes(space)) is None
    space[0x148:0x14C] = (0x1 | 0x148 << 20).to_bytes(4, "little")
    assert pci.acs(bytes(space)) is None
    assert pci.acs(b"\xff" * 4096) is None


def test_device(tmp_path: pathlib.Path) -> None:
    facts = RecordedHost(tmp_path, "acs-on").facts()
    device = facts["gpus"][0]["pci"]
    assert (device["numa"], device["iommu"], device["aspm"], device["readable"]) == (0, None, "disabled", True)
    assert device["path"] == [
        {"address": "0000:00:01.0", "acs": ["ReqRedir", "CmpltRedir"], "aspm": "disabled", "readable": True}
    ]
    assert pci.device(str(tmp_path), "0000:99:00.0") is None


def test_without_rights_the_reason_is_told(tmp_path: pathlib.Path) -> None:
    recorded = RecordedHost(tmp_path, "blackwell-x2")
    bridge = tmp_path / "sys/devices/pci0000:00/0000:00:01.0/config"
    bridge.write_bytes(bridge.read_bytes()[:64])
    facts = recorded.facts()
    assert facts["gpus"][0]["pci"]["path"][0]["acs"] is None
    assert facts["unknown"]["gpus[].pci.path[].acs"] == pci.NOT_PERMITTED


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"run/.containerenv": ""}, "podman"),
        ({".dockerenv": ""}, "docker"),
        ({"run/systemd/container": "lxc\n"}, "lxc"),
        ({"proc/1/environ": "HOME=/\0container=oci\0X=1"}, "oci"),
        ({"proc/1/cgroup": "0::/kubepods/burstable/pod1\n"}, "kubepods"),
        ({"proc/1/cgroup": "0::/init.scope\n"}, None),
    ],
)
def test_containers(files: dict[str, str], expected: str | None, tmp_path: pathlib.Path) -> None:
    assert host.container(put(tmp_path, files)) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/pids.max": "max\n"}, -1),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                "sys/fs/cgroup/a/b/pids.max": "max\n",
                "sys/fs/cgroup/a/pids.max": "2048\n",
                "sys/fs/cgroup/pids.max": "9000\n",
            },
            2048,
        ),
        ({"proc/self/cgroup": "7:pids:/x\n1:name=systemd:/\n", "sys/fs/cgroup/pids/x/pids.max": "512\n"}, 512),
    ],
)
def test_pids(files: dict[str, str], expected: int | None, tmp_path: pathlib.Path) -> None:
    assert host.pids_max(put(tmp_path, files)) == expected


def test_ports(tmp_path: pathlib.Path) -> None:
    assert host.listening(str(tmp_path)) is None
    head = "  sl  local_address rem_address   st\n"
    put(
        tmp_path,
        {
            "proc/net/tcp": head + "   0: 0100007F:1F40 00000000:0000 0A 0\n   1: 0100007F:1F41 0100007F:9999 01 0\n",
            "proc/net/tcp6": head + "   0: 00000000000000000000000001000000:1F40 0:0000 0A 0\n",
        },
    )
    assert host.listening(str(tmp_path)) == {8000: ["127.0.0.1", "::1"]}


def test_space_of_what_is_not_there_yet(tmp_path: pathlib.Path) -> None:
    told = host.space(str(tmp_path), "/models/not/yet")
    assert (told["path"], told["exists"], told["reason"]) == ("/models/not/yet", False, None)
    assert told["size"] >= told["free"] > 0


def test_this_very_host() -> None:
    limits = host.limits("/")
    assert set(limits) == {"pids_max", "memlock", "nofile", "nproc"}
    assert limits["nofile"]["hard"] == -1 or limits["nofile"]["hard"] >= limits["nofile"]["soft"] > 0
    assert host.memory("/")["total"] > 0
    clock = host.clock()
    assert clock is None or (isinstance(clock["synchronized"], bool) and clock["max_error_ms"] >= 0)


def test_toolkits(tmp_path: pathlib.Path) -> None:
    put(
        tmp_path,
        {
            "usr/local/cuda-12.8/version.json": json.dumps({"cuda": {"version": "12.8.1"}}),
            "usr/local/cuda-12.8/bin/nvcc": "",
            "usr/local/cuda-9.0/version.txt": "CUDA Version 9.0.176\n",
            "usr/local/cuda-empty/readme": "",
            "opt/cuda/bin/nvcc": "",
            "opt/cuda/include/nvrtc.h": "",
        },
    )
    (tmp_path / "usr/local/cuda").symlink_to("cuda-12.8")
    kits = {os.path.basename(kit["path"]): kit for kit in cuda.toolkits(str(tmp_path))}
    assert {name: kit["version"] for name, kit in kits.items()} == {
        "cuda": None,
        "cuda-12.8": "12.8.1",
        "cuda-9.0": "9.0.176",
    }
    assert kits["cuda"]["nvrtc_h"] is True and kits["cuda-9.0"]["nvcc"] is None


def test_compilers_and_the_loader(tmp_path: pathlib.Path) -> None:
    facts = RecordedHost(tmp_path, "blackwell-x2").facts()["cuda"]
    assert [kit["nvcc_version"] for kit in facts["toolkits"]] == ["13.0.88"]
    assert facts["libcuda"] == "/usr/local/nvidia/lib64/libcuda.so.1"
    assert facts["compat"] == [
        {"path": str(tmp_path / "usr/local/cuda-13.0/compat"), "driver": "580.95.05", "loaded_by": None}
    ]
    assert cuda.compiler_version("nvcc: not what was expected") is None


def test_variables_without_secrets(tmp_path: pathlib.Path) -> None:
    put(tmp_path, {"etc/environment": 'CUDA_HOME="/usr/local/cuda"\n# NCCL_DEBUG=INFO\nPATH=/bin\nNCCL_PROTO=LL\n'})
    given = {"NCCL_PROTO": "Simple", "VLLM_API_KEY": "hidden", "HOME": "/root", "CUDA_VISIBLE_DEVICES": "0"}
    assert cuda.variables(str(tmp_path), given) == {
        "CUDA_HOME": "/usr/local/cuda",
        "CUDA_VISIBLE_DEVICES": "0",
        "NCCL_PROTO": "Simple",
    }


def library(path: pathlib.Path, *parts: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(parts))


ARGUMENTS = b"-gencode;arch=compute_75,code=sm_75;-gencode;arch=compute_120,code=[compute_120,sm_120]\0"


@pytest.mark.parametrize("before", [0, 7, (1 << 23) - 30, (1 << 23) - 5, (1 << 23) + 1])
def test_architectures_wherever_they_stand(before: int, tmp_path: pathlib.Path) -> None:
    library(tmp_path / "lib/libtorch_cuda.so", b"\0" * before, ARGUMENTS, b"\0" * 9000)
    assert stack.architectures(str(tmp_path)) == ["sm_75", "compute_120", "sm_120"]


def test_architectures_by_the_other_library(tmp_path: pathlib.Path) -> None:
    library(tmp_path / "lib/libtorch_cuda.so", b"-gencode;arch=compute_ broken \0 sm_1 ")
    assert stack.architectures(str(tmp_path)) is None
    library(tmp_path / "lib/libtorch_python.so", b"is sm_ not\0sm_80 sm_90 sm_120a\0")
    assert stack.architectures(str(tmp_path)) == ["sm_80", "sm_90", "sm_120a"]


def test_environment(tmp_path: pathlib.Path) -> None:
    recorded = RecordedHost(tmp_path, "fp8-cache-old-engine")
    (environment,) = recorded.facts()["engines"]
    assert environment["packages"] == {"torch": "2.11.0", "vllm": "0.17.1"}
    assert environment["torch"] == {"version": "2.11.0+cu130", "cuda": "13.0", "architectures": ["sm_120"]}
    assert (environment["python_version"], environment["reason"]) == ("3.12.3", None)


def test_torch_without_cuda(tmp_path: pathlib.Path) -> None:
    put(tmp_path, {"torch/version.py": "__version__ = '2.11.0+cpu'\ncuda: Optional[str] = None\n"})
    assert stack.torch([str(tmp_path)]) == {"version": "2.11.0+cpu", "cuda": None, "architectures": []}
    assert stack.torch([str(tmp_path / "nowhere")]) is None


def test_an_environment_that_is_not_there(tmp_path: pathlib.Path) -> None:
    recorded = RecordedHost(tmp_path, "h200-x1")
    request = recorded.request()._replace(pythons=[str(tmp_path / "gone/bin/python")], ask_torch=True)
    facts = gpu_info.collect(request, recorded.run, {})
    assert facts["engines"][0]["packages"] is None
    assert "there is no interpreter at" in facts["unknown"]["engines[].packages"]


def test_torch_that_cannot_be_imported() -> None:
    answer = torch_probe.run_request({})
    assert set(answer) == {"version", "cuda", "architectures", "nccl", "devices", "peers", "reason"}
    assert (answer["reason"] is None) is (answer["version"] is not None)


KIMI: dict[str, t.Any] = {
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 64,
    "vocab_size": 163840,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 2048,
    "intermediate_size": 18432,
    "first_k_dense_replace": 1,
    "quantization_config": {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"weights": {"num_bits": 4}}},
        "ignore": ["re:.*self_attn.*"],
    },
}


def test_weights_that_a_step_reads() -> None:
    expert = 3 * 7168 * 2048
    attention = 7168 * 1536 + 1536 * 64 * 192 + 7168 * 576 + 512 * 64 * 256 + 64 * 128 * 7168
    dense = 61 * attention + 163840 * 7168 + 3 * 7168 * 18432 + 60 * expert
    assert model.active_bytes(KIMI) == {"dense": 2 * dense, "routed": 60 * 8 * expert // 2}
    llama = {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "intermediate_size": 14336,
        "vocab_size": 128256,
    }
    told = model.active_bytes(llama)
    # Meta names 8.03 billion weights, half a billion of them in the table of tokens, which a step does not read.
    assert told == {"dense": pytest.approx(2 * 7.5e9, rel=0.01), "routed": 0}
    assert model.active_bytes({"hidden_size": 1}) is None


@pytest.mark.parametrize(
    ("config", "kind"),
    [({}, "mha"), ({"kv_lora_rank": 512}, "mla"), ({"kv_lora_rank": 512, "index_topk": 2048}, "sparse mla")],
)
def test_attention(config: dict[str, t.Any], kind: str) -> None:
    assert model.attention(config) == kind


def test_model_folder(tmp_path: pathlib.Path) -> None:
    index = {
        "metadata": {"total_size": 3000},
        "weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"},
    }
    put(
        tmp_path,
        {
            "config.json": json.dumps({"architectures": ["Kimi"], "text_config": KIMI}),
            "model.safetensors.index.json": json.dumps(index),
            "model-1.safetensors": "x" * 1000,
        },
    )
    told = model.describe(str(tmp_path))
    assert told["weights"] == {"files": 1, "size": 1000, "promised": 3000, "missing": ["model-2.safetensors"]}
    assert (told["hidden_size"], told["layers"], told["attention"], told["reason"]) == (7168, 61, "mla", None)


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "no config.json"), ("{", "is not JSON"), ("[]", "is not an object")]
)
def test_model_that_says_nothing(text: str | None, reason: str, tmp_path: pathlib.Path) -> None:
    if text is not None:
        put(tmp_path, {"config.json": text})
    assert reason in model.describe(str(tmp_path))["reason"]
