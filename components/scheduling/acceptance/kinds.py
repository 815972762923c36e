"""The acceptance tests there are."""

from enum import StrEnum


class AcceptanceTest(StrEnum):
    """One test of a pool; the values are the names used in settings, annotations and commands."""

    NCCL_INTRA = "nccl-intra"
    NCCL_INTER = "nccl-inter"
    DCGM_1 = "dcgm-1"
    DCGM_2 = "dcgm-2"
    DCGM_3 = "dcgm-3"
    STORAGE_DATASETS = "storage-datasets"
    STORAGE_CHECKPOINTS = "storage-checkpoints"
    GPT2 = "gpt2"
    BERT = "bert"


DCGM_LEVELS = {AcceptanceTest.DCGM_1: 1, AcceptanceTest.DCGM_2: 2, AcceptanceTest.DCGM_3: 3}
BENCHMARKS = (AcceptanceTest.GPT2, AcceptanceTest.BERT)
STORAGE = (AcceptanceTest.STORAGE_DATASETS, AcceptanceTest.STORAGE_CHECKPOINTS)
# The largest message of the runs, and the one they are judged by.
LARGEST_MESSAGE_BYTES = 16 << 30
# What each threshold of the settings means; tests without a figure are judged by their own verdicts.
UNITS = {
    AcceptanceTest.NCCL_INTRA: "GB/s bus bandwidth",
    AcceptanceTest.NCCL_INTER: "GB/s bus bandwidth",
    AcceptanceTest.STORAGE_DATASETS: "GB/s read",
    AcceptanceTest.STORAGE_CHECKPOINTS: "GB/s written",
    AcceptanceTest.GPT2: "tokens/s of one GPU",
    AcceptanceTest.BERT: "tokens/s of one GPU",
}
