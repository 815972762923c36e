"""A preview as the engine tells it, read into what a reviewer wants to know.

Reads the digest of ``pulumi preview --json`` and the engine's event log. Both are input from outside (a file
of another machine, names of another team), so every field is taken only in its expected shape. Values of
properties are never read, only their paths: a report can't leak what it doesn't hold.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lab.errors import LabError
from policies.rules.stateful import CLOUD_TYPES, KUBE_KINDS

STACK = "pulumi:pulumi:Stack"
_CREDENTIALS = "random:"
_UNCHANGED = frozenset({"same", "read", "refresh", "discard", "discard-replaced", "read-discard"})
# One replacement is told as three steps; the strongest word stands for all.
_WORDS = {
    "create": "create",
    "import": "import",
    "update": "update",
    "delete": "delete",
    "replace": "replace",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "import-replacement": "replace",
    "remove-pending-replace": "delete",
}
ORDER = ("replace", "delete", "update", "create", "import")


@dataclass(frozen=True, kw_only=True)
class Change:
    """One resource and what would happen to it.

    Args:
        urn: Its URN.
        type: Its type token.
        name: Its logical name.
        operation: One of ``ORDER``.
        holds: What would be lost with it: ``data``, ``credential``, or nothing.
        protected: The engine refuses to delete or replace it.
        retained: The object outlives the resource.
        paths: Property paths that differ.
        replaced_by: Property paths that force a replacement.
    """

    urn: str
    type: str
    name: str
    operation: str
    holds: str = ""
    protected: bool = False
    retained: bool = False
    paths: tuple[str, ...] = ()
    replaced_by: tuple[str, ...] = ()

    @property
    def destructive(self) -> bool:
        """Whether the object goes, for good or for another."""
        return self.operation in ("replace", "delete")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a policy says about a resource."""

    policy: str
    level: str
    severity: str
    urn: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A whole preview.

    Args:
        stack: Name of the stack, empty where no step tells it.
        changes: What changes; stateful resources first, then by ``ORDER``, then by name.
        unchanged: Number of resources that stay as they are.
        findings: What the policies say.
        policies_known: Whether an event log was there to say it.
        problems: Errors and warnings of the engine, in its words.
        failed: The preview ended with an error or a mandatory finding.
        resources: State of each resource after the change, for the diagram.
    """

    stack: str
    changes: tuple[Change, ...]
    unchanged: int
    findings: tuple[Finding, ...] = ()
    policies_known: bool = False
    problems: tuple[str, ...] = ()
    failed: bool = False
    resources: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def counted(self) -> dict[str, int]:
        """Number of changes by operation, only those that occur."""
        found = {word: sum(change.operation == word for change in self.changes) for word in ORDER}
        return {word: count for word, count in found.items() if count}


def read_plan(digest: str, events: str | None = None, *, source: str = "preview") -> Plan:
    """Read a preview.

    Args:
        digest: Output of ``pulumi preview --json --show-sames --show-replacement-steps``.
        events: The event log of the same run; the digest holds no policy findings.
        source: Where it comes from, for the message of a failure.

    Raises:
        LabError: It isn't such a document.
    """
    document = _document(digest, source)
    steps = [step for step in _mappings(document.get("steps")) if _text(step.get("urn")).count("::") >= 3]
    changes, unchanged = _changes(steps, document.get("changeSummary"))
    findings = () if events is None else _findings(events)
    diagnostics = tuple(_mappings(document.get("diagnostics")))
    errors = [one for one in diagnostics if _text(one.get("severity")) == "error"]
    return Plan(
        stack=_text(steps[0]["urn"]).removeprefix("urn:pulumi:").split("::")[0] if steps else "",
        changes=changes,
        unchanged=unchanged,
        findings=findings,
        policies_known=events is not None,
        problems=tuple(
            _text(one.get("message")).strip()
            for one in diagnostics
            if _text(one.get("severity")) in ("error", "warning")
        ),
        failed=bool(errors) or any(finding.level == "mandatory" for finding in findings),
        resources=_resources(steps),
    )


def _document(text: str, source: str) -> Mapping[str, Any]:
    # Plug-ins may write a line of their own before the document.
    start = text.find("{")
    try:
        document, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except (ValueError, RecursionError) as error:
        document = str(error)
    if isinstance(document, dict) and ("steps" in document or "changeSummary" in document):
        return document
    why = document if isinstance(document, str) else "it has neither steps nor changeSummary"
    raise LabError(
        "this is no preview",
        where=source,
        why=why,
        fix="write one: pulumi preview --json --show-sames --show-replacement-steps > preview.json",
    )


def _changes(steps: Sequence[Mapping[str, Any]], summary: object) -> tuple[tuple[Change, ...], int]:
    by_urn: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        by_urn.setdefault(_text(step["urn"]), []).append(step)
    changes: list[Change] = []
    for urn, group in by_urn.items():
        words = {_WORDS.get(_text(step.get("op")), "") for step in group} - {""}
        state = _state(group[-1], newest=False)
        if words and _text(state.get("type")) != STACK:
            changes.append(_change(urn, min(words, key=ORDER.index), group))
    counted = summary.get("same") if isinstance(summary, dict) else None
    same = sum(all(_text(step.get("op")) in _UNCHANGED for step in group) for group in by_urn.values())
    return tuple(sorted(changes, key=_rank)), counted if isinstance(counted, int) else same


def _rank(change: Change) -> tuple[bool, int, str]:
    return (not change.holds, ORDER.index(change.operation), change.urn)


def _change(urn: str, word: str, group: Iterable[Mapping[str, Any]]) -> Change:
    steps = list(group)
    # What the engine protects is what stands in the state now.
    old = next((_state(step, newest=False) for step in steps if step.get("oldState")), {})
    state = old or _state(steps[-1], newest=True)
    paths = {path for step in steps for path in _mapping(step.get("detailedDiff"))}
    paths |= {path for step in steps for path in _texts(step.get("diffReasons"))}
    return Change(
        urn=urn,
        type=_text(state.get("type")) or urn.split("::")[-2].rsplit("$", 1)[-1],
        name=urn.rsplit("::", 1)[-1],
        operation=word,
        holds=_holds(state),
        protected=state.get("protect") is True,
        retained=state.get("retainOnDelete") is True,
        paths=tuple(sorted(paths)),
        replaced_by=tuple(sorted({path for step in steps for path in _texts(step.get("replaceReasons"))})),
    )


def _holds(state: Mapping[str, Any]) -> str:
    """What would be lost with a resource, by the list the policies guard."""
    token, inputs = _text(state.get("type")), _mapping(state.get("inputs"))
    if token.startswith(_CREDENTIALS):
        return "credential"
    version, kind = _text(inputs.get("apiVersion")), _text(inputs.get("kind"))
    group = version.rsplit("/", 1)[0] if "/" in version else ""
    templates = _mapping(inputs.get("spec")).get("volumeClaimTemplates")
    held = token in CLOUD_TYPES or (token.startswith("kubernetes:") and (group, kind) in KUBE_KINDS)
    return "data" if held or (kind == "StatefulSet" and templates) else ""


def _findings(events: str) -> tuple[Finding, ...]:
    found: dict[Finding, None] = {}
    for line in events.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue  # the last line of a killed run
        told = _mapping(_mapping(event).get("policyEvent"))
        if told:
            finding = Finding(
                policy=_text(told.get("policyName")),
                level=_text(told.get("enforcementLevel")),
                severity=_text(told.get("severity")),
                urn=_text(told.get("resourceUrn")),
                message=_text(told.get("message")).strip(),
            )
            found[finding] = None
    return tuple(sorted(found, key=lambda one: (one.level != "mandatory", one.policy, one.urn, one.message)))


def _resources(steps: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """One state for each resource, the newer of two; what is deleted is still there to be drawn."""
    found: dict[str, Mapping[str, Any]] = {}
    for step in steps:
        urn = _text(step["urn"])
        if step.get("newState") or urn not in found:
            found[urn] = _state(step, newest=True)
    return tuple(found.values())


def _state(step: Mapping[str, Any], *, newest: bool) -> Mapping[str, Any]:
    new, old = _mapping(step.get("newState")), _mapping(step.get("oldState"))
    return (new or old) if newest else (old or new)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()
