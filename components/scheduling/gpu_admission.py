"""GPUs only through queues, in every namespace, held by the API server itself."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi

from components.core import Component, Ownership, check_dns_label, check_not_empty, raise_problems
from components.scheduling._admission import in_list, match, policy_with_binding, validation
from components.scheduling.kueue_api import QUEUE_LABEL

# Who makes the pods of Jobs: with `--use-service-account-credentials`, which kubeadm sets and the lab too,
# each controller acts under an account of its own (https://kubernetes.io/docs/reference/access-authn-authz/
# rbac/#controller-roles). A forged owner reference changes nothing about who asks.
JOB_CONTROLLER = "system:serviceaccount:kube-system:job-controller"
# nvidia.com/gpu, and what takes its place with MIG (nvidia.com/mig-1g.10gb) and time slicing (gpu.shared).
GPU_PREFIX = "nvidia.com/"
POLICY = "gpu-platform-gpu-pods"


@dataclass(frozen=True, kw_only=True)
class GpuAdmissionArgs:
    """Where GPU pods may come from.

    Args:
        ownership: Who owns and pays.
        queue_namespaces: Namespaces whose jobs wait in queues, one or more.
        creators: User names that may create GPU pods there: the controllers behind queued kinds of jobs.
        exempt_namespaces: Namespaces whose GPU pods hold no quota, such as a GPU operator's own checks.
    """

    ownership: Ownership
    queue_namespaces: tuple[str, ...]
    creators: tuple[str, ...] = (JOB_CONTROLLER,)
    exempt_namespaces: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = [
            *check_not_empty("queue_namespaces", self.queue_namespaces, "one namespace or more"),
            *check_not_empty("creators", self.creators, "one user name or more"),
        ]
        for namespace in self.queue_namespaces:
            problems += check_dns_label("queue_namespaces", namespace)
        for namespace in self.exempt_namespaces:
            problems += check_dns_label("exempt_namespaces", namespace)
        raise_problems("GPU admission", problems)


class GpuAdmission(Component):
    """Refuses every pod that asks for GPUs and was not made by a queued job's controller.

    Creates one ValidatingAdmissionPolicy with its binding, for the whole cluster: two in one cluster clash.
    The pod's author is judged, not its owner references, which anybody may write. Deliberately not: pods
    without GPUs, whatever node they run on; pods that exist already; GPUs asked for by a DRA claim.

    Args:
        name: Logical name.
        args: Where GPU pods may come from.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:GpuAdmission"

    def __init__(self, name: str, args: GpuAdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        policy_with_binding(self, name, POLICY, args.ownership, pod_policy(args))
        self.finish({})


def pod_policy(args: GpuAdmissionArgs) -> dict[str, Any]:
    """Policy on pods of every namespace but the exempt ones."""
    namespaces, creators = in_list(sorted(args.queue_namespaces)), in_list(sorted(args.creators))
    places = ", ".join(sorted(args.queue_namespaces))
    return {
        "failurePolicy": "Fail",
        "matchConstraints": match("", "pods", ("CREATE",), excluded=args.exempt_namespaces),
        "matchConditions": [{"name": "asks-for-gpus", "expression": _ASKS_FOR_GPUS}],
        "validations": [
            validation(
                f"request.namespace in {namespaces} && request.userInfo.username in {creators}",
                f"a pod gets GPUs only as part of a Job with the label {QUEUE_LABEL} in namespace {places}, "
                "and only the Job's controller may make it",
            )
        ],
    }


def _any_asks(containers: str) -> str:
    asked = f"c.resources.{{0}}.exists(r, r.startsWith('{GPU_PREFIX}'))"
    either = " || ".join(
        f"(has(c.resources.{kind}) && {asked.format(kind)})" for kind in ("limits", "requests")
    )
    return f"{containers}.exists(c, has(c.resources) && ({either}))"


_ASKS_FOR_GPUS = (
    f"{_any_asks('object.spec.containers')} || "
    f"(has(object.spec.initContainers) && {_any_asks('object.spec.initContainers')})"
)
