"""The tests of one pool, delivered as manifests."""

from typing import ClassVar

import pulumi
from pulumi_kubernetes.core.v1 import ConfigMap
from pulumi_kubernetes.networking.v1 import NetworkPolicy

from components.core import Component
from components.kube import Direction, Flow, Peer, ownership_metadata
from components.kube.network import flow_spec
from components.scheduling.acceptance.jobs import (
    ACCEPTANCE_LABEL,
    DCGM_NAMESPACE,
    DCGM_PODS,
    DCGM_PORT,
    TESTS_ANNOTATION,
    AcceptanceArgs,
    acceptance_jobs,
)
from components.scheduling.acceptance.kinds import DCGM_LEVELS
from components.scheduling.sample_jobs import as_yaml


class Acceptance(Component):
    """A ConfigMap ``acceptance-<pool>`` with one Job manifest per test, ready for ``kubectl create``.

    Manifests and not suspended Jobs: Kueue owns the ``suspend`` field of every Job with a queue and would
    start them at once, and a Job without a queue is refused. Where a diagnostic is among the tests, a
    NetworkPolicy lets its pods call the GPU Operator's host engine. Runs nothing and judges
    nothing (``judge``).

    Args:
        name: Logical name.
        args: The tests.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:scheduling:Acceptance"

    config_map: pulumi.Output[str]

    def __init__(self, name: str, args: AcceptanceArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        physical = f"acceptance-{args.pool.name}"
        label = {ACCEPTANCE_LABEL: args.pool.name}
        made = ConfigMap(
            f"{name}-manifests",
            metadata=ownership_metadata(
                args.ownership,
                name=physical,
                namespace=args.queue.namespace,
                labels=label,
                annotations={TESTS_ANNOTATION: ",".join(test.value for test in args.tests)},
            ),
            data={f"{test}.yaml": as_yaml(manifest) for test, manifest in acceptance_jobs(args).items()},
            opts=self.child(),
        )
        if any(test in DCGM_LEVELS for test in args.tests):
            engine = Peer(namespace=DCGM_NAMESPACE, pod_labels=DCGM_PODS)
            flow = Flow(
                name=physical, direction=Direction.EGRESS, peers=(engine,), ports=(DCGM_PORT,), pods=label
            )
            NetworkPolicy(
                f"{name}-diagnostics",
                metadata=ownership_metadata(
                    args.ownership, name=f"{physical}-diagnostics", namespace=args.queue.namespace
                ),
                spec=flow_spec(flow),
                opts=self.child(),
            )
        self.config_map = made.metadata.name
        self.finish({"config_map": self.config_map})
