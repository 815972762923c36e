"""A complete good environment, made anew for each test."""

from collections.abc import Callable
from typing import Any

import pytest

from stacks.config import SettingProblem, SettingsError, load
from stacks.config.versions import Versions, parse
from stacks.machine import DEFAULT_STATE

PINS: dict[str, Any] = {
    "images": {
        "postgres": {"supported": "docker.io/library/postgres:15.14", "lab": "gpu-platform.lab/postgres:15"},
        "mlflow": {"supported": "ghcr.io/mlflow/mlflow:v3.18.0", "lab": "gpu-platform.lab/mlflow:3.18.0"},
    },
    "charts": {
        "kueue": {
            "version": "0.17.0",
            "supported": "oci://registry.k8s.io/kueue/charts/kueue",
            "lab": {"module": "k"},
        }
    },
}


@pytest.fixture
def versions() -> Versions:
    return parse(PINS, DEFAULT_STATE)


@pytest.fixture
def good() -> dict[str, Any]:
    return {
        "kind": "dev",
        "ownership": {"owner": "ml", "project": "gp", "cost_centre": "rnd", "contact": "ml@example.com"},
        "cluster": {"source": "lab"},
        "pools": {
            "a100": {
                "server": "dgx-a100-80",
                "nodes": 4,
                "fabric": "infiniband-hdr",
                "multi_node_training": True,
            },
            "small": {"server": "generic-2x-a100-80", "nodes": 2, "fabric": "ethernet-100"},
        },
        "queues": {
            "research": {
                "pools": {"a100": {"gpus": 24}, "small": {"gpus": 4}},
                "default_time_limit_minutes": 60,
                "max_time_limit_minutes": 1440,
            },
            "prod": {"pools": {"a100": {"gpus": 8}}, "cohort": "all"},
        },
        "storage": {
            "datasets": {"size_gib": 5},
            "checkpoints": {"size_gib": 6},
            "object_store": {"size_gib": 7},
            "database": {"size_gib": 8},
        },
        "tracking": {"enabled": True},
        "samples": {"gang_job": {"queue": "research", "pool": "a100", "nodes": 3, "gpus_per_node": 8}},
    }


@pytest.fixture
def problems(versions: Versions) -> Callable[..., tuple[SettingProblem, ...]]:
    """What `load` finds wrong."""

    def found(raw: object, stack: str = "dev") -> tuple[SettingProblem, ...]:
        with pytest.raises(SettingsError) as caught:
            load(stack, raw, versions)
        return caught.value.problems

    return found
