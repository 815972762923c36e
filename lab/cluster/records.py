"""The records the cluster's parts share: programs, addresses, one running cluster, one status line."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from lab.paths import Paths

GO_TOOLS = (
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "kubectl",
    "kwok",
    "kube-router",
)


@dataclass(frozen=True, kw_only=True)
class Programs:
    """Where the programs of the node are.

    Args:
        go: Name of a tool → its executable; every name of ``GO_TOOLS`` is needed.
        debian: Root of the unpacked Debian packages of set ``node`` with the libraries they depend on.
        kwok_stages: Directory holding KWOK's stage files, at any depth.
    """

    go: Mapping[str, Path]
    debian: Path
    kwok_stages: Path


@dataclass(frozen=True, kw_only=True)
class Network:
    """Names and address ranges of the one-node cluster.

    Args:
        name: Network namespace, node, cgroup and kubeconfig context.
        link: Interface of the veth pair on the host's side, at most 15 characters.
        nodes: Range of the veth pair: the host gets its first address, the node its second.
        pods: Range of pod addresses.
        services: Range of Service addresses: the API gets its first address, DNS its tenth.
    """

    name: str = "gpu-platform-lab"
    link: str = "gpu-platform0"
    nodes: str = "10.231.0.0/24"
    pods: str = "10.232.0.0/16"
    services: str = "10.233.0.0/16"

    @property
    def ranges(self) -> tuple[IPv4Network, ...]:
        """The three ranges the lab takes on the host."""
        return IPv4Network(self.nodes), IPv4Network(self.pods), IPv4Network(self.services)

    @property
    def host_address(self) -> str:
        """The host as pods see it."""
        return str(IPv4Network(self.nodes)[1])

    @property
    def node_address(self) -> str:
        """The node: API server, kubelet."""
        return str(IPv4Network(self.nodes)[2])

    @property
    def api_service_address(self) -> str:
        """The ``kubernetes`` Service."""
        return str(IPv4Network(self.services)[1])

    @property
    def dns_address(self) -> str:
        """The ``kube-dns`` Service."""
        return str(IPv4Network(self.services)[10])

    @property
    def prefix_length(self) -> int:
        """Prefix length of the veth pair's range."""
        return IPv4Network(self.nodes).prefixlen

    @property
    def api_url(self) -> str:
        """The API server, reachable from the host and from pods."""
        return f"https://{self.node_address}:6443"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """One cluster: where it lives, what it runs, which addresses it has.

    Args:
        paths: Directories of the lab.
        programs: Programs it runs.
        network: Names and ranges.
        images: Image name of ``versions.toml`` → reference, as far as the cluster itself needs them.
    """

    paths: Paths
    programs: Programs
    network: Network
    images: Mapping[str, str] = field(default_factory=dict)

    @property
    def record(self) -> Path:
        """The file this record is kept in while the cluster runs."""
        return self.paths.run / "cluster.json"

    @property
    def etc(self) -> Path:
        """Rendered configuration files."""
        return self.paths.cluster / "etc"

    @property
    def pki(self) -> Path:
        """Certificates; they can be made anew."""
        return self.paths.cluster / "pki"

    @property
    def keys(self) -> Path:
        """Keys the data depends on: service-account tokens and encryption at rest. Never made anew."""
        return self.paths.cluster / "keys"

    @property
    def views(self) -> Path:
        """Links to programs and libraries of the unpacked packages."""
        return self.paths.cluster / "programs"

    @property
    def volumes(self) -> Path:
        """Persistent volumes, one directory per storage class."""
        return self.paths.cluster / "volumes"

    def to_json(self) -> str:
        """The whole record as text."""
        return json.dumps(asdict(self), default=str, indent=1, sort_keys=True)


def cluster_from_json(text: str) -> Cluster:
    """Read what ``Cluster.to_json`` wrote."""
    data: dict[str, Any] = json.loads(text)
    programs = data["programs"]
    return Cluster(
        paths=Paths(**{name: Path(value) for name, value in data["paths"].items()}),
        programs=Programs(
            go={name: Path(value) for name, value in programs["go"].items()},
            debian=Path(programs["debian"]),
            kwok_stages=Path(programs["kwok_stages"]),
        ),
        network=Network(**data["network"]),
        images=data["images"],
    )


@dataclass(frozen=True, kw_only=True)
class ComponentStatus:
    """How one part of the cluster does.

    Args:
        name: Component, ``node``, a workload or a storage class.
        healthy: Whether it does its work now.
        detail: What was seen.
        restarts: How often it was started again since ``up``.
        pid: Process id on the host, 0 when it is no process or not running.
    """

    name: str
    healthy: bool
    detail: str
    restarts: int = 0
    pid: int = 0
