"""All-reduce over every process of a job, in the table and by the definitions of nccl-tests.

For tests across nodes: nccl-tests itself needs MPI and a remote shell into every pod. Times are in place, as
torch.distributed has no other form. Bus bandwidth is size / time * 2 (n - 1) / n, see nccl-tests
doc/PERFORMANCE.md.
"""

import os
import socket
import sys
import time

import torch
import torch.distributed as dist
from process_group import process_group

WARM_UP, ITERATIONS = 5, 20
BYTES_PER_ELEMENT = 4


def main() -> int:
    """Measure every size from ALL_REDUCE_MIN_BYTES to ALL_REDUCE_MAX_BYTES, doubling."""
    low, high = int(os.environ["ALL_REDUCE_MIN_BYTES"]), int(os.environ["ALL_REDUCE_MAX_BYTES"])
    with process_group() as device:
        _head(device, low, high)
        wrong, rates, size = 0, [], low
        while size <= high:
            bad, rate = _measure(device, size)
            wrong, size = wrong + bad, size * 2
            rates.append(rate)
        _tell(f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}")
        _tell(f"# Avg bus bandwidth    : {sum(rates) / len(rates):g}")
    return 1 if wrong else 0


def _head(device: torch.device, low: int, high: int) -> None:
    nccl = ".".join(str(part) for part in torch.cuda.nccl.version()) if device.type == "cuda" else "none"
    _tell(f"# torch {torch.__version__} backend {dist.get_backend()} nccl {nccl}")
    _tell(f"# nThread 1 nGpus 1 minBytes {low} maxBytes {high} step: 2(factor) warmup iters: {WARM_UP} "
          f"iters: {ITERATIONS} agg iters: 1 validation: 1 graph: 0")  # fmt: skip
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    host = socket.gethostname()
    rank, place = dist.get_rank(), f"device {device.index or 0:>2} [0x00] {name}"
    line = f"#  Rank {rank:>2} Group  0 Pid {os.getpid():>6} on {host} {place}"
    lines: list[str] = [""] * dist.get_world_size()
    dist.all_gather_object(lines, line)
    _tell("# Using devices", *lines, "#")
    _tell("#       size         count    type   redop    root     time   algbw   busbw  #wrong"
          "     time   algbw   busbw  #wrong")  # fmt: skip
    _tell(
        "#        (B)    (elements)                             (us)  (GB/s)  (GB/s)"
        "            (us)  (GB/s)  (GB/s)"
    )


def _measure(device: torch.device, size: int) -> tuple[int, float]:
    """Wrong elements and bus bandwidth, GB/s, of one message size."""
    count, world = size // BYTES_PER_ELEMENT, dist.get_world_size()
    tensor = torch.full((count,), 1.0, device=device)
    dist.all_reduce(tensor)
    wrong = int((tensor != world).sum())
    tensor.zero_()
    for _ in range(WARM_UP):
        dist.all_reduce(tensor)
    _settle(device)
    started = time.perf_counter()
    for _ in range(ITERATIONS):
        dist.all_reduce(tensor)
    _settle(device)
    seconds = torch.tensor([(time.perf_counter() - started) / ITERATIONS], device=device)
    # The slowest process decides.
    dist.all_reduce(seconds, op=dist.ReduceOp.MAX)
    algorithm = size / float(seconds) / 1e9
    bus = algorithm * 2 * (world - 1) / world
    _tell(
        f"{size:>12} {count:>13} {'float':>8} {'sum':>7} {-1:>7} {'N/A':>8} {'N/A':>7} {'N/A':>7} {'N/A':>6} "
        f"{float(seconds) * 1e6:>8.1f} {algorithm:>7.2f} {bus:>7.2f} {wrong:>6}"
    )
    return wrong, bus


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    dist.barrier()


def _tell(*lines: str) -> None:
    if dist.get_rank() == 0:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
