"""What both forms of the report say, in the order a reviewer needs it."""

from collections.abc import Iterator

from cli.report.plan import Change, Plan

MANY = 200


def headline(plan: Plan) -> str:
    """One line: what changes, what is lost, whether it is refused."""
    counts = ", ".join(f"{count} to {word}" for word, count in plan.counted().items()) or "nothing changes"
    parts = [f"{counts}, {plan.unchanged} unchanged."]
    lost = [change for change in plan.changes if change.holds and change.destructive]
    if lost:
        parts.append(f"Data at risk: {len(lost)} stateful resource(s) would go.")
    refused = sum(finding.level == "mandatory" for finding in plan.findings)
    if refused:
        parts.append(f"Refused by policy: {refused} mandatory finding(s).")
    elif plan.failed:
        parts.append("The preview failed; what follows may be incomplete.")
    return " ".join(parts)


def urgent(plan: Plan) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """What holds data, then what goes; empty ones left out."""
    yield from _groups(
        ("Stateful resources", [one for one in plan.changes if one.holds]),
        ("Replaced and deleted", [one for one in plan.changes if not one.holds and one.destructive]),
    )


def calm(plan: Plan) -> Iterator[tuple[str, tuple[Change, ...]]]:
    """What changes in place, then what is new; empty ones left out."""
    others = [one for one in plan.changes if not one.holds and not one.destructive]
    yield from _groups(
        ("Updated", [one for one in others if one.operation == "update"]),
        ("New", [one for one in others if one.operation != "update"]),
    )


def _groups(*groups: tuple[str, list[Change]]) -> Iterator[tuple[str, tuple[Change, ...]]]:
    for title, changes in groups:
        if changes:
            yield title, tuple(changes)


def where(change: Change) -> str:
    """Why a change happens and what becomes of the object, in words; never a value."""
    parts = []
    if change.holds:
        parts.append(f"holds a {change.holds}" if change.holds == "credential" else f"holds {change.holds}")
    if change.protected and change.destructive:
        parts.append("protected: the engine will refuse")
    if change.retained and change.destructive:
        parts.append("the object stays")
    if change.replaced_by:
        parts.append(f"replaced because of {', '.join(change.replaced_by)}")
    others = [path for path in change.paths if path not in change.replaced_by]
    if others:
        parts.append(", ".join(others))
    return "; ".join(parts)


def split_message(message: str) -> tuple[str, str]:
    """A policy's rule with its fix, and what it says about this resource; the engine joins them by lines."""
    rule, _, told = message.partition("\n")
    return rule.strip(), " ".join(told.split())
