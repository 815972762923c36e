"""charts: what a chart will install can be seen by the other rules."""

from collections.abc import Sequence

from policies.model import Facts, Finding, Planned, Rule, Severity, Verdict
from policies.objects import RELEASE


def check(planned: Planned, _facts: Facts) -> Verdict:
    """The Release's chart could be rendered from the planned values."""
    if planned.type != RELEASE:
        return None
    if not planned.chart_problem:
        return ()
    subject = f"Release/{planned.name}"
    return (
        Finding(
            check="render", subject=subject, message=planned.chart_problem, urn=planned.urn, proven=False
        ),
    )


def check_values(plan: Sequence[Planned], _facts: Facts) -> Verdict:
    """No value can be unknown unseen.

    The provider's check drops unknown values from a Release unless it allows null values, so that they are
    not even unknown to policies; what the values depend on still is.
    """
    releases = [planned for planned in plan if planned.type == RELEASE]
    if not releases:
        return None
    return tuple(
        Finding(
            check="hidden-values",
            subject=f"Release/{planned.name}",
            message=f"its values depend on {', '.join(planned.sources['values'])} and vanish while "
            "unknown; accepted: values without outputs of resources, or allowNullValues",
            urn=planned.urn,
            proven=False,
        )
        for planned in releases
        if planned.sources.get("values") and not planned.props.get("allowNullValues")
    )


RULE = Rule(
    id="charts",
    severity=Severity.HIGH,
    title="The content of every chart is seen by the policies",
    fix="Name the chart by path or reference, with known values; have helm on PATH or in GPU_PLATFORM_HELM.",
    source="https://helm.sh/docs/helm/helm_template/",
    check_resource=check,
)

VALUES_RULE = Rule(
    id="charts-values",
    severity=Severity.HIGH,
    title="No value of a chart is hidden from the policies",
    fix="Give the chart plain values, or set allow_null_values on its Release.",
    source="https://www.pulumi.com/registry/packages/kubernetes/api-docs/helm/v3/release/",
    check_stack=check_values,
)
