# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All facts of a GPU host in one result. What cannot be told is None, and ``unknown`` says why, by the fact's path.

PRIVATE to the collection: it can have breaking changes at any time.
"""

from __future__ import annotations

import os
import shutil
import typing as t

from ansible_collections.specdec.blackwell.plugins.module_utils import _cuda as cuda
from ansible_collections.specdec.blackwell.plugins.module_utils import _engine_stack as stack
from ansible_collections.specdec.blackwell.plugins.module_utils import _host as host
from ansible_collections.specdec.blackwell.plugins.module_utils import _kernel as kernel
from ansible_collections.specdec.blackwell.plugins.module_utils import _model as model
from ansible_collections.specdec.blackwell.plugins.module_utils import _nvidia_smi as smi
from ansible_collections.specdec.blackwell.plugins.module_utils import _pci as pci
from ansible_collections.specdec.blackwell.plugins.module_utils._errors import SpecdecError
from ansible_collections.specdec.blackwell.plugins.module_utils._interpreter import probe
from ansible_collections.specdec.blackwell.plugins.module_utils._target import run_child
from ansible_collections.specdec.blackwell.plugins.module_utils._torch_probe import run_request as ask_torch

Facts = t.Dict[str, t.Any]
# An argument list in; return code, standard output and standard error out. It must not raise for a missing program.
Runner = t.Callable[[t.Sequence[str]], t.Tuple[int, str, str]]

_SMI_PLACES = ("/usr/bin", "/usr/local/bin", "/usr/local/nvidia/bin", "/opt/bin", "/usr/lib/wsl/lib")
_NO_DRIVER = 9


class Request(t.NamedTuple):
    """What the module was asked; ``root`` stands for / in what is read from files."""

    nvidia_smi: t.Optional[str] = None
    pythons: t.Sequence[str] = ()
    model: t.Optional[str] = None
    paths: t.Sequence[str] = ()
    ports: t.Sequence[int] = ()
    ask_torch: bool = False
    timeout: int = 30
    root: str = "/"


class Collector:
    """Collects the facts of one host; each method below ``collect`` adds one part."""

    def __init__(self, request: Request, run: Runner, environment: t.Mapping[str, str]) -> None:
        self._request = request
        self._run = run
        self._environment = environment
        self._unknown: dict[str, str] = {}

    def collect(self) -> Facts:
        facts: Facts = {"nvidia_smi": self._find_smi()}
        facts.update(self._driver(facts["nvidia_smi"]))
        self._pci(facts["gpus"])
        facts["kernel"] = self._kernel(facts["driver"])
        facts["host"] = self._host()
        facts["cuda"] = self._cuda()
        facts["engines"] = [self._engine(python) for python in self._request.pythons]
        facts["model"] = None if self._request.model is None else self._model(self._request.model)
        facts["disks"] = [host.space(self._request.root, path) for path in self._request.paths]
        facts["ports"] = self._ports()
        facts["unknown"] = self._unknown
        return facts

    def _cannot(self, fact: str, reason: str) -> None:
        self._unknown.setdefault(fact, reason)

    def _path(self, place: str) -> str:
        return os.path.join(self._request.root, place)

    def _find_smi(self) -> str | None:
        given = self._request.nvidia_smi
        if given is not None:
            if os.path.isfile(given) and os.access(given, os.X_OK):
                return given
            self._cannot("nvidia_smi", f"{given} is not a program that this user may run")
            return None
        search = os.pathsep.join([self._environment.get("PATH", ""), *_SMI_PLACES])
        found = shutil.which("nvidia-smi", path=search)
        if found is None:
            self._cannot("nvidia_smi", f"no nvidia-smi on PATH or in {', '.join(_SMI_PLACES)}")
        return found

    def _ask_smi(self, tool: str | None, *arguments: str) -> str:
        if tool is None:
            raise smi.Unreadable(self._unknown["nvidia_smi"])
        code, output, error = self._run([tool, *arguments])
        if code != 0:
            words = (output.strip() or error.strip() or "it said nothing").splitlines()[-1][:200]
            if code == _NO_DRIVER:
                words = "the driver does not answer (module not loaded, or of another version than the tool): " + words
            if code in (124, 137):
                words = f"no answer within {self._request.timeout} s: the driver hangs"
            raise smi.Unreadable(f"nvidia-smi {' '.join(arguments)[:40]}: exit code {code}: {words}")
        return output

    def _driver(self, tool: str | None) -> Facts:
        told: Facts | None = None
        table: Facts | None = None
        try:
            told = smi.from_xml(self._ask_smi(tool, "-q", "-x"))
        except smi.Unreadable as error:
            self._cannot("gpus", str(error))
        # A driver that hung once would hang each time.
        if tool is not None and "hangs" not in self._unknown.get("gpus", ""):
            try:
                table = smi.from_csv(self._ask_smi(tool, f"--query-gpu={smi.QUERY}", "--format=csv"))
            except smi.Unreadable as error:
                self._cannot("gpus[].compute_capability", str(error))
        if told is None and table is not None:
            told = table
            self._unknown["driver.cuda"] = self._unknown.pop("gpus")
            self._cannot("gpus[].processes", "only the XML of nvidia-smi lists them")
        elif told is not None and table is not None:
            known = {gpu["uuid"]: gpu for gpu in table["gpus"]}
            for gpu in told["gpus"]:
                gpu["compute_capability"] = known.get(gpu["uuid"], {}).get("compute_capability")
        if told is None:
            self._cannot("driver.version", self._unknown["gpus"])
            return {"gpus": None, "driver": self._module({"version": None, "cuda": None}), "topology": None}
        if told["gpus"] and all(gpu["compute_capability"] is None for gpu in told["gpus"]):
            self._cannot("gpus[].compute_capability", "this nvidia-smi does not tell compute_cap")
        driver = self._module({"version": told["driver"], "cuda": told["cuda"]})
        return {"gpus": told["gpus"], "driver": driver, "topology": self._topology(tool, len(told["gpus"]))}

    def _module(self, driver: Facts) -> Facts:
        place = self._path("proc/driver/nvidia/version")
        text = kernel.read(place)
        loaded = None if text is None else kernel.module_version(text)
        driver["flavour"] = None
        driver["loaded"] = None
        if loaded is None:
            why = "not understood" if text is not None else "not there: no module is loaded, or a container hides it"
            self._cannot("driver.flavour", f"/proc/driver/nvidia/version is {why}")
        else:
            driver.update(flavour=loaded["flavour"], loaded=loaded["version"])
            driver["version"] = driver["version"] or loaded["version"]
        return driver

    def _topology(self, tool: str | None, count: int) -> Facts | None:
        """Links, read and write access between GPUs. One GPU has none."""
        found: Facts = dict.fromkeys(("links", "matrix", "p2p_read", "p2p_write", "nics", "affinity"))
        try:
            table = smi.matrix(self._ask_smi(tool, "topo", "-m"))
            found.update(matrix=table["gpus"], links=smi.links(table["gpus"]), nics=table["nics"])
            found["affinity"] = table["affinity"]
        except smi.Unreadable as error:
            self._cannot("topology.matrix", str(error))
        if count < 2:
            return found
        for kind, key in (("r", "p2p_read"), ("w", "p2p_write")):
            try:
                found[key] = smi.matrix(self._ask_smi(tool, "topo", "-p2p", kind))["gpus"]
            except smi.Unreadable as error:
                self._cannot(f"topology.{key}", str(error))
        return found

    def _pci(self, gpus: list[Facts] | None) -> None:
        for gpu in gpus or ():
            address = gpu["bus_id"]
            gpu["pci"] = None if address is None else pci.device(self._request.root, address)
            if gpu["pci"] is None:
                self._cannot("gpus[].pci", f"/sys/bus/pci/devices has no {address}")
            elif not all(part["readable"] for part in (gpu["pci"], *gpu["pci"]["path"])):
                self._cannot("gpus[].pci.path[].acs", pci.NOT_PERMITTED)
                self._cannot("gpus[].pci.aspm", pci.NOT_PERMITTED)

    def _kernel(self, driver: Facts) -> Facts:
        root = self._request.root
        line = kernel.read(self._path("proc/cmdline"))
        if line is None:
            self._cannot("kernel.command_line", "/proc/cmdline cannot be read")
        uvm = kernel.uvm(root)
        if not uvm["loaded"]:
            self._cannot("kernel.uvm.hmm", "nvidia_uvm is not loaded, or it has no HMM option")
        return {
            "release": (kernel.read(self._path("proc/sys/kernel/osrelease")) or "").strip() or None,
            "command_line": None if line is None else kernel.command_line(line),
            "uvm": uvm,
            "iommu": kernel.iommu(root),
            "aspm_policy": kernel.aspm_policy(root),
            "xids": self._xids(),
            "sysctl": host.sysctl(root),
        }

    def _xids(self) -> list[Facts] | None:
        reasons = []
        for command in (
            ["journalctl", "--dmesg", "--boot", "--no-pager", "--quiet", "--output=short-monotonic"],
            ["dmesg"],
        ):
            code, output, error = self._run(command)
            # An unprivileged journalctl succeeds and shows nothing.
            if code == 0 and output.strip():
                return kernel.xids(output)
            reasons.append(f"{command[0]}: {(error.strip().splitlines() or ['nothing to read'])[-1][:120]}")
        self._cannot("kernel.xids", "; ".join(reasons))
        return None

    def _host(self) -> Facts:
        root = self._request.root
        clock = host.clock()
        if clock is None:
            self._cannot("host.clock", "the kernel does not tell the state of its clock here")
        shm = host.space(root, "/dev/shm")
        if not shm["exists"]:
            self._cannot("host.shm", "there is no /dev/shm")
        return {
            "memory": host.memory(root),
            "numa": host.numa(root),
            "shm": {"size": shm["size"], "free": shm["free"]} if shm["exists"] else None,
            "limits": host.limits(root),
            "container": host.container(root),
            "clock": clock,
            "privileged": os.geteuid() == 0,
        }

    def _cuda(self) -> Facts:
        root = self._request.root
        variables = cuda.variables(root, self._environment)
        named = [variables[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.path.isabs(variables.get(name, ""))]
        kits = cuda.toolkits(root, [path for path in named if ":" not in path])
        for kit in kits:
            kit["nvcc_version"] = None
            if kit["nvcc"] is not None:
                code, output, error = self._run([kit["nvcc"], "--version"])
                kit["nvcc_version"] = cuda.compiler_version(output) if code == 0 else None
                if kit["nvcc_version"] is None:
                    self._cannot("cuda.toolkits[].nvcc_version", f"{kit['nvcc']}: {(output + error).strip()[:120]}")
        code, output, error = self._run(["/sbin/ldconfig", "-p"])
        loader = cuda.loader_paths(output) if code == 0 else {}
        if code != 0:
            self._cannot("cuda.libcuda", f"ldconfig -p: {error.strip()[:120]}")
        on_path = shutil.which("nvcc", path=self._environment.get("PATH", ""))
        return {
            "toolkits": kits,
            "nvcc": None if on_path is None else os.path.realpath(on_path),
            "libcuda": loader.get("libcuda.so.1"),
            "compat": cuda.compat(root, kits, self._environment.get("LD_LIBRARY_PATH", ""), loader),
            "variables": variables,
        }

    def _engine(self, python: str) -> Facts:
        found: Facts = {"python": python, "python_version": None, "packages": None, "torch": None, "nvrtc_h": None}
        found.update(asked=None, reason=None)
        try:
            environment = probe(python)
        except SpecdecError as error:
            found["reason"] = error.message
            self._cannot("engines[].packages", error.message)
            return found
        folders = environment.site_packages
        found["python_version"] = ".".join(str(part) for part in environment.version)
        found["packages"] = stack.packages(folders)
        found["torch"] = stack.torch(folders)
        found["nvrtc_h"] = stack.has_header(folders, "nvrtc.h")
        if found["torch"] is None:
            self._cannot("engines[].torch", f"torch is not installed in the environment of {python}")
        elif found["torch"]["architectures"] is None:
            self._cannot("engines[].torch.architectures", "torch's libraries do not name them; ask_torch does")
        if self._request.ask_torch:
            try:
                found["asked"] = run_child(environment, ask_torch, {}, timeout=max(60, self._request.timeout))
            except SpecdecError as error:
                self._cannot("engines[].asked", error.message)
        asked = found["asked"]
        if asked and asked["reason"] is None and found["torch"] is not None:
            found["torch"].update({key: asked[key] for key in ("version", "cuda", "architectures")})
            self._unknown.pop("engines[].torch.architectures", None)
        elif asked and asked["reason"] is not None:
            self._cannot("engines[].asked", asked["reason"])
        return found

    def _model(self, folder: str) -> Facts:
        facts = model.describe(os.path.join(self._request.root, folder.lstrip("/")))
        facts["path"] = folder
        if facts["reason"] is not None:
            self._cannot("model.hidden_size", facts["reason"])
        return facts

    def _ports(self) -> list[Facts] | None:
        listening = host.listening(self._request.root)
        if listening is None:
            self._cannot("ports", "/proc/net/tcp cannot be read")
            return None
        return [
            {"port": port, "free": port not in listening, "addresses": listening.get(port, [])}
            for port in self._request.ports
        ]


def collect(request: Request, run: Runner, environment: t.Mapping[str, str]) -> Facts:
    """The facts; see the documentation of the module nvidia_gpu_info for their shape."""
    return Collector(request, run, environment).collect()


__all__ = ("Collector", "Facts", "Request", "Runner", "collect")
