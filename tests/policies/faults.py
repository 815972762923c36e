"""One planted fault per check of each rule: what is added to the good plan, and what must be said of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.policies.manifests import (
    COST,
    POD_TEMPLATE,
    Later,
    Marked,
    Resource,
    changed,
    claim,
    default_deny,
    deployment,
    metadata,
    namespace,
    nodes,
    quota,
    release,
    service,
)

PASSWORD = "correct-horse"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault and the finding it must cause.

    Args:
        rule: The rule that must speak.
        check: Its check.
        says: Part of the message.
        added: Resources added to the good plan.
        also: Other rules that rightly speak too.
    """

    rule: str
    check: str
    says: str
    added: tuple[Resource, ...]
    also: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """Name of the fault: that of its first resource."""
        return self.added[0].name


def _with(resource: Resource, path: str, value: Any) -> Resource:
    return replace(resource, props=changed(resource.props, path, value))


def _pod(check: str, path: str, value: Any, says: str, *, rule: str = "pods", suffix: str = "") -> Fault:
    name = f"{rule}-{check}{suffix}"
    return Fault(
        rule=rule, check=check, says=says, added=(deployment(name, changed(POD_TEMPLATE, path, value)),)
    )


_BARE = Resource(
    name="labels-ownership",
    type="kubernetes:core/v1:ConfigMap",
    props={"metadata": {"name": "bare", "namespace": "team", "labels": {**COST, "gpu-platform/owner": ""}}},
)
_UNSTABLE_TEMPLATE = {**POD_TEMPLATE, "metadata": {"labels": {}}}

LABELS = (
    Fault(rule="labels", check="ownership", says="lacks gpu-platform/owner;", added=(_BARE,)),
    Fault(
        rule="labels",
        check="ownership",
        says="spec.template.metadata.labels lacks gpu-platform/owner, gpu-platform/project",
        added=(deployment("labels-template", _UNSTABLE_TEMPLATE),),
    ),
)

_MAIN, _INIT, _CONTEXT = "spec.containers.0", "spec.initContainers.0", "spec.securityContext"
PODS = (
    replace(
        _pod("host-network", "spec.hostNetwork", True, "spec.template.spec.hostNetwork is true"),
        also=frozenset({"exposure"}),
    ),
    replace(
        _pod("host-ports", f"{_MAIN}.ports.0.hostPort", 80.0, "ports[0].hostPort is 80"),
        also=frozenset({"exposure"}),
    ),
    _pod("host-pid", "spec.hostPID", True, "spec.template.spec.hostPID is true"),
    _pod("host-ipc", "spec.hostIPC", True, "hostIPC is true"),
    _pod("host-process", f"{_CONTEXT}.windowsOptions", {"hostProcess": True}, "hostProcess is true"),
    _pod("selinux", f"{_CONTEXT}.seLinuxOptions", {"type": "spc_t"}, "type is 'spc_t'"),
    _pod("apparmor", f"{_CONTEXT}.appArmorProfile", {"type": "Unconfined"}, "'Unconfined'"),
    _pod("seccomp", f"{_CONTEXT}.seccompProfile", {"type": "Unconfined"}, "'Unconfined'"),
    _pod("run-as-user", f"{_CONTEXT}.runAsUser", 0.0, "runAsUser is 0"),
    _pod("run-as-non-root", f"{_CONTEXT}.runAsNonRoot", False, "runAsNonRoot is false"),
    _pod("sysctls", f"{_CONTEXT}.sysctls", [{"name": "kernel.msgmax", "value": "1"}], "'kernel.msgmax'"),
    _pod("volumes", "spec.volumes.1.hostPath", {"path": "/etc"}, "spec.volumes[scratch] is a hostPath"),
    _pod("privileged", f"{_MAIN}.securityContext.privileged", True, "spec.containers[main].securityContext"),
    _pod(
        "privileged", f"{_INIT}.securityContext.privileged", True, "spec.initContainers[init]", suffix="-init"
    ),
    _pod("privilege-escalation", f"{_MAIN}.securityContext.allowPrivilegeEscalation", None, "is absent"),
    _pod("proc-mount", f"{_MAIN}.securityContext.procMount", "Unmasked", "'Unmasked'"),
    _pod("capabilities", f"{_MAIN}.securityContext.capabilities.drop", ["NET_RAW"], "does not drop ALL"),
    _pod(
        "capabilities",
        f"{_MAIN}.securityContext.capabilities.add",
        ["SYS_ADMIN"],
        "adds SYS_ADMIN",
        suffix="-add",
    ),
    _pod(
        "host-probes", f"{_MAIN}.livenessProbe.httpGet.host", "example.org", "livenessProbe.httpGet.host is"
    ),
    _pod("resources", f"{_MAIN}.resources.limits.memory", None, "lacks limits.memory"),
    _pod(
        "resources",
        f"{_INIT}.resources.requests",
        None,
        "lacks requests.cpu, requests.memory",
        suffix="-init",
    ),
    replace(_pod("spec", "spec", None, "spec.template.spec is missing"), also=frozenset({"exposure"})),
    Fault(
        rule="pods",
        check="privileged",
        says="chart:sample/Deployment/team/pods-chart",
        added=(release("pods-chart", privileged=True),),
    ),
    Fault(
        rule="pods",
        check="patch",
        says="can't be judged",
        added=(replace(deployment("pods-patch"), type="kubernetes:apps/v1:DeploymentPatch"),),
    ),
    Fault(
        rule="pods",
        check="privileged",
        says="Job/team/pods-job",
        added=(
            replace(
                deployment("pods-job", changed(POD_TEMPLATE, f"{_MAIN}.securityContext.privileged", True)),
                type="kubernetes:batch/v1:Job",
            ),
        ),
    ),
    Fault(
        rule="pods",
        check="privileged",
        says="JobSet/team/pods-jobset: spec.replicatedJobs[0].template.spec.template.spec",
        added=(
            Resource(
                name="pods-jobset",
                type="kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
                props={
                    "apiVersion": "jobset.x-k8s.io/v1alpha2",
                    "kind": "JobSet",
                    "metadata": metadata("pods-jobset"),
                    "spec": {
                        "replicatedJobs": [
                            {
                                "template": {
                                    "spec": {
                                        "template": changed(
                                            POD_TEMPLATE, f"{_MAIN}.securityContext.privileged", True
                                        )
                                    }
                                }
                            }
                        ]
                    },
                },
            ),
        ),
    ),
)


def _env(check: str, entry: dict[str, Any], suffix: str = "") -> Fault:
    where = f"{_MAIN}.env"
    return _pod(check, where, [entry], f"[{check}]", rule="pods-secrets", suffix=suffix)


SECRETS = (
    _env("env", {"name": "DB_PASSWORD", "value": PASSWORD}),
    _env("env", {"name": "GITHUB_TOKEN", "value": PASSWORD}, "-token"),
    _env("env", {"name": "AWS_SECRET_ACCESS_KEY", "value": PASSWORD}, "-key"),
    _env("url", {"name": "DB_URL", "value": f"postgresql://user:{PASSWORD}@db/x"}),
    _env("pulumi-secret", {"name": "MODE", "value": Marked(PASSWORD)}),
    _pod(
        "env", f"{_MAIN}.args", [f"--db-password={PASSWORD}"], "args[0]", rule="pods-secrets", suffix="-args"
    ),
    Fault(
        rule="pods-secrets",
        check="env",
        says="data[DB_PASSWORD]",
        added=(
            Resource(
                name="pods-secrets-config-map",
                type="kubernetes:core/v1:ConfigMap",
                props={"metadata": metadata("settings"), "data": {"DB_PASSWORD": PASSWORD}},
            ),
        ),
    ),
)


def _image(check: str, image: Any, says: str, suffix: str = "") -> Fault:
    return _pod(check, f"{_MAIN}.image", image, says, rule="images", suffix=suffix)


IMAGES = (
    _image("tag", "registry.k8s.io/kueue/kueue", "without a tag"),
    _image("tag", "registry.k8s.io/kueue/kueue:latest", "'latest' can move", "-latest"),
    _image("tag", "docker.io/library/postgres:15", "'15' can move", "-major"),
    _image("digest", "registry.k8s.io/kueue/kueue@sha256:abc", "malformed digest"),
    _image("registry", "example.org/team/web:1.2.3", "from example.org/team/web"),
    _image("registry", "somebody/web:1.2.3", "from docker.io/somebody/web", "-short"),
    _image("reference", "UPPER/case image", "'UPPER/case image'"),
    _image("reference", Later(), "not proven: spec.template.spec.containers[0].image", "-later"),
    Fault(
        rule="images",
        check="tag",
        says="chart:sample/Deployment/team/images-chart",
        added=(release("images-chart", image={"tag": "latest"}),),
    ),
    Fault(
        rule="images",
        check="registry",
        says="values.worker is 'example.org/worker:1.2.3'",
        added=(release("images-values", worker={"repository": "example.org/worker", "tag": "1.2.3"}),),
    ),
)

EXPOSURE = (
    Fault(
        rule="exposure",
        check="service-type",
        says="'LoadBalancer'",
        added=(_with(service("exposure-balancer"), "spec.type", "LoadBalancer"),),
    ),
    Fault(
        rule="exposure",
        check="service-type",
        says="'NodePort'",
        added=(_with(service("exposure-node-port"), "spec.type", "NodePort"),),
    ),
    Fault(
        rule="exposure",
        check="external-address",
        says="spec.externalIPs is set",
        added=(_with(service("exposure-external"), "spec.externalIPs", ["192.0.2.1"]),),
    ),
    Fault(
        rule="exposure",
        check="ingress",
        says="Ingress lets the outside in",
        added=(
            Resource(
                name="exposure-ingress",
                type="kubernetes:networking.k8s.io/v1:Ingress",
                props={"metadata": metadata("web"), "spec": {}},
            ),
        ),
    ),
    Fault(
        rule="exposure",
        check="service-type",
        says="chart:sample/Service/team/exposure-chart",
        added=(release("exposure-chart", serviceType="NodePort"),),
    ),
)

NAMESPACES = (
    Fault(
        rule="namespaces",
        check="pod-security",
        says="is baseline",
        added=(
            _with(
                namespace("namespaces-label"),
                "metadata.labels.pod-security~kubernetes~io/enforce",
                "baseline",
            ),
            quota("namespaces-label"),
            default_deny("namespaces-label"),
        ),
    ),
    Fault(
        rule="namespaces",
        check="quota",
        says="accepted: a ResourceQuota",
        added=(namespace("namespaces-quota"), default_deny("namespaces-quota")),
    ),
    Fault(
        rule="namespaces",
        check="default-deny",
        says="accepted: a NetworkPolicy",
        added=(
            namespace("namespaces-deny"),
            quota("namespaces-deny"),
            _with(default_deny("namespaces-deny"), "spec.policyTypes", ["Ingress"]),
        ),
    ),
    Fault(
        rule="namespaces",
        check="own-namespace",
        says="'kube-public', which is not of this plan",
        added=(_with(deployment("namespaces-home"), "metadata.namespace", "kube-public"),),
    ),
    Fault(
        rule="namespaces",
        check="create-namespace",
        says="createNamespace makes",
        added=(_with(release("namespaces-release"), "createNamespace", True),),
    ),
)

_ONE_CLAIM = changed(
    changed(POD_TEMPLATE, "spec.volumes.0.name", "all"),
    f"{_MAIN}.volumeMounts",
    [
        {"name": "all", "mountPath": "/datasets"},
        {"name": "all", "mountPath": "/checkpoints", "subPath": "run"},
    ],
)
SPLIT = (
    Fault(
        rule="storage-split",
        check="class",
        says="shares checkpoints-class",
        added=(replace(claim("datasets", "checkpoints-class"), name="storage-split-class"),),
    ),
    Fault(
        rule="storage-split",
        check="mount",
        says="claim 'datasets' is mounted for datasets and checkpoints",
        added=(deployment("storage-split-mount", _ONE_CLAIM),),
    ),
)

FABRIC = (
    Fault(
        rule="fabric",
        check="fabric",
        says="'large' has 5 nodes on ethernet-100",
        added=tuple(nodes("large", 5, gpu_platform__fabric="ethernet-100")),
    ),
    Fault(
        rule="fabric",
        check="fabric",
        says="'multi' is marked for multi-node training on ethernet-100",
        added=tuple(nodes("multi", 1, gpu_platform__fabric="ethernet-100", gpu_platform__multi_node="true")),
    ),
    Fault(
        rule="fabric",
        check="fabric",
        says="not proven: pool 'unsaid' is marked",
        added=tuple(nodes("unsaid", 1, gpu_platform__multi_node="true")),
    ),
)

CHARTS = (
    Fault(
        rule="charts",
        check="render",
        says="not proven: values.worker.tag is not known during preview",
        added=(_with(release("charts-later", worker={"tag": Later()}), "allowNullValues", True),),
    ),
    Fault(
        rule="charts",
        check="render",
        says="not proven: helm template of",
        added=(release("charts-broken", broken=True),),
    ),
    Fault(
        rule="charts-values",
        check="hidden-values",
        says="its values depend on cluster and vanish",
        added=(_with(release("charts-hidden", worker={"tag": Later()}), "version", "1.0.0"),),
    ),
)

FAULTS: Sequence[Fault] = (
    *LABELS,
    *PODS,
    *SECRETS,
    *IMAGES,
    *EXPOSURE,
    *NAMESPACES,
    *SPLIT,
    *FABRIC,
    *CHARTS,
)
