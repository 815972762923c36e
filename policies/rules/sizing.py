"""sizing: a server's memory, disks and power supplies fit its GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from policies.model import Facts, Finding, KubeObject, Planned, Rule, Severity, Unknown, Verdict, at
from policies.pools import SERVER, Pool, label, pools_of
from policies.quantity import amount

# Checkpoints and dataset shards are staged on local disks: the least a server class of the catalogue has.
MIN_NVME_TB = 1.0
_GIB, _GB_PER_TB, _MIB_PER_GB = 1024.0**3, 1000.0, 953.674


def check(plan: Sequence[Planned], facts: Facts) -> Verdict:
    """Judge the server of each pool by its row of the catalogue and by what the node says it has."""
    pools = pools_of(plan)
    if not pools:
        return None
    return tuple(finding for pool in pools for node in pool.kinds() for finding in _node(pool, node, facts))


def _node(pool: Pool, node: KubeObject, facts: Facts) -> Iterator[Finding]:
    key = label(node, SERVER)
    known = f"label {SERVER} with a server or instance type of the catalogue"
    if isinstance(key, Unknown):
        yield node.unproven("server", key, known)
        return
    server, instance = facts.catalog.servers.get(key), facts.catalog.instances.get(key)
    if server is None and instance is None:
        message = (
            f"pool {pool.name!r} is of {key or 'no kind of server'}, so nothing is proven; accepted: {known}"
        )
        yield replace(node.fail("server", message), proven=False)
        return
    yield from _memory(pool, node, server or instance or {})
    if server is not None:
        yield from _supplies(pool, node, server)
        yield from _disks(pool, node, key, float(server["nvme_tb"]), advice=False)
    elif instance is not None and instance.get("nvme_gb") is not None:
        # A cloud's instance has the disks it has, and volumes beside them.
        yield from _disks(pool, node, key, instance["nvme_gb"] / _GB_PER_TB, advice=True)


def _memory(pool: Pool, node: KubeObject, row: Mapping[str, Any]) -> Iterator[Finding]:
    planned = at(node.body, "status", "capacity", "memory")
    if isinstance(planned, Unknown):
        yield node.unproven("ram", planned, "memory above that of the GPUs together")
        return
    size = amount(planned)
    ram_gib = float(row["ram_gib"]) if size is None else size / _GIB
    gpu_gb = row.get("gpu_memory_gb") or (row.get("gpu_memory_total_mib") or 0) / _MIB_PER_GB
    if ram_gib <= gpu_gb:
        message = f"pool {pool.name!r} has {ram_gib:g} GiB of RAM to {gpu_gb:g} GB of GPU memory"
        yield node.fail("ram", f"{message}; accepted: more RAM than GPU memory")


def _supplies(pool: Pool, node: KubeObject, row: Mapping[str, Any]) -> Iterator[Finding]:
    supply, gpus = row["psu_watts"], row["gpu_power_watts"]
    need = max(gpus, row.get("system_watts") or 0)
    if supply < need:
        what = "the GPU boards" if need == gpus else "the whole server"
        message = f"pool {pool.name!r} has supplies of {supply} W for {need} W of {what}"
        yield node.fail("psu", f"{message}; accepted: supplies that carry it")


def _disks(pool: Pool, node: KubeObject, key: str, nvme_tb: float, *, advice: bool) -> Iterator[Finding]:
    if nvme_tb < MIN_NVME_TB:
        message = (
            f"pool {pool.name!r} on {key} has {nvme_tb:g} TB of local NVMe; accepted: {MIN_NVME_TB:g} TB"
        )
        yield replace(node.fail("nvme", message), advice=advice)


RULE = Rule(
    id="sizing",
    severity=Severity.HIGH,
    title="A server's memory, disks and power supplies fit its GPUs",
    fix="Choose a server of the catalogue whose figures fit (make catalog), or correct its row.",
    source="https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html",
    check_stack=check,
    gives_advice=True,
)
