"""access: nobody gets more of the cluster than named, and no service answers without a login."""

from collections.abc import Iterator

from policies.model import Facts, Finding, KubeObject, Rule, Severity, Unknown, Verdict, at, items, per_object
from policies.objects import Pod, pods
from policies.rules.access_login import without_login
from policies.rules.access_rbac import BINDINGS, GROUP, ROLES, binding, role

_AUTOMOUNT = "automountServiceAccountToken"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """Roles, bindings, service-account tokens and logins of well-known services."""
    if item.group == GROUP and item.kind in ROLES:
        return tuple(dict.fromkeys(role(item)))
    if item.group == GROUP and item.kind in BINDINGS:
        return tuple(dict.fromkeys(binding(item)))
    made = pods(item)
    if not made or item.patch:
        return None
    return tuple(
        dict.fromkeys(finding for pod in made for part in (_token, without_login) for finding in part(pod))
    )


def _token(pod: Pod) -> Iterator[Finding]:
    """A pod gets no key of the API unless an exemption names it."""
    value = at(pod.spec, _AUTOMOUNT)
    if isinstance(value, Unknown):
        yield pod.owner.unproven("token", value, "false")
    elif pod.spec is not None and value is not False:
        shown = "absent" if value is None else str(value).lower()
        message = f"{pod.spec_path}.{_AUTOMOUNT} is {shown}; accepted: false, or an exemption with its reason"
        yield pod.owner.fail("token", message)
    for index, volume in enumerate(items(at(pod.spec, "volumes"))):
        for source in items(at(volume, "projected", "sources")):
            token = at(source, "serviceAccountToken")
            # With an audience of its own the token is no key of the Kubernetes API.
            if token is not None and not isinstance(token, Unknown) and not at(token, "audience"):
                where = f"{pod.spec_path}.volumes[{index}].projected"
                yield pod.owner.fail(
                    "token", f"{where} mounts a token of the Kubernetes API; accepted: one with an audience"
                )


RULE = Rule(
    id="access",
    severity=Severity.CRITICAL,
    title="Nobody gets more of the cluster than named, and no service answers without a login",
    fix="Name groups, resources and verbs; bind narrow roles; switch the login on.",
    source="https://kubernetes.io/docs/concepts/security/rbac-good-practices/",
    check_resource=per_object(check),
)
