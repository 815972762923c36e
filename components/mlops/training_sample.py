"""A sample training Job that really trains, and records what it did."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core import (
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.kube import ownership_metadata
from components.mlops._files import TRAIN_SAMPLE, program

USER_ID = 10001
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
_PROGRAM_DIRECTORY = "/opt/sample"
_SCRATCH = "/tmp"  # noqa: S108 - a volume of the pod alone
_COMMIT = re.compile(r"^[0-9a-f]{7,64}$")


@dataclass(frozen=True, kw_only=True)
class TrainingSample:
    """A training on one CPU core, done in about 20 s; needs no GPU.

    Args:
        namespace: Where it runs; a namespace experiment tracking delivered its credentials to.
        ownership: Who owns and pays.
        image: Image with mlflow, scikit-learn and ``python3``, exact tag or digest; the tracking server's is
            one.
        credentials: Name of the delivered credentials Secret.
        name: Name of Job and ConfigMap, a DNS label.
        experiment: Experiment it records to.
        model: Registered model it adds a version to.
        seed: Seed of data and training; equal seeds give equal data sets.
        git_commit: Commit recorded with the run, if known.
        queue: LocalQueue that admits it; None starts it at once.
        time_limit_seconds: Killed after so long, s.
        keep_seconds: Job and log stay so long after the end, s.
        labels: More labels of Job and pod.

    Raises:
        ArgsError: A bad name, a limit below 1, a commit that is no hash.
    """

    namespace: str
    ownership: Ownership
    image: str
    credentials: str = "mlflow-credentials"
    name: str = "training-sample"
    experiment: str = "samples"
    model: str = "sample-classifier"
    seed: int = 7
    git_commit: str | None = None
    queue: str | None = None
    time_limit_seconds: int = 300
    keep_seconds: int = 3600
    labels: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("name", self.name),
            *check_dns_label("namespace", self.namespace),
            *check_dns_label("credentials", self.credentials),
            *check_not_empty("image", self.image, "an image reference"),
            *check_not_empty("experiment", self.experiment, "an experiment name"),
            *check_not_empty("model", self.model, "a model name"),
            *check_positive("time_limit_seconds", self.time_limit_seconds),
            *check_positive("keep_seconds", self.keep_seconds),
        ]
        if self.queue is not None:
            problems += check_dns_label("queue", self.queue)
        if self.git_commit is not None and not _COMMIT.fullmatch(self.git_commit):
            problems.append(
                Problem(
                    path="git_commit",
                    value=repr(self.git_commit),
                    accepted="7 to 64 hexadecimal digits",
                    fix="pass the output of `git rev-parse HEAD`, or None",
                )
            )
        raise_problems("training sample", problems)


def training_sample(sample: TrainingSample) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifests, in the order to apply them: ConfigMap with the program, then the Job.

    The Job's last log line is one JSON object: ``run_id``, ``model``, ``model_version``, ``accuracy`` and
    whether the version, loaded back from the registry, predicts the same.
    """
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": ownership_metadata(sample.ownership, name=sample.name, namespace=sample.namespace),
        "data": {TRAIN_SAMPLE: program(TRAIN_SAMPLE)},
    }
    labels = {"app.kubernetes.io/name": sample.name, **sample.labels}
    queue = {QUEUE_LABEL: sample.queue} if sample.queue is not None else {}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": ownership_metadata(
            sample.ownership, name=sample.name, namespace=sample.namespace, labels={**labels, **queue}
        ),
        "spec": {
            # A second try would only hide why the first one failed.
            "backoffLimit": 0,
            "activeDeadlineSeconds": sample.time_limit_seconds,
            "ttlSecondsAfterFinished": sample.keep_seconds,
            "template": {
                "metadata": ownership_metadata(sample.ownership, labels=labels),
                "spec": _pod(sample),
            },
        },
    }
    return config_map, job


def _pod(sample: TrainingSample) -> dict[str, Any]:
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER_ID,
            "runAsGroup": USER_ID,
            "fsGroup": USER_ID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(sample)],
        "volumes": [
            {"name": "program", "configMap": {"name": sample.name}},
            {"name": "tmp", "emptyDir": {"sizeLimit": "256Mi"}},
        ],
    }


def _container(sample: TrainingSample) -> dict[str, Any]:
    env = {
        "GIT_PYTHON_REFRESH": "quiet",
        "HOME": _SCRATCH,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MPLCONFIGDIR": _SCRATCH,
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "SAMPLE_EXPERIMENT": sample.experiment,
        "SAMPLE_MODEL": sample.model,
        "SAMPLE_SEED": str(sample.seed),
    }
    if sample.git_commit is not None:
        env["SAMPLE_GIT_COMMIT"] = sample.git_commit
    return {
        "name": "train",
        "image": sample.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", f"{_PROGRAM_DIRECTORY}/{TRAIN_SAMPLE}"],
        "env": [{"name": name, "value": value} for name, value in sorted(env.items())],
        # Address, login and transfer settings of experiment tracking, by the names its client reads.
        "envFrom": [{"secretRef": {"name": sample.credentials}}],
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
            {"name": "program", "mountPath": _PROGRAM_DIRECTORY, "readOnly": True},
            {"name": "tmp", "mountPath": _SCRATCH},
        ],
    }
