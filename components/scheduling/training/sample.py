"""A sample of distributed training that really runs: two pods, CPUs, checkpoints."""

from dataclasses import dataclass
from typing import Any

import pulumi

from components.contracts import StorageMount
from components.core import Ownership, Problem, check_positive, raise_problems
from components.scheduling.training._files import TRAIN
from components.scheduling.training.job import CHECKPOINTS, DistributedJob, distributed_job

DISTRIBUTED_SAMPLE = "distributed-training"


@dataclass(frozen=True, kw_only=True)
class DistributedSample:
    """A training of a small model over pods with one CPU core each; needs no GPU and no queue.

    Args:
        namespace: Namespace with a ``DistributedSpace``.
        ownership: Who owns and pays.
        image: Image with PyTorch.
        checkpoints: Volume its checkpoints go to, in the same namespace.
        workers: Pods, two or more.
        steps: Steps in all.
        checkpoint_every: Steps between two checkpoints.
        step_milliseconds: Least time of a step, ms: time in which a pod can be lost.
        time_limit_seconds: Killed after so long, s.

    Raises:
        ArgsError: A count below its least.
    """

    namespace: pulumi.Input[str]
    ownership: Ownership
    image: str
    checkpoints: StorageMount
    workers: int = 2
    steps: int = 150
    checkpoint_every: int = 10
    step_milliseconds: int = 100
    time_limit_seconds: int = 300

    def __post_init__(self) -> None:
        problems = [
            *check_positive("steps", self.steps),
            *check_positive("checkpoint_every", self.checkpoint_every),
            *check_positive("step_milliseconds", self.step_milliseconds),
        ]
        if self.workers < 2:
            fix = "take two pods or more"
            problems.append(Problem(path="workers", value=str(self.workers), accepted="2 or more", fix=fix))
        raise_problems("distributed training sample", problems)


def distributed_sample(sample: DistributedSample) -> dict[str, Any]:
    """Manifest of the Job. The last log line of its pod 0 is one JSON object with ``event: end``.

    Checkpoints lie in a directory of the Job's own name, so that runs never resume from one another.
    """
    return distributed_job(
        DistributedJob(
            name=DISTRIBUTED_SAMPLE,
            namespace=sample.namespace,
            ownership=sample.ownership,
            image=sample.image,
            program=TRAIN,
            workers=sample.workers,
            checkpoints=sample.checkpoints,
            time_limit_seconds=sample.time_limit_seconds,
            env={
                "TRAIN_CHECKPOINTS": f"{CHECKPOINTS}/$(JOB_NAME)",
                "TRAIN_CHECKPOINT_EVERY": str(sample.checkpoint_every),
                "TRAIN_STEPS": str(sample.steps),
                "TRAIN_STEP_SECONDS": str(sample.step_milliseconds / 1000),
            },
        )
    )
