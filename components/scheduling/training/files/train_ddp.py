"""Distributed data-parallel training with checkpoints: DDP over one process group, resumed from the last one.

Rank 0 writes one JSON object a line: `start` with the step it resumed from, `step` with loss and rate, `end`.
Every process reads the same checkpoint file, so the volume must be mounted by all pods.
"""

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from models import SIZES, Encoder, sequences
from process_group import process_group
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

KEPT_CHECKPOINTS = 2
NOT_FINITE = 65


def main() -> int:
    """Train to the last step; 0 when the loss stayed finite."""
    with process_group() as device:
        return Training(device).run()


class Training:
    """One process's part of the training."""

    def __init__(self, device: torch.device) -> None:
        env = os.environ
        self.device, self.rank, self.world = device, dist.get_rank(), dist.get_world_size()
        self.name, self.seed = env.get("TRAIN_MODEL", "tiny"), int(env.get("TRAIN_SEED", "7"))
        self.size = SIZES[self.name]
        self.steps, self.every = int(env["TRAIN_STEPS"]), int(env.get("TRAIN_CHECKPOINT_EVERY", "0"))
        self.warm_up = int(env.get("TRAIN_WARM_UP_STEPS", "0"))
        self.pace_seconds = float(env.get("TRAIN_STEP_SECONDS", "0"))
        self.directory = Path(env["TRAIN_CHECKPOINTS"]) if self.every else None
        torch.manual_seed(self.seed)
        model = Encoder(self.size).to(device)
        self.model = DistributedDataParallel(
            model, device_ids=[device.index] if device.type == "cuda" else None
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2 if self.name == "tiny" else 3e-4)

    def run(self) -> int:
        """All steps from the last checkpoint on."""
        first = self.resume()
        self.tell(
            "start", world_size=self.world, model=self.name, device=self.device.type, resumed_from_step=first
        )
        loss, rates = math.nan, []
        for step in range(first, self.steps):
            started = time.monotonic()
            loss = self.step(step)
            if not math.isfinite(loss):
                self.tell("end", step=step + 1, loss=None, completed=False, reason="the loss is not finite")
                return NOT_FINITE
            time.sleep(max(0.0, self.pace_seconds - (time.monotonic() - started)))
            rate = self.size.batch * self.size.length / (time.monotonic() - started)
            if step >= first + self.warm_up:
                rates.append(rate)
            self.tell("step", step=step + 1, loss=loss, tokens_per_second_per_process=round(rate, 1))
            if self.every and (step + 1) % self.every == 0:
                self.save(step + 1)
        self.tell(
            "end",
            step=self.steps,
            loss=loss,
            completed=True,
            world_size=self.world,
            resumed_from_step=first,
            tokens_per_second_per_process=round(sorted(rates)[len(rates) // 2], 1) if rates else None,
            torch=torch.__version__,
        )
        return 0

    def step(self, step: int) -> float:
        """One step over this process's own sequences; the mean loss of all processes."""
        tokens, wanted = sequences(self.size, seed=self.seed, step=step, rank=self.rank)
        tokens, wanted = tokens.to(self.device), wanted.to(self.device)
        with torch.autocast(self.device.type, self.size.dtype, enabled=self.device.type == "cuda"):
            scores = self.model(tokens)
            loss = cross_entropy(scores.flatten(0, 1), wanted.flatten())
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        return float(mean / self.world)

    def resume(self) -> int:
        """Load the newest checkpoint, the one rank 0 sees; 0 without one."""
        newest = torch.zeros(1, dtype=torch.int64, device=self.device)
        if self.directory is not None and self.rank == 0:
            self.directory.mkdir(parents=True, exist_ok=True)
            newest[0] = max((_step(path) for path in self.directory.glob("step-*.pt")), default=0)
        dist.broadcast(newest, 0)
        step = int(newest)
        if step and self.directory is not None:
            state: dict[str, Any] = torch.load(self.directory / f"step-{step}.pt", map_location=self.device)
            self.model.module.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        return step

    def save(self, step: int) -> None:
        """Rank 0 writes; a checkpoint appears whole or not at all, and the newest ones stay."""
        if self.rank == 0 and self.directory is not None:
            partial = self.directory / ".partial"
            with partial.open("wb") as file:
                state = {"model": self.model.module.state_dict(), "optimizer": self.optimizer.state_dict()}
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self.directory / f"step-{step}.pt")
            for old in sorted(self.directory.glob("step-*.pt"), key=_step)[:-KEPT_CHECKPOINTS]:
                old.unlink()
        # None goes on while the file is not there: it would be missing for a peer that starts anew.
        dist.barrier()

    def tell(self, event: str, **values: object) -> None:
        """One line of the log, by rank 0 alone."""
        if self.rank == 0:
            sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
            sys.stdout.flush()


def _step(path: Path) -> int:
    return int(path.stem.removeprefix("step-"))


if __name__ == "__main__":
    sys.exit(main())
