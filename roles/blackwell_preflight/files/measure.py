# Copyright (c) 2026 The specdec.blackwell authors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Copy between GPUs and compare byte by byte; time all-reduce at the sizes of decoding, with and without P2P.

Runs in an engine's environment, which has torch. Prints one JSON object: {"copies", "all_reduce", "prediction",
"summary", "not_measured"}; what could not be measured is null, and ``not_measured`` says why. Times are microseconds.

A decode step of tensor parallelism makes two all-reduces a layer, each of hidden size x tokens x 2 bytes. The rest of
the step is predicted as the time to read the weights it needs at the bandwidth that was measured, unless the time of a
whole step is given. For a step that verifies k drafted tokens, the routed experts' weights are counted k + 1 times:
tokens may share experts, so it is the dearest that it can be.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socket
import statistics
import sys
import time
from typing import Any, Dict, List, Optional

KIB = 1024
SIZES = [12 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, 1024 * KIB]
COPY_SIZES = [4 * KIB, 12 * KIB + 4, 1024 * KIB, 64 * 1024 * KIB + 12]
GRAPH = 20
ROUNDS = 30

Answer = Dict[str, Any]


def copies(devices: List[int], result: str) -> None:
    """Every ordered pair at several sizes, twice over with other bytes: how many arrived wrong goes to ``result``."""
    import torch

    pairs = []
    for source in devices:
        for target in devices:
            if source == target:
                continue
            wrong = 0
            elapsed = 0.0
            for size in COPY_SIZES:
                for seed in (1, 2):
                    generator = torch.Generator().manual_seed(seed * 1000003 + size)
                    sent = torch.randint(0, 256, (size,), dtype=torch.uint8, generator=generator)
                    there = sent.to(f"cuda:{source}")
                    landing = torch.full((size,), 0x5A, dtype=torch.uint8, device=f"cuda:{target}")
                    torch.cuda.synchronize(source)
                    torch.cuda.synchronize(target)
                    begun = time.perf_counter()
                    landing.copy_(there)
                    torch.cuda.synchronize(source)
                    torch.cuda.synchronize(target)
                    elapsed = time.perf_counter() - begun
                    # By way of the host: a comparison on the GPU would trust what is under test.
                    wrong += int((landing.cpu() != sent).sum())
            pairs.append(
                {
                    "from": source,
                    "to": target,
                    "peer": bool(torch.cuda.can_device_access_peer(source, target)),
                    "wrong": wrong,
                    "gib_per_s": round(COPY_SIZES[-1] / elapsed / 2**30, 2),
                }
            )
    with open(result, "w", encoding="ascii") as stream:
        json.dump({"bytes": 2 * sum(COPY_SIZES), "pairs": pairs}, stream)


def bandwidth(torch: Any, device: int) -> float:
    """Bytes a second that a kernel reads on one GPU: the best of some sums over a quarter of a gigabyte and more."""
    free = torch.cuda.mem_get_info(device)[0]
    data = torch.ones(min(1 << 30, free // 4) // 2, dtype=torch.float16, device=f"cuda:{device}")
    best = float("inf")
    for _round in range(8):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        with torch.cuda.device(device):
            start.record()
            data.max()
            end.record()
            end.synchronize()
        best = min(best, start.elapsed_time(end) / 1000)
    return data.numel() * 2 / best


def worker(rank: int, devices: List[int], port: int, result: str, variables: Dict[str, str]) -> None:
    """One rank of the all-reduce; rank 0 writes the medians to ``result``."""
    os.environ.update(variables)
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(devices[rank])
    dist.init_process_group(
        "nccl", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=len(devices), device_id=None
    )
    times: Dict[str, float] = {}
    try:
        for size in SIZES:
            data = torch.ones(size // 2, dtype=torch.bfloat16, device="cuda")
            for _warm in range(5):
                dist.all_reduce(data)
            torch.cuda.synchronize()
            right = torch.ones(size // 2, dtype=torch.bfloat16, device="cuda")
            dist.all_reduce(right)
            if not bool((right == len(devices)).all()):
                raise RuntimeError(f"all-reduce of {size} bytes gave a wrong sum")
            times[str(size)] = _median(torch, dist, data)
        if rank == 0:
            with open(result, "w", encoding="ascii") as stream:
                json.dump(times, stream)
    finally:
        dist.destroy_process_group()


def _median(torch: Any, dist: Any, data: Any) -> float:
    """Microseconds of one all-reduce inside a CUDA graph, as decoding runs it."""
    graph = torch.cuda.CUDAGraph()
    data.zero_()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        for _call in range(GRAPH):
            dist.all_reduce(data)
    graph.replay()
    torch.cuda.synchronize()
    samples = []
    for _round in range(ROUNDS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        samples.append(start.elapsed_time(end) * 1000 / GRAPH)
    return round(statistics.median(samples), 2)


def children(target: Any, arguments: List[Any], timeout: float, result: str) -> Dict[str, Any]:
    """Run ``target`` once for each entry of ``arguments``, side by side: {"value": what they wrote, "reason": text}.

    They are processes of their own because a copy over a broken path may never end; after ``timeout`` seconds they are
    killed.
    """
    context = multiprocessing.get_context("spawn")
    ranks = [context.Process(target=target, args=given) for given in arguments]
    for process in ranks:
        process.start()
    deadline = time.monotonic() + timeout
    for process in ranks:
        process.join(max(0.0, deadline - time.monotonic()))
    hung = [process for process in ranks if process.is_alive()]
    for process in hung:
        process.kill()
        process.join()
    if hung:
        return {"value": None, "reason": f"no end within {timeout:.0f} s: P2P hangs (checks iommu and acs-redirect)"}
    if any(process.exitcode for process in ranks) or not os.path.exists(result):
        return {"value": None, "reason": f"exit codes {[process.exitcode for process in ranks]}"}
    with open(result, encoding="ascii") as stream:
        return {"value": json.load(stream), "reason": None}


def all_reduce(devices: List[int], timeout: float, variables: Dict[str, str], folder: str) -> Answer:
    """Microseconds by size, from one process a GPU."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    result = os.path.join(folder, f"times-{port}.json")
    arguments = [(rank, devices, port, result, variables) for rank in range(len(devices))]
    told = children(worker, arguments, timeout, result)
    return {"times": told["value"], "reason": told["reason"]}


def at_size(times: Dict[str, float], size: float) -> float:
    """The time of a message of ``size`` bytes: on a line between the two sizes next to it."""
    points = sorted((int(key), value) for key, value in times.items())
    if size <= points[0][0]:
        return points[0][1]
    for (low, low_time), (high, high_time) in zip(points, points[1:]):
        if size <= high:
            return low_time + (high_time - low_time) * (size - low) / (high - low)
    return points[-1][1] * size / points[-1][0]


def predict(times: Dict[str, float], rate: Optional[float], options: argparse.Namespace, world: int) -> Dict[str, Any]:
    """What a decode step is made of, and from how many accepted tokens a step on speculation pays."""
    calls = 2 * options.layers
    token = options.hidden_size * 2
    tokens = options.draft_tokens + 1
    reduce_one = calls * at_size(times, token)
    reduce_many = calls * at_size(times, token * tokens)
    weights = options.dense_bytes + options.routed_bytes
    if options.decode_ms > 0:
        step_one = options.decode_ms * 1000
        rest = max(0.0, step_one - reduce_one)
        growth = (options.dense_bytes + options.routed_bytes * tokens) / weights if weights else 1.0
        step_many = rest * growth + reduce_many
        basis = "the given time of a step"
    elif weights and rate:
        step_one = weights / world / rate * 1e6 + reduce_one
        step_many = (options.dense_bytes + options.routed_bytes * tokens) / world / rate * 1e6 + reduce_many
        basis = "the weights that a step reads"
    else:
        return {"all_reduce_us": round(reduce_one, 1), "all_reduce_share": None, "reason": "no model, no step time"}
    even = step_many / step_one + options.draft_cost
    return {
        "basis": basis,
        "all_reduce_us": round(reduce_one, 1),
        "all_reduce_share": round(reduce_one / step_one, 3),
        "step_us": round(step_one, 1),
        "verify_step_us": round(step_many, 1),
        "break_even_tokens": round(even, 2),
        "worth": even < tokens,
        "reason": None,
    }


def summary(answer: Answer) -> str:
    """What was found, in a sentence or two for a person."""
    words = []
    if answer["copies"] is not None:
        wrong = sum(pair["wrong"] for pair in answer["copies"]["pairs"])
        words.append(f"{len(answer['copies']['pairs'])} pairs copied, {wrong} bytes wrong")
    for name, times in (answer["all_reduce"] or {}).items():
        if times["times"]:
            first, last = times["times"][str(SIZES[0])], times["times"][str(SIZES[-1])]
            words.append(f"all-reduce {name.replace('_', ' ')} {first} us at 12 KiB, {last} us at 1 MiB")
    prediction = answer["prediction"]
    if prediction and prediction["all_reduce_share"] is not None:
        words.append(f"all-reduce is {prediction['all_reduce_share']:.1%} of a decode step by {prediction['basis']}")
        words.append(
            f"speculation pays from {prediction['break_even_tokens']} tokens a step on"
            if prediction["worth"]
            else f"speculation cannot pay: a step costs {prediction['break_even_tokens']} plain ones"
        )
    return "; ".join(words + answer["not_measured"]) or "nothing could be measured"


def measure(options: argparse.Namespace) -> Answer:
    answer: Answer = {"copies": None, "all_reduce": None, "prediction": None, "not_measured": []}
    # The driver's numbers, not the fastest card first.
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    try:
        import torch
    except ImportError as error:
        answer["not_measured"].append(f"nothing: torch cannot be imported ({error})")
        return answer
    if not torch.cuda.is_available():
        answer["not_measured"].append("nothing: torch sees no GPU")
        return answer
    count = torch.cuda.device_count()
    # The names of the driver are not torch's: with numbers alone there is nothing to translate.
    wanted = [int(part) for part in options.gpus.split(",") if part.isdigit()]
    devices = [index for index in wanted if index < count] or list(range(count))
    answer["gpus"] = devices
    rate = bandwidth(torch, devices[0])
    answer["memory_gb_per_s"] = round(rate / 1e9, 1)
    if len(devices) < 2:
        answer["not_measured"].append("copies between GPUs and all-reduce: there is one GPU, which needs neither")
        return answer
    torch.cuda.empty_cache()
    third = options.timeout / 3
    folder = os.path.dirname(os.path.abspath(__file__))
    copied = os.path.join(folder, "copies.json")
    told = children(copies, [(devices, copied)], third, copied)
    answer["copies"] = told["value"]
    if told["reason"]:
        answer["not_measured"].append(f"copies between GPUs: {told['reason']}")
    answer["all_reduce"] = {
        "with_p2p": all_reduce(devices, third, {}, folder),
        "without_p2p": all_reduce(devices, third, {"NCCL_P2P_DISABLE": "1"}, folder),
    }
    for name, times in answer["all_reduce"].items():
        if times["reason"]:
            answer["not_measured"].append(f"all-reduce {name.replace('_', ' ')}: {times['reason']}")
    best = answer["all_reduce"]["with_p2p"]["times"] or answer["all_reduce"]["without_p2p"]["times"]
    if best:
        answer["prediction"] = predict(best, rate, options, len(devices))
    return answer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", default="", help="numbers of the GPUs, all by default")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--hidden-size", type=int, default=7168)
    parser.add_argument("--layers", type=int, default=61)
    parser.add_argument("--dense-bytes", type=float, default=0, help="weights that every step reads")
    parser.add_argument("--routed-bytes", type=float, default=0, help="weights that a step reads for each token")
    parser.add_argument("--decode-ms", type=float, default=0, help="time of a step without speculation, if known")
    parser.add_argument("--draft-tokens", type=int, default=3)
    parser.add_argument("--draft-cost", type=float, default=0.1, help="time of the draft as a share of a step")
    options = parser.parse_args()
    answer = measure(options)
    answer["summary"] = summary(answer)
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
