"""Queues that start gangs as a whole, by Kueue."""

from components.scheduling.gang_queue import GangQueue, GangQueueArgs, PoolShare
from components.scheduling.gpu_admission import GpuAdmission, GpuAdmissionArgs
from components.scheduling.gpu_flavors import GpuFlavors, GpuFlavorsArgs, Priority
from components.scheduling.job_rules import JobRules, JobRulesArgs, QueueRule
from components.scheduling.operator import KueueOperator, KueueOperatorArgs
from components.scheduling.sample_jobs import GangJobArgs, SampleJobs, SampleJobsArgs
from components.scheduling.training import (
    DISTRIBUTED_SAMPLE,
    DistributedSample,
    DistributedSpace,
    DistributedSpaceArgs,
    distributed_sample,
)

__all__ = [
    "DISTRIBUTED_SAMPLE",
    "DistributedSample",
    "DistributedSpace",
    "DistributedSpaceArgs",
    "GangJobArgs",
    "GangQueue",
    "GangQueueArgs",
    "GpuAdmission",
    "GpuAdmissionArgs",
    "GpuFlavors",
    "GpuFlavorsArgs",
    "JobRules",
    "JobRulesArgs",
    "KueueOperator",
    "KueueOperatorArgs",
    "PoolShare",
    "Priority",
    "QueueRule",
    "SampleJobs",
    "SampleJobsArgs",
    "distributed_sample",
]
