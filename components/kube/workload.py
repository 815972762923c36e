"""A service of ours in the cluster, hardened by default."""

from collections.abc import Mapping
from typing import ClassVar

import pulumi
from pulumi_kubernetes.apps.v1 import Deployment, StatefulSet
from pulumi_kubernetes.core.v1 import ConfigMap, Service, ServiceAccount

from components.core import Component
from components.kube import _workload_plan as plan
from components.kube.metadata import ownership_metadata
from components.kube.workload_args import WorkloadArgs, WorkloadKind


class Workload(Component):
    """A container under a Deployment or StatefulSet: non-root, no capabilities, root file system read-only.

    Creates a ServiceAccount, the controller, a ClusterIP Service when it has ports and a ConfigMap when it
    has files. Creates no volume claim, Secret, NetworkPolicy or RBAC: those belong to whoever owns the data
    or the traffic. Pods restart when files or ``roll_on`` values change. Waits until the pods are ready.

    Args:
        name: Logical name.
        args: What to run.
        opts: Options, inherited by the children.
    """

    TYPE: ClassVar[str] = "gpuplatform:kube:Workload"

    namespace: pulumi.Output[str]
    service: pulumi.Output[str]
    labels: Mapping[str, str]
    workload: pulumi.Resource

    def __init__(self, name: str, args: WorkloadArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        self.namespace = pulumi.Output.from_input(args.namespace)
        self.service = pulumi.Output.from_input(args.app)
        self.labels = plan.selector(args)
        needs: list[pulumi.Resource] = [self._create_service_account(name, args)]
        if args.files:
            needs.append(self._create_files(name, args))
        controller = Deployment if args.kind is WorkloadKind.DEPLOYMENT else StatefulSet
        self.workload = controller(
            f"{name}-{'deployment' if controller is Deployment else 'statefulset'}",
            metadata=self._metadata(args, args.app),
            spec=plan.controller_spec(args),
            opts=self.child(depends_on=needs),
        )
        if args.ports:
            self._create_service(name, args)
        self.finish({"namespace": self.namespace, "service": self.service})

    def _metadata(self, args: WorkloadArgs, object_name: str) -> dict[str, object]:
        return ownership_metadata(
            args.ownership, name=object_name, namespace=args.namespace, labels=plan.selector(args)
        )

    def _create_service_account(self, name: str, args: WorkloadArgs) -> pulumi.Resource:
        account: pulumi.Resource = ServiceAccount(
            f"{name}-account",
            metadata=self._metadata(args, args.app),
            automount_service_account_token=args.service_account_token,
            opts=self.child(),
        )
        return account

    def _create_files(self, name: str, args: WorkloadArgs) -> pulumi.Resource:
        keys = plan.file_keys(args)
        files: pulumi.Resource = ConfigMap(
            f"{name}-files",
            metadata=self._metadata(args, plan.files_name(args)),
            data={keys[path]: content for path, content in args.files.items()},
            opts=self.child(),
        )
        return files

    def _create_service(self, name: str, args: WorkloadArgs) -> None:
        # The provider waits for a Service to have endpoints, so it comes after the pods.
        Service(
            f"{name}-service",
            metadata=self._metadata(args, args.app),
            spec=plan.service_spec(args),
            opts=self.child(depends_on=[self.workload]),
        )
