"""Turns the plain resources of the tests into planned ones, without engine and helm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from policies.charts import ChartError, ChartRenderer, ChartRequest, chart_request
from policies.facts import load
from policies.model import Facts, Level, Planned, Rule, Unknown, Verdict
from policies.objects import RELEASE, chart_objects, planned_objects
from policies.rules import RULES
from tests.policies.catalog_tables import FLOORS, INSTANCES, MIG, SERVERS, VERSIONS
from tests.policies.manifests import Later, Marked, Resource, changed, deployment, service

BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in RULES}


# A day before anything of the sample tables, or an exemption of the pack, ends.
TODAY = date(2026, 7, 1)


def facts() -> Facts:
    """The pack's own facts, with MIG, versions and floors of the sample tables."""
    own = load(frozenset(BY_ID), TODAY)
    catalog = replace(own.catalog, instances=INSTANCES, mig=MIG, versions=VERSIONS, floors=FLOORS)
    return replace(own, catalog=replace(catalog, servers={**catalog.servers, **SERVERS}))


def urn(resource: Resource, stack: str = "dev") -> str:
    """URN of a resource."""
    return f"urn:pulumi:{stack}::project::{resource.type}::{resource.name}"


def resolved(value: Any, path: str = "") -> tuple[Any, frozenset[str]]:
    """The value with its marks resolved, and the paths of its secrets."""
    if isinstance(value, Marked):
        return value.value, frozenset({path})
    if isinstance(value, Later):
        return Unknown(path), frozenset()
    if isinstance(value, dict):
        parts = {key: resolved(below, f"{path}.{key}" if path else key) for key, below in value.items()}
        return {key: part[0] for key, part in parts.items()}, _union(parts.values())
    if isinstance(value, list):
        found = [resolved(below, f"{path}[{index}]") for index, below in enumerate(value)]
        return [part[0] for part in found], _union(found)
    return value, frozenset()


def planned(resource: Resource, stack: str = "dev") -> Planned:
    """A planned resource with its objects; charts are rendered by a stand-in."""
    props, secrets = resolved(dict(resource.props))
    head = Planned(
        type=resource.type,
        name=resource.name,
        urn=urn(resource, stack),
        props=props,
        protect=resource.protect,
    )
    if resource.type != RELEASE:
        return replace(head, objects=planned_objects(head, secrets))
    if _has_later(resource.props.get("values")):
        head = replace(head, sources={"values": ("cluster",)})
        if not props.get("allowNullValues"):
            # As the provider does: unknown values vanish, their origin stays.
            return replace(head, props={**props, "values": {}})
    try:
        request = chart_request(props, resource.name)
    except ChartError as error:
        return replace(head, chart_problem=str(error))
    answer = ChartRenderer(sample_chart)(request)
    objects = chart_objects(head, request.name, request.namespace, answer.manifests)
    return replace(head, objects=objects, chart_problem=answer.problem)


def sample_chart(request: ChartRequest) -> tuple[Mapping[str, Any], ...]:
    """What the chart beside this file renders, as far as the tests change it."""
    import json

    values = json.loads(request.values)
    if values.get("broken"):
        raise ChartError(f"helm template of {request.chart} failed: broken on purpose")
    web = deployment(request.release).props
    container = "spec.template.spec.containers.0"
    web = changed(web, f"{container}.securityContext.privileged", values.get("privileged", False))
    tag = values.get("image", {}).get("tag", "v0.17.0")
    web = changed(web, f"{container}.image", f"registry.k8s.io/kueue/kueue:{tag}")
    front = changed(service(request.release).props, "spec.type", values.get("serviceType", "ClusterIP"))
    return (
        {"apiVersion": "apps/v1", "kind": "Deployment", **web},
        {"apiVersion": "v1", "kind": "Service", **front},
    )


def judge(rule: Rule, resources: Sequence[Resource], stack: str = "dev") -> Verdict:
    """The rule's verdict on a whole plan, exemptions applied; None where the rule is off."""
    own, plan = facts(), [planned(resource, stack) for resource in resources]
    development = own.is_development(f"urn:pulumi:{stack}::")
    if (rule.in_development if development else rule.elsewhere) is Level.OFF:
        return None
    if rule.check_stack is not None:
        verdict = rule.check_stack(plan, own)
    else:
        assert rule.check_resource is not None
        verdicts = [rule.check_resource(item, own) for item in plan]
        applicable = [verdict for verdict in verdicts if verdict is not None]
        verdict = tuple(finding for verdict in applicable for finding in verdict) if applicable else None
    if verdict is None:
        return None
    return tuple(finding for finding in verdict if not own.is_exempt(rule.id, finding))


def _union(parts: Any) -> frozenset[str]:
    return frozenset().union(*(part[1] for part in parts))


def _has_later(value: Any) -> bool:
    if isinstance(value, Later):
        return True
    below = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_has_later(item) for item in below)
