"""SimulatedGpuPool: nodes from the catalogue, each in one place."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.catalog import FABRICS, SERVERS
from components.compute import Operation, SimulatedGpuPool, SimulatedGpuPoolArgs
from components.compute._simulated_gpu_pool_plan import plan_nodes
from components.contracts import GpuPool, Taint
from components.core import ArgsError
from tests.harness import Options, run
from tests.harness.samples import ANNOTATIONS, FABRIC, LABELS, OWNERSHIP, SERVER

NODE, COMPONENT = "kubernetes:core/v1:Node", "gpuplatform:compute:SimulatedGpuPool"


def _args(**changes: Any) -> SimulatedGpuPoolArgs:
    values: dict[str, Any] = {
        "pool": "a100",
        "ownership": OWNERSHIP,
        "server": SERVER,
        "fabric": FABRIC,
        "nodes": 3,
        "nodes_per_rack": 2,
        "racks_per_block": 1,
    }
    return SimulatedGpuPoolArgs(**(values | changes))


@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 20))
def test_every_node_stands_in_one_rack_of_one_block_and_none_is_overfull(
    nodes: int, per_rack: int, per_block: int
) -> None:
    places = plan_nodes("pool", nodes=nodes, nodes_per_rack=per_rack, racks_per_block=per_block)
    assert len({place.name for place in places}) == nodes
    racks = Counter(place.rack for place in places)
    blocks = Counter(place.block for place in places)
    assert sum(racks.values()) == sum(blocks.values()) == nodes
    assert max(racks.values()) <= per_rack
    assert max(blocks.values()) <= per_rack * per_block
    # A rack belongs to one block, and only the last of each may be part full.
    assert len({(place.rack, place.block) for place in places}) == len(racks)
    assert sum(count < per_rack for count in racks.values()) <= 1
    assert sum(count < per_rack * per_block for count in blocks.values()) <= 1


@given(st.integers(1, 60), st.integers(0, 40), st.integers(1, 9), st.integers(1, 5))
def test_a_pool_that_grows_moves_and_renames_nobody(nodes: int, more: int, racks: int, blocks: int) -> None:
    before = plan_nodes("pool", nodes=nodes, nodes_per_rack=racks, racks_per_block=blocks)
    after = plan_nodes("pool", nodes=nodes + more, nodes_per_rack=racks, racks_per_block=blocks)
    assert after[:nodes] == before


@pytest.mark.parametrize("preview", [False, True])
def test_a_node_says_what_the_catalogue_says(preview: bool) -> None:
    recording = run(lambda: SimulatedGpuPool("a100", _args()) and None, preview=preview)
    resources = {
        "cpu": "256",
        "memory": "2Ti",
        "ephemeral-storage": "30720G",
        "pods": "110",
        "nvidia.com/gpu": "8",
    }
    node = recording.assert_resource(
        NODE,
        "a100-b1-r0-n0",
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": "a100-b1-r0-n0",
                "labels": {
                    **LABELS,
                    "kubernetes.io/arch": "amd64",
                    "kubernetes.io/os": "linux",
                    "kubernetes.io/hostname": "a100-b1-r0-n0",
                    "node.kubernetes.io/instance-type": "dgx-a100-80",
                    "gpu-platform/topology-block": "a100-b1",
                    "gpu-platform/topology-rack": "a100-b1-r0",
                    "gpu-platform/pool": "a100",
                    "gpu-platform/fabric": "infiniband-hdr",
                    "gpu-platform/multi-node": "false",
                    "gpu-platform/numa-nodes": "8",
                    "gpu-platform/simulated": "true",
                    "nvidia.com/gpu.present": "true",
                    "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
                    "nvidia.com/gpu.family": "ampere",
                    "nvidia.com/gpu.count": "8",
                    "nvidia.com/gpu.replicas": "1",
                    "nvidia.com/gpu.sharing-strategy": "none",
                    "nvidia.com/gpu.memory": "81920",
                    "nvidia.com/gpu.machine": "dgx-a100-80",
                    "nvidia.com/gpu.mode": "compute",
                    "nvidia.com/gpu.compute.major": "8",
                    "nvidia.com/gpu.compute.minor": "0",
                    "nvidia.com/mig.capable": "true",
                    "nvidia.com/mig.strategy": "single",
                    "gpu-platform/topology-policy": "single-numa-node",
                    "gpu-platform/cpu-policy": "static",
                },
                "annotations": {
                    **ANNOTATIONS,
                    "kwok.x-k8s.io/node": "fake",
                    "node.alpha.kubernetes.io/ttl": "0",
                },
            },
            "spec": {
                "taints": [
                    {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
                    {"key": "gpu-platform/simulated", "value": "true", "effect": "NoSchedule"},
                ]
            },
            "status": {"capacity": resources, "allocatable": resources},
        },
        parent="a100",
    )
    assert node.options == Options(replace_on_changes=("status",), delete_before_replace=True)
    recording.assert_counts({COMPONENT: 1, NODE: 3})
    names = [resource.name for resource in recording.of_type(NODE)]
    assert sorted(names) == ["a100-b0-r0-n0", "a100-b0-r0-n1", "a100-b1-r0-n0"]


def test_a_node_tells_how_it_is_operated() -> None:
    operation = Operation(
        topology_policy="restricted",
        mig_strategy="mixed",
        mig_layout={"3g.40gb": 1, "4g.40gb": 1},
        sharing_strategy="time-slicing",
        sharing_replicas=4,
        driver_version="580.95.05",
        cuda_version="13.0",
    )
    args = replace(_args(), operation=operation)
    node = run(lambda: SimulatedGpuPool("a100", args) and None).of_type(NODE)[0]
    metadata = node.inputs["metadata"]
    assert metadata["annotations"]["gpu-platform/mig-layout"] == "3g.40gb=1,4g.40gb=1"
    said = {key: value for key, value in metadata["labels"].items() if key in _OPERATION}
    assert said == _OPERATION


_OPERATION = {
    "gpu-platform/topology-policy": "restricted",
    "gpu-platform/cpu-policy": "static",
    "nvidia.com/mig.strategy": "mixed",
    "nvidia.com/gpu.sharing-strategy": "time-slicing",
    "nvidia.com/gpu.replicas": "4",
    "nvidia.com/cuda.driver-version.full": "580.95.05",
    "nvidia.com/cuda.runtime-version.full": "13.0",
}


def _pool(args: SimulatedGpuPoolArgs) -> GpuPool:
    pools: list[GpuPool] = []
    run(lambda: pools.append(SimulatedGpuPool("pool", args).pool))
    return pools[0]


def test_the_contract_repeats_the_catalogue_and_the_topology() -> None:
    pool = _pool(_args(nodes=4, multi_node_training=True, place="onprem"))
    environment = pool.nccl_environment
    assert environment["NCCL_IB_HCA"] == "mlx5"
    assert replace(pool, nccl_environment={}) == GpuPool(
        name="a100",
        place="onprem",
        gpu_model="a100-80",
        gpu_product="NVIDIA-A100-SXM4-80GB",
        gpus_per_node=8,
        cpus_per_node=256,
        memory_gib_per_node=2048,
        min_nodes=4,
        max_nodes=4,
        fabric="infiniband-hdr",
        nccl_environment={},
        topology_levels=(
            "gpu-platform/topology-block",
            "gpu-platform/topology-rack",
            "kubernetes.io/hostname",
        ),
        labels={"gpu-platform/pool": "a100"},
        taints=(
            Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"),
            Taint(key="gpu-platform/simulated", value="true", effect="NoSchedule"),
        ),
        multi_node_training=True,
        simulated=True,
    )
    assert pool.max_gpus == 32


@pytest.mark.parametrize("key", sorted(SERVERS))
def test_every_server_of_the_catalogue_can_be_simulated(key: str) -> None:
    pool = _pool(_args(server=SERVERS[key], fabric=FABRICS["infiniband-ndr"]))
    assert (pool.gpus_per_node, pool.cpus_per_node) == (SERVERS[key].gpus, SERVERS[key].cpu_threads)


def test_two_pools_live_in_one_stack() -> None:
    def program() -> None:
        SimulatedGpuPool("a100", _args())
        SimulatedGpuPool("h100", _args(pool="h100", server=SERVERS["dgx-h100"]))

    recording = run(program)
    recording.assert_counts({COMPONENT: 2, NODE: 6})
    assert len({node.inputs["metadata"]["name"] for node in recording.of_type(NODE)}) == 6


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"pool": "A100"}, "pool"),
        ({"pool": "ä100"}, "pool"),
        ({"nodes": 0}, "nodes"),
        ({"nodes": -4}, "nodes"),
        ({"nodes_per_rack": 0}, "nodes_per_rack"),
        ({"racks_per_block": 0}, "racks_per_block"),
    ],
)
def test_an_impossible_pool_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]
