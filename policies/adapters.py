"""Connects the pure rules to the policy SDK: unknown values, secret marks, charts, exemptions, crashes."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy import Severity as SdkSeverity
from pulumi_policy.proxy import UnknownValueError
from pulumi_policy.secret import Secret

from policies.charts import ChartError, ChartRenderer, chart_request
from policies.facts import configured
from policies.model import Facts, Finding, Level, Planned, Rule, Unknown, Value, Verdict, items
from policies.objects import RELEASE, chart_objects, planned_objects

Report = Callable[[str, str | None], None]
_PROVIDERS = "pulumi:providers:"
# Ending of the policy that reports what a rule only advises.
ADVICE = "-advice"
# Shorter ones would tear ordinary words apart.
SHORTEST_MASKED = 4
_SCHEMA = {
    "developmentStacks": {"type": "array", "items": {"type": "string"}},
    "registries": {"type": "array", "items": {"type": "string"}},
}


def plain(value: Value, path: str = "") -> Value:
    """A property value without the SDK's proxies; what raises as unknown becomes ``Unknown``."""
    if isinstance(value, Mapping):
        return {key: _step(value, key, f"{path}.{key}" if path else str(key)) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_step(value, index, f"{path}[{index}]") for index in range(len(value))]
    return value


def _step(container: Value, key: Value, path: str) -> Value:
    try:
        value = container[key]
    except UnknownValueError:
        return Unknown(path)
    return plain(value, path)


def secrets_in(value: Value, path: str = "") -> dict[str, Value]:
    """Path → content of the values Pulumi holds as secrets, from the properties a remediation gets."""
    # The SDK's proxies unwrap secrets on access; only the value behind them still carries the mark.
    raw: Value = value
    if type(value).__module__ == Secret.__module__ and not isinstance(value, Secret):
        raw = value["__target"]
    if isinstance(raw, Secret):
        return {path: plain(raw.value)}
    found: dict[str, Value] = {}
    if isinstance(raw, Mapping):
        for key in raw:
            found |= secrets_in(raw[key], f"{path}.{key}" if path else str(key))
    elif isinstance(raw, Sequence) and not isinstance(raw, str | bytes):
        for index, item in enumerate(raw):
            found |= secrets_in(item, f"{path}[{index}]")
    return found


class PlanReader:
    """Turns what the SDK hands to policies into planned resources.

    It remembers, per URN, the secret marks (which only remediations see) and what charts render.

    Args:
        renderer: Renders charts.
    """

    def __init__(self, renderer: ChartRenderer) -> None:
        self._renderer = renderer
        self._secrets: dict[str, dict[str, Value]] = {}
        self._releases: dict[str, Planned] = {}

    def record_secrets(self, args: ResourceValidationArgs) -> None:
        """Remember which values are secrets; changes nothing."""
        self._secrets[args.urn] = secrets_in(args.props)

    def masked(self, text: str) -> str:
        """The text without any secret content seen so far; messages end up in logs."""
        hidden = {
            word for found in self._secrets.values() for value in found.values() for word in _words(value)
        }
        for word in sorted(hidden, key=len, reverse=True):
            text = text.replace(word, "[secret]")
        return text

    def resource(self, args: ResourceValidationArgs) -> Planned:
        """The one resource of a resource validation."""
        planned = Planned(
            type=args.resource_type,
            name=args.name,
            urn=args.urn,
            props=plain(args.props),
            protect=bool(args.opts.protect),
        )
        return self._with_objects(planned)

    def stack(self, args: StackValidationArgs) -> tuple[Planned, ...]:
        """Every resource of a stack validation."""
        return tuple(
            self._with_objects(
                Planned(
                    type=item.resource_type,
                    name=item.name,
                    urn=item.urn,
                    props=plain(item.props),
                    protect=bool(item.opts.protect),
                    sources={
                        key: tuple(source.name for source in found)
                        for key, found in item.property_dependencies.items()
                    },
                )
            )
            for item in args.resources
        )

    def _with_objects(self, planned: Planned) -> Planned:
        if planned.type != RELEASE:
            return replace(planned, objects=planned_objects(planned, self._marks(planned.urn)))
        seen = self._releases.get(planned.urn)
        # Outputs of a Release repeat its inputs less exactly: the stack validation uses what was rendered for
        # the resource; several rules ask about the same properties in a row.
        if seen is None or (seen.props != planned.props and "resourceNames" not in planned.props):
            seen = self._releases[planned.urn] = self._rendered(planned)
        return replace(planned, objects=seen.objects, chart_problem=seen.chart_problem)

    def _marks(self, urn: str) -> frozenset[str] | None:
        return frozenset(self._secrets[urn]) if urn in self._secrets else None

    def _rendered(self, planned: Planned) -> Planned:
        try:
            request = chart_request(planned.props, planned.name)
        except ChartError as error:
            return replace(planned, chart_problem=str(error))
        answer = self._renderer(request)
        objects = chart_objects(planned, request.name, request.namespace, answer.manifests)
        return replace(planned, objects=objects, chart_problem=answer.problem)


def policies(rules: Sequence[Rule], facts: Facts, reader: PlanReader) -> list[Policy]:
    """The SDK's policies for the rules, each at its explicit level.

    The SDK gives a policy one level for every stack, and tells no policy its stack before it runs. So a rule
    that stops runs here and advises there is two policies, ``<id>`` and ``<id>-advice``; each
    reports the findings of its own level.
    """
    return [_policy(rule, level, facts, reader) for rule in rules for level in _levels(rule)]


def _levels(rule: Rule) -> list[Level]:
    used = {rule.in_development, rule.elsewhere}
    wanted = used | {Level.ADVISORY} if rule.gives_advice and Level.MANDATORY in used else used
    return [level for level in (Level.MANDATORY, Level.ADVISORY) if level in wanted]


def _policy(rule: Rule, level: Level, facts: Facts, reader: PlanReader) -> Policy:
    schema = PolicyConfigSchema(properties=_SCHEMA)
    description = f"{rule.title}. Fix: {rule.fix}"
    severity = SdkSeverity(rule.severity.value)
    name = rule.id if level is Level.MANDATORY else f"{rule.id}{ADVICE}"
    if rule.check_stack is not None:
        return StackValidationPolicy(
            name=name,
            description=description,
            validate=_stack_validation(rule, level, facts, reader),
            enforcement_level=EnforcementLevel(level.value),
            config_schema=schema,
            severity=severity,
            remediation_steps=rule.fix,
            url=rule.source,
        )
    # Level "remediate" makes the engine show secret marks; nothing is changed, and violations are mandatory.
    marks = rule.reads_secret_marks
    return ResourceValidationPolicy(
        name=name,
        description=description,
        validate=_resource_validation(rule, level, facts, reader),
        remediate=reader.record_secrets if marks else None,
        enforcement_level=EnforcementLevel.REMEDIATE if marks else EnforcementLevel(level.value),
        config_schema=schema,
        severity=severity,
        remediation_steps=rule.fix,
        url=rule.source,
    )


def _resource_validation(
    rule: Rule, level: Level, facts: Facts, reader: PlanReader
) -> Callable[[ResourceValidationArgs, Report], None]:
    def validate(args: ResourceValidationArgs, report: Report) -> None:
        if args.resource_type.startswith(_PROVIDERS) or rule.check_resource is None:
            args.not_applicable("providers are not platform resources")
            return
        check, own = rule.check_resource, configured(facts, args.get_config())
        development = own.is_development(args.urn)
        if _speaks(rule, level, development=development):
            verdict = _verdict(rule, lambda: check(reader.resource(args), own))
        else:
            verdict = None
        if verdict is None:
            args.not_applicable(f"{rule.id} does not judge {args.resource_type}")
        found = _of_level(rule, level, own, verdict, development=development)
        _report(found, lambda text, urn: report(reader.masked(text), urn))

    return validate


def _stack_validation(
    rule: Rule, level: Level, facts: Facts, reader: PlanReader
) -> Callable[[StackValidationArgs, Report], None]:
    def validate(args: StackValidationArgs, report: Report) -> None:
        if rule.check_stack is None:
            return
        check, own = rule.check_stack, configured(facts, args.get_config())
        development = any(own.is_development(item.urn) for item in args.resources)
        if _speaks(rule, level, development=development):
            verdict = _verdict(rule, lambda: check(reader.stack(args), own))
        else:
            verdict = None
        if verdict is None:
            args.not_applicable(f"nothing in the plan that {rule.id} judges")
        found = _of_level(rule, level, own, verdict, development=development)
        _report(found, lambda text, urn: report(reader.masked(text), urn))

    return validate


def _speaks(rule: Rule, level: Level, *, development: bool) -> bool:
    """Whether the rule may have findings of this level in such a stack."""
    own = rule.in_development if development else rule.elsewhere
    return own is level or (rule.gives_advice and level is Level.ADVISORY and own is Level.MANDATORY)


def _verdict(rule: Rule, judge: Callable[[], Verdict]) -> Verdict:
    """The rule's verdict; a crash is a finding, so that a broken rule blocks instead of passing."""
    try:
        return judge()
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        # The error's own text may hold a property value, even a secret: type and place only.
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        message = (
            f"rule {rule.id} failed with {type(error).__name__} at {place}; this is a defect of the pack"
        )
        return (Finding(check="crash", subject="policy pack", message=message, proven=False),)


def _of_level(
    rule: Rule, level: Level, facts: Facts, verdict: Verdict, *, development: bool
) -> list[Finding]:
    """The findings of one level that no exemption covers, each once."""
    return [
        finding
        for finding in dict.fromkeys(verdict or ())
        if rule.level(finding, development=development) is level and not facts.is_exempt(rule.id, finding)
    ]


def _report(findings: Sequence[Finding], report: Report) -> None:
    for finding in findings:
        report(str(finding), finding.urn or None)


def _words(value: Value) -> Iterator[str]:
    """Strings of a secret that are long enough to be looked for in a message."""
    if isinstance(value, str):
        if len(value) >= SHORTEST_MASKED:
            yield value
    else:
        for item in value.values() if isinstance(value, Mapping) else items(value):
            yield from _words(item)
