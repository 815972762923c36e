"""GpuFlavors and GangQueue: what Kueue is told about pools and quotas."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from components.core import ArgsError
from components.kube import ChartRelease, ChartReleaseArgs, ChartSource, Readiness
from components.scheduling import GangQueue, GangQueueArgs, GpuFlavors, GpuFlavorsArgs, PoolShare
from components.scheduling.gang_queue import quota
from components.scheduling.operator import _probe_queue
from tests.harness import Options, Recorded, Recording, run
from tests.harness.crd import crd_problems
from tests.harness.samples import ACCESS, OWNERSHIP, POOL, metadata

API = "kueue.x-k8s.io/v1beta2"
TOPOLOGY, FLAVOR = f"kubernetes:{API}:Topology", f"kubernetes:{API}:ResourceFlavor"
PRIORITY = f"kubernetes:{API}:WorkloadPriorityClass"
CLUSTER_QUEUE, LOCAL_QUEUE = f"kubernetes:{API}:ClusterQueue", f"kubernetes:{API}:LocalQueue"
H100 = replace(POOL, name="h100", labels={"gpu-platform/pool": "h100"}, cpus_per_node=224)
FIXED = {"replace_on_changes": ("spec",), "delete_before_replace": True}


def _queue(**changes: Any) -> GangQueueArgs:
    values: dict[str, Any] = {
        "queue": "research",
        "ownership": OWNERSHIP,
        "namespace": "jobs",
        "shares": (PoolShare(pool=POOL, flavor="a100", gpus=32), PoolShare(pool=H100, flavor="h100", gpus=4)),
        "default_time_limit_seconds": 3600,
        "max_time_limit_seconds": 86400,
    }
    return GangQueueArgs(**(values | changes))


def _run(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        flavors = GpuFlavors("flavors", GpuFlavorsArgs(ownership=OWNERSHIP, pools=(POOL, H100)))
        queue = GangQueue("research", _queue(**changes)).queue
        return {"flavors": flavors.flavors, "name": queue.name, "namespace": queue.namespace}

    return run(program, preview=preview)


def _custom(kind: str, name: str, body: dict[str, Any], namespace: str | None = None) -> dict[str, Any]:
    return {"apiVersion": API, "kind": kind, "metadata": metadata(name, namespace), **body}


@pytest.mark.parametrize("preview", [False, True])
def test_pools_of_the_same_levels_share_a_topology_and_have_a_flavor_each(preview: bool) -> None:
    recording = _run(preview=preview)
    assert recording.outputs["flavors"] == {"a100": "a100", "h100": "h100"}
    levels = [{"nodeLabel": level} for level in POOL.topology_levels]
    topology = recording.assert_resource(
        TOPOLOGY, "flavors-topology-a100", _custom("Topology", "a100", {"spec": {"levels": levels}})
    )
    assert topology.options == Options(**FIXED)  # type: ignore[arg-type]
    spec = {
        "nodeLabels": {"gpu-platform/pool": "h100"},
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Equal", "value": "present", "effect": "NoSchedule"}
        ],
        "topologyName": "a100",
    }
    flavor = recording.assert_resource(
        FLAVOR, "flavors-flavor-h100", _custom("ResourceFlavor", "h100", {"spec": spec}), parent="flavors"
    )
    assert flavor.options == Options(**FIXED, depends_on=("flavors-topology-a100",))  # type: ignore[arg-type]
    priorities = {
        item.inputs["metadata"]["name"]: item.inputs["value"] for item in recording.of_type(PRIORITY)
    }
    assert priorities == {"low": 100, "normal": 1000, "high": 10000}
    recording.assert_counts(
        {
            "gpuplatform:scheduling:GpuFlavors": 1,
            "gpuplatform:scheduling:GangQueue": 1,
            TOPOLOGY: 1,
            FLAVOR: 2,
            PRIORITY: 3,
            CLUSTER_QUEUE: 1,
            LOCAL_QUEUE: 1,
        }
    )


def test_pools_of_other_levels_have_a_topology_of_their_own() -> None:
    flat = replace(H100, topology_levels=("kubernetes.io/hostname",))
    args = GpuFlavorsArgs(ownership=OWNERSHIP, pools=(POOL, flat))
    recording = run(lambda: GpuFlavors("flavors", args) and None)
    names = {flavor.name: flavor.inputs["spec"]["topologyName"] for flavor in recording.of_type(FLAVOR)}
    assert names == {"flavors-flavor-a100": "a100", "flavors-flavor-h100": "h100"}


@pytest.mark.parametrize("preview", [False, True])
def test_a_queue_holds_its_part_of_each_pool(preview: bool) -> None:
    recording = _run(preview=preview)
    assert (recording.outputs["name"], recording.outputs["namespace"]) == ("research", "jobs")

    def resources(cpu: str, memory: str, gpus: str) -> list[dict[str, str]]:
        amounts = {"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpus}
        return [{"name": name, "nominalQuota": amount} for name, amount in amounts.items()]

    spec = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "jobs"}},
        "queueingStrategy": "BestEffortFIFO",
        "flavorFungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor"},
        "preemption": {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "Never",
            "borrowWithinCohort": {"policy": "Never"},
        },
        "fairSharing": {"weight": "1"},
        "stopPolicy": "None",
        "resourceGroups": [
            {
                "coveredResources": ["cpu", "memory", "nvidia.com/gpu"],
                "flavors": [
                    {"name": "a100", "resources": resources("1024", "8Ti", "32")},
                    {"name": "h100", "resources": resources("112", "1Ti", "4")},
                ],
            }
        ],
    }
    recording.assert_resource(
        CLUSTER_QUEUE,
        "research-cluster-queue",
        _custom("ClusterQueue", "research", {"spec": spec}),
        parent="research",
    )
    local = recording.assert_resource(
        LOCAL_QUEUE,
        "research-local-queue",
        _custom("LocalQueue", "research", {"spec": {"clusterQueue": "research"}}, "jobs"),
        parent="research",
    )
    assert local.options == Options(**FIXED, depends_on=("research-cluster-queue",))  # type: ignore[arg-type]


def test_a_cohort_lends_and_takes_back() -> None:
    spec = _run(cohort="all").one(CLUSTER_QUEUE, "research-cluster-queue").inputs["spec"]
    assert spec["cohortName"] == "all"
    assert spec["preemption"]["reclaimWithinCohort"] == "Any"


@given(st.integers(1, 32))
def test_cpus_and_memory_follow_the_gpus_and_never_fall_short(gpus: int) -> None:
    amounts = quota(PoolShare(pool=POOL, flavor="a100", gpus=gpus))
    units = {"Gi": 1, "Ti": 1024}
    memory = int(amounts["memory"][:-2]) * units[amounts["memory"][-2:]]
    cpu = int(amounts["cpu"].removesuffix("k")) * (1000 if amounts["cpu"].endswith("k") else 1)
    assert cpu * 8 >= gpus * 256
    assert memory * 8 >= gpus * 2048
    assert (cpu - 1) * 8 < gpus * 256


def test_the_gate_is_bound_to_every_custom_resource() -> None:
    def program() -> None:
        readiness = Readiness(access=ACCESS, plural="clusterqueues", manifest={"kind": "x"})
        source = ChartSource(chart="/kueue", version="1")
        chart = ChartRelease(
            "kueue",
            ChartReleaseArgs(release="kueue", namespace="k", source=source, values={}, readiness=readiness),
        )
        flavors = GpuFlavorsArgs(ownership=OWNERSHIP, pools=(POOL,), gate=chart.gate)
        GpuFlavors("flavors", flavors, pulumi.ResourceOptions(depends_on=[chart]))
        GangQueue("research", _queue(gate=chart.gate), pulumi.ResourceOptions(depends_on=[chart]))

    recording = run(program)
    custom = [resource for resource in recording.resources if API in resource.type]
    assert len(custom) == 7
    assert {tuple(resource.options.hooks.items()) for resource in custom} == {
        (("before_create", ("kueue-answers",)),)
    }


def test_two_queues_live_in_one_stack() -> None:
    def program() -> None:
        GangQueue("research", _queue())
        GangQueue("product", _queue(queue="product"))

    run(program).assert_counts({"gpuplatform:scheduling:GangQueue": 2, CLUSTER_QUEUE: 2, LOCAL_QUEUE: 2})


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"queue": "Research"}, "queue"),
        ({"shares": ()}, "shares"),
        ({"default_time_limit_seconds": 0}, "default_time_limit_seconds"),
        ({"max_time_limit_seconds": 60}, "max_time_limit_seconds"),
        ({"cohort": "A B"}, "cohort"),
        ({"shares": (PoolShare(pool=POOL, flavor="a100", gpus=33),)}, "shares.a100.gpus"),
        ({"shares": (PoolShare(pool=POOL, flavor="a100", gpus=0),)}, "shares.a100.gpus"),
    ],
)
def test_an_impossible_queue_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _queue(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]


@pytest.mark.parametrize(
    ("pools", "path"),
    [((), "pools"), ((replace(POOL, name="A"),), "pools.name"), ((POOL, POOL), "pools.a100")],
)
def test_impossible_pools_are_refused_by_path(pools: tuple[Any, ...], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        GpuFlavorsArgs(ownership=OWNERSHIP, pools=pools)
    assert [problem.path for problem in caught.value.problems] == [path]


def _definitions(chart: Path) -> dict[str, dict[str, Any]]:
    """Kind → definition; the chart's few template lines hold nothing the schema needs."""
    found = {}
    for file in sorted((chart / "templates" / "crd").glob("*.yaml")):
        lines = [line for line in file.read_text().splitlines() if "{{" not in line or "}}" not in line]
        text = re.sub(r"\{\{.*?\}\}", "", "\n".join(lines), flags=re.DOTALL)
        definition = yaml.safe_load(text)
        found[definition["spec"]["names"]["kind"]] = definition
    return found


def test_what_we_send_fits_the_schemas_of_the_pinned_kueue(kueue_chart: Path) -> None:
    definitions = _definitions(kueue_chart)
    sent: list[Recorded] = [item for item in _run(cohort="all").resources if API in item.type]
    assert {item.type.rpartition(":")[2] for item in sent} == {
        "Topology",
        "ResourceFlavor",
        "WorkloadPriorityClass",
        "ClusterQueue",
        "LocalQueue",
    }
    for item in sent:
        assert crd_problems(definitions[item.inputs["kind"]], item.inputs) == []
    assert crd_problems(definitions["ClusterQueue"], _probe_queue()) == []
    broken = {**_probe_queue(), "spec": {"queueingStrategy": "LIFO", "cohort": "old name"}}
    assert crd_problems(definitions["ClusterQueue"], broken) == [
        ".spec.queueingStrategy: 'LIFO' is not one of ['StrictFIFO', 'BestEffortFIFO']",
        ".spec.cohort: unknown field",
    ]
