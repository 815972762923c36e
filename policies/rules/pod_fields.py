"""Single fields of a pod that pod security judges alone, as a table.

Figures: pod security standards, profile *restricted*, of Kubernetes 1.34.
"""

from collections.abc import Callable
from dataclasses import dataclass

from policies.model import Value


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field and what it may hold; absent is given to ``allows`` as None.

    Args:
        check: Part of the rule.
        path: Path below the pod's spec or the container.
        allows: Whether a value is accepted.
        accepted: The accepted values in words.
    """

    check: str
    path: tuple[str, ...]
    allows: Callable[[Value], bool]
    accepted: str


def _one_of(*values: Value) -> Callable[[Value], bool]:
    return lambda value: value is None or value in values


def _not_zero(value: Value) -> bool:
    return value is None or (isinstance(value, int | float) and value != 0)


_SECCOMP = ("RuntimeDefault", "Localhost")
_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
_CONTEXT = "securityContext"

_ANY_LEVEL = (
    Field(
        check="host-process",
        path=(_CONTEXT, "windowsOptions", "hostProcess"),
        allows=_one_of(False),
        accepted="absent or false",
    ),
    Field(
        check="selinux",
        path=(_CONTEXT, "seLinuxOptions", "type"),
        allows=_one_of(*_SELINUX_TYPES),
        accepted="absent or a container type",
    ),
    Field(
        check="selinux",
        path=(_CONTEXT, "seLinuxOptions", "user"),
        allows=_one_of(""),
        accepted="absent",
    ),
    Field(
        check="selinux",
        path=(_CONTEXT, "seLinuxOptions", "role"),
        allows=_one_of(""),
        accepted="absent",
    ),
    Field(
        check="apparmor",
        path=(_CONTEXT, "appArmorProfile", "type"),
        allows=_one_of(*_SECCOMP),
        accepted="absent, RuntimeDefault or Localhost",
    ),
    Field(
        check="run-as-user",
        path=(_CONTEXT, "runAsUser"),
        allows=_not_zero,
        accepted="absent or a number other than 0",
    ),
)

# Set in the pod or in each container; the container's own value wins.
INHERITED_FIELDS = (
    Field(
        check="run-as-non-root",
        path=(_CONTEXT, "runAsNonRoot"),
        allows=_one_of(True),
        accepted="true",
    ),
    Field(
        check="seccomp",
        path=(_CONTEXT, "seccompProfile", "type"),
        allows=_one_of(*_SECCOMP),
        accepted="RuntimeDefault or Localhost",
    ),
)

POD_FIELDS = (
    Field(check="host-network", path=("hostNetwork",), allows=_one_of(False), accepted="absent or false"),
    Field(check="host-pid", path=("hostPID",), allows=_one_of(False), accepted="absent or false"),
    Field(check="host-ipc", path=("hostIPC",), allows=_one_of(False), accepted="absent or false"),
    *_ANY_LEVEL,
    *INHERITED_FIELDS,
)

CONTAINER_FIELDS = (
    Field(
        check="privileged", path=(_CONTEXT, "privileged"), allows=_one_of(False), accepted="absent or false"
    ),
    Field(
        check="privilege-escalation",
        path=(_CONTEXT, "allowPrivilegeEscalation"),
        allows=lambda value: value is False,
        accepted="false",
    ),
    Field(
        check="proc-mount",
        path=(_CONTEXT, "procMount"),
        allows=_one_of("Default"),
        accepted="absent or Default",
    ),
    *_ANY_LEVEL,
)

# Kubernetes 1.34 forbids probes and hooks that name another host (pod security, "Host Probes").
HOST_PATHS = tuple(
    (*handler, protocol, "host")
    for handler in (
        ("livenessProbe",),
        ("readinessProbe",),
        ("startupProbe",),
        ("lifecycle", "postStart"),
        ("lifecycle", "preStop"),
    )
    for protocol in ("httpGet", "tcpSocket")
)

# Inline CSI volumes (``csi``) are left out of the profile's list: what a driver mounts is its own affair, and
# some mount the node's file system.
VOLUME_SOURCES = frozenset(
    {
        "configMap",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)

SAFE_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)

ADDABLE_CAPABILITIES = frozenset({"NET_BIND_SERVICE"})
APPARMOR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
