"""Parts of a workload: resources, secrets, volumes, probes, first steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi

from components.contracts import SecretRef
from components.core import Problem, raise_problems


@dataclass(frozen=True, kw_only=True)
class Resources:
    """Requests and limits of the container, as Kubernetes quantities."""

    cpu_request: str
    cpu_limit: str
    memory_request: str
    memory_limit: str


@dataclass(frozen=True, kw_only=True)
class SecretKey:
    """One value of a Secret.

    Args:
        secret: The Secret.
        role: Role in ``secret.keys``.
    """

    secret: SecretRef
    role: str


@dataclass(frozen=True, kw_only=True)
class ClaimVolume:
    """A persistent volume. The claim is a resource of its own, so that it can be protected.

    Args:
        name: Volume name in the pod.
        path: Where it is mounted.
        claim: PersistentVolumeClaim name.
        read_only: Mount without writing.
        sub_path: Directory inside the volume; empty mounts its root.
    """

    name: str
    path: str
    claim: pulumi.Input[str]
    read_only: bool = False
    sub_path: str = ""


@dataclass(frozen=True, kw_only=True)
class ScratchVolume:
    """A directory that lives as long as the pod; the rest of the root file system is read-only.

    Args:
        name: Volume name in the pod.
        path: Where it is mounted.
        size_mib: The pod is evicted above this size, MiB.
    """

    name: str
    path: str
    size_mib: int


@dataclass(frozen=True, kw_only=True)
class SecretVolume:
    """Values of a Secret as files named after their keys, readable by the pod's group.

    Args:
        name: Volume name in the pod.
        path: Directory they appear in.
        secret: The Secret.
        roles: Roles in ``secret.keys``.
    """

    name: str
    path: str
    secret: SecretRef
    roles: tuple[str, ...]


Volume = ClaimVolume | ScratchVolume | SecretVolume


@dataclass(frozen=True, kw_only=True)
class HttpGet:
    """An HTTP request that must answer 2xx or 3xx.

    Args:
        path: Request path.
        port: Name in ``WorkloadArgs.ports``.
        headers: Request headers, such as ``Host`` where the server checks it.
    """

    path: str
    port: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """How the kubelet asks whether the container works; exactly one of the three ways.

    Args:
        http: By HTTP.
        tcp_port: By a connection to this port name.
        command: By a program inside the container.
        period_seconds: Between two probes.
        timeout_seconds: Longest wait for an answer.
        failures: Failures in a row that count.
        initial_delay_seconds: Before the first probe.
    """

    http: HttpGet | None = None
    tcp_port: str | None = None
    command: tuple[str, ...] = ()
    period_seconds: int = 10
    timeout_seconds: int = 5
    failures: int = 3
    initial_delay_seconds: int = 0

    def __post_init__(self) -> None:
        ways = sum((self.http is not None, self.tcp_port is not None, bool(self.command)))
        if ways != 1:
            problem = Problem(
                path="probe",
                value=f"{ways} ways to probe",
                accepted="exactly one of http, tcp_port and command",
                fix="keep the one that proves the service works",
            )
            raise_problems("probe", [problem])


@dataclass(frozen=True, kw_only=True)
class InitStep:
    """A program that must end well before the main container starts; same image, environment and mounts."""

    name: str
    command: tuple[pulumi.Input[str], ...]
    arguments: tuple[pulumi.Input[str], ...] = ()
