"""versions: no known hole, and a driver, CUDA, operator and Kubernetes that belong together."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from policies.model import Facts, Finding, Planned, Rule, Severity, Unknown, Verdict
from policies.version_numbers import below, minor, numbers
from policies.versioned import OPERATOR_CHART, Said, versions_in

_Tables = Mapping[str, Mapping[str, Any]]


def check(plan: Sequence[Planned], facts: Facts) -> Verdict:
    """Refuse what has a known hole; advise on what is outside the compatibility matrix or support."""
    said = versions_in(plan)
    if not said:
        return None
    return tuple(finding for item in said for finding in _judged(item, said, facts))


def _judged(item: Said, plan: Sequence[Said], facts: Facts) -> Iterator[Finding]:
    if isinstance(item.version, Unknown):
        floors = any(row["product"] == item.product for row in facts.catalog.floors.values())
        yield item.unproven("floor" if floors else "matrix", item.version, advice=not floors)
        return
    version = numbers(item.version)
    if version is None:
        yield item.finding("form", f"{item.product} {item.version!r} is no version", advice=True)
        return
    yield from _floors(item, version, facts.catalog.floors)
    tables = facts.catalog.versions
    if item.product == "driver":
        yield from _driver(item, version, tables, facts.today)
    elif item.product == "cuda":
        yield from _cuda(item, version, tables)
    elif item.product == "kubernetes":
        yield from _ended(item, minor(version), tables.get("kubernetes", {}), facts.today)
    elif item.product == OPERATOR_CHART:
        yield from _operator(item, version, plan, tables)


def _floors(item: Said, version: tuple[int, ...], floors: Mapping[str, Any]) -> Iterator[Finding]:
    for key, row in floors.items():
        if row["product"] == item.product and _affected(version, row):
            fixed = " or ".join(row["fixed_in"]) or f"newer than {row['affected_through']}"
            message = f"{item.product} {item.version} has {key}: {row['what']}; accepted: {fixed}"
            yield item.finding("floor", message, advice=False)


def _affected(version: tuple[int, ...], row: Mapping[str, Any]) -> bool:
    """Between two fixed branches, the branch with the same first two numbers decides; none: it is open."""
    fixed: Sequence[str] = row["fixed_in"]
    if not fixed:
        last = row["affected_through"]
        return last is None or not below(numbers(last) or (), ".".join(map(str, version)))
    own = [one for one in fixed if minor(numbers(one) or ()) == minor(version)]
    return below(version, (own or [fixed[-1]])[0])


def _driver(item: Said, version: tuple[int, ...], tables: _Tables, today: date) -> Iterator[Finding]:
    yield from _ended(item, str(version[0]), tables.get("driver", {}), today)


def _ended(item: Said, key: str, table: Mapping[str, Any], today: date) -> Iterator[Finding]:
    row = table.get(key)
    if row is None:
        known = ", ".join(sorted(table)) or "nothing"
        message = f"{item.product} {item.version} is of no branch of the catalogue; accepted: {known}"
        yield item.finding("matrix", message, advice=True)
    elif date.fromisoformat(row["end_of_support"]) < today:
        message = (
            f"support of {item.product} {key} ended on {row['end_of_support']}; accepted: a newer branch"
        )
        yield item.finding("support", message, advice=True)


def _cuda(item: Said, version: tuple[int, ...], tables: _Tables) -> Iterator[Finding]:
    """CUDA runs on its own driver or newer, and on older ones of the same major release."""
    row, driver = tables.get("cuda", {}).get(minor(version)), item.beside.get("driver")
    if row is None:
        known = ", ".join(sorted(tables.get("cuda", {}))) or "nothing"
        message = f"cuda {item.version} is not in the catalogue; accepted: {known}"
        yield item.finding("matrix", message, advice=True)
        return
    own = numbers(driver)
    if own is not None and below(own, row["minor_driver"]):
        message = (
            f"cuda {item.version} does not run on driver {driver}; accepted: {row['minor_driver']} or newer"
        )
        yield item.finding("matrix", message, advice=True)


def _operator(
    item: Said, version: tuple[int, ...], plan: Sequence[Said], tables: _Tables
) -> Iterator[Finding]:
    table = tables.get("operator", {})
    row = table.get(minor(version))
    if row is None or row["support"] != "supported":
        state = "not in the catalogue" if row is None else row["support"]
        known = ", ".join(sorted(key for key, one in table.items() if one["support"] == "supported"))
        message = f"{item.product} {item.version} is {state}; accepted: {known or 'nothing'}"
        yield item.finding("support", message, advice=True)
        return
    for other in plan:
        own = numbers(other.version) if isinstance(other.version, str) else None
        if own is None:
            continue
        if other.product == "driver" and str(own[0]) not in row["driver_branches"]:
            accepted = ", ".join(row["driver_branches"])
            message = f"{item.product} {item.version} has no driver {other.version}; accepted: {accepted}"
            yield item.finding("matrix", message, advice=True)
        elif other.product == "kubernetes" and _outside(own, row):
            accepted = f"{row['kubernetes_min']} to {row['kubernetes_max']}"
            message = (
                f"{item.product} {item.version} is not for Kubernetes {other.version}; accepted: {accepted}"
            )
            yield item.finding("matrix", message, advice=True)


def _outside(version: tuple[int, ...], row: Mapping[str, Any]) -> bool:
    least, most = row["kubernetes_min"], numbers(row["kubernetes_max"])
    return bool(least and below(version, least)) or bool(most and most < version[:2])


RULE = Rule(
    id="versions",
    severity=Severity.HIGH,
    title="No version has a known hole, and driver, CUDA, operator and Kubernetes belong together",
    fix="Take the versions the message accepts; the catalogue has them with source and date.",
    source="https://docs.nvidia.com/deploy/cuda-compatibility/",
    check_stack=check,
    gives_advice=True,
)
