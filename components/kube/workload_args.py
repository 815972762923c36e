"""What a workload is, and what is refused."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pulumi

from components.contracts import Taint
from components.core import Ownership, Problem, check_dns_label, check_port, check_positive, raise_problems
from components.kube.workload_parts import InitStep, Probe, Resources, SecretKey, SecretVolume, Volume

# The user distroless images call "nonroot"; any number above 0 satisfies pod security.
DEFAULT_USER_ID = 65532
_SECRET_NAME = re.compile(r"PASSWORD|PASSWD|SECRET|TOKEN|CREDENTIAL|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
_POINTS_TO_A_FILE = ("_FILE", "_PATH", "_DIR")


class WorkloadKind(StrEnum):
    """Which controller runs the pods."""

    DEPLOYMENT = "Deployment"
    STATEFUL_SET = "StatefulSet"


@dataclass(frozen=True, kw_only=True)
class WorkloadArgs:
    """A service of ours: one container, one controller, one Service.

    Args:
        app: Physical name of every object and value of the selector label, a DNS label.
        namespace: Where it runs.
        ownership: Who owns and pays.
        image: Image with an exact tag or digest.
        resources: Requests and limits.
        kind: Controller.
        replicas: Pods.
        command: Entry point; empty keeps the image's.
        arguments: Arguments of the entry point.
        env: Plain variables; names that look secret are refused.
        secret_env: Variables taken from Secrets.
        files: Absolute path → content, delivered by a ConfigMap.
        volumes: Volumes and where they are mounted.
        ports: Port name → number; with any, a ClusterIP Service is created.
        readiness: Probe that lets traffic in.
        liveness: Probe that restarts.
        startup: Probe that holds the other two back.
        init: Programs to run first.
        user_id: User of the processes, above 0.
        group_id: Group of the processes and of the volumes, above 0.
        service_account_token: Mount a token for the Kubernetes API; off unless the program talks to it.
        roll_on: More values whose change must restart the pods, such as a password; only a salted digest
            is written.
        node_selector: Labels of the nodes it may use.
        tolerations: Taints it tolerates.
        termination_grace_seconds: Time to end before the kill.
    """

    app: str
    namespace: pulumi.Input[str]
    ownership: Ownership
    image: pulumi.Input[str]
    resources: Resources
    kind: WorkloadKind = WorkloadKind.DEPLOYMENT
    replicas: int = 1
    command: tuple[pulumi.Input[str], ...] = ()
    arguments: tuple[pulumi.Input[str], ...] = ()
    env: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    secret_env: Mapping[str, SecretKey] = field(default_factory=dict)
    files: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    volumes: tuple[Volume, ...] = ()
    ports: Mapping[str, int] = field(default_factory=dict)
    readiness: Probe | None = None
    liveness: Probe | None = None
    startup: Probe | None = None
    init: tuple[InitStep, ...] = ()
    user_id: int = DEFAULT_USER_ID
    group_id: int = DEFAULT_USER_ID
    service_account_token: bool = False
    roll_on: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: tuple[Taint, ...] = ()
    termination_grace_seconds: int = 30

    def __post_init__(self) -> None:
        problems = [
            *check_dns_label("app", self.app),
            *check_positive("replicas", self.replicas),
            *check_positive("user_id", self.user_id),
            *check_positive("group_id", self.group_id),
        ]
        for name, port in self.ports.items():
            problems += check_port(f"ports.{name}", port)
        problems += (
            _env_problems(self) + _secret_problems(self) + _path_problems(self) + _probe_problems(self)
        )
        raise_problems(f"workload {self.app!r}", problems)


def _env_problems(args: WorkloadArgs) -> list[Problem]:
    problems = [
        Problem(
            path=f"env.{name}",
            value="a plain value (not shown)",
            accepted="secret_env for names that look like secrets",
            fix=f"move {name} to secret_env",
        )
        for name in args.env
        if _SECRET_NAME.search(name) and not name.endswith(_POINTS_TO_A_FILE)
    ]
    twice = sorted(set(args.env) & set(args.secret_env))
    return problems + [
        Problem(
            path=f"env.{name}", value="set twice", accepted="env or secret_env", fix="keep one of the two"
        )
        for name in twice
    ]


def _secret_problems(args: WorkloadArgs) -> list[Problem]:
    asked = [(f"secret_env.{name}", key.secret, key.role) for name, key in args.secret_env.items()]
    asked += [
        (f"volumes.{volume.name}", volume.secret, role)
        for volume in args.volumes
        if isinstance(volume, SecretVolume)
        for role in volume.roles
    ]
    return [
        Problem(
            path=path,
            value=repr(role),
            accepted=f"one of {sorted(secret.keys)}",
            fix="name a role the secret has",
        )
        for path, secret, role in asked
        if role not in secret.keys
    ]


def _path_problems(args: WorkloadArgs) -> list[Problem]:
    paths = [(f"files.{path}", path) for path in args.files]
    paths += [(f"volumes.{volume.name}", volume.path) for volume in args.volumes]
    problems = [
        Problem(path=where, value=repr(path), accepted="an absolute path", fix="start it with /")
        for where, path in paths
        if not path.startswith("/")
    ]
    names = [volume.name for volume in args.volumes]
    return problems + [
        Problem(path=f"volumes.{name}", value="used twice", accepted="one volume per name", fix="rename one")
        for name in sorted({name for name in names if names.count(name) > 1})
    ]


def _probe_problems(args: WorkloadArgs) -> list[Problem]:
    problems = []
    for role, probe in (
        ("readiness", args.readiness),
        ("liveness", args.liveness),
        ("startup", args.startup),
    ):
        port = probe and (probe.http.port if probe.http else probe.tcp_port)
        if port and port not in args.ports:
            problems.append(
                Problem(
                    path=role,
                    value=f"port {port!r}",
                    accepted=f"a name in ports: {sorted(args.ports)}",
                    fix="name the port there",
                )
            )
    return problems
