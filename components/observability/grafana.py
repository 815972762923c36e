"""Grafana with the user's own image: dashboards and data source provisioned, login on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pulumi
from pulumi_random import RandomPassword

from components.contracts import SecretRef, ServiceEndpoint
from components.core import Component, Ownership, check_dns_label, raise_problems
from components.kube import (
    NAME_LABEL,
    DeliveredSecret,
    DeliveredSecretArgs,
    HttpGet,
    NetworkAllow,
    NetworkAllowArgs,
    Pods,
    Probe,
    Resources,
    ScratchVolume,
    SecretKey,
    Workload,
    WorkloadArgs,
)

APP = "grafana"
PORT = 3000
USER = "admin"
_PROVISIONING = "/etc/grafana/provisioning"
_DASHBOARDS = "/etc/grafana/dashboards"
_PASSWORD_LENGTH = 32
# The user of the public image.
_USER_ID = 472
_RESOURCES = Resources(cpu_request="50m", cpu_limit="1", memory_request="128Mi", memory_limit="512Mi")


@dataclass(frozen=True, kw_only=True)
class GrafanaArgs:
    """A Grafana on one Prometheus.

    Args:
        namespace: Where it runs, the monitoring's namespace.
        ownership: Who owns and pays.
        image: Grafana image with an exact tag or digest; Grafana is AGPL, so it is the user's to choose.
        prometheus: The data source.
        prometheus_login: Its login; roles ``username`` and ``password``.
        dashboards: File name without ending → dashboard as Grafana's JSON model.
        protect: Refuse replacement and deletion of the password, and keep it when it leaves the program.
    """

    namespace: str
    ownership: Ownership
    image: pulumi.Input[str]
    prometheus: ServiceEndpoint
    prometheus_login: SecretRef
    dashboards: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    protect: bool = True

    def __post_init__(self) -> None:
        problems = check_dns_label("namespace", self.namespace)
        for name in self.dashboards:
            problems += check_dns_label(f"dashboards.{name}", name)
        raise_problems("grafana", problems)


class Grafana(Component):
    """Grafana without a volume: what it shows comes with the program, what people click together is lost.

    Creates the login, a Deployment with its Service and the way to Prometheus. Deliberately not: a database,
    alerting of its own, single sign-on, plug-ins, TLS.

    Args:
        name: Logical name.
        args: How it runs.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:Grafana"

    service: ServiceEndpoint
    login: SecretRef

    def __init__(self, name: str, args: GrafanaArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        keep = args.protect or None
        password = RandomPassword(
            f"{name}-password",
            length=_PASSWORD_LENGTH,
            special=False,
            opts=self.child(protect=keep, retain_on_delete=keep),
        )
        self.login = DeliveredSecret(
            f"{name}-login",
            DeliveredSecretArgs(
                secret=f"{APP}-login",
                namespaces=(args.namespace,),
                ownership=args.ownership,
                values={"username": USER, "password": password.result},
                roles={"username": "username", "password": "password"},
            ),
            self.child(),
        ).ref
        workload = Workload(f"{name}-server", _workload(args, self.login, password.result), self.child())
        NetworkAllow(
            f"{name}-queries",
            NetworkAllowArgs(
                ownership=args.ownership,
                client=Pods(namespace=args.namespace, labels={NAME_LABEL: APP}),
                server=Pods(namespace=args.namespace, labels={NAME_LABEL: "prometheus"}),
                ports=(args.prometheus.port,),
            ),
            self.child(),
        )
        self.service = ServiceEndpoint(
            namespace=args.namespace,
            service=workload.service,
            port=PORT,
            health_path="/api/health",
            auth="form",
        )
        self.finish({"login": self.login.name})


def data_source(prometheus: ServiceEndpoint) -> pulumi.Output[str]:
    """The provisioned data source; Grafana fills in the login from its environment."""
    url = pulumi.Output.concat(
        "http://", prometheus.service, ".", prometheus.namespace, f".svc:{prometheus.port}"
    )
    source = {
        "name": "Prometheus",
        "uid": "prometheus",
        "type": "prometheus",
        "access": "proxy",
        "url": url,
        "isDefault": True,
        "editable": False,
        "basicAuth": True,
        "basicAuthUser": "$PROMETHEUS_USERNAME",
        "secureJsonData": {"basicAuthPassword": "$PROMETHEUS_PASSWORD"},
    }
    return pulumi.Output.json_dumps({"apiVersion": 1, "datasources": [source]})


def _workload(args: GrafanaArgs, login: SecretRef, password: pulumi.Output[str]) -> WorkloadArgs:
    provider = {"name": "platform", "type": "file", "options": {"path": _DASHBOARDS}, "editable": False}
    health = HttpGet(path="/api/health", port="http")
    # JSON is YAML too, which is what Grafana reads.
    files: dict[str, pulumi.Input[str]] = {
        f"{_PROVISIONING}/datasources/prometheus.yaml": data_source(args.prometheus),
        f"{_PROVISIONING}/dashboards/platform.yaml": json.dumps({"apiVersion": 1, "providers": [provider]}),
    }
    files |= {
        f"{_DASHBOARDS}/{name}.json": json.dumps(dict(model), sort_keys=True)
        for name, model in args.dashboards.items()
    }
    return WorkloadArgs(
        app=APP,
        namespace=args.namespace,
        ownership=args.ownership,
        image=args.image,
        resources=_RESOURCES,
        env={
            "GF_ANALYTICS_REPORTING_ENABLED": "false",
            "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
            "GF_AUTH_ANONYMOUS_ENABLED": "false",
            "GF_USERS_ALLOW_SIGN_UP": "false",
            "GF_SECURITY_ADMIN_USER": USER,
            "GF_SECURITY_DISABLE_GRAVATAR": "true",
        },
        secret_env={
            "GF_SECURITY_ADMIN_PASSWORD": SecretKey(secret=login, role="password"),
            "PROMETHEUS_USERNAME": SecretKey(secret=args.prometheus_login, role="username"),
            "PROMETHEUS_PASSWORD": SecretKey(secret=args.prometheus_login, role="password"),
        },
        files=files,
        volumes=(
            ScratchVolume(name="data", path="/var/lib/grafana", size_mib=256),
            ScratchVolume(name="tmp", path="/tmp", size_mib=64),  # noqa: S108 - a volume of the pod alone
        ),
        ports={"http": PORT},
        startup=Probe(http=health, period_seconds=3, failures=60),
        readiness=Probe(http=health),
        liveness=Probe(http=health, failures=6),
        user_id=_USER_ID,
        group_id=_USER_ID,
        roll_on={"password": password},
    )
