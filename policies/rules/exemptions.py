"""exemptions: what loosens a rule has not expired."""

from collections.abc import Sequence

from policies.model import Facts, Finding, Planned, Rule, Severity, Verdict

# Long enough to look at the matter again before it stops a run.
NOTICE_DAYS = 30


def check(_plan: Sequence[Planned], facts: Facts) -> Verdict:
    """Every exemption still holds; those that end soon are told."""
    if not facts.exemptions:
        return None
    found = []
    for row in facts.exemptions:
        days = (row.expires - facts.today).days
        if days > NOTICE_DAYS:
            continue
        ended = days < 0
        when = f"expired on {row.expires}" if ended else f"expires on {row.expires}, in {days} days"
        message = f"{when} ({row.reason}); accepted: a later date after a new look, or the exemption removed"
        found.append(
            Finding(
                check="expired" if ended else "expires",
                subject=f"exemption/{row.rule}/{row.subject}",
                message=message,
                advice=not ended,
            )
        )
    return tuple(found)


RULE = Rule(
    id="exemptions",
    severity=Severity.MEDIUM,
    title="What loosens a rule has a reason that still holds",
    fix="Look at the reason again in policies/allow.json: set a later date, or remove the exemption.",
    source="https://slsa.dev/spec/v1.0/threats-overview",
    check_stack=check,
    gives_advice=True,
)
