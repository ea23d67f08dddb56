#!/usr/bin/python
# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: nvidia_gpu_info
short_description: Tell what matters about a host's NVIDIA GPUs and the software around them
version_added: 0.1.0
description:
  - Reads the GPUs, their driver, how they reach each other, the kernel and the PCIe path above them, CUDA on the host,
    and what the environments of inference engines were built for.
  - Needs no package on the host. A tool or file that is missing, or that this user may not use, makes a fact null, and
    RV(unknown) tells why.
  - C(nvidia-smi) of driver series 535 to 580 and later is understood.
author:
  - The specdec.blackwell authors (@specdec)
extends_documentation_fragment:
  - specdec.blackwell._attributes
  - specdec.blackwell._attributes.action_group
  - specdec.blackwell._attributes.info_module
options:
  nvidia_smi:
    description:
      - The driver's tool.
      - The default is the one on C(PATH), else one in C(/usr/bin), C(/usr/local/bin), C(/usr/local/nvidia/bin),
        C(/opt/bin) or C(/usr/lib/wsl/lib).
    type: path
  pythons:
    description:
      - Interpreters of environments with an inference engine. They are read, not started, where C(pyvenv.cfg) tells
        enough.
    type: list
    elements: path
    default: []
  ask_torch:
    description:
      - Also start each of O(pythons), import torch there, and ask it for its devices and architectures.
      - It takes seconds, and a little memory of the GPUs while it runs.
    type: bool
    default: false
  model:
    description: Folder of a model on the host.
    type: path
  paths:
    description: Places whose disk's room is wanted. They need not exist.
    type: list
    elements: path
    default: []
  ports:
    description: TCP ports of which to tell whether somebody listens on them.
    type: list
    elements: int
    default: []
  timeout:
    description: Seconds that a program may take. A driver in trouble lets C(nvidia-smi) hang for ever.
    type: int
    default: 30
seealso:
  - module: specdec.blackwell.eagle3_info
"""

EXAMPLES = r"""
- name: Read the host
  specdec.blackwell.nvidia_gpu_info:
    pythons: [/opt/vllm/bin/python]
    model: /models/Kimi-K2.5
    ports: [8000]
  register: host

- name: Only Blackwell workstation cards will do
  ansible.builtin.assert:
    that: host.gpus | map(attribute='compute_capability') | unique == ['12.0']
"""

RETURN = r"""
nvidia_smi:
  description: The tool that was asked.
  returned: success
  type: str
  sample: /usr/bin/nvidia-smi
driver:
  description: The driver.
  returned: success
  type: dict
  contains:
    version:
      description: Its version.
      type: str
    cuda:
      description: The newest CUDA that it runs without forward-compatibility libraries.
      type: str
    flavour:
      description: Which kernel module is loaded, V(open) or V(closed).
      type: str
    loaded:
      description: Version of the loaded module; after an upgrade without reboot not RV(driver.version).
      type: str
  sample:
    version: 580.159.04
    cuda: "13.0"
    flavour: open
    loaded: 580.159.04
gpus:
  description: The GPUs in the driver's order. Memory in bytes, power in watts.
  returned: success
  type: list
  elements: dict
  contains:
    index:
      description: The driver's number.
      type: int
    uuid:
      description: The identifier that stays.
      type: str
    name:
      description: Name of the product.
      type: str
    architecture:
      description: Name of the architecture.
      type: str
    compute_capability:
      description: Compute capability.
      type: str
    bus_id:
      description: PCI address.
      type: str
    memory:
      description: C(total), C(used), C(free), and C(bar1), the window that the bus has into it.
      type: dict
    persistence_mode:
      description: Whether the driver stays loaded without a client.
      type: bool
    ecc:
      description: C(enabled), C(pending) after the next reset, and whether rows wait for a remap or failed to get one.
      type: dict
    mig:
      description: Whether the GPU is C(enabled) for partitions, and how many C(devices) there are.
      type: dict
    power:
      description: C(limit), C(default) and C(max).
      type: dict
    pcie:
      description:
        - C(generation) and C(width) now, as the driver tells them; C(generation_max) and C(width_max) of this GPU in
          this slot; C(generation_gpu) of the GPU alone; C(replays) since the driver was loaded.
      type: dict
    addressing_mode:
      description: V(HMM), V(ATS), or V(None) where neither is active.
      type: str
    recovery_action:
      description: What the driver wants done, V(None) when all is well.
      type: str
    fabric_state:
      description: State of the NVSwitch fabric; null where there is none.
      type: str
    virtualization:
      description: How the GPU is virtualized.
      type: str
    processes:
      description: Processes that hold memory on it, each with C(pid), C(name), C(type) and C(memory).
      type: list
      elements: dict
    pci:
      description:
        - What the kernel says of the device. Link C(speed) and C(width), C(numa) node, C(iommu) group and its type,
          C(aspm), and C(path), the bridges above it from the root port on, with the ACS redirections that are on.
      type: dict
topology:
  description:
    - C(matrix) of the links between GPUs and their different kinds in C(links), C(p2p_read) and C(p2p_write) as the
      driver allows them, C(nics), and the processors and NUMA node near each GPU in C(affinity).
  returned: success
  type: dict
kernel:
  description:
    - C(release), C(command_line), C(uvm) with its HMM option, C(iommu), C(aspm_policy), some of C(sysctl), and the
      driver's error reports since boot in C(xids).
  returned: success
  type: dict
host:
  description:
    - C(memory), C(numa), C(shm), C(limits) of this session (-1 for none), C(container), C(clock), and whether the
      facts were read by a privileged user.
  returned: success
  type: dict
cuda:
  description:
    - C(toolkits) with their compilers, C(nvcc) on C(PATH), C(libcuda) that the loader finds, C(compat) folders, and
      C(variables) of the session and of C(/etc/environment).
  returned: success
  type: dict
engines:
  description: For each of O(pythons) its versions of engine, torch, NCCL and flashinfer.
  returned: success
  type: list
  elements: dict
  contains:
    python:
      description: The interpreter.
      type: str
    python_version:
      description: Its version.
      type: str
    packages:
      description: Versions of what matters, by name of the distribution, C(nccl) for the one of NVIDIA's wheels.
      type: dict
    torch:
      description: C(version), C(cuda) it was built with, and C(architectures) it has code for.
      type: dict
    nvrtc_h:
      description: Whether a wheel brings the header that compiling at run time needs.
      type: bool
    asked:
      description: What torch itself answers, with O(ask_torch).
      type: dict
    reason:
      description: Why the environment could not be read.
      type: str
model:
  description:
    - C(weights) with their size in bytes, C(architectures), C(hidden_size), C(layers), C(attention) (V(mla),
      V(sparse mla) or V(mha)), and C(active_bytes), an estimate of the weights that a step reads.
  returned: success
  type: dict
disks:
  description: For each of O(paths) the C(size) and C(free) bytes of its disk, and whether it C(exists).
  returned: success
  type: list
  elements: dict
ports:
  description: For each of O(ports) whether it is C(free), and the C(addresses) that somebody listens on.
  returned: success
  type: list
  elements: dict
unknown:
  description: Why a fact is null, by its path.
  returned: success
  type: dict
  sample:
    gpus[].pci.path[].acs: only root may read a device's capabilities
"""

import os
import typing as t

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.specdec.blackwell.plugins.module_utils._gpu_info import Request, collect

ARGUMENT_SPEC: dict[str, t.Any] = {
    "nvidia_smi": {"type": "path"},
    "pythons": {"type": "list", "elements": "path", "default": []},
    "ask_torch": {"type": "bool", "default": False},
    "model": {"type": "path"},
    "paths": {"type": "list", "elements": "path", "default": []},
    "ports": {"type": "list", "elements": "int", "default": []},
    "timeout": {"type": "int", "default": 30},
}


def main() -> None:
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    # The module that runs a program has no time limit of its own.
    guard = module.get_bin_path("timeout")

    def run(command: t.Sequence[str]) -> tuple[int, str, str]:
        prefix = [] if guard is None else [guard, "--kill-after=5", str(module.params["timeout"])]
        if module.get_bin_path(command[0]) is None:
            return 127, "", f"there is no {command[0]} here"
        code, output, error = module.run_command(
            prefix + list(command), environ_update={"LC_ALL": "C"}, handle_exceptions=False, errors="replace"
        )
        return int(code), str(output), str(error)

    facts = collect(Request(**module.params), _guarded(run), os.environ)
    module.exit_json(changed=False, **facts)


def _guarded(run: t.Callable[[t.Sequence[str]], tuple[int, str, str]]) -> t.Callable[..., tuple[int, str, str]]:
    def guarded(command: t.Sequence[str]) -> tuple[int, str, str]:
        try:
            return run(command)
        except OSError as error:
            return 126, "", str(error)

    return guarded


if __name__ == "__main__":
    main()
