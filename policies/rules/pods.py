"""pods: restricted pod security, requests and limits on every pod the plan makes."""

from collections.abc import Iterator, Mapping

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Rule,
    Severity,
    Unknown,
    Value,
    Verdict,
    at,
    items,
    per_object,
    unknowns,
)
from policies.objects import Container, Pod, pods
from policies.quantity import amount
from policies.rules.pod_fields import (
    ADDABLE_CAPABILITIES,
    APPARMOR_ANNOTATION,
    CONTAINER_FIELDS,
    HOST_PATHS,
    INHERITED_FIELDS,
    POD_FIELDS,
    SAFE_SYSCTLS,
    VOLUME_SOURCES,
    Field,
)

_CONTEXT = "securityContext"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """Every pod of the object fits the restricted profile and says what it needs."""
    made = pods(item)
    if not made:
        return None
    if item.patch:
        return (
            item.fail("patch", "a patch of a pod's owner can't be judged; accepted: own the whole object"),
        )
    return tuple(finding for pod in made for finding in _pod(pod))


def _pod(pod: Pod) -> Iterator[Finding]:
    yield from pod.undecided("spec")
    if not isinstance(pod.spec, Mapping):
        return
    yield from _fields(pod.owner, f"{pod.spec_path}", pod.spec, POD_FIELDS)
    yield from _volumes(pod)
    yield from _sysctls(pod)
    yield from _apparmor_annotations(pod)
    for container in pod.containers():
        if isinstance(container.body, Mapping):
            yield from _container(pod, container)


def _container(pod: Pod, container: Container) -> Iterator[Finding]:
    owner, where, body = pod.owner, container.where, container.body
    yield from _fields(owner, where, body, CONTAINER_FIELDS)
    for field in INHERITED_FIELDS:
        yield from _from_pod_or_container(pod, container, field)
    yield from _capabilities(owner, container)
    yield from _ports(owner, container)
    for path in HOST_PATHS:
        yield from _field(
            owner,
            where,
            body,
            Field(
                check="host-probes",
                path=path,
                allows=lambda value: value in (None, ""),
                accepted="absent",
            ),
        )
    if not container.ephemeral:
        yield from _resources(owner, container)


def _fields(owner: KubeObject, where: str, body: Value, fields: tuple[Field, ...]) -> Iterator[Finding]:
    for field in fields:
        yield from _field(owner, where, body, field)


def _field(owner: KubeObject, where: str, body: Value, field: Field) -> Iterator[Finding]:
    value = at(body, *field.path)
    if isinstance(value, Unknown):
        yield owner.unproven(field.check, value, field.accepted)
    elif not field.allows(value):
        path = ".".join((where, *field.path))
        yield owner.fail(field.check, f"{path} is {_shown(value)}; accepted: {field.accepted}")


def _from_pod_or_container(pod: Pod, container: Container, field: Field) -> Iterator[Finding]:
    """The container's own value decides, else the pod's; one of them has to be set."""
    own, inherited = at(container.body, *field.path), at(pod.spec, *field.path)
    if own is not None:
        yield from _field(pod.owner, container.where, container.body, field)
    elif inherited is None:
        path = ".".join((container.where, *field.path))
        message = f"{path} is absent; accepted: {field.accepted}, here or in the pod"
        yield pod.owner.fail(field.check, message)
    # Any other value of the pod is judged once, with the pod.


def _capabilities(owner: KubeObject, container: Container) -> Iterator[Finding]:
    where = f"{container.where}.{_CONTEXT}.capabilities"
    accepted = "drop: [ALL], add: nothing but NET_BIND_SERVICE"
    drop = at(container.body, _CONTEXT, "capabilities", "drop")
    add = at(container.body, _CONTEXT, "capabilities", "add")
    for value in dict.fromkeys((*unknowns(drop), *unknowns(add))):
        yield owner.unproven("capabilities", value, accepted)
    if not isinstance(drop, Unknown) and "ALL" not in items(drop):
        yield owner.fail("capabilities", f"{where} does not drop ALL; accepted: {accepted}")
    extra = sorted({str(name) for name in items(add) if not isinstance(name, Unknown)} - ADDABLE_CAPABILITIES)
    if extra:
        yield owner.fail("capabilities", f"{where} adds {', '.join(extra)}; accepted: {accepted}")


def _ports(owner: KubeObject, container: Container) -> Iterator[Finding]:
    ports = at(container.body, "ports")
    for doubt in unknowns(ports):
        yield owner.unproven("host-ports", doubt, "ports known in the preview, without hostPort")
    for index, port in enumerate(items(ports)):
        value = at(port, "hostPort")
        if isinstance(value, Unknown):
            if value is not port:
                yield owner.unproven("host-ports", value, "absent")
        elif value:
            yield owner.fail(
                "host-ports", f"{container.where}.ports[{index}].hostPort is {value:g}; accepted: absent"
            )


def _resources(owner: KubeObject, container: Container) -> Iterator[Finding]:
    accepted = "requests and limits for cpu and memory, each above zero"
    missing, idle, doubts = [], [], []
    for kind in ("requests", "limits"):
        for resource in ("cpu", "memory"):
            value = at(container.body, "resources", kind, resource)
            if isinstance(value, Unknown):
                doubts.append(value)
            elif value in (None, ""):
                missing.append(f"{kind}.{resource}")
            elif (amount(value) or 0) <= 0:
                # For the kubelet a limit of zero is no limit.
                idle.append(f"{kind}.{resource} {_shown(value)}")
    for doubt in dict.fromkeys(doubts):
        yield owner.unproven("resources", doubt, accepted)
    where = f"{container.where}.resources"
    if missing:
        yield owner.fail("resources", f"{where} lacks {', '.join(missing)}; accepted: {accepted}")
    if idle:
        yield owner.fail("resources", f"{where} has {', '.join(idle)}; accepted: {accepted}")


def _volumes(pod: Pod) -> Iterator[Finding]:
    accepted = ", ".join(sorted(VOLUME_SOURCES))
    volumes = at(pod.spec, "volumes")
    if isinstance(volumes, Unknown):
        yield pod.owner.unproven("volumes", volumes, accepted)
    for index, volume in enumerate(items(volumes)):
        if isinstance(volume, Unknown):
            yield pod.owner.unproven("volumes", volume, accepted)
            continue
        sources = {key for key, value in volume.items() if key != "name" and value is not None}
        # A volume without a source is an emptyDir.
        for source in sorted(sources - VOLUME_SOURCES):
            name = at(volume, "name")
            where = f"{pod.spec_path}.volumes[{name if isinstance(name, str) else index}]"
            yield pod.owner.fail("volumes", f"{where} is a {source}; accepted: {accepted}")


def _sysctls(pod: Pod) -> Iterator[Finding]:
    sysctls = at(pod.spec, _CONTEXT, "sysctls")
    if sysctls is at(pod.spec, _CONTEXT) and isinstance(sysctls, Unknown):
        # Said once already, by the fields of the same context.
        return
    for doubt in unknowns(sysctls):
        yield pod.owner.unproven("sysctls", doubt, "safe sysctls known in the preview")
    for index, sysctl in enumerate(items(sysctls)):
        name = at(sysctl, "name")
        if isinstance(name, Unknown):
            if name is not sysctl:
                yield pod.owner.unproven("sysctls", name, "a safe sysctl")
        elif name not in SAFE_SYSCTLS:
            where = f"{pod.spec_path}.{_CONTEXT}.sysctls[{index}]"
            accepted = ", ".join(sorted(SAFE_SYSCTLS))
            yield pod.owner.fail("sysctls", f"{where} is {_shown(name)}; accepted: {accepted}")


def _apparmor_annotations(pod: Pod) -> Iterator[Finding]:
    metadata = pod.metadata if pod.path else at(pod.owner.body, "metadata")
    annotations = at(metadata, "annotations")
    if isinstance(annotations, Unknown):
        yield pod.owner.unproven("apparmor", annotations, "annotations known in the preview")
    if not isinstance(annotations, Mapping):
        return
    for key, value in annotations.items():
        if not key.startswith(APPARMOR_ANNOTATION):
            continue
        accepted = "runtime/default or localhost/*"
        if isinstance(value, Unknown):
            yield pod.owner.unproven("apparmor", value, accepted)
        elif value != "runtime/default" and not str(value).startswith("localhost/"):
            yield pod.owner.fail("apparmor", f"annotation {key} is {_shown(value)}; accepted: {accepted}")


def _shown(value: Value) -> str:
    if value is None:
        return "absent"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return repr(value)


RULE = Rule(
    id="pods",
    severity=Severity.HIGH,
    title="Every pod fits the restricted pod security profile and has requests and limits",
    fix="Set the fields named; a pod that can't joins policies/allow.json with its reason.",
    source="https://kubernetes.io/docs/concepts/security/pod-security-standards/",
    check_resource=per_object(check),
)
