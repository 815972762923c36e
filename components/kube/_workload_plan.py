"""Manifests of a workload from its arguments; pure, in the API's own spelling."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pulumi

from components.kube.metadata import NAME_LABEL, ownership_metadata
from components.kube.workload_args import WorkloadArgs, WorkloadKind
from components.kube.workload_parts import ClaimVolume, InitStep, Probe, ScratchVolume, SecretVolume, Volume

_FILES_VOLUME = "files"
_ROLL_ANNOTATION = "gpu-platform/content"
# Readable by the owner and the group, by nobody else.
_SECRET_MODE = 0o440
_DIGEST_LENGTH = 16


def selector(args: WorkloadArgs) -> dict[str, str]:
    """Labels that select exactly this workload's pods in its namespace."""
    return {NAME_LABEL: args.app}


def files_name(args: WorkloadArgs) -> str:
    """Name of the ConfigMap that holds the files."""
    return f"{args.app}-files"


def file_keys(args: WorkloadArgs) -> dict[str, str]:
    """Path → key in the ConfigMap; two files of one base name keep apart."""
    return {path: path.strip("/").replace("/", ".") for path in sorted(args.files)}


def content_digest(app: str, parts: Mapping[str, str]) -> str:
    """A short digest that changes when any part changes; salted, so that equal values of two apps differ."""
    text = json.dumps([app, sorted(parts.items())])
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]


def pod_template(args: WorkloadArgs) -> dict[str, Any]:
    """The pod template with the restricted security context."""
    parts = {f"file:{path}": content for path, content in args.files.items()}
    parts |= {f"value:{name}": value for name, value in args.roll_on.items()}
    annotations: dict[str, Any] = {}
    if parts:
        digest = pulumi.Output.all(**parts).apply(lambda resolved: content_digest(args.app, resolved))
        annotations[_ROLL_ANNOTATION] = digest
    spec: dict[str, Any] = {
        "serviceAccountName": args.app,
        "automountServiceAccountToken": args.service_account_token,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": args.user_id,
            "runAsGroup": args.group_id,
            "fsGroup": args.group_id,
            # A change of group over a large volume would otherwise be redone at every start.
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationGracePeriodSeconds": args.termination_grace_seconds,
        "containers": [_container(args)],
    }
    if args.init:
        spec["initContainers"] = [_init(args, step) for step in args.init]
    if volumes := _volumes(args):
        spec["volumes"] = volumes
    if args.node_selector:
        spec["nodeSelector"] = dict(args.node_selector)
    if args.tolerations:
        spec["tolerations"] = [
            {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
            for taint in args.tolerations
        ]
    metadata = ownership_metadata(args.ownership, labels=selector(args), annotations=annotations)
    return {"metadata": metadata, "spec": spec}


def controller_spec(args: WorkloadArgs) -> dict[str, Any]:
    """Spec of the Deployment or StatefulSet."""
    spec: dict[str, Any] = {
        "replicas": args.replicas,
        "selector": {"matchLabels": selector(args)},
        "template": pod_template(args),
    }
    if args.kind is WorkloadKind.STATEFUL_SET:
        spec["serviceName"] = args.app
    elif any(isinstance(volume, ClaimVolume) for volume in args.volumes):
        # A rolling update would wait for ever for a volume the old pod still holds.
        spec["strategy"] = {"type": "Recreate"}
    return spec


def service_spec(args: WorkloadArgs) -> dict[str, Any]:
    """Spec of the Service."""
    return {
        "type": "ClusterIP",
        "selector": selector(args),
        "ports": [
            {"name": name, "port": port, "targetPort": name, "protocol": "TCP"}
            for name, port in sorted(args.ports.items())
        ],
    }


def _container(args: WorkloadArgs) -> dict[str, Any]:
    container = _runnable(args, args.app, args.command, args.arguments)
    if args.ports:
        container["ports"] = [
            {"name": name, "containerPort": port, "protocol": "TCP"}
            for name, port in sorted(args.ports.items())
        ]
    probes = {
        "readinessProbe": args.readiness,
        "livenessProbe": args.liveness,
        "startupProbe": args.startup,
    }
    container |= {field: _probe(probe) for field, probe in probes.items() if probe is not None}
    return container


def _init(args: WorkloadArgs, step: InitStep) -> dict[str, Any]:
    return _runnable(args, step.name, step.command, step.arguments)


def _runnable(
    args: WorkloadArgs,
    name: str,
    command: tuple[pulumi.Input[str], ...],
    arguments: tuple[pulumi.Input[str], ...],
) -> dict[str, Any]:
    wanted = args.resources
    container: dict[str, Any] = {
        "name": name,
        "image": args.image,
        "imagePullPolicy": "IfNotPresent",
        "resources": {
            "requests": {"cpu": wanted.cpu_request, "memory": wanted.memory_request},
            "limits": {"cpu": wanted.cpu_limit, "memory": wanted.memory_limit},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    optional = {
        "command": list(command),
        "args": list(arguments),
        "env": _env(args),
        "volumeMounts": _mounts(args),
    }
    return container | {field: value for field, value in optional.items() if value}


def _env(args: WorkloadArgs) -> list[dict[str, Any]]:
    plain = [{"name": name, "value": value} for name, value in sorted(args.env.items())]
    secret = [
        {
            "name": name,
            "valueFrom": {"secretKeyRef": {"name": key.secret.name, "key": key.secret.keys[key.role]}},
        }
        for name, key in sorted(args.secret_env.items())
    ]
    return plain + secret


def _volumes(args: WorkloadArgs) -> list[dict[str, Any]]:
    volumes = [_volume(volume) for volume in args.volumes]
    if args.files:
        volumes.append({"name": _FILES_VOLUME, "configMap": {"name": files_name(args)}})
    return volumes


def _volume(volume: Volume) -> dict[str, Any]:
    match volume:
        case ClaimVolume():
            source = {"claimName": volume.claim, "readOnly": volume.read_only}
            return {"name": volume.name, "persistentVolumeClaim": source}
        case ScratchVolume():
            return {"name": volume.name, "emptyDir": {"sizeLimit": f"{volume.size_mib}Mi"}}
        case SecretVolume():
            keys = [volume.secret.keys[role] for role in volume.roles]
            return {
                "name": volume.name,
                "secret": {
                    "secretName": volume.secret.name,
                    "defaultMode": _SECRET_MODE,
                    "items": [{"key": key, "path": key} for key in keys],
                },
            }


def _mounts(args: WorkloadArgs) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = []
    for volume in args.volumes:
        mount: dict[str, Any] = {"name": volume.name, "mountPath": volume.path}
        if isinstance(volume, SecretVolume) or (isinstance(volume, ClaimVolume) and volume.read_only):
            mount["readOnly"] = True
        if isinstance(volume, ClaimVolume) and volume.sub_path:
            mount["subPath"] = volume.sub_path
        mounts.append(mount)
    for path, key in file_keys(args).items():
        mounts.append({"name": _FILES_VOLUME, "mountPath": path, "subPath": key, "readOnly": True})
    return mounts


def _probe(probe: Probe) -> dict[str, Any]:
    timing = {
        "periodSeconds": probe.period_seconds,
        "timeoutSeconds": probe.timeout_seconds,
        "failureThreshold": probe.failures,
        "initialDelaySeconds": probe.initial_delay_seconds,
    }
    if probe.http is not None:
        action: dict[str, Any] = {"path": probe.http.path, "port": probe.http.port}
        if probe.http.headers:
            action["httpHeaders"] = [
                {"name": name, "value": value} for name, value in sorted(probe.http.headers.items())
            ]
        return {"httpGet": action, **timing}
    if probe.tcp_port is not None:
        return {"tcpSocket": {"port": probe.tcp_port}, **timing}
    return {"exec": {"command": list(probe.command)}, **timing}
