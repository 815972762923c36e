"""Reads the pack's own facts: ``allow.json`` (written by hand, reviewed) and ``catalog.json`` (generated)."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from policies.known import Catalog, Exemption, Registry
from policies.model import Facts

HERE = Path(__file__).resolve().parent
ALLOW_FILE = HERE / "allow.json"
CATALOG_FILE = HERE / "catalog.json"


class FactsError(ValueError):
    """A fact file says something it must not."""


def load(rule_ids: frozenset[str], today: date) -> Facts:
    """The facts of this pack.

    Args:
        rule_ids: Rules that exist.
        today: The day that decides what has expired.

    Raises:
        FactsError: A file is missing or malformed, an entry has no reason, or its rule does not exist.
    """
    try:
        return parse(
            json.loads(ALLOW_FILE.read_text()), json.loads(CATALOG_FILE.read_text()), rule_ids, today
        )
    except (OSError, json.JSONDecodeError) as error:
        raise FactsError(str(error)) from None
    except (KeyError, TypeError) as error:
        raise FactsError(f"an entry lacks or has too many fields: {error}") from None


def parse(
    allow: Mapping[str, Any], catalog: Mapping[str, Any], rule_ids: frozenset[str], today: date
) -> Facts:
    """Facts of the two documents; see ``load``."""
    registries = tuple(Registry(**row) for row in allow["registries"])
    exemptions = tuple(_exemption(row) for row in allow["exemptions"])
    for registry in registries:
        if not registry.reason.strip() or not registry.prefix.endswith("/"):
            raise FactsError(f"registries: {registry.prefix!r} needs a reason, and a '/' at its end")
    for exemption in exemptions:
        where = f"exemptions: {exemption.rule} for {exemption.subject!r}"
        if not exemption.reason.strip() or not exemption.checks:
            raise FactsError(f"{where} needs a reason and the checks it loosens")
        if exemption.rule not in rule_ids:
            raise FactsError(f"{where}: no such rule; accepted: {', '.join(sorted(rule_ids))}")
        if exemption.subject.startswith("*"):
            raise FactsError(f"{where}: exempts everything; accepted: a named kind or chart")
    return Facts(
        registries=registries,
        exemptions=exemptions,
        fabric_kinds={key: row["kind"] for key, row in catalog["fabrics"].items()},
        catalog=Catalog(
            **{name: catalog.get(name, {}) for name in ("servers", "instances", "gpus", "mig", "versions")},
            floors=catalog.get("security_floors", {}),
        ),
        today=today,
        development_stacks=tuple(allow["development_stacks"]),
    )


def _exemption(row: Mapping[str, Any]) -> Exemption:
    """One exemption; its last day is written as YYYY-MM-DD."""
    if "expires" not in row:
        where = f"exemptions: {row.get('rule')} for {row.get('subject')!r}"
        raise FactsError(f"{where} needs expires, the last day it holds (YYYY-MM-DD)")
    try:
        expires = date.fromisoformat(row["expires"])
    except (ValueError, TypeError):
        raise FactsError(f"exemptions: expires is {row['expires']!r}; accepted: YYYY-MM-DD") from None
    return Exemption(**{**row, "checks": tuple(row["checks"]), "expires": expires})


def configured(facts: Facts, config: Mapping[str, Any]) -> Facts:
    """Facts with a policy's configuration (``--policy-pack-config``) on top.

    Args:
        facts: The pack's own.
        config: ``developmentStacks`` (replaces), ``registries`` (prefixes, added).
    """
    stacks = config.get("developmentStacks")
    prefixes = config.get("registries") or ()
    added = tuple(Registry(prefix=prefix, reason="policy configuration") for prefix in prefixes)
    return replace(
        facts,
        registries=(*facts.registries, *added),
        development_stacks=facts.development_stacks if stacks is None else tuple(stacks),
    )
