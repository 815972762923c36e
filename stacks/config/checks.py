"""Rules between settings that can be known offline.

Each check takes the raw settings and yields what it finds, independent of all others.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from components.catalog import FABRICS, SERVERS, nearest
from stacks.config.acceptance import acceptance_problems
from stacks.config.fields import (
    DEFAULT_CLASSES,
    DEFAULT_LIMIT_MINUTES,
    DEFAULT_MAX_LIMIT_MINUTES,
    DEFAULT_NODES_PER_RACK,
    DEFAULT_RACKS_PER_BLOCK,
)
from stacks.config.operation import operation_problems
from stacks.config.problems import SettingProblem
from stacks.config.versions import Versions
from stacks.config.view import View

MAX_ETHERNET_NODES = 4

Check = Callable[[View], Iterator[SettingProblem]]


def problems_between(raw: object, versions: Versions) -> tuple[SettingProblem, ...]:
    """Everything wrong between settings, however wrong single settings are."""
    root = View(raw)
    found = [problem for check in _CHECKS for problem in check(root)]
    return (*found, *_artifact_names(root, versions))


def _pool_gpus(root: View, name: str) -> int | None:
    """GPUs of a pool, or None while its server or node count is not usable."""
    server = SERVERS.get(root.at("pools", name, "server").text or "")
    nodes = root.at("pools", name, "nodes").number
    return server.gpus * nodes if server and nodes else None


def _simulated_pools(root: View) -> Iterator[SettingProblem]:
    if root.at("cluster", "source").text == "kubeconfig" and root.at("pools").raw:
        names = ", ".join(name for name, _ in root.at("pools").entries())
        yield root.at("pools").problem(
            "no pools with `cluster.source: kubeconfig`: those of kind dev are simulated by KWOK, "
            "which only the lab runs",
            "set `cluster.source: lab`, or remove `pools` and the queues that use them",
            value=f"simulated pools {names}",
        )


def _fabrics(root: View) -> Iterator[SettingProblem]:
    for _, pool in root.at("pools").entries():
        fabric = FABRICS.get(pool.at("fabric").text or "")
        server = SERVERS.get(pool.at("server").text or "")
        nodes = pool.at("nodes").number or 0
        if fabric is None:
            continue
        fit = " or ".join(
            key for key, row in FABRICS.items() if row.carries_multi_node_training and not row.cloud_only
        )
        spans = pool.at("multi_node_training").flag(default=False)
        if not fabric.carries_multi_node_training and (spans or nodes > MAX_ETHERNET_NODES):
            why = "multi-node training" if spans else f"{nodes} nodes"
            yield pool.at("fabric").problem(
                f"InfiniBand or EFA for multi-node training or more than {MAX_ETHERNET_NODES} nodes",
                f"choose {fit}, or set `multi_node_training: false` with at most {MAX_ETHERNET_NODES} nodes",
                value=f"{fabric.key!r} for {why}",
            )
        if server and fabric.port_gbit_per_second > server.nic_gbit_per_second:
            yield pool.at("fabric").problem(
                f"at most the {server.nic_gbit_per_second} Gbit/s of this server's NICs",
                f"choose a fabric of {server.nic_gbit_per_second} Gbit/s, or another server",
                value=f"{fabric.key!r} with {fabric.port_gbit_per_second} Gbit/s on {server.key}",
            )


def _queue_pools(root: View) -> Iterator[SettingProblem]:
    pools = tuple(name for name, _ in root.at("pools").entries())
    for _, queue in root.at("queues").entries():
        for name, quota in queue.at("pools").entries():
            gpus, available = quota.at("gpus").number, _pool_gpus(root, name)
            if name not in pools:
                yield _unknown(quota, name, "pool", pools)
            elif gpus and available and gpus > available:
                yield quota.at("gpus").problem(
                    f"at most the pool's {available} GPUs",
                    f"lower it to {available}, or add nodes to pools.{name}",
                )


def _queue_sums(root: View) -> Iterator[SettingProblem]:
    """Quotas that each fit, yet promise more than the pool has together."""
    asked: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for queue_name, queue in root.at("queues").entries():
        for name, quota in queue.at("pools").entries():
            asked[name][queue_name] = quota.at("gpus").number or 0
    for name, by_queue in asked.items():
        available, total = _pool_gpus(root, name), sum(by_queue.values())
        if available and total > available >= max(by_queue.values()):
            last = root.at("queues", list(by_queue)[-1], "pools", name, "gpus")
            shares = ", ".join(f"{queue} {gpus}" for queue, gpus in by_queue.items())
            yield last.problem(
                f"quotas of all queues within the {available} GPUs of pools.{name}",
                f"lower them by {total - available} in all, or put the queues in one `cohort` to lend",
                value=f"{total} GPUs promised ({shares})",
            )


def _time_limits(root: View) -> Iterator[SettingProblem]:
    for _, queue in root.at("queues").entries():
        usual = queue.at("default_time_limit_minutes")
        longest = queue.at("max_time_limit_minutes").number_or(DEFAULT_MAX_LIMIT_MINUTES)
        minutes = usual.number_or(DEFAULT_LIMIT_MINUTES)
        if minutes and longest and minutes > longest:
            yield usual.problem(
                f"at most max_time_limit_minutes, which is {longest}",
                f"lower it to {longest}, or raise max_time_limit_minutes",
                value=str(minutes),
            )


def _separate_volumes(root: View) -> Iterator[SettingProblem]:
    volumes = {name: root.at("storage", name) for name in DEFAULT_CLASSES}
    lab = root.at("cluster", "source").text != "kubeconfig"
    classes = {
        name: volume.at("storage_class").text or (DEFAULT_CLASSES[name] if lab else None)
        for name, volume in volumes.items()
    }
    for name, volume in volumes.items():
        if (
            classes[name] is None
            and isinstance(volume.raw, Mapping)
            and volume.at("storage_class").raw is None
        ):
            yield volume.at("storage_class").problem(
                "the name of a StorageClass of your cluster; only the lab has default ones",
                f"set storage.{name}.storage_class (`kubectl get storageclass` lists them)",
            )
    checkpoints = volumes["checkpoints"]
    if classes["checkpoints"] and classes["checkpoints"] == classes["datasets"]:
        yield checkpoints.at("storage_class").problem(
            "another class than storage.datasets has: on one file system checkpoints starve data loading",
            "name another StorageClass for one of the two"
            + (f" (left out: {', '.join(f'{k} {v}' for k, v in DEFAULT_CLASSES.items())})" if lab else ""),
            value=repr(classes["checkpoints"]),
        )
    claim = checkpoints.at("claim").text or "checkpoints"
    if claim == (volumes["datasets"].at("claim").text or "datasets"):
        yield checkpoints.at("claim").problem(
            "another claim than storage.datasets has", "name two different claims", value=repr(claim)
        )


def _samples(root: View) -> Iterator[SettingProblem]:
    job = root.at("samples", "gang_job")
    if job.raw is not None:
        yield from _gang_job(root, job)


def _gang_job(root: View, job: View) -> Iterator[SettingProblem]:
    pool, queue = job.at("pool").text, job.at("queue").text
    nodes, gpus = job.at("nodes").number, job.at("gpus_per_node").number
    pools = tuple(name for name, _ in root.at("pools").entries())
    queues = tuple(name for name, _ in root.at("queues").entries())
    if queue is not None and queue not in queues:
        yield _unknown(job.at("queue"), queue, "queue", queues)
    if pool is not None and pool not in pools:
        yield _unknown(job.at("pool"), pool, "pool", pools)
        return
    server = SERVERS.get(root.at("pools", pool or "", "server").text or "")
    if server and gpus and gpus > server.gpus:
        yield job.at("gpus_per_node").problem(
            f"at most the {server.gpus} GPUs of one {server.key}",
            f"lower it to {server.gpus} and ask for more nodes",
        )
    yield from _gang_nodes(root.at("pools", pool or ""), job, nodes or 0)
    if queue in queues and pool:
        yield from _gang_quota(root.at("queues", queue or "", "pools"), job, pool, (nodes or 0) * (gpus or 0))


def _gang_nodes(pool: View, job: View, nodes: int) -> Iterator[SettingProblem]:
    """A gang is placed inside one topology block, so it must fit one."""
    name, available = pool.location[-1], pool.at("nodes").number
    per_rack = pool.at("topology", "nodes_per_rack").number_or(DEFAULT_NODES_PER_RACK) or 0
    block = per_rack * (pool.at("topology", "racks_per_block").number_or(DEFAULT_RACKS_PER_BLOCK) or 0)
    if available and nodes > available:
        yield job.at("nodes").problem(
            f"at most the {available} nodes of pools.{name}",
            f"lower it to {available}, or add nodes to the pool",
        )
    elif block and nodes > block:
        yield job.at("nodes").problem(
            f"at most the {block} nodes of one topology block of pools.{name}",
            f"lower it to {block}, or correct pools.{name}.topology",
        )


def _gang_quota(quotas: View, job: View, pool: str, wanted: int) -> Iterator[SettingProblem]:
    names = tuple(name for name, _ in quotas.entries())
    quota = quotas.at(pool, "gpus").number
    if names and pool not in names:
        yield job.at("pool").problem(
            f"a pool its queue may use: {', '.join(names)}",
            f"choose one of them, or give the queue a quota of {pool}",
        )
    elif quota and wanted > quota:
        yield job.problem(
            f"at most the queue's quota of {quota} GPUs of {pool}: a gang above it would wait for ever",
            "ask for fewer nodes or GPUs, or raise the quota",
            value=f"{wanted} GPUs in all",
        )


def _lab_mirror(root: View) -> Iterator[SettingProblem]:
    mirror = root.at("artifacts", "registry_mirror")
    if mirror.text and root.at("cluster", "source").text == "lab":
        yield mirror.problem(
            "no mirror with `cluster.source: lab`, which builds its images itself",
            "remove it, or name a cluster of your own with `source: kubeconfig`",
        )


def _grafana(root: View) -> Iterator[SettingProblem]:
    grafana = root.at("monitoring", "grafana")
    if grafana.at("enabled").flag(default=False) and grafana.at("image").raw is None:
        yield grafana.at("image").problem(
            "the image to run, where Grafana is enabled", "name an image with an exact tag, or switch it off"
        )


def _artifact_names(root: View, versions: Versions) -> Iterator[SettingProblem]:
    known = {"images": tuple(versions.supported.images), "charts": tuple(versions.supported.charts)}
    for section, names in known.items():
        for name, place in root.at("artifacts", section).entries():
            if name not in names:
                yield _unknown(place, name, section.removesuffix("s"), names)


def _unknown(place: View, name: str, noun: str, known: tuple[str, ...]) -> SettingProblem:
    suggestion = nearest(name, known)
    accepted = f"a known {noun}: {', '.join(known)}" if known else f"a known {noun}, and there is none yet"
    fix = (
        f"did you mean {suggestion!r}?"
        if suggestion
        else f"correct the name, or remove it, or add the {noun}"
    )
    return place.problem(accepted, fix, value=f"the unknown {noun} {name!r}")


_CHECKS: tuple[Check, ...] = (
    _simulated_pools,
    _fabrics,
    _queue_pools,
    _queue_sums,
    _time_limits,
    _separate_volumes,
    _samples,
    acceptance_problems,
    _grafana,
    operation_problems,
    _lab_mirror,
)
