"""A login in front of a service that has none: a proxy beside it, in its pod.

Prometheus and Alertmanager know logins (``web.config.file``), but their operator writes that file itself and
leaves the users out (v0.85), and its probes and its reloader could not log in. So the service listens on its
pod's loopback address, where operator and reloader reach it, and the proxy is the only way in from outside.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap, Service
from pulumi_random import RandomPassword

from components.contracts import SecretRef
from components.core import Component, Ownership
from components.kube import NAME_LABEL, DeliveredSecret, DeliveredSecretArgs, ownership_metadata

PORT = 9080
PORT_NAME = "login"
USER = "admin"
_PASSWORD_LENGTH = 32
_CONFIG = "/etc/gpu-platform/login"
_SECRET = "/run/secrets/login"  # noqa: S105 - a directory
_ROLES = {"username": "username", "password": "password", "htpasswd": "htpasswd"}
_MODE = 0o440


@dataclass(frozen=True, kw_only=True)
class LoginArgs:
    """One login for the services of a namespace.

    Args:
        namespace: Where the services run.
        ownership: Who owns and pays.
        secret: Name of the Secret.
        protect: Refuse replacement and deletion of the password, and keep it when it leaves the program.
    """

    namespace: str
    ownership: Ownership
    secret: str
    protect: bool


class Login(Component):
    """A generated password for the user ``admin``, in the clear for people and as a hash for the proxy.

    Creates the password and one Secret. Deliberately not: further users, single sign-on, TLS (plain HTTP
    inside the cluster, behind the network policies).

    Args:
        name: Logical name.
        args: Where and for whom.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:observability:Login"

    credentials: SecretRef

    def __init__(self, name: str, args: LoginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        keep = args.protect or None
        password = RandomPassword(
            f"{name}-password",
            length=_PASSWORD_LENGTH,
            special=False,
            opts=self.child(protect=keep, retain_on_delete=keep),
        )
        self.credentials = DeliveredSecret(
            f"{name}-secret",
            DeliveredSecretArgs(
                secret=args.secret,
                namespaces=(args.namespace,),
                ownership=args.ownership,
                values={
                    "username": USER,
                    "password": password.result,
                    "htpasswd": pulumi.Output.concat(USER, ":", password.bcrypt_hash, "\n"),
                },
                roles=_ROLES,
            ),
            self.child(),
        ).ref
        self.finish({"secret": self.credentials.name})


@dataclass(frozen=True, kw_only=True)
class GuardedService:
    """A service on its pod's loopback address.

    Args:
        app: Name of the Service and stem of its ConfigMap.
        title: What the login dialogue says.
        local_port: Port on the loopback address.
        image: Image of the proxy, with ``nginx`` on its PATH.
        credentials: The login.
    """

    app: str
    title: str
    local_port: int
    image: str
    credentials: SecretRef


def proxy_config(guarded: GuardedService) -> str:
    """Configuration of nginx: all but health asks for the login; nobody ends or reloads the service here."""
    upstream = f"http://127.0.0.1:{guarded.local_port}"
    scratch = "\n".join(
        f"  {kind}_temp_path /tmp/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""worker_processes 1;
daemon off;
pid /tmp/nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
  access_log off;
  server_tokens off;
{scratch}
  server {{
    listen {PORT};
    auth_basic "{guarded.title}";
    auth_basic_user_file {_SECRET}/htpasswd;
    proxy_set_header Host $http_host;
    proxy_set_header Authorization "";
    location / {{ proxy_pass {upstream}; }}
    location = /-/healthy {{ auth_basic off; proxy_pass {upstream}; }}
    location = /-/ready {{ auth_basic off; proxy_pass {upstream}; }}
    location ~ ^/-/(quit|reload)$ {{ return 403; }}
  }}
}}
"""


def config_digest(guarded: GuardedService) -> str:
    """Changes with the configuration, so that pods restart with it."""
    return hashlib.sha256(proxy_config(guarded).encode()).hexdigest()[:16]


def proxy_container(guarded: GuardedService) -> dict[str, Any]:
    """The proxy, for the ``containers`` of the operator's resources."""
    return {
        "name": PORT_NAME,
        "image": guarded.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["nginx"],
        "args": ["-e", "stderr", "-c", f"{_CONFIG}/nginx.conf"],
        "ports": [{"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"}],
        "readinessProbe": {
            "httpGet": {"path": "/-/ready", "port": PORT_NAME},
            "periodSeconds": 5,
            "failureThreshold": 3,
        },
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"cpu": "500m", "memory": "64Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "login-config", "mountPath": _CONFIG, "readOnly": True},
            {"name": "login-secret", "mountPath": _SECRET, "readOnly": True},
            {"name": "login-tmp", "mountPath": "/tmp"},  # noqa: S108 - a volume of the pod alone
        ],
    }


def proxy_volumes(guarded: GuardedService) -> list[dict[str, Any]]:
    """Volumes of the proxy."""
    key = guarded.credentials.keys["htpasswd"]
    return [
        {"name": "login-config", "configMap": {"name": f"{guarded.app}-login"}},
        {
            "name": "login-secret",
            "secret": {
                "secretName": guarded.credentials.name,
                "defaultMode": _MODE,
                "items": [{"key": key, "path": "htpasswd"}],
            },
        },
        {"name": "login-tmp", "emptyDir": {"sizeLimit": "16Mi"}},
    ]


def create_config(
    parent: Component, name: str, *, ownership: Ownership, namespace: str, guarded: GuardedService
) -> pulumi.Resource:
    """The proxy's ConfigMap."""
    made: pulumi.Resource = ConfigMap(
        f"{name}-login",
        metadata=ownership_metadata(ownership, name=f"{guarded.app}-login", namespace=namespace),
        data={"nginx.conf": proxy_config(guarded)},
        opts=parent.child(),
    )
    return made


def create_service(
    parent: Component,
    name: str,
    *,
    ownership: Ownership,
    namespace: str,
    guarded: GuardedService,
    after: pulumi.Resource,
) -> pulumi.Output[str]:
    """The Service in front of the proxy, which is there when a pod is ready; gives its name."""
    pods = {NAME_LABEL: guarded.app}  # the operator gives its pods this label
    made = Service(
        f"{name}-service",
        metadata=ownership_metadata(ownership, name=guarded.app, namespace=namespace, labels=pods),
        spec={
            "type": "ClusterIP",
            "selector": pods,
            "ports": [{"name": PORT_NAME, "port": PORT, "targetPort": PORT_NAME, "protocol": "TCP"}],
        },
        opts=parent.child(depends_on=[after]),
    )
    named: pulumi.Output[str] = made.metadata.name
    return named
