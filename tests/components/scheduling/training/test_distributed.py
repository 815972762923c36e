"""Jobs over several pods: the manifest, what a namespace needs for them, and what is refused."""

import ast
from dataclasses import replace
from typing import Any

import pytest

from components.contracts import Purpose, StorageMount
from components.core import ArgsError
from components.scheduling.training import (
    DistributedJob,
    DistributedSample,
    DistributedSpace,
    DistributedSpaceArgs,
    distributed_job,
    distributed_sample,
)
from components.scheduling.training._files import programs
from tests.harness import run
from tests.harness.samples import LABELS, OWNERSHIP, POOL, QUEUE, metadata

MOUNT = StorageMount(
    name="checkpoints",
    purpose=Purpose.CHECKPOINTS,
    namespace="workbench",
    claim="checkpoints",
    access_mode="ReadWriteOnce",
    storage_class="fast",
    size_gib=5,
)
COMPONENT = "gpuplatform:scheduling:DistributedSpace"


def job(**changes: Any) -> DistributedJob:
    values: dict[str, Any] = {
        "name": "train",
        "namespace": "jobs",
        "ownership": OWNERSHIP,
        "image": "example/torch:1",
        "program": "train_ddp.py",
        "workers": 2,
    }
    return DistributedJob(**(values | changes))


def sample(**changes: Any) -> DistributedSample:
    values: dict[str, Any] = {"namespace": "workbench", "ownership": OWNERSHIP, "checkpoints": MOUNT}
    return DistributedSample(**(values | {"image": "example/torch:1"} | changes))


def test_the_sample_is_whole() -> None:
    manifest = distributed_sample(sample())
    app = {"app.kubernetes.io/name": "distributed-training"}
    assert manifest["metadata"] == {
        "generateName": "distributed-training-",
        **metadata(namespace="workbench", app="distributed-training"),
    }
    spec = manifest["spec"]
    template = spec.pop("template")
    assert spec == {
        "suspend": False,
        "parallelism": 2,
        "completions": 2,
        "completionMode": "Indexed",
        "backoffLimit": 6,
        "podFailurePolicy": {
            "rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                {
                    "action": "Ignore",
                    "onExitCodes": {"containerName": "worker", "operator": "In", "values": [75]},
                },
            ]
        },
        "activeDeadlineSeconds": 300,
        "ttlSecondsAfterFinished": 3600,
    }
    assert template["metadata"]["labels"] == {**LABELS, **app, "gpu-platform/distributed": "true"}
    pod = template["spec"]
    container = pod.pop("containers")[0]
    assert pod == {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "subdomain": "distributed-jobs",
        "terminationGracePeriodSeconds": 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [
            {"name": "programs", "configMap": {"name": "distributed-jobs"}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
            {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "checkpoints"}},
        ],
    }
    assert container == {
        "name": "worker",
        "image": "example/torch:1",
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "/opt/programs/train_ddp.py"],
        "env": [
            {"name": "JOB_NAME", "valueFrom": {"fieldRef": {"fieldPath": JOB_NAME}}},
            {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": RANK}}},
            {"name": "HOME", "value": "/tmp"},
            {"name": "MASTER_ADDR", "value": "$(JOB_NAME)-0.distributed-jobs"},
            {"name": "MASTER_PORT", "value": "29500"},
            {"name": "OMP_NUM_THREADS", "value": "1"},
            {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
            {"name": "PYTHONUNBUFFERED", "value": "1"},
            {"name": "TRAIN_CHECKPOINTS", "value": "/checkpoints/$(JOB_NAME)"},
            {"name": "TRAIN_CHECKPOINT_EVERY", "value": "10"},
            {"name": "TRAIN_STEPS", "value": "150"},
            {"name": "TRAIN_STEP_SECONDS", "value": "0.1"},
            {"name": "WORLD_SIZE", "value": "2"},
        ],
        "resources": {
            "requests": {"cpu": "250m", "memory": "512Mi"},
            "limits": {"cpu": "1", "memory": "1Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "programs", "mountPath": "/opt/programs", "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "checkpoints", "mountPath": "/checkpoints"},
        ],
    }


JOB_NAME = "metadata.labels['batch.kubernetes.io/job-name']"
RANK = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def test_on_gpus_there_is_a_process_for_each_and_the_fabric_is_set() -> None:
    real = replace(POOL, simulated=False)
    manifest = distributed_job(job(pool=real, gpus_per_worker=8, queue=QUEUE))
    assert manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "research"
    assert manifest["spec"]["suspend"] is True
    pod = manifest["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["command"] == [
        "torchrun",
        "--nnodes=2",
        "--nproc-per-node=8",
        "--node-rank=$(RANK)",
        "--master-addr=$(MASTER_ADDR)",
        "--master-port=29500",
        "/opt/programs/train_ddp.py",
    ]
    assert {"name": "NCCL_IB_HCA", "value": "mlx5"} in container["env"]
    assert container["resources"]["limits"] == {"cpu": "230", "memory": "1843Gi", "nvidia.com/gpu": "8"}
    assert pod["nodeSelector"] == {"gpu-platform/pool": "a100"}
    assert {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "16Gi"}} in pod["volumes"]


def test_on_simulated_nodes_it_says_that_nothing_is_measured() -> None:
    manifest = distributed_job(job(pool=POOL, gpus_per_worker=8, queue=QUEUE))
    command = manifest["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command[:2] == ["sh", "-c"]
    assert "placement only" in command[2]
    assert "placement only" in manifest["metadata"]["annotations"]["gpu-platform/note"]


@pytest.mark.parametrize("preview", [False, True])
def test_a_namespace_gets_names_traffic_and_programs(preview: bool) -> None:
    def program() -> None:
        for name in ("workbench", "jobs"):
            args = DistributedSpaceArgs(
                namespace=name, ownership=OWNERSHIP, more_programs={"probe.py": "pass"}
            )
            DistributedSpace(name, args)

    recording = run(program, preview=preview)
    recording.assert_counts(
        {
            COMPONENT: 2,
            "kubernetes:core/v1:Service": 2,
            "kubernetes:core/v1:ConfigMap": 2,
            "kubernetes:networking.k8s.io/v1:NetworkPolicy": 2,
        }
    )
    selector = {"gpu-platform/distributed": "true"}
    service = recording.one("kubernetes:core/v1:Service", "workbench-names").inputs
    assert service["spec"] == {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    assert service["metadata"]["name"] == "distributed-jobs"
    policy = recording.one("kubernetes:networking.k8s.io/v1:NetworkPolicy", "workbench-traffic").inputs
    peers = [{"podSelector": {"matchLabels": selector}}]
    ports = [{"protocol": "TCP", "port": 1024, "endPort": 65535}]
    assert policy["spec"] == {
        "podSelector": {"matchLabels": selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": peers, "ports": ports}],
        "egress": [{"to": peers, "ports": ports}],
    }
    data = recording.one("kubernetes:core/v1:ConfigMap", "workbench-programs").inputs["data"]
    assert set(data) == {"all_reduce.py", "train_ddp.py", "models.py", "process_group.py", "probe.py"}
    for source in data.values():
        ast.parse(source)


def test_the_exit_code_of_a_lost_peer_is_the_one_the_manifest_ignores() -> None:
    rules = distributed_job(job())["spec"]["podFailurePolicy"]["rules"]
    code = programs()["process_group.py"]
    assert f"PEER_LOST = {rules[1]['onExitCodes']['values'][0]}\n" in code


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ({"workers": 0}, ["workers"]),
        ({"name": "Train"}, ["name"]),
        ({"image": ""}, ["image"]),
        ({"time_limit_seconds": 0}, ["time_limit_seconds"]),
        ({"pool": POOL, "gpus_per_worker": 0, "queue": QUEUE}, ["gpus_per_worker"]),
        ({"pool": POOL, "gpus_per_worker": 9, "queue": QUEUE}, ["gpus_per_worker"]),
        ({"pool": POOL, "gpus_per_worker": 8, "queue": QUEUE, "workers": 5}, ["workers"]),
        ({"pool": POOL, "gpus_per_worker": 8}, ["queue"]),
    ],
)
def test_an_impossible_job_is_refused_by_path(changes: dict[str, Any], paths: list[str]) -> None:
    with pytest.raises(ArgsError) as caught:
        job(**changes)
    assert [problem.path for problem in caught.value.problems] == paths


@pytest.mark.parametrize("name", ["steps", "checkpoint_every", "step_milliseconds", "workers"])
def test_a_sample_without_steps_or_peers_is_refused(name: str) -> None:
    with pytest.raises(ArgsError) as caught:
        sample(**{name: 0})
    assert [problem.path for problem in caught.value.problems] == [name]
