"""Queues over the pools of an environment."""

from collections.abc import Mapping

from components.contracts import GpuPool, QueueRef
from components.kube import ChartSource
from components.scheduling import (
    GangQueue,
    GangQueueArgs,
    GpuAdmission,
    GpuAdmissionArgs,
    GpuFlavors,
    GpuFlavorsArgs,
    JobRules,
    JobRulesArgs,
    KueueOperator,
    KueueOperatorArgs,
    PoolShare,
    QueueRule,
)
from stacks.namespaces import JOBS, Namespaces
from stacks.site import Site

_SECONDS_PER_MINUTE = 60


def install(site: Site) -> KueueOperator | None:
    """Kueue; None where there is no queue."""
    if not site.settings.queues:
        return None
    chart = site.settings.artifacts.charts["kueue"]
    return KueueOperator(
        "kueue",
        KueueOperatorArgs(
            ownership=site.ownership,
            access=site.access,
            source=ChartSource(chart=chart.chart, version=chart.version, repository=chart.repo),
            image=site.settings.artifacts.images["kueue"],
        ),
        opts=site.after(),
    )


def deploy(
    site: Site, operator: KueueOperator | None, pools: Mapping[str, GpuPool], namespaces: Namespaces
) -> Mapping[str, QueueRef]:
    """A flavor per pool, the queues and the rules of their jobs; nothing where there is no Kueue."""
    if operator is None:
        return {}
    settings, ownership = site.settings, site.ownership
    flavors = GpuFlavors(
        "gpu",
        GpuFlavorsArgs(ownership=ownership, pools=tuple(pools.values()), gate=operator.gate),
        opts=site.after(operator),
    )
    after_flavors = site.after(operator, flavors, namespaces.jobs)
    queues = {
        name: GangQueue(
            f"queue-{name}",
            GangQueueArgs(
                queue=name,
                ownership=ownership,
                namespace=JOBS,
                shares=tuple(
                    PoolShare(pool=pools[pool], flavor=flavors.flavors[pool], gpus=quota.gpus)
                    for pool, quota in queue.pools.items()
                ),
                cohort=queue.cohort,
                fair_share=queue.fair_share,
                default_time_limit_seconds=queue.default_time_limit_minutes * _SECONDS_PER_MINUTE,
                max_time_limit_seconds=queue.max_time_limit_minutes * _SECONDS_PER_MINUTE,
                gate=operator.gate,
            ),
            opts=after_flavors,
        ).queue
        for name, queue in settings.queues.items()
    }
    JobRules(
        "job-rules",
        JobRulesArgs(
            ownership=ownership,
            namespace=JOBS,
            queues=tuple(
                QueueRule(
                    queue=name,
                    default_time_limit_seconds=queue.default_time_limit_seconds,
                    max_time_limit_seconds=queue.max_time_limit_seconds,
                )
                for name, queue in queues.items()
            ),
        ),
        opts=site.after(namespaces.jobs),
    )
    GpuAdmission(
        "gpu-admission",
        GpuAdmissionArgs(ownership=ownership, queue_namespaces=(JOBS,)),
        opts=site.after(),
    )
    return queues
