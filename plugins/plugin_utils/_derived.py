# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Facts that follow from others and from what is to be served: needs, and lists of what stands in the way.

Each of them is None where what it follows from is not known. Lists are of short texts for a person, empty when all is
well.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import re
import typing as t

from ansible_collections.specdec.blackwell.plugins.plugin_utils._checks import lookup

Facts = t.Mapping[str, t.Any]
Problems = t.Optional[t.List[str]]

GIB = 1 << 30
# Errors after which a GPU, or its link, is not to be trusted until it is reset or repaired.
GRAVE_XIDS = {48, 62, 64, 74, 79, 94, 95, 119, 120, 140, 154}
# Backends of dense MLA that have kernels for compute capability 12.x, by engine.
MLA_SM12 = {"vllm": ("TRITON_MLA",), "sglang": ("triton", "flashinfer")}
NCCL_LEVELS = ("LOC", "NVL", "PIX", "PXB", "PHB", "SYS", "0", "1", "2", "3", "4", "5")


# Whose reason it is that a derived fact is not known.
SOURCES = {
    "gpu_count": "gpus",
    "sm12": "gpus[].compute_capability",
    "pcie_only": "topology.matrix",
    "memory_short": "gpus",
    "disk_short": "disks",
    "ports_taken": "ports",
    "torch_lacks": "engines[].torch.architectures",
    "driver_too_old": "driver.cuda",
    "flashinfer_mixed": "engines[].packages",
    "jit_compiler": "cuda.toolkits",
    "iommu_translates": "gpus[].pci",
    "acs_redirects": "gpus[].pci.path[].acs",
    "aspm_on": "gpus[].pci.aspm",
    "links_narrow": "gpus",
    "bar_small": "gpus",
    "busy": "gpus[].processes",
    "grave_xids": "kernel.xids",
    "not_well": "gpus",
    "hmm": "kernel.uvm.hmm",
    "fabric_waits": "gpus",
    "p2p_blocked": "topology.p2p_read",
    "fp8_too_old": "engines[].packages",
    "copies_wrong": "measured.copies",
}


def derive(facts: Facts, settings: Facts) -> dict[str, t.Any]:
    """All derived facts. ``settings`` are those of the role, without its prefix."""
    gpus: list[Facts] | None = facts.get("gpus")
    chosen = None if gpus is None else _chosen(gpus, settings)
    links = lookup(facts, "topology.links")
    variables = {**(lookup(facts, "cuda.variables") or {}), **(settings.get("environment") or {})}
    nvlink = None if links is None else any(link.startswith("NV") for link in links)
    return {
        "driver_answer": driver_answer(facts),
        "gpu_count": None if chosen is None else len(chosen),
        "sm12": _sm12(chosen),
        "pcie_only": None if nvlink is None else not nvlink,
        "variables": variables,
        "memory_need": memory_need(facts, settings),
        "memory_short": memory_short(chosen, facts, settings),
        "disk_short": disk_short(facts, settings),
        "ports_taken": ports_taken(facts),
        "torch_lacks": torch_lacks(chosen, facts),
        "driver_too_old": driver_too_old(facts),
        "flashinfer_mixed": flashinfer_mixed(facts),
        "jit_compiler": jit_compiler(facts, variables),
        "jit_headers": jit_headers(facts),
        "paths_malformed": [
            f"{name}={variables[name]}"
            for name in ("CUDA_HOME", "CUDA_PATH", "CUDACXX")
            if variables.get(name) and not re.match(r"/[^:]*$", variables[name])
        ],
        "arch_lists_plain": [
            f"{name}={value}"
            for name, value in sorted(variables.items())
            if name.endswith("CUDA_ARCH_LIST") and re.search(r"\b12\.\d+(?![\daf])", value)
        ],
        "compat_loaded": [
            f"{folder['path']} (driver {folder['driver']}, by {folder['loaded_by']})"
            for folder in lookup(facts, "cuda.compat") or ()
            if folder["loaded_by"] and folder["driver"] != lookup(facts, "driver.version")
        ],
        "iommu_translates": iommu_translates(chosen),
        "acs_redirects": acs_redirects(chosen),
        "aspm_on": aspm_on(chosen, facts),
        "links_narrow": links_narrow(chosen),
        "bar_small": None
        if chosen is None
        else [
            f"GPU {gpu['index']}: {gpu['memory']['bar1'] / GIB:.1f} GiB"
            for gpu in chosen
            if gpu["memory"]["bar1"] and gpu["memory"]["total"] and gpu["memory"]["bar1"] < gpu["memory"]["total"]
        ],
        "busy": busy(chosen),
        "grave_xids": grave_xids(facts),
        "not_well": not_well(chosen),
        "hmm": _hmm(facts, chosen),
        "fabric_waits": None
        if chosen is None
        else [
            f"GPU {gpu['index']}: {gpu['fabric_state']}"
            for gpu in chosen
            if gpu["fabric_state"] and gpu["fabric_state"] != "Completed"
        ],
        "p2p_blocked": p2p_blocked(facts),
        "nccl_level_bad": [
            f"NCCL_P2P_LEVEL={variables['NCCL_P2P_LEVEL']}"
            for level in (variables.get("NCCL_P2P_LEVEL"),)
            if level and level.upper() not in NCCL_LEVELS
        ],
        "p2p_off": variables.get("NCCL_P2P_DISABLE") == "1",
        "engine": engine(facts, settings),
        "attention_bad": attention_bad(facts, settings),
        "custom_all_reduce_off": _has_flag(settings, "--disable-custom-all-reduce"),
        "autotune_off": _has_flag(settings, "--no-enable-flashinfer-autotune"),
        "fp8_too_old": fp8_too_old(facts, settings),
        "moe_backend": _option(settings, "--moe-backend") or _option(settings, "--moe-runner-backend") or "auto",
        "copies_wrong": copies_wrong(facts),
        "shm_need": int(float(settings["shm_gib"]) * GIB),
        "memlock_need": int(settings["memlock_mib"]) * (1 << 20),
        "numa_nodes": len(lookup(facts, "host.numa") or ()),
        "numa_balancing": (lookup(facts, "kernel.sysctl") or {}).get("kernel.numa_balancing"),
        "all_reduce_share": lookup(facts, "measured.prediction.all_reduce_share"),
    }


def driver_answer(facts: Facts) -> str:
    """What nvidia-smi answered, or why there is no answer."""
    gpus = facts.get("gpus")
    if gpus is None:
        reasons = facts.get("unknown") or {}
        return str(reasons.get("nvidia_smi") or reasons.get("gpus") or "no answer")
    return f"driver {lookup(facts, 'driver.version')}, {len(gpus)} GPU{'' if len(gpus) == 1 else 's'}"


def _chosen(gpus: t.Sequence[Facts], settings: Facts) -> list[Facts]:
    """The GPUs that will serve: those of the setting ``gpus``, by number or uuid, or all."""
    wanted = [str(item) for item in settings.get("gpus") or ()]
    return [gpu for gpu in gpus if not wanted or str(gpu["index"]) in wanted or gpu["uuid"] in wanted]


def _sm12(gpus: t.Sequence[Facts] | None) -> bool | None:
    if gpus is None or any(gpu["compute_capability"] is None for gpu in gpus):
        return None
    return any(gpu["compute_capability"].startswith("12.") for gpu in gpus)


def _has_flag(settings: Facts, name: str) -> bool:
    return name in (settings.get("engine_args") or ())


def _option(settings: Facts, name: str) -> str | None:
    """The value of ``--name value`` or ``--name=value`` in the engine's arguments."""
    arguments = [str(argument) for argument in settings.get("engine_args") or ()]
    for position, argument in enumerate(arguments):
        if argument == name and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(name + "="):
            return argument.partition("=")[2]
    return None


def engine(facts: Facts, settings: Facts) -> str | None:
    """The engine that will serve: the setting, else the only one that the environments hold."""
    if settings.get("engine"):
        return str(settings["engine"])
    held = {
        name
        for environment in facts.get("engines") or ()
        for name in ("vllm", "sglang")
        if name in (environment["packages"] or {})
    }
    return held.pop() if len(held) == 1 else None


def model_bytes(facts: Facts, settings: Facts) -> int | None:
    """Bytes of weights: the setting, else what the model's index promises, else what is there."""
    weights = lookup(facts, "model.weights") or {}
    given = int(settings.get("model_bytes") or 0)
    return given or weights.get("promised") or weights.get("size") or None


def memory_need(facts: Facts, settings: Facts) -> int | None:
    """Bytes that each GPU must have free: its part of the weights, and the headroom for everything else."""
    weights = model_bytes(facts, settings)
    if weights is None:
        return None
    parts = int(settings["tensor_parallel"]) or len(_chosen(facts.get("gpus") or [], settings)) or 1
    return int(weights / (parts * int(settings["pipeline_parallel"])) + float(settings["headroom_gib"]) * GIB)


def memory_short(gpus: t.Sequence[Facts] | None, facts: Facts, settings: Facts) -> Problems:
    need = memory_need(facts, settings)
    if gpus is None or need is None or any(gpu["memory"]["free"] is None for gpu in gpus):
        return None
    return [
        f"GPU {gpu['index']}: {gpu['memory']['free'] / GIB:.1f} GiB free"
        for gpu in gpus
        if gpu["memory"]["free"] < need
    ]


def disk_short(facts: Facts, settings: Facts) -> Problems:
    """Disks without room for what is still missing of the model, and for the hidden states of training."""
    needs: dict[str, int] = {}
    weights = lookup(facts, "model.weights") or {}
    total = model_bytes(facts, settings)
    if settings.get("model") and total and total > (weights.get("size") or 0):
        needs[settings["model"]] = total - (weights.get("size") or 0)
    tokens = int(settings.get("hidden_states_tokens") or 0)
    if tokens:
        place = settings["hidden_states_dir"]
        needs[place] = needs.get(place, 0) + tokens * bytes_per_token(facts, settings)
    disks = {disk["path"]: disk["free"] for disk in facts.get("disks") or ()}
    if any(disks.get(place) is None for place in needs):
        return None
    return [
        f"{place}: {disks[place] / GIB:.1f} GiB free of {need / GIB:.1f} GiB"
        for place, need in needs.items()
        if disks[place] < need
    ]


def bytes_per_token(facts: Facts, settings: Facts) -> int:
    """Bytes of hidden states that training keeps for a token: layers times size times two."""
    given = int(settings.get("hidden_states_bytes_per_token") or 0)
    size = lookup(facts, "model.hidden_size")
    return given or int(settings["hidden_states_layers"]) * (size or 7168) * 2


def ports_taken(facts: Facts) -> Problems:
    ports = facts.get("ports")
    if ports is None:
        return None
    return [f"{port['port']} on {', '.join(port['addresses'])}" for port in ports if not port["free"]]


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", value))


def torch_lacks(gpus: t.Sequence[Facts] | None, facts: Facts) -> Problems:
    """Environments whose torch has no code that runs on a GPU here: the same major, the same or an older minor."""
    if gpus is None or any(gpu["compute_capability"] is None for gpu in gpus):
        return None
    found = []
    for environment in facts.get("engines") or ():
        built = lookup(environment, "torch.architectures")
        if built is None:
            return None
        for capability in sorted({gpu["compute_capability"] for gpu in gpus}):
            if not any(_runs(target, capability) for target in built):
                found.append(f"{environment['python']}: no {capability} in {' '.join(built) or 'a build without CUDA'}")
    return found


def _runs(target: str, capability: str) -> bool:
    match = re.match(r"(sm|compute)_(\d+)(\d)([af]?)$", target)
    if match is None:
        return False
    major, minor = _numbers(capability)
    kind, base, step, suffix = match.group(1), int(match.group(2)), int(match.group(3)), match.group(4)
    if suffix == "a":
        return (base, step) == (major, minor)
    if kind == "compute" and not suffix:
        return (base, step) <= (major, minor)
    return base == major and step <= minor


def driver_too_old(facts: Facts) -> Problems:
    runs = lookup(facts, "driver.cuda")
    if runs is None:
        return None
    found = []
    for environment in facts.get("engines") or ():
        built = lookup(environment, "torch.cuda")
        if built is not None and _numbers(built) > _numbers(runs):
            found.append(f"{environment['python']} has CUDA {built}, the driver runs {runs}")
    return found


def flashinfer_mixed(facts: Facts) -> Problems:
    found = []
    for environment in facts.get("engines") or ():
        packages = environment["packages"]
        if packages is None:
            return None
        # What stands behind + names the CUDA of the build.
        versions = {name: version.split("+")[0] for name, version in packages.items() if name.startswith("flashinfer-")}
        if len(set(versions.values())) > 1:
            found.append(f"{environment['python']}: " + ", ".join(f"{a} {b}" for a, b in sorted(versions.items())))
    return found


def jit_compiler(facts: Facts, variables: t.Mapping[str, str]) -> str | None:
    """Version of the nvcc that compiling at run time would call: of CUDA_HOME, of PATH, of /usr/local/cuda, or any."""
    kits = [kit for kit in lookup(facts, "cuda.toolkits") or () if kit["nvcc_version"]]
    home, on_path = variables.get("CUDA_HOME") or variables.get("CUDA_PATH"), lookup(facts, "cuda.nvcc")
    for kit in kits:
        if home and kit["path"] == home.rstrip("/"):
            return str(kit["nvcc_version"])
    for kit in kits:
        if on_path and kit["nvcc"] == on_path:
            return str(kit["nvcc_version"])
    newest = sorted((_numbers(kit["nvcc_version"]), kit["nvcc_version"]) for kit in kits)
    return str(newest[-1][1]) if newest else None


def jit_headers(facts: Facts) -> bool:
    places = [*(lookup(facts, "cuda.toolkits") or ()), *(facts.get("engines") or ())]
    return any(place.get("nvrtc_h") for place in places)


def iommu_translates(gpus: t.Sequence[Facts] | None) -> Problems:
    if gpus is None or any(gpu.get("pci") is None for gpu in gpus):
        return None
    groups = [(gpu["index"], gpu["pci"]["iommu"]) for gpu in gpus]
    return [f"GPU {index}: {group['type']}" for index, group in groups if group and group["type"] != "identity"]


def acs_redirects(gpus: t.Sequence[Facts] | None) -> Problems:
    if gpus is None or any(gpu.get("pci") is None for gpu in gpus):
        return None
    bridges = {bridge["address"]: bridge for gpu in gpus for bridge in gpu["pci"]["path"]}
    if any(not bridge["readable"] for bridge in bridges.values()):
        return None
    return [f"{address} {' '.join(bridge['acs'])}" for address, bridge in sorted(bridges.items()) if bridge["acs"]]


def aspm_on(gpus: t.Sequence[Facts] | None, facts: Facts) -> Problems:
    """Where power saving of a link is on: read from the devices, or foretold by the kernel's command line."""
    options = lookup(facts, "kernel.command_line.options")
    if options is not None and options.get("pcie_aspm") == "off":
        return []
    if gpus is None or any(gpu.get("pci") is None for gpu in gpus):
        return None
    parts = {gpu["bus_id"]: gpu["pci"] for gpu in gpus}
    parts.update({bridge["address"]: bridge for gpu in gpus for bridge in gpu["pci"]["path"]})
    if any(not part["readable"] for part in parts.values()):
        return None
    return [
        f"{address} {part['aspm']}" for address, part in sorted(parts.items()) if part["aspm"] not in (None, "disabled")
    ]


def links_narrow(gpus: t.Sequence[Facts] | None) -> Problems:
    """GPUs on fewer lanes or an older generation than they could; an idle link lowers its generation, not its lanes."""
    if gpus is None or any(gpu["pcie"]["width"] is None or gpu["pcie"]["width_max"] is None for gpu in gpus):
        return None
    found = []
    for gpu in gpus:
        link = gpu["pcie"]
        if link["width"] < link["width_max"]:
            found.append(f"GPU {gpu['index']}: x{link['width']} of x{link['width_max']}")
        elif link["generation_max"] and link["generation_gpu"] and link["generation_max"] < link["generation_gpu"]:
            found.append(f"GPU {gpu['index']}: generation {link['generation_max']} of {link['generation_gpu']}")
    return found


def busy(gpus: t.Sequence[Facts] | None) -> Problems:
    if gpus is None or any(gpu["processes"] is None for gpu in gpus):
        return None
    return [
        f"GPU {gpu['index']}: {process['name'] or 'a process'} ({process['pid']})"
        for gpu in gpus
        for process in gpu["processes"]
        if process["type"] != "G"
    ]


def grave_xids(facts: Facts) -> Problems:
    xids = lookup(facts, "kernel.xids")
    if xids is None:
        return None
    return [f"Xid {item['xid']} x{item['count']} at {item['bus_id']}" for item in xids if item["xid"] in GRAVE_XIDS]


def not_well(gpus: t.Sequence[Facts] | None) -> Problems:
    if gpus is None:
        return None
    found = []
    for gpu in gpus:
        if gpu["recovery_action"] not in (None, "None"):
            found.append(f"GPU {gpu['index']}: {gpu['recovery_action']}")
        elif gpu["ecc"]["remap_pending"] or gpu["ecc"]["remap_failed"]:
            found.append(f"GPU {gpu['index']}: memory rows wait for a remap")
    return found


def _hmm(facts: Facts, gpus: t.Sequence[Facts] | None) -> bool | None:
    """Whether HMM is active: the GPUs tell it best, then the option of the loaded module."""
    modes = [gpu["addressing_mode"] for gpu in gpus or ()]
    if modes and None not in modes:
        return "HMM" in modes
    value: bool | None = lookup(facts, "kernel.uvm.hmm")
    return value


def p2p_blocked(facts: Facts) -> Problems:
    table = lookup(facts, "topology.p2p_read")
    if table is None:
        return None
    return [
        f"GPU {row} to {column}: {cell}"
        for row, line in enumerate(table)
        for column, cell in enumerate(line)
        if row < column and cell != "OK"
    ]


def attention_bad(facts: Facts, settings: Facts) -> list[str]:
    """A backend that was asked for and has no kernels of dense MLA for compute capability 12.x."""
    chosen = settings.get("attention_backend") or _option(settings, "--attention-backend")
    allowed = MLA_SM12.get(engine(facts, settings) or "", ())
    if not chosen or not allowed or chosen.lower() in {name.lower() for name in allowed}:
        return []
    return [str(chosen)]


def fp8_too_old(facts: Facts, settings: Facts) -> Problems:
    """Engines that cannot keep an fp8 cache with Triton's MLA: vLLM below 0.18, SGLang below 0.5.10."""
    wanted = _option(settings, "--kv-cache-dtype") or "auto"
    if not wanted.startswith("fp8"):
        return []
    least = {"vllm": (0, 18), "sglang": (0, 5, 10)}
    found = []
    for environment in facts.get("engines") or ():
        if environment["packages"] is None:
            return None
        for name, version in least.items():
            here = environment["packages"].get(name)
            if here and _numbers(here) < version:
                found.append(f"{name} {here}")
    return found


def copies_wrong(facts: Facts) -> Problems:
    copies = lookup(facts, "measured.copies.pairs")
    if copies is None:
        return None
    return [f"GPU {pair['from']} to {pair['to']}: {pair['wrong']} bytes" for pair in copies if pair["wrong"]]


__all__ = ("SOURCES", "bytes_per_token", "derive", "memory_need", "model_bytes")
