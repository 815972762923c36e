"""exposure: nothing is reachable from outside the cluster but what is on the allow-list."""

from collections.abc import Iterator

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
from policies.objects import pods

_ROUTES = frozenset({"Gateway", "HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"})
_ENTRANCES = {
    "networking.k8s.io": frozenset({"Ingress"}),
    "extensions": frozenset({"Ingress"}),
    "gateway.networking.k8s.io": _ROUTES,
    "networking.istio.io": frozenset({"Gateway", "VirtualService"}),
    "route.openshift.io": frozenset({"Route"}),
    "traefik.io": frozenset({"IngressRoute", "IngressRouteTCP", "IngressRouteUDP"}),
}
_CLUSTER_IP = "ClusterIP"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """Services are ClusterIP; no ingress, gateway or route; no port of a node."""
    if item.kind in _ENTRANCES.get(item.group, frozenset()):
        return (item.fail("ingress", f"{item.kind} lets the outside in; accepted: ClusterIP Services only"),)
    if item.kind == "Service" and not item.group:
        return tuple(_service(item))
    if pods(item) and not item.patch:
        return tuple(_pods(item))
    return None


def _service(item: KubeObject) -> Iterator[Finding]:
    kind = at(item.body, "spec", "type")
    if isinstance(kind, Unknown):
        yield item.unproven("service-type", kind, _CLUSTER_IP)
    elif kind not in (None, _CLUSTER_IP):
        yield item.fail("service-type", f"spec.type is {kind!r}; accepted: {_CLUSTER_IP}")
    for field in ("externalIPs", "loadBalancerIP", "externalName"):
        value = at(item.body, "spec", field)
        if isinstance(value, Unknown) and value is not kind:
            yield item.unproven("external-address", value, "absent")
        elif value:
            yield item.fail("external-address", f"spec.{field} is set; accepted: absent")


def _pods(item: KubeObject) -> Iterator[Finding]:
    for pod in pods(item):
        yield from pod.undecided("spec")
        if isinstance(pod.spec, Unknown):
            continue
        yield from _absent(item, "host-network", f"{pod.spec_path}.hostNetwork", at(pod.spec, "hostNetwork"))
        for container in pod.containers():
            ports = at(container.body, "ports")
            for doubt in unknowns(ports):
                yield item.unproven("host-port", doubt, "ports known in the preview, without hostPort")
            for index, port in enumerate(items(ports)):
                if not isinstance(port, Unknown):
                    where = f"{container.where}.ports[{index}].hostPort"
                    yield from _absent(item, "host-port", where, at(port, "hostPort"))


def _absent(item: KubeObject, check: str, where: str, value: Value) -> Iterator[Finding]:
    if isinstance(value, Unknown):
        yield item.unproven(check, value, "absent")
    elif value:
        yield item.fail(check, f"{where} is set, which opens a port of the node; accepted: absent")


RULE = Rule(
    id="exposure",
    severity=Severity.HIGH,
    title="Nothing is reachable from outside the cluster but what is on the allow-list",
    fix="Use a ClusterIP Service; an entrance that is meant joins policies/allow.json with its reason.",
    source="https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types",
    check_resource=per_object(check),
)
