"""From raw settings and pins to the one typed object a stack is built from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from components.catalog import nearest
from stacks.config.bounds import beyond_bounds
from stacks.config.checks import problems_between
from stacks.config.clear_secrets import in_settings
from stacks.config.fields import SLUG, SLUG_MAX
from stacks.config.models import (
    KINDS,
    ArtifactSettings,
    ClusterSettings,
    DevSettings,
    LabCluster,
    OwnershipSettings,
    PoolSettings,
    QueueSettings,
    SampleSettings,
    StorageSettings,
    TrackingSettings,
)
from stacks.config.models_monitoring import MonitoringSettings
from stacks.config.problems import (
    NOTHING,
    SettingProblem,
    SettingsError,
    shown,
)
from stacks.config.shape import problems_of
from stacks.config.versions import Artifacts, ChartRef, Versions


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything one environment's stack is built from, checked and complete.

    Args:
        environment: Name of the stack, a slug.
        kind: Kind of environment.
        ownership: Who owns and pays.
        cluster: The Kubernetes cluster to use.
        artifacts: Images and charts to use, replacements applied.
        pools: GPU pools by name.
        queues: Queues by name.
        storage: Volumes, object store, database.
        tracking: Experiment tracking.
        monitoring: Metrics and alerts.
        samples: Sample jobs.
        lab_state: Directory of this machine's lab; of use only where ``cluster`` is the lab.
    """

    environment: str
    kind: str
    ownership: OwnershipSettings
    cluster: ClusterSettings
    artifacts: Artifacts
    pools: Mapping[str, PoolSettings]
    queues: Mapping[str, QueueSettings]
    storage: StorageSettings
    tracking: TrackingSettings
    monitoring: MonitoringSettings
    samples: SampleSettings
    lab_state: Path


def load(stack: str, raw: object, versions: Versions) -> Settings:
    """Check everything at once and resolve the artifacts.

    Args:
        stack: Name of the stack, which is the environment's name.
        raw: Value of ``gpu-platform:settings``.
        versions: The pins.

    Raises:
        SettingsError: Everything that is wrong, at once.
    """
    subject = f"settings of stack {stack}"
    # First, and alone: whatever looks deeper may take any time over a value out of bounds.
    if out_of_bounds := tuple(beyond_bounds(raw)):
        raise SettingsError(subject, out_of_bounds)
    problems = [*_stack_name(stack), *in_settings(raw)]
    model = _kind(raw, problems)
    if model is None or not isinstance(raw, dict):
        raise SettingsError(subject, problems)
    # A secret's key is unknown too; one problem a key is enough, and the one about secrets says what to do.
    told = {problem.location for problem in problems}
    problems += [problem for problem in problems_of(model, raw) if problem.location not in told]
    problems += problems_between(raw, versions)
    if problems:
        raise SettingsError(subject, problems)
    return _resolved(stack, model.model_validate(raw), versions)


def _stack_name(stack: str) -> Iterator[SettingProblem]:
    if not SLUG.fullmatch(stack) or len(stack) > SLUG_MAX:
        yield SettingProblem(
            location=("(stack)",),
            value=repr(stack),
            accepted=f"a name of 1 to {SLUG_MAX} of a-z, 0-9 and '-', as it becomes a label on every object",
            fix="name the stack and its Pulumi.<env>.yaml in lower-case ASCII",
        )


def _kind(raw: object, problems: list[SettingProblem]) -> type[DevSettings] | None:
    """The model of the settings' kind; what is wrong with the kind goes into ``problems``."""
    if not isinstance(raw, dict):
        problems.append(
            SettingProblem(
                location=(),
                value=shown(raw, ()),
                accepted="a mapping of sections, `kind` first",
                fix="write `gpu-platform:settings:` below `config:`, as Pulumi.dev.yaml has it",
            )
        )
        return None
    kind = raw.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        return KINDS[kind]
    suggestion = nearest(kind, tuple(KINDS)) if isinstance(kind, str) else None
    problems.append(
        SettingProblem(
            location=("kind",),
            value=NOTHING if kind is None else shown(kind, ("kind",)),
            accepted=f"a kind of environment: {', '.join(KINDS)}",
            fix=f"did you mean {suggestion!r}?" if suggestion else f"write `kind: {next(iter(KINDS))}`",
        )
    )
    # The only kind there is: its sections are checked all the same, so that every problem shows at once.
    return DevSettings if len(KINDS) == 1 else None


def _resolved(stack: str, model: DevSettings, versions: Versions) -> Settings:
    return Settings(
        environment=stack,
        kind=model.kind,
        ownership=model.ownership,
        cluster=model.cluster,
        artifacts=_artifacts(model, versions),
        pools=model.pools,
        queues=model.queues,
        storage=model.storage,
        tracking=model.tracking,
        monitoring=model.monitoring,
        samples=model.samples,
        lab_state=versions.lab_state,
    )


def _artifacts(model: DevSettings, versions: Versions) -> Artifacts:
    """The column of the cluster's source, mirror first, replacements by name last."""
    pins = versions.lab if isinstance(model.cluster, LabCluster) else versions.supported
    wanted = model.artifacts
    images = {name: _mirrored(reference, wanted) for name, reference in pins.images.items()}
    charts = {name: _mirrored_chart(chart, wanted) for name, chart in pins.charts.items()}
    replaced = {name: ChartRef(chart=one.chart, version=one.version) for name, one in wanted.charts.items()}
    return Artifacts(
        images=MappingProxyType({**images, **wanted.images}), charts=MappingProxyType({**charts, **replaced})
    )


def _mirrored(reference: str, wanted: ArtifactSettings) -> str:
    if wanted.registry_mirror is None:
        return reference
    return f"{wanted.registry_mirror}/{reference.partition('/')[2]}"


def _mirrored_chart(chart: ChartRef, wanted: ArtifactSettings) -> ChartRef:
    address = chart.chart.removeprefix("oci://")
    if address == chart.chart:
        return chart
    return ChartRef(chart=f"oci://{_mirrored(address, wanted)}", version=chart.version, repo=chart.repo)
