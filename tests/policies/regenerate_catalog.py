"""Writes ``policies/catalog.json`` from the catalogue: ``python -m tests.policies.regenerate_catalog``.

The policies may not import the program, so they read this file; a test compares it with the catalogue.
"""

import json
from collections.abc import Mapping
from typing import Any

from components.catalog import (
    CUDA_RELEASES,
    DRIVER_BRANCHES,
    FABRICS,
    GPUS,
    INSTANCES,
    KUBERNETES_RELEASES,
    MIG_GPUS,
    OPERATOR_RELEASES,
    SECURITY_FLOORS,
    SERVERS,
    full_layouts,
)
from policies.facts import CATALOG_FILE


def document() -> str:
    """The text of ``catalog.json``; lists of plain values stay on one line, so that a change shows as one."""
    return _written(facts(), 0) + "\n"


def facts() -> dict[str, Any]:
    """What rules need to judge planned resources; units are in the names."""
    return {
        "fabrics": {
            key: {
                "kind": row.kind.value,
                "multi_node_training": row.carries_multi_node_training,
                "port_gbit_per_second": row.port_gbit_per_second,
            }
            for key, row in FABRICS.items()
        },
        "gpus": {
            key: {
                "compute_capability": row.compute_capability,
                "cuda_max_major": row.cuda_max_major,
                "cuda_min": row.cuda_min,
                "memory_gb": row.memory_gb,
                "power_watts": row.power_watts,
                "product": row.product,
            }
            for key, row in GPUS.items()
        },
        "instances": {
            key: {
                "capacity_blocks": row.capacity_blocks,
                "efa": row.efa,
                "efa_interfaces": row.efa_interfaces,
                "gpu": row.gpu,
                "gpu_memory_total_mib": row.gpu_memory_total_mib,
                "gpus": row.gpus,
                "network_cards": row.network_cards,
                "nvme_gb": row.nvme_gb,
                "ram_gib": row.ram_gib,
                "vcpus": row.vcpus,
            }
            for key, row in INSTANCES.items()
        },
        "mig": {
            key: {"full_layouts": [dict(one) for one in full_layouts(key)], "max_counts": row.max_counts}
            for key, row in MIG_GPUS.items()
        },
        "security_floors": {
            key: {
                "affected_through": row.affected_through,
                "fixed_in": list(row.fixed_in),
                "product": row.product,
                "what": row.what,
            }
            for key, row in SECURITY_FLOORS.items()
        },
        "servers": {
            key: {
                "gpu": row.gpu,
                "gpu_memory_gb": row.gpu_memory_gb,
                "gpu_power_watts": row.gpu_power_watts,
                "gpus": row.gpus,
                "numa_nodes": row.numa_nodes,
                "nvme_tb": row.nvme_tb,
                "psu_watts": row.psu_watts,
                "ram_gib": row.ram_gib,
                "system_watts": row.system_watts,
            }
            for key, row in SERVERS.items()
        },
        "versions": {
            "cuda": {
                key: {"driver": row.driver, "minor_driver": row.minor_driver}
                for key, row in CUDA_RELEASES.items()
            },
            "driver": {
                key: {"cuda_major": row.cuda_major, "end_of_support": row.end_of_support}
                for key, row in DRIVER_BRANCHES.items()
            },
            "kubernetes": {
                key: {"end_of_support": row.end_of_support} for key, row in KUBERNETES_RELEASES.items()
            },
            "operator": {
                key: {
                    "driver_branches": list(row.driver_branches),
                    "kubernetes_max": row.kubernetes_max,
                    "kubernetes_min": row.kubernetes_min,
                    "support": row.support.value,
                    "toolkit": row.toolkit,
                }
                for key, row in OPERATOR_RELEASES.items()
            },
        },
    }


def _written(value: object, depth: int) -> str:
    """JSON with one row of a table on one line."""
    if isinstance(value, Mapping) and any(isinstance(one, Mapping) for one in value.values()):
        inner = ",\n".join(
            f"{'  ' * (depth + 1)}{json.dumps(key)}: {_written(value[key], depth + 1)}"
            for key in sorted(value)
        )
        return "{\n" + inner + "\n" + "  " * depth + "}"
    return json.dumps(value, sort_keys=True)


if __name__ == "__main__":
    CATALOG_FILE.write_text(document())
