"""Faults planted in pools, queues, jobs and versions: the classic ones of GPU clusters."""

from dataclasses import replace
from typing import Any

from tests.policies.fault import Fault, altered
from tests.policies.gpu_manifests import DRIVER, cluster_queue, flavor, gpu_job, kueue, local_queue, nodes
from tests.policies.manifests import POD_TEMPLATE, Resource, changed, claim, deployment, metadata


def _pool(rule: str, check: str, says: str, name: str, **labels: Any) -> Fault:
    count = labels.pop("count", 1)
    return Fault(rule=rule, check=check, says=says, added=tuple(nodes(name, count, **labels)))


NUMA = (
    _pool(
        "numa",
        "topology",
        "gpu-platform/topology-policy none",
        "topology",
        gpu_platform__topology_policy="none",
    ),
    _pool(
        "numa", "topology", "accepted: single-numa-node", "weak", gpu_platform__topology_policy="restricted"
    ),
    _pool("numa", "cpu", "gpu-platform/cpu-policy none", "cpu", gpu_platform__cpu_policy="none"),
)


def _server(check: str, says: str, name: str, server: str) -> Fault:
    pool = nodes(name, 1, None, **{"node.kubernetes.io__instance_type": server})
    bare = tuple(altered(node, "status.capacity.memory", None) for node in pool)
    return Fault(rule="sizing", check=check, says=says, added=bare)


SIZING = (
    _server("ram", "512 GiB of RAM to 640 GB", "ram", "low-ram"),
    _server("psu", "3000 W for 3200 W of the GPU boards", "boards", "low-boards"),
    _server("psu", "6000 W for 6500 W of the whole server", "supplies", "low-server"),
    _server("nvme", "0.96 TB of local NVMe", "disk", "low-disk"),
    _server("nvme", "0.125 TB of local NVMe", "instance", "small.disk"),
    _server("server", "not proven: pool 'odd' is of abacus", "odd", "abacus"),
)


def _cut(
    check: str, says: str, name: str, layout: str, *, strategy: str = "mixed", server: str = ""
) -> Fault:
    labels = {"nvidia.com__mig.strategy": strategy}
    if server:
        labels["node.kubernetes.io__instance_type"] = server
    made = nodes(name, 1, annotations={"gpu-platform/mig-layout": layout}, **labels)
    return Fault(rule="mig", check=check, says=says, added=tuple(made))


MIG = (
    _cut("count", "8 of 1g.10gb (most: 7)", "eight", "1g.10gb=8", strategy="single"),
    _cut("profile", "asks a100-80 for 1g.5gb", "wrong", "1g.5gb=7", strategy="single"),
    _cut("layout", "which do not fit together", "crowded", "3g.40gb=2,1g.10gb=1"),
    _cut("layout", "is cut as '1g.10gb'", "unwritten", "1g.10gb"),
    _cut("strategy", "under strategy single", "blend", "3g.40gb=1,4g.40gb=1", strategy="single"),
    _cut("strategy", "strategy none", "nameless", "1g.10gb=7", strategy="none"),
    _cut("gpu", "cuts l4, which has no MIG", "uncut", "1g.10gb=7", server="l4-server"),
    Fault(
        rule="mig",
        check="tenants",
        says="'turns' is shared by time-slicing between team-a, team-b",
        added=(
            *nodes("turns", 1, None, **{"nvidia.com__gpu.sharing_strategy": "time-slicing"}),
            flavor("turns"),
            cluster_queue("team-a", "turns", "4"),
            cluster_queue("team-b", "turns", "4"),
        ),
    ),
)


def _scheduler(check: str, says: str, *added: Resource) -> Fault:
    return Fault(rule="scheduler", check=check, says=says, added=added)


_CONTAINER = "{resources: {limits: {nvidia.com/gpu: 8}}}"
_JOB = f"kind: Job\nspec: {{template: {{spec: {{containers: [{_CONTAINER}]}}}}}}\n"
SCHEDULER = (
    _scheduler("time-limit", "without spec.activeDeadlineSeconds", gpu_job("scheduler-limit", limit=None)),
    _scheduler("gang", "starts its 4 pods one by one", gpu_job("scheduler-gang", queue=None)),
    _scheduler(
        "time-limit",
        "data[job.yaml] asks for GPUs without",
        Resource(
            name="scheduler-template",
            type="kubernetes:core/v1:ConfigMap",
            props={"metadata": metadata("scheduler-template"), "data": {"job.yaml": _JOB}},
        ),
    ),
    _scheduler(
        "queue-limit", "jobs of this queue need no end", local_queue("scheduler-endless", "kube-public")
    ),
    _scheduler("fair-share", "weight is '0'", cluster_queue("scheduler-share", gpus="0", weight="0")),
    _scheduler("fair-share", "weight is absent", kueue("scheduler-none", "ClusterQueue", {})),
    _scheduler(
        "quota", "promise 41 GPUs of flavor 'a100'; accepted: its nodes' 40", cluster_queue("quota", gpus="1")
    ),
    _scheduler(
        "gang",
        "waitForPodsReady is off",
        Resource(
            name="scheduler-kueue",
            type="kubernetes:core/v1:ConfigMap",
            props={
                "metadata": metadata("scheduler-kueue"),
                "data": {"kueue.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"},
            },
        ),
    ),
)

ACCEPTANCE = (
    _pool(
        "acceptance",
        "inter-node",
        "pool 'untested' is for jobs over several nodes",
        "untested",
        count=2,
        gpu_platform__fabric="infiniband-hdr",
        gpu_platform__multi_node="true",
    ),
)


def _operator(name: str, version: str, **values: Any) -> Resource:
    return Resource(
        name=name,
        type="kubernetes:helm.sh/v3:Release",
        props={
            "chart": "oci://registry.k8s.io/charts/gpu-operator",
            "version": version,
            "namespace": "team",
            "name": name,
            "values": values,
        },
    )


def _driver(check: str, says: str, name: str, driver: str, cuda: str) -> Fault:
    keys = list(DRIVER)
    return _pool("versions", check, says, name, **{keys[0]: driver, keys[1]: cuda})


_REDIS = changed(
    changed(POD_TEMPLATE, "spec.containers.0.image", "docker.io/library/redis:7.2.1"),
    "spec.containers.0.args",
    ["/etc/redis.conf"],
)
VERSIONS = (
    _driver("support", "support of driver 535 ended on 2026-06-30", "old", "535.104.05", "12.8"),
    _driver("matrix", "driver 999.1 is of no branch", "new", "999.1", "13.0"),
    _driver("matrix", "cuda 11.1 is not in the catalogue", "past", "580.65.06", "11.1"),
    _driver("matrix", "cuda 13.0 does not run on driver 580.1", "early", "580.1", "13.0"),
    Fault(
        rule="versions",
        check="floor",
        says="redis 7.2.1 has CVE-2025-49844",
        added=(deployment("versions-redis", _REDIS),),
    ),
)


# Not on the engine, where this chart would be fetched and this cloud's plug-in is missing.
OPERATORS = (
    Fault(
        rule="versions",
        check="support",
        says="support of kubernetes 1.33 ended",
        added=(Resource(name="versions-eks", type="aws:eks/cluster:Cluster", props={"version": "1.33"}),),
    ),
    Fault(
        rule="versions",
        check="floor",
        says="nvidia-container-toolkit 1.17.7 has CVE-2025-23266",
        added=(_operator("versions-toolkit", "26.7.0", toolkit={"version": "1.17.7"}),),
    ),
    Fault(
        rule="versions",
        check="support",
        says="gpu-operator 25.10.0 is ended",
        added=(_operator("versions-operator", "25.10.0"),),
    ),
)


def _class(name: str, provisioner: str, **parameters: str) -> Resource:
    return Resource(
        name=f"class-{name}",
        type="kubernetes:storage.k8s.io/v1:StorageClass",
        props={
            "metadata": metadata(name, namespace=None),
            "provisioner": provisioner,
            "parameters": parameters,
        },
    )


_SCRATCH = claim("scratch")
BACKENDS = (
    Fault(
        rule="storage-split",
        check="throughput",
        says="lead to the same place",
        added=(
            _class("datasets-class", "fsx.csi.aws.com", fileSystemId="fs-1"),
            _class("checkpoints-class", "fsx.csi.aws.com", fileSystemId="fs-1"),
        ),
    ),
    Fault(
        rule="storage-split",
        check="scratch",
        says="scratch is ReadWriteMany",
        added=(replace(altered(_SCRATCH, "spec.accessModes", ["ReadWriteMany"]), name="scratch-shared"),),
    ),
    Fault(
        rule="storage-split",
        check="scratch",
        says="scratch is made by nfs.csi.k8s.io",
        added=(replace(_SCRATCH, name="scratch-remote"), _class("scratch-class", "nfs.csi.k8s.io")),
    ),
)

GPU: tuple[Fault, ...] = (*NUMA, *SIZING, *MIG, *SCHEDULER, *ACCEPTANCE, *VERSIONS, *BACKENDS)
