"""Stacks with one fault each, and stacks without any; a further environment adds its rows here.

A stack is settings: the committed ones of dev with changes. A fault the settings can say is refused by them;
one that only a program can make is planted into the planned resources and refused by the policy pack.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.policies.gpu_manifests import cluster_queue
from tests.policies.manifests import Resource, binding, metadata, service


@dataclass(frozen=True, kw_only=True)
class CleanStack:
    """Settings without a fault: path → value over the committed ones; None leaves a key out."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SettingsFault:
    """One wrong setting and the words that refuse it.

    Args:
        name: What is wrong, a slug.
        path: Where, `/` between keys.
        value: What stands there.
        at: Path of the problem.
        says: Part of its message.
    """

    name: str
    path: str
    value: Any
    at: str
    says: str


@dataclass(frozen=True, kw_only=True)
class PlanFault:
    """One wrong resource and the rule that refuses it.

    Args:
        name: What is wrong, a slug.
        rule: The rule that must speak, alone.
        says: Part of its message.
        added: A resource of the program's that the settings do not make.
        kind: Type of the planned resource that is changed instead.
        resource: Its logical name.
        change: Path → value in it; None removes.
    """

    name: str
    rule: str
    says: str
    added: tuple[Resource, ...] = ()
    kind: str = ""
    resource: str = ""
    change: Mapping[str, Any] = field(default_factory=dict)


_SINGLE = {"server": "generic-1x-a100-80", "nodes": 3, "fabric": "ethernet-100"}
_CUT = {**_SINGLE, "mig": {"layout": {"1g.10gb": 7}}}
CLEAN = (
    CleanStack(name="as-committed"),
    CleanStack(
        name="single-gpu-servers",
        changes={
            "pools": {"small": _SINGLE},
            "queues": {"team": {"pools": {"small": {"gpus": 3}}}},
            "samples/gang_job": None,
        },
    ),
    CleanStack(
        name="two-teams-with-cut-and-whole-gpus",
        changes={
            "pools/cut": _CUT,
            "pools/h100/driver": {"version": "580.95.05", "cuda": "13.0"},
            "queues/research/pools/h100": {"gpus": 16},
            "queues/research/cohort": "all",
            "queues/product": {
                "pools": {"h100": {"gpus": 16}, "cut": {"gpus": 3}},
                "cohort": "all",
                "fair_share": 2,
            },
        },
    ),
)

_SHARED = {"strategy": "time-slicing", "replicas": 4}
SETTINGS_FAULTS = (
    SettingsFault(
        name="no-numa-alignment",
        path="pools/a100/kubelet",
        value={"topology_manager": "best-effort"},
        at="pools.a100.kubelet.topology_manager",
        says="accepted: single-numa-node or restricted",
    ),
    SettingsFault(
        name="no-cores-of-its-own",
        path="pools/a100/kubelet",
        value={"cpu_manager": "none"},
        at="pools.a100.kubelet.cpu_manager",
        says="accepted: static",
    ),
    SettingsFault(
        name="one-file-system-for-both",
        path="storage/checkpoints/storage_class",
        value="standard",
        at="storage.checkpoints.storage_class",
        says="checkpoints starve data loading",
    ),
    SettingsFault(
        name="ethernet-between-nodes",
        path="pools/a100/fabric",
        value="ethernet-100",
        at="pools.a100.fabric",
        says="accepted: InfiniBand or EFA for multi-node training",
    ),
    SettingsFault(
        name="quota-above-the-pool",
        path="queues/research/pools/a100/gpus",
        value=64,
        at="queues.research.pools.a100.gpus",
        says="accepted: at most the pool's 32 GPUs",
    ),
    SettingsFault(
        name="no-time-limit",
        path="queues/research/max_time_limit_minutes",
        value=0,
        at="queues.research.max_time_limit_minutes",
        says="accepted: a whole number of minutes",
    ),
    SettingsFault(
        name="no-fair-share",
        path="queues/research/fair_share",
        value=0,
        at="queues.research.fair_share",
        says="a queue of weight 0 would get nothing",
    ),
    SettingsFault(
        name="gpus-by-turns-between-queues",
        path="pools/h100/sharing",
        value=_SHARED,
        at="pools.h100.sharing.strategy",
        says="nothing keeps one team's job out of another's memory",
    ),
    SettingsFault(
        name="mixed-layout-under-single",
        path="pools/cut/mig",
        value={"layout": {"3g.40gb": 1, "4g.40gb": 1}},
        at="pools.cut.mig.strategy",
        says="accepted: mixed for a layout of several profiles",
    ),
    SettingsFault(
        name="moving-driver",
        path="pools/h100/driver",
        value={"version": "latest", "cuda": "13.0"},
        at="pools.h100.driver.version",
        says="accepted: a version in quotes",
    ),
    SettingsFault(
        name="nobody-owns-it",
        path="ownership/owner",
        value="",
        at="ownership.owner",
        says="accepted:",
    ),
)

_NODE, _QUEUE = "kubernetes:core/v1:Node", "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue"
_RACK = "pool-a100-b0-r0-n0"
_LABELS = "metadata.labels."
PLAN_FAULTS = (
    PlanFault(
        name="numa",
        rule="numa",
        says="gpu-platform/topology-policy absent",
        kind=_NODE,
        resource=_RACK,
        change={_LABELS + "gpu-platform/topology-policy": None},
    ),
    PlanFault(
        name="ram-below-gpu-memory",
        rule="sizing",
        says="512 GiB of RAM to 640 GB",
        kind=_NODE,
        resource=_RACK,
        change={"status.capacity.memory": "512Gi"},
    ),
    PlanFault(
        name="supplies-below-gpu-power",
        rule="sizing",
        says="3000 W for 3200 W",
        kind=_NODE,
        resource=_RACK,
        change={_LABELS + "node~kubernetes~io/instance-type": "low-boards"},
    ),
    PlanFault(
        name="impossible-mig-count",
        rule="mig",
        says="8 of 1g.10gb (most: 7)",
        kind=_NODE,
        resource="pool-cut-b0-r0-n0",
        change={"metadata.annotations.gpu-platform/mig-layout": "1g.10gb=8"},
    ),
    PlanFault(
        name="two-fabrics-in-a-pool",
        rule="fabric",
        says="mixes fabrics",
        kind=_NODE,
        resource=_RACK,
        change={_LABELS + "gpu-platform/fabric": "infiniband-ndr"},
    ),
    PlanFault(
        name="no-inter-node-test",
        rule="acceptance",
        says="pool 'a100' is for jobs over several nodes",
        kind="kubernetes:core/v1:ConfigMap",
        resource="acceptance-a100-manifests",
        change={"metadata.annotations.gpu-platform/acceptance-tests": "nccl-intra"},
    ),
    PlanFault(
        name="no-fair-share",
        rule="scheduler",
        says="weight is absent",
        kind=_QUEUE,
        resource="queue-research-cluster-queue",
        change={"spec.fairSharing": None},
    ),
    PlanFault(
        name="quota-above-capacity",
        rule="scheduler",
        says="promise 33 GPUs of flavor 'a100'; accepted: its nodes' 32",
        added=(cluster_queue("side-door", gpus="1"),),
    ),
    PlanFault(
        name="queue-without-time-limit",
        rule="scheduler",
        says="jobs of this queue need no end",
        kind="kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy",
        resource="job-rules-jobs",
        change={"spec.validations": []},
    ),
    PlanFault(
        name="cuda-newer-than-driver",
        rule="versions",
        says="cuda 13.0 does not run on driver 580.1",
        kind=_NODE,
        resource="pool-h100-b0-r0-n0",
        change={_LABELS + "nvidia~com/cuda~driver-version~full": "580.1"},
    ),
    PlanFault(
        name="cluster-admin",
        rule="access",
        says="it gives cluster-admin to ops",
        added=(binding("everything", "cluster-admin"),),
    ),
    PlanFault(
        name="mlflow-without-login",
        rule="access",
        says="accepted: --app-name basic-auth",
        kind="kubernetes:apps/v1:Deployment",
        resource="tracking-server-deployment",
        change={"spec.template.spec.containers.0.args": ["server"]},
    ),
    PlanFault(
        name="open-service",
        rule="exposure",
        says="spec.type is 'LoadBalancer'",
        added=(
            Resource(
                name="door",
                type=service().type,
                props={"metadata": metadata("door"), "spec": {"type": "LoadBalancer"}},
            ),
        ),
    ),
)
