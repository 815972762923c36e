"""Building blocks in Kubernetes: namespaces, traffic, workloads, charts."""

from components.kube.chart import ChartRelease, ChartReleaseArgs, ChartSource
from components.kube.clients import allow_clients, client_namespaces, client_problems
from components.kube.custom_object import CustomObject
from components.kube.image import split_image
from components.kube.metadata import NAME_LABEL, ownership_metadata
from components.kube.namespace import ContainerDefaults, PodSecurity, TenantNamespace, TenantNamespaceArgs
from components.kube.network import ANYWHERE, Direction, Flow, NetworkAllow, NetworkAllowArgs, Peer, Pods
from components.kube.quantity import count, gibibytes, gigabytes
from components.kube.readiness import NotReadyError, Readiness
from components.kube.secret import DeliveredSecret, DeliveredSecretArgs
from components.kube.workload import Workload
from components.kube.workload_args import WorkloadArgs, WorkloadKind
from components.kube.workload_parts import (
    ClaimVolume,
    HttpGet,
    InitStep,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    SecretVolume,
)

__all__ = [
    "ANYWHERE",
    "NAME_LABEL",
    "ChartRelease",
    "ChartReleaseArgs",
    "ChartSource",
    "ClaimVolume",
    "ContainerDefaults",
    "CustomObject",
    "DeliveredSecret",
    "DeliveredSecretArgs",
    "Direction",
    "Flow",
    "HttpGet",
    "InitStep",
    "NetworkAllow",
    "NetworkAllowArgs",
    "NotReadyError",
    "Peer",
    "PodSecurity",
    "Pods",
    "Probe",
    "Readiness",
    "Resources",
    "ScratchVolume",
    "SecretKey",
    "SecretVolume",
    "TenantNamespace",
    "TenantNamespaceArgs",
    "Workload",
    "WorkloadArgs",
    "WorkloadKind",
    "allow_clients",
    "client_namespaces",
    "client_problems",
    "count",
    "gibibytes",
    "gigabytes",
    "ownership_metadata",
    "split_image",
]
