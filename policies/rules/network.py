"""network: no NetworkPolicy takes back what the default deny of its namespace denies."""

from collections.abc import Iterable, Iterator, Mapping

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

_SIDES = (("ingress", "from"), ("egress", "to"))
_LAST_PORT = 65535
_DNS_PORT = 53
_ACCEPTED = "rules that name their peers or, for pods chosen by a label, their ports"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """No rule opens pods to everyone on every port, nor all pods to everyone on some."""
    if item.kind != "NetworkPolicy" or item.group != "networking.k8s.io":
        return None
    return tuple(dict.fromkeys(_policy(item)))


def _policy(item: KubeObject) -> Iterator[Finding]:
    spec = at(item.body, "spec")
    selector = at(spec, "podSelector")
    for side, peers_field in _SIDES:
        rules = at(spec, side)
        for doubt in unknowns(rules):
            yield item.unproven("allow-all", doubt, _ACCEPTED)
        for index, rule in enumerate(items(rules)):
            if not isinstance(rule, Unknown):
                where = f"spec.{side}[{index}]"
                yield from _rule(item, where, selector, at(rule, peers_field), at(rule, "ports"))


def _rule(item: KubeObject, where: str, selector: Value, peers: Value, ports: Value) -> Iterator[Finding]:
    if isinstance(peers, Unknown):
        opening: bool | Unknown = peers
    else:
        opening = _any(_everyone(peer) for peer in items(peers)) if items(peers) else True
    if opening is False:
        return
    everywhere = ports if isinstance(ports, Unknown) else _all_ports(ports)
    widely = _matches_all(selector)
    if where.startswith("spec.egress") and _only_dns(ports):
        return
    doubt = next((part for part in (opening, everywhere, widely) if isinstance(part, Unknown)), None)
    if opening is True and (everywhere is True or widely is True):
        what = "every port" if everywhere is True else "ports of every pod"
        yield item.fail("allow-all", f"{where} opens {what} to everyone; accepted: {_ACCEPTED}")
    elif doubt and (everywhere is not False or widely is not False):
        yield item.unproven("allow-all", doubt, _ACCEPTED)


def _any(answers: Iterable[bool | Unknown]) -> bool | Unknown:
    found = list(answers)
    if True in found:
        return True
    return next((answer for answer in found if isinstance(answer, Unknown)), False)


def _everyone(peer: Value) -> bool | Unknown:
    """Whether one peer stands for every address or every pod of the cluster."""
    if isinstance(peer, Unknown):
        return peer
    cidr = at(peer, "ipBlock", "cidr")
    if isinstance(cidr, Unknown):
        return cidr
    if cidr is not None:
        return str(cidr).endswith("/0")
    spaces, pods = at(peer, "namespaceSelector"), at(peer, "podSelector")
    if spaces is None:
        return False
    return _both(_matches_all(spaces), True if pods is None else _matches_all(pods))


def _both(left: bool | Unknown, right: bool | Unknown) -> bool | Unknown:
    if left is False or right is False:
        return False
    return left if isinstance(left, Unknown) else right


def _matches_all(selector: Value) -> bool | Unknown:
    """Whether a label selector is empty; an absent one of a policy chooses every pod."""
    if isinstance(selector, Unknown):
        return selector
    parts = selector.values() if isinstance(selector, Mapping) else ()
    doubt = next((part for part in parts if isinstance(part, Unknown)), None)
    return doubt or not any(parts)


def _all_ports(ports: Value) -> bool | Unknown:
    found = items(ports)
    if not found:
        return True
    answers = []
    for port in found:
        first, last = at(port, "port"), at(port, "endPort")
        doubt = next((part for part in (port, first, last) if isinstance(part, Unknown)), None)
        wide = first is None or (isinstance(first, int | float) and first <= 1 and last == _LAST_PORT)
        answers.append(doubt or wide)
    return _any(answers)


def _only_dns(ports: Value) -> bool:
    """Whether the rule is the one every pod needs, to the cluster's name server."""
    return bool(items(ports)) and all(at(port, "port") == _DNS_PORT for port in items(ports))


RULE = Rule(
    id="network",
    severity=Severity.HIGH,
    title="No NetworkPolicy opens to everyone what the default deny closes",
    fix="Name the peers and ports with components.kube.NetworkAllow; a policy adds to the default deny.",
    source="https://kubernetes.io/docs/concepts/services-networking/network-policies/#allow-all-ingress-traffic",
    check_resource=per_object(check),
)
