"""Writes ``policies/catalog.json`` from the catalogue: ``python -m tests.policies.regenerate_catalog``.

The policies may not import the program, so they read this file; a test compares it with the catalogue.
"""

import json

from components.catalog import FABRICS, SERVERS
from policies.facts import CATALOG_FILE


def document() -> str:
    """The text of ``catalog.json``."""
    fabrics = {key: {"kind": FABRICS[key].kind.value} for key in FABRICS}
    servers = {
        key: {
            "gpu": row.gpu,
            "gpu_memory_gb": row.gpu_memory_gb,
            "gpu_power_watts": row.gpu_power_watts,
            "gpus": row.gpus,
            "numa_nodes": row.numa_nodes,
            "nvme_tb": row.nvme_tb,
            "psu_watts": row.psu_watts,
            "ram_gib": row.ram_gib,
        }
        for key, row in SERVERS.items()
    }
    return json.dumps({"fabrics": fabrics, "servers": servers}, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    CATALOG_FILE.write_text(document())
