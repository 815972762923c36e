"""A value that is not known in the preview never passes where it decides, and the message names it."""

from dataclasses import replace

import pytest

from tests.policies.good_plan import baseline
from tests.policies.gpu_manifests import nodes
from tests.policies.gpu_unknowns import GPU_CASES, Case
from tests.policies.manifests import (
    CONTAINER,
    POD_TEMPLATE,
    Later,
    api_service,
    binding,
    changed,
    claim,
    default_deny,
    deployment,
    namespace,
    network_policy,
    quota,
    release,
    role,
    scratch_volume,
    service,
)
from tests.policies.plans import BY_ID, judge

_MAIN = "spec.template.spec.containers.0"


def _pods(rule: str, *paths: str) -> list[Case]:
    return [Case(rule=rule, resource=deployment(), path=path) for path in paths]


_LARGE = nodes("large", 1, gpu_platform__fabric="infiniband-hdr", gpu_platform__multi_node="true")[0]
_SERVER = deployment("web", changed(POD_TEMPLATE, "spec.containers.0.image", "docker.io/library/redis:7.4.1"))
_OPEN = network_policy("web", ingress=[{"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}])
_WIDE = network_policy("web", ingress=[{"ports": [{"port": 80}]}])
CASES = [
    *_pods("labels", "metadata.labels", "spec.template.metadata.labels"),
    Case(rule="labels", resource=deployment(), path="metadata.labels.gpu-platform/owner"),
    *_pods(
        "pods",
        "spec.template",
        "spec.template.spec",
        "spec.template.spec.containers",
        "spec.template.spec.initContainers",
        _MAIN,
        "spec.template.spec.hostPID",
        "spec.template.spec.securityContext",
        "spec.template.spec.securityContext.runAsNonRoot",
        "spec.template.spec.volumes",
        "spec.template.spec.volumes.0",
        f"{_MAIN}.securityContext.privileged",
        f"{_MAIN}.securityContext.runAsNonRoot",
        f"{_MAIN}.securityContext.capabilities",
        f"{_MAIN}.securityContext.capabilities.drop",
        f"{_MAIN}.ports",
        f"{_MAIN}.ports.0",
        f"{_MAIN}.ports.0.hostPort",
        "spec.template.spec.securityContext.sysctls",
        "spec.template.metadata.annotations",
        f"{_MAIN}.resources.limits.cpu",
        f"{_MAIN}.resources",
    ),
    *_pods("pods-secrets", *(f"{_MAIN}.{below}" for below in ("env", "env.0", "args", "command"))),
    *_pods("pods-secrets", f"{_MAIN}.livenessProbe.exec.command", f"{_MAIN}.env.2.value"),
    Case(
        rule="pods-secrets",
        resource=deployment("web", changed(POD_TEMPLATE, "spec.containers.0.args", ["x"])),
        path=f"{_MAIN}.args.0",
    ),
    Case(
        rule="pods-secrets",
        resource=deployment(
            "web", changed(POD_TEMPLATE, "spec.containers.0.env.1", {"name": "DB_PASSWORD", "value": ""})
        ),
        path=f"{_MAIN}.env.1.value",
    ),
    *_pods("images", f"{_MAIN}.image"),
    *_pods("exposure", f"{_MAIN}.ports", f"{_MAIN}.ports.0"),
    *_pods("access", "spec.template.spec", "spec.template.spec.automountServiceAccountToken"),
    Case(rule="access", resource=role(), path="rules"),
    Case(rule="access", resource=role(), path="rules.0"),
    Case(rule="access", resource=role(), path="rules.0.verbs"),
    Case(rule="access", resource=binding("readers", "reader"), path="roleRef.name"),
    Case(rule="access", resource=binding("readers", "reader"), path="subjects"),
    Case(rule="access", resource=binding("readers", "reader"), path="subjects.0.name"),
    Case(rule="access", resource=_SERVER, path=f"{_MAIN}.args"),
    Case(rule="admission", resource=api_service("local"), path="spec.service"),
    Case(rule="host-storage", resource=scratch_volume(), path="spec"),
    Case(rule="host-storage", resource=scratch_volume(), path="spec.hostPath"),
    Case(rule="host-storage", resource=scratch_volume(), path="spec.local"),
    Case(rule="host-storage", resource=scratch_volume(), path="spec.local.path"),
    Case(rule="host-storage", resource=scratch_volume(), path="metadata.labels"),
    Case(rule="network", resource=_OPEN, path="spec.ingress"),
    Case(rule="network", resource=_OPEN, path="spec.ingress.0"),
    Case(rule="network", resource=_OPEN, path="spec.ingress.0.from"),
    Case(rule="network", resource=_OPEN, path="spec.ingress.0.from.0.ipBlock.cidr"),
    Case(rule="network", resource=_WIDE, path="spec.ingress.0.ports"),
    Case(rule="network", resource=_WIDE, path="spec.podSelector"),
    *_pods("exposure", "spec.template.spec", "spec.template.spec.hostNetwork", f"{_MAIN}.ports.0.hostPort"),
    Case(rule="exposure", resource=service(), path="spec.type"),
    Case(rule="exposure", resource=service(), path="spec.externalIPs"),
    Case(rule="namespaces", resource=namespace(), path="metadata.labels"),
    Case(rule="namespaces", resource=quota(), path="metadata.namespace"),
    Case(rule="namespaces", resource=quota(), path="spec.hard"),
    Case(rule="namespaces", resource=default_deny(), path="spec.podSelector"),
    Case(rule="namespaces", resource=default_deny(), path="spec.policyTypes"),
    Case(rule="namespaces", resource=deployment(), path="metadata.namespace"),
    Case(rule="storage-split", resource=claim("datasets"), path="metadata.labels"),
    Case(rule="storage-split", resource=claim("checkpoints"), path="spec.storageClassName"),
    Case(rule="fabric", resource=_LARGE, path="metadata.labels"),
    Case(rule="fabric", resource=_LARGE, path="metadata.labels.gpu-platform/fabric"),
    Case(rule="fabric", resource=_LARGE, path="metadata.labels.gpu-platform/multi-node"),
    *GPU_CASES,
    Case(rule="charts", resource=release(), path="chart"),
    Case(rule="charts", resource=release(), path="namespace"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.path}")
def test_an_unknown_value_is_not_proven(case: Case) -> None:
    props = changed(case.resource.props, case.path, Later())
    if case.rule == "charts":
        props["allowNullValues"] = True
    unknown = replace(case.resource, props=props)
    plan = [*(item for item in baseline() if item.name != unknown.name), unknown]
    found = judge(BY_ID[case.rule], plan)
    assert found
    assert not any(finding.proven for finding in found), found
    shown = ".".join(f"[{step}]" if step.isdigit() else step for step in case.path.split(".")).replace(
        "~", "."
    )
    assert f"{shown.replace('.[', '[')} is not known during preview" in " ".join(map(str, found))


def test_an_unknown_value_that_decides_nothing_passes() -> None:
    pod = changed(POD_TEMPLATE, "spec.containers.0.env.0.value", Later())
    plan = [*(item for item in baseline() if item.name != "web"), deployment("web", pod), service()]
    assert [rule for rule in BY_ID.values() if judge(rule, plan)] == []


def test_a_container_may_override_what_its_pod_leaves_unknown() -> None:
    context = {**CONTAINER["securityContext"], "runAsNonRoot": False}
    pod = changed(POD_TEMPLATE, "spec.containers.0.securityContext", context)
    found = judge(BY_ID["pods"], [deployment("web", pod)])
    assert [finding.check for finding in found or ()] == ["run-as-non-root"]


def test_a_value_sure_to_fail_is_no_matter_of_proof() -> None:
    found = judge(BY_ID["namespaces"], [namespace(), default_deny()])
    assert found is not None
    assert [(finding.check, finding.proven) for finding in found] == [("quota", True)]
