"""admission: what sits between users and the API server is on the allow-list."""

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Rule,
    Severity,
    Unknown,
    Verdict,
    at,
    items,
    per_object,
    unknowns,
)

_KINDS = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})
_ACCEPTED = "an exemption of policies/allow.json with its reason"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """No webhook and no aggregated API but exempt ones, and none that lies outside the cluster."""
    if item.kind in _KINDS and item.group == "admissionregistration.k8s.io":
        return (*_outside(item), item.fail("webhook", f"it sees requests to the API; accepted: {_ACCEPTED}"))
    if item.kind == "APIService" and item.group == "apiregistration.k8s.io":
        service = at(item.body, "spec", "service")
        if service is None:
            return ()
        if isinstance(service, Unknown):
            return (item.unproven("api-service", service, "absent, or " + _ACCEPTED),)
        return (item.fail("api-service", f"a pod answers for the API server; accepted: {_ACCEPTED}"),)
    return None


def _outside(item: KubeObject) -> tuple[Finding, ...]:
    hooks = at(item.body, "webhooks")
    accepted = "webhooks known in the preview, answered by a Service"
    found = [item.unproven("webhook-url", doubt, accepted) for doubt in unknowns(hooks)]
    for index, hook in enumerate(items(hooks)):
        if isinstance(hook, Unknown):
            continue
        url = at(hook, "clientConfig", "url")
        if isinstance(url, Unknown):
            found.append(item.unproven("webhook-url", url, accepted))
        elif url:
            where = f"webhooks[{index}].clientConfig.url"
            found.append(item.fail("webhook-url", f"{where} leaves the cluster; accepted: a Service"))
    return tuple(found)


RULE = Rule(
    id="admission",
    severity=Severity.CRITICAL,
    title="Webhooks and aggregated APIs are on the allow-list",
    fix="Add an exemption for the chart or object with its reason, or leave it out.",
    source="https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/",
    check_resource=per_object(check),
)
