"""The sample training Job."""

import ast
from typing import Any

import pytest

from components.core import ArgsError, Ownership
from components.mlops import TrainingSample, training_sample

OWNERSHIP = Ownership(
    owner="ml", project="vision", environment="dev", cost_centre="research", contact="ml@example.com"
)


def sample(**changes: Any) -> TrainingSample:
    base: dict[str, Any] = {"namespace": "jobs", "ownership": OWNERSHIP, "image": "registry.example/mlflow:3"}
    return TrainingSample(**(base | changes))


def metadata(name: str | None, **labels: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "labels": OWNERSHIP.labels() | labels,
        "annotations": OWNERSHIP.annotations(),
    }
    return found if name is None else found | {"name": name, "namespace": "jobs"}


NAME_LABEL = {"app.kubernetes.io/name": "training-sample"}


def test_the_manifests_are_complete() -> None:
    config_map, job = training_sample(sample(git_commit="0123abc"))
    program = config_map["data"].pop("train_sample.py")
    assert config_map == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata("training-sample"),
        "data": {},
    }
    assert "mlflow.sklearn.log_model" in program
    assert job == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata("training-sample", **NAME_LABEL),
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": 300,
            "ttlSecondsAfterFinished": 3600,
            "template": {
                "metadata": metadata(None, **NAME_LABEL),
                "spec": {
                    "restartPolicy": "Never",
                    "automountServiceAccountToken": False,
                    "enableServiceLinks": False,
                    "securityContext": {
                        "runAsNonRoot": True,
                        "runAsUser": 10001,
                        "runAsGroup": 10001,
                        "fsGroup": 10001,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                    "containers": [
                        {
                            "name": "train",
                            "image": "registry.example/mlflow:3",
                            "imagePullPolicy": "IfNotPresent",
                            "command": ["python3", "/opt/sample/train_sample.py"],
                            "env": [
                                {"name": "GIT_PYTHON_REFRESH", "value": "quiet"},
                                {"name": "HOME", "value": "/tmp"},
                                {"name": "MLFLOW_DISABLE_TELEMETRY", "value": "true"},
                                {"name": "MPLCONFIGDIR", "value": "/tmp"},
                                {"name": "OMP_NUM_THREADS", "value": "1"},
                                {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
                                {"name": "SAMPLE_EXPERIMENT", "value": "samples"},
                                {"name": "SAMPLE_GIT_COMMIT", "value": "0123abc"},
                                {"name": "SAMPLE_MODEL", "value": "sample-classifier"},
                                {"name": "SAMPLE_SEED", "value": "7"},
                            ],
                            "envFrom": [{"secretRef": {"name": "mlflow-credentials"}}],
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
                                {"name": "program", "mountPath": "/opt/sample", "readOnly": True},
                                {"name": "tmp", "mountPath": "/tmp"},
                            ],
                        }
                    ],
                    "volumes": [
                        {"name": "program", "configMap": {"name": "training-sample"}},
                        {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
                    ],
                },
            },
        },
    }


def test_a_queue_admits_the_job_and_labels_reach_the_pod() -> None:
    _, job = training_sample(sample(queue="research", labels={"team": "vision"}))
    assert job["metadata"]["labels"] == OWNERSHIP.labels() | NAME_LABEL | {
        "team": "vision",
        "kueue.x-k8s.io/queue-name": "research",
    }
    assert job["spec"]["template"]["metadata"]["labels"] == OWNERSHIP.labels() | NAME_LABEL | {
        "team": "vision"
    }


def test_without_a_commit_none_is_claimed() -> None:
    _, job = training_sample(sample())
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert "SAMPLE_GIT_COMMIT" not in {item["name"] for item in container["env"]}


def test_the_program_reads_what_the_job_sets() -> None:
    config_map, job = training_sample(sample(git_commit="0123abc"))
    container = job["spec"]["template"]["spec"]["containers"][0]
    given = {item["name"] for item in container["env"] if item["name"].startswith("SAMPLE_")}
    constants = {
        node.value
        for node in ast.walk(ast.parse(config_map["data"]["train_sample.py"]))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("SAMPLE_")
    }
    assert constants == given


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Training"}, "name: got 'Training'"),
        ({"namespace": ""}, "namespace: got ''"),
        ({"credentials": "a_b"}, "credentials: got 'a_b'"),
        ({"queue": ""}, "queue: got ''"),
        ({"image": ""}, "image: got nothing"),
        ({"model": ""}, "model: got nothing"),
        ({"experiment": ""}, "experiment: got nothing"),
        ({"time_limit_seconds": 0}, "time_limit_seconds: got 0"),
        ({"keep_seconds": -1}, "keep_seconds: got -1"),
        ({"git_commit": "main"}, "git_commit: got 'main'"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        sample(**changes)
    assert message in str(caught.value)
