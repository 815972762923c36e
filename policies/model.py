"""The words rules speak: planned resources, Kubernetes objects, facts, findings, rules.

Property values are plain Python (mappings, lists, strings, numbers, booleans, None); a value the
engine can't know during preview is an ``Unknown``, which rules answer with "not proven".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from policies.known import Catalog, Exemption, Registry

# A JSON value, or ``Unknown`` at any depth.
Value: TypeAlias = Any


@dataclass(frozen=True)
class Unknown:
    """A value that is only known after the update.

    Args:
        path: Property path, e.g. ``spec.template.spec.containers[0].image``.
    """

    path: str


class Severity(StrEnum):
    """How bad a violation is; the names the policy SDK uses."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Level(StrEnum):
    """What a violation does to the run."""

    MANDATORY = "mandatory"
    """It stops the run."""
    ADVISORY = "advisory"
    """It is told, and the run goes on."""
    OFF = "off"
    """The rule does not speak."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One violation, or one thing that could not be proven.

    Args:
        check: Which part of the rule, a slug; exemptions name it.
        subject: What it was found in, e.g. ``Deployment/mlops/mlflow``.
        message: What is wrong and what is accepted.
        urn: The planned resource.
        proven: False when an unknown value decides; that fails too.
        advice: It never stops a run, whatever the rule's level.
    """

    check: str
    subject: str
    message: str
    urn: str = ""
    proven: bool = True
    advice: bool = False

    def __str__(self) -> str:
        doubt = "" if self.proven else "not proven: "
        return f"[{self.check}] {self.subject}: {doubt}{self.message}"


# None: the rule does not apply. Empty: it applies and holds.
Verdict = tuple[Finding, ...] | None


@dataclass(frozen=True, kw_only=True)
class KubeObject:
    """A Kubernetes object of the plan, made by the program itself or rendered by a chart.

    Args:
        kind: Kubernetes kind.
        group: API group, empty for core.
        name: Object name, else the resource's logical name.
        namespace: Its namespace, None for absent.
        body: The manifest.
        urn: The planned resource it comes from.
        chart: Chart that renders it, empty for the program's own.
        patch: True for a server-side patch of somebody else's object.
        protect: Whether the planned resource is protected.
        secret_paths: Paths of values Pulumi holds as secrets; None when nobody recorded them.
    """

    kind: str
    group: str
    name: str
    namespace: str | Unknown | None
    body: Mapping[str, Any]
    urn: str
    chart: str = ""
    patch: bool = False
    protect: bool = False
    secret_paths: frozenset[str] | None = frozenset()

    @property
    def subject(self) -> str:
        """``Kind/namespace/name``, after ``chart:<name>/`` when a chart renders it."""
        where = f"{self.namespace}/" if isinstance(self.namespace, str) and self.namespace else ""
        origin = f"chart:{self.chart}/" if self.chart else ""
        return f"{origin}{self.kind}/{where}{self.name}"

    def fail(self, check: str, message: str) -> Finding:
        """A violation found in this object."""
        return Finding(check=check, subject=self.subject, message=message, urn=self.urn)

    def unproven(self, check: str, value: Unknown, accepted: str) -> Finding:
        """An unknown value decides the check."""
        message = f"{value.path} is not known during preview; accepted: {accepted}"
        return Finding(check=check, subject=self.subject, message=message, urn=self.urn, proven=False)


@dataclass(frozen=True, kw_only=True)
class Planned:
    """One resource of the plan.

    Args:
        type: Type token, e.g. ``kubernetes:apps/v1:Deployment``.
        name: Logical name.
        urn: Its URN.
        props: Planned properties.
        protect: Whether the program protects it from deletion.
        objects: Kubernetes objects it stands for: itself, its list items, or what its chart renders.
        chart_problem: Why its chart could not be rendered, empty when it could or there is none.
        sources: Property → names of the resources it depends on; known when a whole stack is judged.
    """

    type: str
    name: str
    urn: str
    props: Mapping[str, Any]
    protect: bool = False
    objects: tuple[KubeObject, ...] = ()
    chart_problem: str = ""
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What rules know beside the plan.

    Args:
        registries: Where images may come from.
        exemptions: Named exceptions.
        fabric_kinds: Catalogue key of a fabric → its kind.
        catalog: What ``policies/catalog.json`` says beside the fabrics.
        today: The day that decides what has expired.
        development_stacks: Patterns of stack names that hold nothing worth keeping.
    """

    registries: tuple[Registry, ...] = ()
    exemptions: tuple[Exemption, ...] = ()
    fabric_kinds: Mapping[str, str] = field(default_factory=dict)
    catalog: Catalog = field(default_factory=Catalog)
    today: date = date.min
    development_stacks: tuple[str, ...] = ("dev",)

    def is_development(self, urn: str) -> bool:
        """Whether the resource's stack is a development one."""
        stack = stack_of(urn)
        return any(fnmatchcase(stack, pattern) for pattern in self.development_stacks)

    def is_exempt(self, rule: str, finding: Finding) -> bool:
        """Whether a named exemption that has not expired covers the finding."""
        return any(
            exemption.rule == rule
            and exemption.expires >= self.today
            and finding.check in exemption.checks
            and fnmatchcase(finding.subject, exemption.subject)
            for exemption in self.exemptions
        )


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One policy; exactly one of the two checks is set.

    Args:
        id: Slug, the policy's name.
        severity: How bad a violation is.
        title: What must hold, one line.
        fix: What to do about a violation.
        source: Public address of the practice it enforces.
        check_resource: Judges one planned resource.
        check_stack: Judges all planned resources together.
        reads_secret_marks: It needs to know which values Pulumi holds as secrets.
        in_development: Level in development stacks.
        elsewhere: Level in all others.
        gives_advice: Some of its findings are advice only.
    """

    id: str
    severity: Severity
    title: str
    fix: str
    source: str
    check_resource: Callable[[Planned, Facts], Verdict] | None = None
    check_stack: Callable[[Sequence[Planned], Facts], Verdict] | None = None
    reads_secret_marks: bool = False
    in_development: Level = Level.MANDATORY
    elsewhere: Level = Level.MANDATORY
    gives_advice: bool = False

    def level(self, finding: Finding, *, development: bool) -> Level:
        """What a finding does to a run."""
        own = self.in_development if development else self.elsewhere
        return Level.ADVISORY if finding.advice and own is Level.MANDATORY else own


def stack_of(urn: str) -> str:
    """Name of the stack in a URN (``urn:pulumi:<stack>::<project>::…``)."""
    return urn.split("::", 1)[0].rpartition(":")[2]


def at(value: Value, *path: str) -> Value:
    """Value below ``path``: None when absent, the ``Unknown`` when a step is unknown."""
    for key in path:
        if isinstance(value, Unknown):
            return value
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def items(value: Value) -> Sequence[Value]:
    """Elements of a list value; nothing for absent or any other kind of value."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def unknowns(value: Value) -> Iterator[Unknown]:
    """What is unknown of a list: the whole of it, or single elements."""
    for part in (value, *items(value)):
        if isinstance(part, Unknown):
            yield part


def per_object(
    check: Callable[[KubeObject, Facts], Verdict],
) -> Callable[[Planned, Facts], Verdict]:
    """Judge a resource by each Kubernetes object it stands for."""

    def judge(planned: Planned, facts: Facts) -> Verdict:
        verdicts = [verdict for item in planned.objects if (verdict := check(item, facts)) is not None]
        if not verdicts:
            return None
        return tuple(finding for verdict in verdicts for finding in verdict)

    return judge
