"""Are there backups: age of the last one that succeeded.

Whoever makes backups exposes ``gpu_platform_backup_last_success_timestamp_seconds`` (Unix time, label
``target``).
"""

from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

LAST_SUCCESS = "gpu_platform_backup_last_success_timestamp_seconds"
AGE = "gpu_platform:backup_age_seconds:min"


def group(settings: RuleSettings) -> Group:
    """A backup that is too old, and one that never was; the latter only for the targets the settings name."""
    return Group(
        name="backups",
        records=(Record(name=AGE, expr=f"time() - max by (target) ({LAST_SUCCESS} > 0)"),),
        alerts=(_too_old(settings), *((_never(settings),) if settings.backups else ())),
    )


def _too_old(settings: RuleSettings) -> Alert:
    most = settings.limits.backup_age_seconds
    return Alert(
        name="BackupTooOld",
        expr=f"{AGE} > {most}",
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.backup.for_seconds,
        summary="The last backup of {{ $labels.target }} is {{ $value | humanizeDuration }} old",
        description=f"Older than {duration(most)}: what was written since is lost with the volume.",
    )


def _never(settings: RuleSettings) -> Alert:
    absent = " or ".join(f'absent({AGE}{{target="{target}"}})' for target in settings.backups)
    return Alert(
        name="BackupMissing",
        expr=absent,
        severity=Severity.CRITICAL,
        for_seconds=settings.windows.backup.for_seconds,
        summary="There is no backup of {{ $labels.target }}",
        description="The settings ask for one and no success was ever reported.",
    )
