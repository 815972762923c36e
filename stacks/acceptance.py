"""Acceptance of the pools: what is delivered, and what an output is judged against."""

from collections.abc import Mapping
from typing import Any

from components.catalog import SERVERS
from components.contracts import GpuPool, QueueRef, StorageMount
from components.scheduling import DistributedSpace, DistributedSpaceArgs
from components.scheduling.acceptance import (
    Acceptance,
    AcceptanceArgs,
    AcceptanceImages,
    AcceptanceTest,
    Subject,
    storage_probe,
)
from stacks.config import AcceptanceSettings, Settings, block_nodes, wanted_tests
from stacks.config.models import PoolSettings
from stacks.namespaces import JOBS, Namespaces
from stacks.site import Site

NCCL_TESTS, DCGM, TRAINING = "nccl-tests", "dcgm", "training"


def deploy(
    site: Site,
    namespaces: Namespaces,
    pools: Mapping[str, GpuPool],
    queues: Mapping[str, QueueRef],
    mounts: tuple[StorageMount, ...],
) -> Mapping[str, Any]:
    """The tests of every pool that asks for them; nothing where none does.

    Returns:
        Pool → namespace, ConfigMap and tests.
    """
    images = site.settings.artifacts.images
    asked = {
        name: acceptance for name, pool in site.settings.pools.items() if (acceptance := pool.acceptance)
    }
    if not asked:
        return {}
    space = DistributedSpace(
        "acceptance-space",
        DistributedSpaceArgs(namespace=JOBS, ownership=site.ownership, more_programs=storage_probe()),
        opts=site.after(namespaces.jobs),
    )
    made = {}
    for name, acceptance in asked.items():
        tests, pool = _tests(site.settings.pools[name], acceptance), site.settings.pools[name]
        delivered = Acceptance(
            f"acceptance-{name}",
            AcceptanceArgs(
                ownership=site.ownership,
                pool=pools[name],
                queue=queues[acceptance.queue],
                tests=tests,
                together=_together(pool, acceptance),
                images=AcceptanceImages(
                    nccl_tests=images[NCCL_TESTS], dcgm=images[DCGM], training=images[TRAINING]
                ),
                mounts=tuple(mount for mount in mounts if mount.namespace == JOBS),
            ),
            opts=site.after(space),
        )
        made[name] = {
            "namespace": JOBS,
            "configMap": delivered.config_map,
            "tests": [test.value for test in tests],
        }
    return made


def subject(settings: Settings, name: str) -> tuple[Subject, tuple[AcceptanceTest, ...]] | None:
    """What the tests of a pool are judged against, and which there are; None where it has no acceptance."""
    pool = settings.pools[name]
    if pool.acceptance is None:
        return None
    server = SERVERS[pool.server]
    found = Subject(
        pool=name,
        gpu=server.gpu,
        fabric=pool.fabric,
        nodes=pool.nodes,
        gpus_per_node=server.gpus,
        together=_together(pool, pool.acceptance),
        # Every pool of kind dev is.
        simulated=settings.kind == "dev",
        floors={AcceptanceTest(test): figure for test, figure in pool.acceptance.thresholds.items()},
    )
    return found, _tests(pool, pool.acceptance)


def _tests(pool: PoolSettings, acceptance: AcceptanceSettings) -> tuple[AcceptanceTest, ...]:
    return tuple(AcceptanceTest(name) for name in wanted_tests(acceptance, pool.nodes))


def _together(pool: PoolSettings, acceptance: AcceptanceSettings) -> int:
    most = block_nodes(pool.topology.nodes_per_rack, pool.topology.racks_per_block, pool.nodes)
    return acceptance.nodes or most
