"""Whether the policy pack watches this run."""

import os

import pulumi

# The environment's form of the engine's --policy-pack flag; the commands and `make shell` set it.
GUARDRAILS_VARIABLE = "PULUMI_OPTION_POLICY_PACK"


def tell_without_guardrails() -> None:
    """Warn where the run was started without the policy pack."""
    if not os.environ.get(GUARDRAILS_VARIABLE):
        pulumi.log.warn(
            f"guardrails not loaded by {GUARDRAILS_VARIABLE}, which is not set: use the line `make shell` "
            "prints (a --policy-pack flag can't be seen from here)"
        )
