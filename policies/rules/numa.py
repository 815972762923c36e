"""numa: nodes with several GPUs keep a job's CPUs, memory and GPUs on one NUMA node."""

from collections.abc import Iterator, Sequence

from policies.model import Facts, Finding, KubeObject, Planned, Rule, Severity, Unknown, Verdict
from policies.pools import GPU_COUNT, MULTI_NODE, Pool, label, pools_of

# What the kubelet of the node is configured with; no label of Kubernetes' own says it.
TOPOLOGY_POLICY, CPU_POLICY = "gpu-platform/topology-policy", "gpu-platform/cpu-policy"
_SINGLE, _STATIC = "single-numa-node", "static"
# Refuses a pod whose GPUs lie on more NUMA nodes than they need; a job that takes whole nodes needs several.
_WHOLE_NODE = "restricted"


def check(plan: Sequence[Planned], _facts: Facts) -> Verdict:
    """Judge the kubelet of each pool of nodes with more than one GPU."""
    verdicts = [
        verdict
        for pool in pools_of(plan)
        for node in pool.kinds(TOPOLOGY_POLICY, CPU_POLICY, MULTI_NODE)
        if (verdict := _node(pool, node)) is not None
    ]
    if not verdicts:
        return None
    return tuple(finding for verdict in verdicts for finding in verdict)


def _node(pool: Pool, node: KubeObject) -> Verdict:
    count = label(node, GPU_COUNT)
    if isinstance(count, Unknown):
        return (node.unproven("topology", count, f"label {GPU_COUNT} known in the preview"),)
    if not str(count or "").isdigit() or int(count) < 2:
        return None
    topology = (_SINGLE, _WHOLE_NODE) if label(node, MULTI_NODE) == "true" else (_SINGLE,)
    return (
        *_policy(pool, node, "topology", TOPOLOGY_POLICY, topology),
        *_policy(pool, node, "cpu", CPU_POLICY, (_STATIC,)),
    )


def _policy(
    pool: Pool, node: KubeObject, check: str, key: str, accepted: tuple[str, ...]
) -> Iterator[Finding]:
    value, words = label(node, key), " or ".join(accepted)
    if isinstance(value, Unknown):
        yield node.unproven(check, value, words)
    elif value not in accepted:
        message = f"pool {pool.name!r} has several GPUs in a node and {key} {value or 'absent'}"
        yield node.fail(check, f"{message}; accepted: {words}")


RULE = Rule(
    id="numa",
    severity=Severity.HIGH,
    title="Nodes with several GPUs align CPUs, memory and GPUs on one NUMA node",
    fix="Set pools.<name>.kubelet to topology_manager single-numa-node and cpu_manager static.",
    source="https://kubernetes.io/docs/tasks/administer-cluster/topology-manager/",
    check_stack=check,
)
