"""From planned resources to Kubernetes objects, and from objects to the pods they will make."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from policies.model import Finding, KubeObject, Planned, Unknown, Value, at, items

KUBERNETES = "kubernetes:"
RELEASE = "kubernetes:helm.sh/v3:Release"
# Wrappers of the provider's SDK, no objects of the API.
_WRAPPERS = ("helm.sh/", "yaml", "kustomize")

TEMPLATE = ("spec", "template")
_POD_PATHS: Mapping[str, tuple[str, ...]] = {
    "Pod": (),
    "PodTemplate": ("template",),
    "ReplicationController": TEMPLATE,
    "ReplicaSet": TEMPLATE,
    "Deployment": TEMPLATE,
    "StatefulSet": TEMPLATE,
    "DaemonSet": TEMPLATE,
    "Job": TEMPLATE,
    "CronJob": ("spec", "jobTemplate", *TEMPLATE),
}
_POD_GROUPS = frozenset({"", "apps", "batch", "extensions"})
# Fields of custom resources that hold a pod; unknown as a whole, any pod may come of them.
_POD_FIELDS = frozenset(
    {
        "spec",
        "template",
        "templates",
        "podTemplate",
        "podTemplateSpec",
        "podSpec",
        "replicatedJobs",
        "predictor",
    }
)
_NO_CONTENT = frozenset({"apiVersion", "kind", "metadata", "status"})
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True, kw_only=True)
class Container:
    """One container of a pod.

    Args:
        where: Path with the container's name, for messages.
        path: Property path.
        body: Its manifest.
        ephemeral: Debug container, which can't have resources.
    """

    where: str
    path: str
    body: Value
    ephemeral: bool


@dataclass(frozen=True, kw_only=True)
class Pod:
    """A pod the object is or will make.

    Args:
        owner: The object.
        path: Property path of the pod, empty when the object is the pod.
        metadata: Its metadata, may be None or ``Unknown``.
        spec: Its spec, may be None or ``Unknown``.
        bare: A custom resource holds the spec itself at ``path``, without a template around it.
    """

    owner: KubeObject
    path: str
    metadata: Value
    spec: Value
    bare: bool = False

    @property
    def spec_path(self) -> str:
        """Property path of the pod's spec."""
        return self.path.rstrip(".") if self.bare else f"{self.path}spec"

    def containers(self) -> Iterator[Container]:
        """Every container, init and ephemeral ones too."""
        for key in CONTAINER_LISTS:
            for index, body in enumerate(items(at(self.spec, key))):
                path = f"{self.spec_path}.{key}[{index}]"
                name = at(body, "name")
                where = f"{self.spec_path}.{key}[{name if isinstance(name, str) else index}]"
                yield Container(where=where, path=path, body=body, ephemeral=key == "ephemeralContainers")

    def undecided(self, check: str) -> Iterator[Finding]:
        """Parts of the pod that are unknown or missing as a whole, so that no check can be made."""
        accepted = "a pod spec with known containers"
        if isinstance(self.spec, Unknown):
            yield self.owner.unproven(check, self.spec, accepted)
        elif not isinstance(self.spec, Mapping):
            yield self.owner.fail(check, f"{self.spec_path} is missing; accepted: {accepted}")
        for key in CONTAINER_LISTS:
            value = at(self.spec, key)
            if isinstance(value, Unknown) and value is not self.spec:
                yield self.owner.unproven(check, value, accepted)
            for body in items(value):
                if isinstance(body, Unknown):
                    yield self.owner.unproven(check, body, accepted)


def planned_objects(planned: Planned, secret_paths: frozenset[str] | None) -> tuple[KubeObject, ...]:
    """Objects a resource of the Kubernetes provider stands for: itself, or the items of a list.

    Args:
        planned: The resource; charts are the renderer's.
        secret_paths: Paths of its values Pulumi holds as secrets; None when not recorded.
    """
    if not planned.type.startswith(KUBERNETES):
        return ()
    module, _, kind = planned.type.removeprefix(KUBERNETES).rpartition(":")
    if not module or module.startswith(_WRAPPERS):
        return ()
    group = module.rpartition("/")[0]
    head = KubeObject(
        kind=kind,
        group="" if group == "core" else group,
        name=planned.name,
        namespace=None,
        body=planned.props,
        urn=planned.urn,
        protect=planned.protect,
        secret_paths=secret_paths,
    )
    if kind.endswith("List") and "items" in planned.props:
        return tuple(_item(head, body, index) for index, body in enumerate(items(planned.props["items"])))
    if kind.endswith("Patch"):
        head = replace(head, kind=kind.removesuffix("Patch"), patch=True)
    return (_named(head, planned.props),)


def chart_objects(
    planned: Planned, chart: str, namespace: str, manifests: Sequence[Mapping[str, Any]]
) -> tuple[KubeObject, ...]:
    """Objects a chart renders, owned by the Release resource.

    Args:
        planned: The Release.
        chart: Name of the chart.
        namespace: The release's namespace, which objects without one of their own get.
        manifests: What the chart renders.
    """
    head = KubeObject(
        kind="",
        group="",
        name=planned.name,
        namespace=namespace,
        body={},
        urn=planned.urn,
        chart=chart,
        protect=planned.protect,
    )
    return tuple(_item(head, body, index) for index, body in enumerate(manifests))


def pods(owner: KubeObject) -> tuple[Pod, ...]:
    """The pods an object is or will make; custom resources that embed pod templates count too."""
    if owner.group in _POD_GROUPS and owner.kind in _POD_PATHS:
        path = _POD_PATHS[owner.kind]
        return (_pod(owner, ".".join((*path, "")) if path else "", at(owner.body, *path)),)
    if owner.group in _POD_GROUPS or owner.kind == "CustomResourceDefinition":
        return ()
    parts = {key: below for key, below in owner.body.items() if key not in _NO_CONTENT}
    return tuple(pod for key, below in parts.items() for pod in _embedded(owner, below, key))


def _pod(owner: KubeObject, path: str, template: Value) -> Pod:
    return Pod(owner=owner, path=path, metadata=at(template, "metadata"), spec=at(template, "spec"))


def _embedded(owner: KubeObject, value: Value, path: str) -> Iterator[Pod]:
    """Pods anywhere below a custom resource's spec: templates, bare pod specs, and what may hide one."""
    if isinstance(value, Mapping):
        if _lists_containers(at(value, "spec")):
            yield _pod(owner, f"{path}.", value)
        elif _lists_containers(value):
            yield Pod(owner=owner, path=f"{path}.", metadata=None, spec=value, bare=True)
        else:
            for key, below in value.items():
                yield from _embedded(owner, below, f"{path}.{key}")
    elif isinstance(value, Unknown):
        if path.rpartition(".")[2].partition("[")[0] in _POD_FIELDS:
            yield Pod(owner=owner, path=f"{path}.", metadata=None, spec=value, bare=True)
    else:
        for index, below in enumerate(items(value)):
            yield from _embedded(owner, below, f"{path}[{index}]")


def _lists_containers(value: Value) -> bool:
    """Whether a mapping has the shape of a pod's spec."""
    lists = [at(value, key) for key in CONTAINER_LISTS] if isinstance(value, Mapping) else []
    return any(
        isinstance(found, Unknown) or any(isinstance(item, Mapping | Unknown) for item in items(found))
        for found in lists
    )


def _item(head: KubeObject, body: Value, index: int) -> KubeObject:
    manifest = body if isinstance(body, Mapping) else {}
    version, kind = at(manifest, "apiVersion"), at(manifest, "kind")
    return _named(
        replace(
            head,
            kind=kind if isinstance(kind, str) else head.kind.removesuffix("List") or "Unknown",
            group=version.rpartition("/")[0] if isinstance(version, str) else head.group,
            name=f"{head.name}[{index}]",
            body=manifest,
        ),
        manifest,
    )


def _named(head: KubeObject, body: Mapping[str, Any]) -> KubeObject:
    name, namespace = at(body, "metadata", "name"), at(body, "metadata", "namespace")
    return replace(
        head,
        name=name if isinstance(name, str) else head.name,
        namespace=namespace if isinstance(namespace, str | Unknown) else head.namespace,
    )
