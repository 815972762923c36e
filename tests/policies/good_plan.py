"""A plan that keeps every rule."""

from tests.policies.gpu_manifests import (
    DRIVER,
    acceptance,
    cluster_queue,
    flavor,
    gpu_job,
    job_rules,
    local_queue,
    nodes,
)
from tests.policies.manifests import (
    Resource,
    api_service,
    binding,
    claim,
    default_deny,
    deployment,
    namespace,
    network_policy,
    quota,
    release,
    role,
    scratch_volume,
    service,
)


def baseline() -> list[Resource]:
    """A plan in which every rule applies somewhere (stateful: only outside development) and holds."""
    return [
        namespace(),
        quota(),
        default_deny(),
        deployment(),
        service(),
        network_policy("web", ingress=[{"from": [{"podSelector": {}}]}], policyTypes=["Ingress"]),
        role(),
        binding("readers", "reader"),
        api_service("local"),
        scratch_volume(),
        claim("datasets"),
        claim("checkpoints"),
        *nodes("a100", 5, gpu_platform__fabric="infiniband-hdr", gpu_platform__multi_node="true", **DRIVER),
        acceptance("a100"),
        *nodes("cut", 1, annotations={"gpu-platform/mig-layout": "1g.10gb=7"}),
        flavor("a100"),
        cluster_queue("research"),
        local_queue("research"),
        job_rules(),
        gpu_job("train"),
        release(contact="Ünïcode 🚀"),
    ]
