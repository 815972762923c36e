"""The rules behind the SDK's own records: unknown values, secrets, crashes, exemptions, levels."""

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pulumi_policy import (
    EnforcementLevel,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY, deserialize_properties
from pulumi_policy.policy import PolicyCustomTimeouts, _NotApplicableError
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, unknown_checking_proxy

from policies.adapters import PlanReader, plain, policies, secrets_in
from policies.charts import ChartRenderer
from policies.model import Facts, Finding, Level, Planned, Rule, Severity, Unknown, Verdict
from policies.rules import RULES
from tests.policies.manifests import CONTAINER, POD_TEMPLATE, Resource, changed, deployment, release
from tests.policies.plans import facts, sample_chart, urn

SECRET = "correct-horse"
OPTIONS = PolicyResourceOptions(False, [], None, [], PolicyCustomTimeouts(0, 0, 0), [])


def secret(value: Any) -> dict[str, Any]:
    """A secret as the engine sends it."""
    return {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": value}


def arguments(resource: Resource, *, marks: bool = False, config: Any = None) -> ResourceValidationArgs:
    """What the SDK hands to a policy; with ``marks`` what it hands to a remediation."""
    props = unknown_checking_proxy(deserialize_properties(dict(resource.props), marks))
    return ResourceValidationArgs(
        resource.type, props, urn(resource), resource.name, OPTIONS, None, config or {}
    )


def reader() -> PlanReader:
    return PlanReader(ChartRenderer(sample_chart))


def run(rule: Rule, resource: Resource, *, config: Any = None, own: PlanReader | None = None) -> list[str]:
    """What a resource policy reports."""
    reported: list[str] = []
    policy = policies([rule], facts(), own or reader())[0]
    assert isinstance(policy, ResourceValidationPolicy)
    if policy.has_remediation():
        assert policy.remediate(arguments(resource, marks=True)) is None
    policy.validate(arguments(resource, config=config), lambda text, _urn: reported.append(text))
    return reported


def by_id(name: str) -> Rule:
    return next(rule for rule in RULES if rule.id == name)


def raising(_planned: Planned, _facts: Facts) -> Verdict:
    raise KeyError(SECRET)


def _rule(check: Any = raising, stack: Any = None) -> Rule:
    return Rule(
        id="x",
        severity=Severity.LOW,
        title="x",
        fix="x",
        source="https://example.org",
        check_resource=check,
        check_stack=stack,
    )


def test_unknown_values_become_records_with_their_path() -> None:
    props = unknown_checking_proxy({"a": [{"b": UNKNOWN_STRING_VALUE, "c": 1.0}], "d": UNKNOWN_STRING_VALUE})
    assert plain(props) == {"a": [{"b": Unknown("a[0].b"), "c": 1.0}], "d": Unknown("d")}


def test_secrets_are_seen_with_path_and_content_at_any_depth() -> None:
    sent = {"a": secret("x"), "b": [{"c": secret({"d": "y"})}], "e": "open"}
    props = unknown_checking_proxy(deserialize_properties(sent, True))
    assert secrets_in(props) == {"a": "x", "b[0].c": {"d": "y"}}


def test_an_unknown_property_is_reported_not_skipped() -> None:
    pod = changed(POD_TEMPLATE, "spec.containers.0.image", UNKNOWN_STRING_VALUE)
    (text,) = run(by_id("images"), deployment("web", pod))
    assert "not proven: spec.template.spec.containers[0].image is not known during preview" in text


def test_a_pulumi_secret_in_plain_environment_is_found_and_not_shown() -> None:
    pod = changed(POD_TEMPLATE, "spec.containers.0.env.0.value", secret(SECRET))
    (text,) = run(by_id("pods-secrets"), deployment("web", pod))
    assert text.startswith("[pulumi-secret]")
    assert SECRET not in text


def test_secret_content_is_masked_in_every_message() -> None:
    own = reader()
    pod = changed(POD_TEMPLATE, "spec.containers.0.securityContext.procMount", secret(SECRET))
    run(by_id("pods-secrets"), deployment("web", pod), own=own)
    (text,) = run(by_id("pods"), deployment("web", pod), own=own)
    assert "procMount is '[secret]'; accepted: absent or Default" in text


def test_without_secret_marks_nothing_is_proven() -> None:
    policy = policies([by_id("pods-secrets")], facts(), reader())[0]
    reported: list[str] = []
    assert isinstance(policy, ResourceValidationPolicy)
    policy.validate(arguments(deployment()), lambda text, _urn: reported.append(text))
    assert [text.split(":")[0] for text in reported] == ["[secret-marks] Deployment/team/web"]


def test_a_rule_that_crashes_blocks_and_shows_no_value() -> None:
    (text,) = run(_rule(), deployment())
    assert "rule x failed with KeyError at test_adapters.py:" in text
    assert SECRET not in text


def test_a_stack_rule_that_crashes_blocks_too() -> None:
    def broken(_plan: Sequence[Planned], _facts: Facts) -> Verdict:
        raise ValueError(SECRET)

    policy = policies([_rule(None, broken)], facts(), reader())[0]
    reported: list[str] = []
    assert isinstance(policy, StackValidationPolicy)
    policy.validate(StackValidationArgs([]), lambda text, _urn: reported.append(text))
    assert "rule x failed with ValueError" in reported[0]


def test_exempt_findings_are_not_reported_and_doubles_once() -> None:
    def two(_planned: Planned, _facts: Facts) -> Verdict:
        same = Finding(check="c", subject="s", message="m")
        return (same, same, Finding(check="ownership", subject="chart:kueue/x", message="m"))

    rule = _rule(two)
    assert run(rule, deployment()) == ["[c] s: m", "[ownership] chart:kueue/x: m"]
    labels = Rule(**{**vars(rule), "id": "labels"})
    assert run(labels, deployment()) == ["[c] s: m"]


@pytest.mark.parametrize("kind", ["pulumi:providers:kubernetes", "random:index/randomPet:RandomPet"])
def test_rules_that_do_not_apply_say_so(kind: str) -> None:
    with pytest.raises(_NotApplicableError):
        run(by_id("pods"), Resource(name="x", type=kind, props={}))


def test_policy_configuration_reaches_the_rule() -> None:
    pod = changed(POD_TEMPLATE, "spec.containers.0.image", "mirror.example.org/web:1.2.3")
    assert run(by_id("images"), deployment("web", pod))
    assert not run(by_id("images"), deployment("web", pod), config={"registries": ["mirror.example.org/"]})


def test_charts_are_judged_by_what_they_render_also_for_the_stack() -> None:
    bad = release("sample", privileged=True)
    own = reader()
    assert [text.split(" ")[1] for text in run(by_id("pods"), bad, own=own)] == [
        "chart:sample/Deployment/team/sample:"
    ]
    outputs = {**bad.props, "resourceNames": {}, "version": "1.0.0", "values": {}}
    resource = PolicyResource(bad.type, outputs, urn(bad), bad.name, OPTIONS, None, None, [], {})
    (planned,) = own.stack(StackValidationArgs([resource]))
    assert [item.kind for item in planned.objects] == ["Deployment", "Service"]


def test_every_policy_has_an_explicit_level() -> None:
    made = policies(RULES, facts(), reader())
    advice = ("acceptance", "exemptions", "sizing", "versions")
    assert {policy.name: policy.enforcement_level for policy in made} == {
        **{
            rule.id: EnforcementLevel.REMEDIATE if rule.id == "pods-secrets" else EnforcementLevel.MANDATORY
            for rule in RULES
        },
        **{f"{name}-advice": EnforcementLevel.ADVISORY for name in advice},
    }


def _texts(policy: ResourceValidationPolicy) -> list[str]:
    texts: list[str] = []
    policy.validate(arguments(deployment()), lambda text, _urn: texts.append(text))
    return texts


@pytest.mark.parametrize(
    ("in_development", "advice", "reported"),
    [
        (Level.MANDATORY, False, {"x": ["[c] s: m"], "x-advice": None}),
        (Level.MANDATORY, True, {"x": [], "x-advice": ["[c] s: m"]}),
        (Level.ADVISORY, False, {"x": None, "x-advice": ["[c] s: m"]}),
        (Level.OFF, False, {"x": None, "x-advice": None}),
    ],
)
def test_a_finding_is_reported_at_the_level_of_the_stack_and_its_own(
    in_development: Level, advice: bool, reported: dict[str, list[str] | None]
) -> None:
    def one(_planned: Planned, _facts: Facts) -> Verdict:
        return (Finding(check="c", subject="s", message="m", advice=advice),)

    rule = replace(_rule(one), in_development=in_development, elsewhere=Level.MANDATORY, gives_advice=advice)
    said: dict[str, list[str] | None] = {"x": None, "x-advice": None}
    for policy in policies([rule], facts(), reader()):
        assert isinstance(policy, ResourceValidationPolicy)
        with contextlib.suppress(_NotApplicableError):
            said[policy.name] = _texts(policy)
    assert said == reported


def test_containers_of_the_samples_are_not_shared() -> None:
    assert CONTAINER is not POD_TEMPLATE["spec"]["initContainers"][0]
