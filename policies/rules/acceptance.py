"""acceptance: a pool for jobs over several nodes is tested between its nodes before people use it."""

from collections.abc import Sequence

from policies.model import Facts, KubeObject, Level, Planned, Rule, Severity, Unknown, Verdict
from policies.pools import MULTI_NODE, Pool, annotation, first_unknown, label, pools_of

ACCEPTANCE, TESTS = "gpu-platform/acceptance", "gpu-platform/acceptance-tests"
INTER_NODE = "nccl-inter"
_KINDS = frozenset({("", "ConfigMap"), ("batch", "Job")})
_ACCEPTED = f"a ConfigMap or Job with label {ACCEPTANCE} and {INTER_NODE} in annotation {TESTS}"


def check(plan: Sequence[Planned], _facts: Facts) -> Verdict:
    """Each multi-node pool has an all_reduce test between its nodes in the plan."""
    objects = [item for planned in plan for item in planned.objects if (item.group, item.kind) in _KINDS]
    pools = [pool for pool in pools_of(plan) if len(pool.nodes) > 1]
    verdicts = [verdict for pool in pools if (verdict := _pool(pool, objects)) is not None]
    if not verdicts:
        return None
    return tuple(finding for verdict in verdicts for finding in verdict)


def _pool(pool: Pool, objects: Sequence[KubeObject]) -> Verdict:
    marks, head = [label(node, MULTI_NODE) for node in pool.nodes], pool.nodes[0]
    doubt = first_unknown(marks)
    if "true" not in marks:
        return (head.unproven("inter-node", doubt, f"label {MULTI_NODE} known"),) if doubt else None
    for item in objects:
        names = label(item, ACCEPTANCE)
        if names not in (pool.name, None) and not isinstance(names, Unknown):
            continue
        tests = annotation(item, TESTS)
        if names == pool.name and isinstance(tests, str):
            if INTER_NODE in [name.strip() for name in tests.split(",")]:
                return ()
        elif names is not None:
            doubt = doubt or first_unknown([names, tests])
    if doubt:
        return (head.unproven("inter-node", doubt, _ACCEPTED),)
    message = f"pool {pool.name!r} is for jobs over several nodes and nothing tests all_reduce between them"
    return (head.fail("inter-node", f"{message}; accepted: {_ACCEPTED}"),)


RULE = Rule(
    id="acceptance",
    severity=Severity.MEDIUM,
    title="A pool for jobs over several nodes has an all_reduce test between its nodes",
    fix="Give the pool acceptance tests (pools.<name>.acceptance), nccl-inter among them.",
    source="https://github.com/NVIDIA/nccl-tests",
    check_stack=check,
    # Nothing a development stack simulates can be accepted.
    in_development=Level.ADVISORY,
)
