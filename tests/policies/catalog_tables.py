"""Small tables of the catalogue's shape, for rules to be tested on; figures from the sources named.

MIG: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (A100 80 GB, in part). Driver and CUDA:
https://docs.nvidia.com/deploy/cuda-compatibility/. Servers below are made up to be wrong.
"""

from typing import Any

_GOOD: dict[str, Any] = {
    "gpu": "a100-80",
    "gpus": 8,
    "gpu_memory_gb": 640,
    "gpu_power_watts": 3200,
    "ram_gib": 2048,
    "nvme_tb": 30.72,
    "psu_watts": 9000,
    "numa_nodes": 8,
    "system_watts": 6500,
}
SERVERS: dict[str, Any] = {
    "low-ram": {**_GOOD, "ram_gib": 512},
    "low-boards": {**_GOOD, "psu_watts": 3000, "system_watts": None},
    "low-server": {**_GOOD, "psu_watts": 6000},
    "low-disk": {**_GOOD, "nvme_tb": 0.96},
    "l4-server": {**_GOOD, "gpu": "l4"},
}
INSTANCES: dict[str, Any] = {
    "p4d.24xlarge": {
        "gpu": "a100-40",
        "gpus": 8,
        "gpu_memory_total_mib": 327680,
        "ram_gib": 1152,
        "nvme_gb": 8000,
    },
    "small.disk": {"gpu": "t4", "gpus": 1, "gpu_memory_total_mib": 16384, "ram_gib": 32, "nvme_gb": 125},
}
MIG: dict[str, Any] = {
    "a100-80": {
        "max_counts": {"1g.10gb": 7, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1},
        "full_layouts": [
            {"1g.10gb": 7},
            {"2g.20gb": 3, "1g.10gb": 1},
            {"3g.40gb": 2},
            {"4g.40gb": 1, "3g.40gb": 1},
            {"7g.80gb": 1},
        ],
    }
}
VERSIONS: dict[str, Any] = {
    "cuda": {
        "12.8": {"driver": "570.26", "minor_driver": "525.60.13"},
        "13.0": {"driver": "580.65.06", "minor_driver": "580.65.06"},
    },
    "driver": {
        "535": {"cuda_major": 12, "end_of_support": "2026-06-30"},
        "580": {"cuda_major": 13, "end_of_support": "2028-06-30"},
    },
    "kubernetes": {"1.33": {"end_of_support": "2026-06-28"}, "1.35": {"end_of_support": "2027-02-28"}},
    "operator": {
        "25.10": {
            "support": "ended",
            "driver_branches": [],
            "kubernetes_min": None,
            "kubernetes_max": None,
            "toolkit": None,
        },
        "26.7": {
            "support": "supported",
            "driver_branches": ["580"],
            "kubernetes_min": "1.32",
            "kubernetes_max": "1.36",
            "toolkit": "1.20.0",
        },
    },
}
FLOORS: dict[str, Any] = {
    "CVE-2025-23266": {
        "product": "nvidia-container-toolkit",
        "fixed_in": ["1.17.8"],
        "affected_through": None,
        "what": "a container image runs code on the host with full rights",
    },
    "CVE-2025-49844": {
        "product": "redis",
        "fixed_in": ["7.2.11", "7.4.6", "8.0.4"],
        "affected_through": None,
        "what": "a user who may run Lua scripts runs code in the server",
    },
    "CVE-2026-0545": {
        "product": "mlflow",
        "fixed_in": [],
        "affected_through": "3.10.1",
        "what": "the job interface ignores the login",
    },
}
