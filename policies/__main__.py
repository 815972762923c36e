"""Starts the one policy pack; the engine runs this folder with the project's interpreter."""

import sys
from datetime import UTC, datetime
from pathlib import Path

# The engine starts the folder as a program, which puts the folder itself on the path, not its parent.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.adapters import PlanReader, policies
from policies.charts import ChartRenderer, helm_template
from policies.facts import ALLOW_FILE, CATALOG_FILE, FactsError, load
from policies.rules import RULES


def main() -> None:
    """Serve the pack until the engine ends it."""
    try:
        facts = load(frozenset(rule.id for rule in RULES), datetime.now(UTC).date())
    except FactsError as error:
        sys.exit(f"policy pack gpu-platform: {error}\n  fix {ALLOW_FILE} or regenerate {CATALOG_FILE}")
    PolicyPack(
        name="gpu-platform",
        policies=policies(RULES, facts, PlanReader(ChartRenderer(helm_template))),
        enforcement_level=EnforcementLevel.MANDATORY,
    )


if __name__ == "__main__":
    main()
