"""Jobs over several pods: one process group, checkpoints, resume."""

from components.scheduling.training._files import ALL_REDUCE, TRAIN
from components.scheduling.training.job import DistributedJob, distributed_job
from components.scheduling.training.sample import DISTRIBUTED_SAMPLE, DistributedSample, distributed_sample
from components.scheduling.training.space import SPACE, DistributedSpace, DistributedSpaceArgs

__all__ = [
    "ALL_REDUCE",
    "DISTRIBUTED_SAMPLE",
    "SPACE",
    "TRAIN",
    "DistributedJob",
    "DistributedSample",
    "DistributedSpace",
    "DistributedSpaceArgs",
    "distributed_job",
    "distributed_sample",
]
