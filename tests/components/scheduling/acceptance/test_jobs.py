"""The manifests of a pool's tests, and the ConfigMap they come in."""

from dataclasses import replace
from typing import Any

import pytest
import yaml

from components.contracts import GpuPool, Purpose, StorageMount
from components.core import ArgsError
from components.scheduling.acceptance import (
    Acceptance,
    AcceptanceArgs,
    AcceptanceImages,
    AcceptanceTest,
    acceptance_jobs,
)
from stacks.config.fields import ACCEPTANCE_TESTS
from tests.harness import Recording, run
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP, POOL, QUEUE

REAL = replace(POOL, simulated=False)
ALL = tuple(AcceptanceTest)
IMAGES = AcceptanceImages(nccl_tests="example/nccl:1", dcgm="example/dcgm:4", training="example/torch:2")
NOTE = "placement only: these nodes are simulated, no container starts and nothing is measured"
CONFIG_MAP, POLICY = "kubernetes:core/v1:ConfigMap", "kubernetes:networking.k8s.io/v1:NetworkPolicy"
COMPONENT = "gpuplatform:scheduling:Acceptance"


def mount(purpose: Purpose) -> StorageMount:
    return StorageMount(
        name=purpose,
        purpose=purpose,
        namespace="jobs",
        claim=purpose.value,
        access_mode="ReadWriteOnce",
        storage_class="fast",
        size_gib=5,
    )


def args(pool: GpuPool = REAL, **changes: Any) -> AcceptanceArgs:
    values: dict[str, Any] = {
        "ownership": OWNERSHIP,
        "pool": pool,
        "queue": QUEUE,
        "tests": ALL,
        "together": 2,
        "images": IMAGES,
        "mounts": (mount(Purpose.DATASETS), mount(Purpose.CHECKPOINTS)),
    }
    return AcceptanceArgs(**(values | changes))


def container(test: AcceptanceTest, pool: GpuPool = REAL) -> Any:
    return acceptance_jobs(args(pool))[test]["spec"]["template"]["spec"]["containers"][0]


EXPECTED: dict[AcceptanceTest, tuple[int, str, list[str], int]] = {
    AcceptanceTest.NCCL_INTRA: (
        4,
        "example/nccl:1",
        ["all_reduce_perf", "-b", "8", "-e", "16G", "-f", "2", "-g", "8"],
        1800,
    ),
    AcceptanceTest.NCCL_INTER: (2, "example/torch:2", ["/opt/programs/all_reduce.py"], 1800),
    AcceptanceTest.DCGM_1: (4, "example/dcgm:4", ["-r", "1", "-j"], 600),
    AcceptanceTest.DCGM_2: (4, "example/dcgm:4", ["-r", "2", "-j"], 1200),
    AcceptanceTest.DCGM_3: (4, "example/dcgm:4", ["-r", "3", "-j"], 3600),
    AcceptanceTest.STORAGE_DATASETS: (1, "example/torch:2", ["/opt/programs/storage_probe.py"], 1800),
    AcceptanceTest.STORAGE_CHECKPOINTS: (1, "example/torch:2", ["/opt/programs/storage_probe.py"], 1800),
    AcceptanceTest.GPT2: (2, "example/torch:2", ["/opt/programs/train_ddp.py"], 1800),
    AcceptanceTest.BERT: (2, "example/torch:2", ["/opt/programs/train_ddp.py"], 1800),
}


@pytest.mark.parametrize("test", ALL)
def test_each_test_runs_on_its_nodes_with_its_program_through_the_queue(test: AcceptanceTest) -> None:
    pods, image, command, limit = EXPECTED[test]
    job = acceptance_jobs(args())[test]
    assert job["metadata"]["generateName"] == f"acceptance-{test.value}-"
    assert job["metadata"]["namespace"] == "jobs"
    assert job["metadata"]["labels"] == {
        **LABELS,
        "app.kubernetes.io/name": f"acceptance-{test.value}",
        "gpu-platform/pool": "a100",
        "gpu-platform/acceptance": "a100",
        "kueue.x-k8s.io/queue-name": "research",
    }
    assert job["metadata"]["annotations"] == {**ANNOTATIONS, "gpu-platform/acceptance-tests": test.value}
    spec = job["spec"]
    assert (spec["suspend"], spec["parallelism"], spec["completions"]) == (True, pods, pods)
    assert spec["activeDeadlineSeconds"] == limit
    one = container(test)
    assert one["image"] == image
    assert one["command"][-len(command) :] == command
    storage = test.value.startswith("storage")
    assert one["resources"]["limits"].get("nvidia.com/gpu") == (None if storage else "8")
    assert one["resources"]["requests"] == one["resources"]["limits"]


def test_every_node_is_tested_once_and_none_hides_a_fault_by_a_second_try() -> None:
    spec = acceptance_jobs(args())[AcceptanceTest.DCGM_3]["spec"]
    assert (spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]) == (0, 4)
    annotations = spec["template"]["metadata"]["annotations"]
    assert annotations == {**ANNOTATIONS, "kueue.x-k8s.io/podset-unconstrained-topology": "true"}


def test_tests_over_nodes_stay_in_one_block() -> None:
    spec = acceptance_jobs(args())[AcceptanceTest.NCCL_INTER]["spec"]
    annotations = spec["template"]["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-required-topology"] == "gpu-platform/topology-block"


@pytest.mark.parametrize(
    ("test", "claim"),
    [(AcceptanceTest.STORAGE_DATASETS, "datasets"), (AcceptanceTest.STORAGE_CHECKPOINTS, "checkpoints")],
)
def test_storage_tests_write_to_their_own_mount(test: AcceptanceTest, claim: str) -> None:
    pod = acceptance_jobs(args())[test]["spec"]["template"]["spec"]
    assert {"name": "tested", "persistentVolumeClaim": {"claimName": claim}} in pod["volumes"]
    env = {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
    assert env == {
        "HOME": "/tmp",
        "STORAGE_BYTES": "68719476736",
        "STORAGE_NAME": claim,
        "STORAGE_PATH": "/mnt/tested",
    }


def test_a_simulated_node_claims_no_volume() -> None:
    for job in acceptance_jobs(args(POOL)).values():
        assert "persistentVolumeClaim" not in str(job)


@pytest.mark.parametrize("test", ALL)
def test_on_simulated_nodes_every_test_says_so(test: AcceptanceTest) -> None:
    job = acceptance_jobs(args(POOL))[test]
    assert container(test, POOL)["command"] == ["sh", "-c", f"echo '{NOTE}'"]
    assert job["metadata"]["annotations"]["gpu-platform/note"] == NOTE
    assert job["metadata"]["labels"]["gpu-platform/simulated"] == "true"


def test_a_short_queue_shortens_the_tests() -> None:
    short = acceptance_jobs(args(queue=replace(QUEUE, max_time_limit_seconds=700)))
    limits = [job["spec"]["activeDeadlineSeconds"] for job in short.values()]
    assert limits == [700, 700, 600, 700, 700, 700, 700, 700, 700]


def deliver(*, preview: bool = False, **changes: Any) -> Recording:
    return run(lambda: {"map": Acceptance("acceptance", args(**changes)).config_map}, preview=preview)


@pytest.mark.parametrize("preview", [False, True])
def test_the_config_map_names_pool_and_tests(preview: bool) -> None:
    recording = deliver(preview=preview)
    recording.assert_counts({COMPONENT: 1, CONFIG_MAP: 1, POLICY: 1})
    made = recording.one(CONFIG_MAP, "acceptance-manifests").inputs
    assert made["metadata"] == {
        "name": "acceptance-a100",
        "namespace": "jobs",
        "labels": {**LABELS, "gpu-platform/acceptance": "a100"},
        "annotations": {**ANNOTATIONS, "gpu-platform/acceptance-tests": ",".join(ACCEPTANCE_TESTS)},
    }
    assert set(made["data"]) == {f"{test.value}.yaml" for test in ALL}
    assert yaml.safe_load(made["data"]["dcgm-1.yaml"]) == acceptance_jobs(args())[AcceptanceTest.DCGM_1]
    policy = recording.one(POLICY, "acceptance-diagnostics").inputs["spec"]
    assert policy == {
        "podSelector": {"matchLabels": {"gpu-platform/acceptance": "a100"}},
        "policyTypes": ["Egress"],
        "egress": [
            {
                "to": [
                    {
                        "podSelector": {"matchLabels": {"app": "nvidia-dcgm"}},
                        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "gpu-operator"}},
                    }
                ],
                "ports": [{"protocol": "TCP", "port": 5555}],
            }
        ],
    }


def test_without_a_diagnostic_no_way_is_opened() -> None:
    deliver(tests=(AcceptanceTest.NCCL_INTRA,)).assert_counts({COMPONENT: 1, CONFIG_MAP: 1})


def test_settings_and_component_know_the_same_tests() -> None:
    assert tuple(ACCEPTANCE_TESTS) == tuple(test.value for test in AcceptanceTest)


@pytest.mark.parametrize(
    ("changes", "path"),
    [({"tests": ()}, "tests"), ({"together": 0}, "together"), ({"together": 5}, "together")],
)
def test_impossible_arguments_are_refused(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        args(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]


def test_a_storage_test_needs_its_mount() -> None:
    with pytest.raises(ArgsError) as caught:
        args(mounts=(mount(Purpose.DATASETS),))
    assert [problem.accepted for problem in caught.value.problems] == ["the mount of storage-checkpoints"]
