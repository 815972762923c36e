"""One process group over all pods of a job, started from the environment (`env://`).

torchrun sets RANK, WORLD_SIZE and LOCAL_RANK; without it there is one process per pod, and the job's manifest
sets the first two.
"""

import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType

import torch
import torch.distributed as dist

# The job's failure policy knows this code: the pod is made anew, and a lost peer isn't its own failure.
PEER_LOST = 75
TIMEOUT_SECONDS = float(os.environ.get("GROUP_TIMEOUT_SECONDS", "120"))


@contextmanager
def process_group() -> Iterator[torch.device]:
    """The group while it lasts, and this process's device; a lost peer ends the process with its own code."""
    # The first process of a container ignores signals that it doesn't handle.
    signal.signal(signal.SIGTERM, _end)
    device = _device()
    try:
        _wait_for_name(os.environ["MASTER_ADDR"])
        dist.init_process_group(
            "nccl" if device.type == "cuda" else "gloo",
            init_method="env://",
            timeout=timedelta(seconds=TIMEOUT_SECONDS),
        )
        yield device
        dist.destroy_process_group()
    except (RuntimeError, OSError) as error:
        if not _is_loss(error):
            raise
        sys.stderr.write(f"a peer is lost or not there: {error}\n")
        sys.stderr.flush()
        # Not exit(): the library's threads still wait for the peer.
        os._exit(PEER_LOST)


def _device() -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    return device


def _wait_for_name(host: str) -> None:
    """The first pod's name exists only once the pod has an address."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            socket.getaddrinfo(host, None)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
        else:
            return


def _is_loss(error: Exception) -> bool:
    """Whether the network or the peer failed, not the program."""
    words = ("connect", "peer", "timed out", "timeout", "socket", "reset", "broken pipe", "store", "nccl")
    return isinstance(error, OSError) or any(word in str(error).lower() for word in words)


def _end(number: int, _: FrameType | None) -> None:
    os._exit(128 + number)
