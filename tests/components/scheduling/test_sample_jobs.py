"""SampleJobs: manifests a user can create as they are, honest about simulated nodes."""

from dataclasses import replace
from typing import Any

import pulumi
import pytest
import yaml

from components.contracts import GpuPool
from components.core import ArgsError
from components.scheduling import GangJobArgs, SampleJobs, SampleJobsArgs
from components.scheduling.sample_jobs import gang_job
from tests.harness import Recording, run
from tests.harness.samples import ANNOTATIONS, LABELS, OWNERSHIP, POOL, QUEUE, metadata

CONFIG_MAP, COMPONENT = "kubernetes:core/v1:ConfigMap", "gpuplatform:scheduling:SampleJobs"
NOTE = "placement only: these nodes are simulated, no container starts and nothing is measured"


def _gang(pool: GpuPool = POOL, **changes: Any) -> GangJobArgs:
    values: dict[str, Any] = {
        "pool": pool,
        "queue": QUEUE,
        "nodes": 4,
        "gpus_per_node": 8,
        "image": "example/nccl:1",
    }
    return GangJobArgs(**(values | changes))


def _run(*, preview: bool = False, **changes: Any) -> Recording:
    def program() -> dict[str, Any]:
        samples = SampleJobs("samples", SampleJobsArgs(ownership=OWNERSHIP, namespace="jobs", **changes))
        return {"config_map": samples.config_map, "samples": list(samples.samples)}

    return run(program, preview=preview)


@pytest.mark.parametrize("preview", [False, True])
def test_the_gang_job_is_whole_bounded_and_says_that_it_proves_placement_only(preview: bool) -> None:
    recording = _run(gang=_gang(), preview=preview)
    assert recording.outputs == {"config_map": "sample-jobs", "samples": ["gang"]}
    config_map = recording.one(CONFIG_MAP, "samples-manifests")
    assert config_map.inputs["metadata"] == metadata("sample-jobs", "jobs")
    assert set(config_map.inputs["data"]) == {"gang.yaml"}
    labels = {
        **LABELS,
        "app.kubernetes.io/name": "gang",
        "gpu-platform/pool": "a100",
        "gpu-platform/simulated": "true",
    }
    resources = {"cpu": "230", "memory": "1843Gi", "nvidia.com/gpu": "8"}
    assert yaml.safe_load(config_map.inputs["data"]["gang.yaml"]) == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": "gang-",
            "namespace": "jobs",
            "labels": {**labels, "kueue.x-k8s.io/queue-name": "research"},
            "annotations": {**ANNOTATIONS, "gpu-platform/note": NOTE},
        },
        "spec": {
            "suspend": True,
            "parallelism": 4,
            "completions": 4,
            "completionMode": "Indexed",
            "backoffLimit": 0,
            "activeDeadlineSeconds": 3600,
            "ttlSecondsAfterFinished": 3600,
            "template": {
                "metadata": {
                    "labels": labels,
                    "annotations": {
                        **ANNOTATIONS,
                        "gpu-platform/note": NOTE,
                        "kueue.x-k8s.io/podset-required-topology": "gpu-platform/topology-block",
                        "pod-complete.stage.kwok.x-k8s.io/delay": "30s",
                        "pod-complete.stage.kwok.x-k8s.io/jitter-delay": "30s",
                    },
                },
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "nodeSelector": {"gpu-platform/pool": "a100"},
                    "tolerations": [
                        {
                            "key": "nvidia.com/gpu",
                            "operator": "Equal",
                            "value": "present",
                            "effect": "NoSchedule",
                        }
                    ],
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 65532,
                        "runAsGroup": 65532,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [
                        {
                            "name": "all-reduce",
                            "image": "example/nccl:1",
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["sh", "-c", f"echo '{NOTE}'"],
                            "env": [
                                {"name": "NCCL_COLLNET_ENABLE", "value": "0"},
                                {"name": "NCCL_IB_HCA", "value": "mlx5"},
                            ],
                            "resources": {"requests": resources, "limits": resources},
                            "securityContext": {
                                "allowPrivilegeEscalation": False,
                                "readOnlyRootFilesystem": True,
                                "capabilities": {"drop": ["ALL"]},
                            },
                        }
                    ],
                },
            },
        },
    }
    recording.assert_counts({COMPONENT: 1, CONFIG_MAP: 1})


def test_on_real_nodes_it_measures_and_claims_no_simulation() -> None:
    job = gang_job(OWNERSHIP, _gang(replace(POOL, simulated=False), gpus_per_node=4))
    template = job["spec"]["template"]
    assert template["spec"]["containers"][0]["command"] == [
        "all_reduce_perf",
        *("-b", "8", "-e", "16G", "-f", "2", "-g", "4"),
    ]
    assert "placement only" not in str(job)
    assert "kwok" not in str(job)
    assert "gpu-platform/simulated" not in template["metadata"]["labels"]


def test_samples_of_other_areas_are_delivered_with_their_outputs_resolved() -> None:
    def program() -> None:
        extra = {"training": {"kind": "Job", "spec": {"image": pulumi.Output.from_input("example/train:1")}}}
        SampleJobs(
            "samples", SampleJobsArgs(ownership=OWNERSHIP, namespace="jobs", gang=_gang(), extra=extra)
        )

    data = run(program).one(CONFIG_MAP, "samples-manifests").inputs["data"]
    assert set(data) == {"gang.yaml", "training.yaml"}
    assert yaml.safe_load(data["training.yaml"]) == {"kind": "Job", "spec": {"image": "example/train:1"}}


def test_two_sets_of_samples_live_in_one_stack() -> None:
    def program() -> None:
        for name, namespace in (("samples", "jobs"), ("other", "other")):
            gang = _gang(queue=replace(QUEUE, namespace=namespace))
            SampleJobs(name, SampleJobsArgs(ownership=OWNERSHIP, namespace=namespace, gang=gang))

    run(program).assert_counts({COMPONENT: 2, CONFIG_MAP: 2})


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"nodes": 0}, "nodes"),
        ({"nodes": 5}, "nodes"),
        ({"gpus_per_node": 9}, "gpus_per_node"),
        ({"gpus_per_node": 0}, "gpus_per_node"),
        ({"simulated_seconds": 0}, "simulated_seconds"),
    ],
)
def test_an_impossible_gang_is_refused_by_path(changes: dict[str, Any], path: str) -> None:
    with pytest.raises(ArgsError) as caught:
        _gang(**changes)
    assert [problem.path for problem in caught.value.problems] == [path]
