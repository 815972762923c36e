"""How a pool's nodes are operated, from its settings."""

from components.compute import Operation
from stacks.config.models import PoolSettings


def operation_of(pool: PoolSettings) -> Operation:
    """The pool's kubelet, MIG layout, sharing and driver."""
    mig, driver = pool.mig, pool.driver
    return Operation(
        topology_policy=pool.kubelet.topology_manager,
        cpu_policy=pool.kubelet.cpu_manager,
        mig_strategy="single" if mig is None else mig.strategy,
        mig_layout={} if mig is None else mig.layout,
        sharing_strategy=pool.sharing.strategy,
        sharing_replicas=pool.sharing.replicas,
        driver_version="" if driver is None else driver.version,
        cuda_version="" if driver is None else driver.cuda,
    )
