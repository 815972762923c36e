"""An operator installed by its Helm chart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pulumi
from pulumi_kubernetes.helm.v3 import Release

from components.core import Component, check_dns_label, check_not_empty, check_positive, raise_problems
from components.kube.readiness import Readiness, readiness_gate

DEFAULT_TIMEOUT_SECONDS = 300
DEFAULT_MAX_HISTORY = 5
_PATH_STARTS = ("/", "./", "../")


@dataclass(frozen=True, kw_only=True)
class ChartSource:
    """Where a chart comes from.

    Args:
        chart: Directory, archive, ``oci://`` address, or name inside ``repository``.
        version: Chart version; a directory has its own, so it is not passed on there.
        repository: Address of a classic chart repository; None for the other forms.
    """

    chart: str
    version: str
    repository: str | None = None

    @property
    def is_path(self) -> bool:
        """The chart lies on this machine."""
        return self.chart.startswith(_PATH_STARTS)


@dataclass(frozen=True, kw_only=True)
class ChartReleaseArgs:
    """How a chart is installed.

    Args:
        release: Helm release name, fixed, so that the chart's object names are known.
        namespace: Existing namespace it goes to.
        source: Where the chart comes from.
        values: Chart values.
        readiness: What must answer before dependents go on; takes the place of Helm's own wait. None when the
            chart has no webhook.
        timeout_seconds: Longest wait for the chart's own objects without ``readiness``.
        max_history: Revisions Helm keeps.
    """

    release: str
    namespace: pulumi.Input[str]
    source: ChartSource
    values: Mapping[str, Any]
    readiness: Readiness | None = None
    timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS
    max_history: int = DEFAULT_MAX_HISTORY

    def __post_init__(self) -> None:
        raise_problems(
            f"chart release {self.release!r}",
            [
                *check_dns_label("release", self.release),
                *check_not_empty("source.chart", self.source.chart, "a path, an oci:// address or a name"),
                *check_not_empty("source.version", self.source.version, "an exact version"),
                *check_positive("timeout_seconds", self.timeout_seconds),
                *check_positive("max_history", self.max_history),
            ],
        )


class ChartRelease(Component):
    """A Helm release that counts as there only when its webhook answers.

    Creates one ``helm.v3.Release`` (real Helm: hooks run, no rollback by itself). Waits by the readiness gate
    when there is one, else by Helm: Helm's wait also holds at uninstall, where it hangs on any object that
    a controller makes anew.
    Does not create the namespace, and does not upgrade CRDs a chart keeps in ``crds/`` (Helm never does).

    Args:
        name: Logical name.
        args: How it is installed.
        opts: Options, inherited by the release.
    """

    TYPE: ClassVar[str] = "gpuplatform:kube:ChartRelease"

    release: pulumi.Resource
    gate: pulumi.ResourceHookBinding | None

    def __init__(self, name: str, args: ChartReleaseArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts)
        source = args.source
        hooks: pulumi.ResourceHookBinding | None = None
        self.gate = None
        if args.readiness is not None:
            hook = readiness_gate(f"{name}-answers", args.readiness)
            hooks = pulumi.ResourceHookBinding(after_create=[hook], after_update=[hook])
            self.gate = pulumi.ResourceHookBinding(before_create=[hook])
        self.release = Release(
            f"{name}-release",
            name=args.release,
            namespace=args.namespace,
            chart=source.chart,
            version=None if source.is_path else source.version,
            repository_opts=None if source.repository is None else {"repo": source.repository},
            values=dict(args.values),
            create_namespace=False,
            skip_await=args.readiness is not None,
            timeout=args.timeout_seconds,
            max_history=args.max_history,
            opts=self.child(hooks=hooks),
        )
        self.finish({})
