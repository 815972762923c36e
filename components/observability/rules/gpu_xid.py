"""XIDs: from a gauge that keeps the last code for ever to events within a window, by what they ask for.

``DCGM_FI_DEV_XID_ERRORS`` holds the last code until the driver is loaded anew
(https://github.com/NVIDIA/dcgm-exporter/issues/500, https://github.com/NVIDIA/DCGM/issues/277), so its
value must not be alerted on. Two ways lead to events, and the first that has a result counts:

1. ``DCGM_EXP_XID_ERRORS_COUNT``: the exporter's own count over its window (5 min by default), one series
   per code.
2. The gauge, with its value turned into the label ``xid``: a code is new when it was there within the
   window and nowhere in the window before. Each code alerts for one window and then ends, although the
   gauge stays.

What (2) alone can't see: the same code twice without another in between, and a code overwritten between two
scrapes. What neither sees: codes the driver doesn't hand to DCGM (62, 79, 119 and 120 can be missing,
https://github.com/NVIDIA/DCGM/issues/235); their GPU then shows in ``GpuMissing``, and the kernel log has
them.
"""

from components.observability.rules import gpu_labels as gpu
from components.observability.rules._xid import XID_ACTIONS, XidAction
from components.observability.rules.model import Alert, Group, Record, Severity, duration
from components.observability.rules.settings import RuleSettings

LAST_CODE = "gpu_platform:gpu_xid:last"
EVENTS = "gpu_platform:gpu_xid_events:window"
_EACH = (*gpu.GPU, "xid")
# Action -> severity and what it asks for; information is recorded and never alerts.
_ASKS: dict[XidAction, tuple[Severity, str]] = {
    XidAction.ISOLATE: (Severity.CRITICAL, "take the node out of service and contact the vendor"),
    XidAction.REBOOT: (Severity.CRITICAL, "drain the node and reboot it"),
    XidAction.RESET: (Severity.CRITICAL, "drain the node and reset the GPU"),
    XidAction.INSPECT: (Severity.WARNING, "read the kernel log, which says what to do"),
    XidAction.MONITOR: (Severity.WARNING, "watch the NVLinks of the node; drain it when it repeats"),
    XidAction.APPLICATION: (Severity.INFO, "tell the job's owner: nearly always the program's own fault"),
}


def group(settings: RuleSettings) -> Group:
    """One record of events per action, and an alert for each but information."""
    window = duration(settings.windows.xid.window_seconds)
    last = Record(
        name=LAST_CODE,
        expr=f'count_values {gpu.by(*gpu.GPU)} ("xid", max {gpu.by(*gpu.GPU)} ({gpu.XID_LAST}) != 0)',
    )
    return Group(
        name="gpu-xid",
        records=(last, *(_events(action, window) for action in XidAction)),
        alerts=tuple(_alert(action, settings) for action in _ASKS),
    )


def selector(action: XidAction) -> str:
    """Label matchers of the codes of an action; ``INSPECT`` is every code no other action lists."""
    if action is not XidAction.INSPECT:
        return f'xid=~"{_codes(*XID_ACTIONS[action])}"'
    known = (code for codes in XID_ACTIONS.values() for code in codes)
    return f'xid!~"|0|{_codes(*known)}"'


def _codes(*codes: int) -> str:
    return "|".join(str(code) for code in codes)


def _events(action: XidAction, window: str) -> Record:
    matches = selector(action)
    before = f"max_over_time({LAST_CODE}{{{matches}}}[{window}] offset {window})"
    return Record(
        name=EVENTS,
        expr=f"sum {gpu.by(*_EACH)} ({gpu.XID_COUNT}{{{matches}}}) > 0 "
        f"or (max_over_time({LAST_CODE}{{{matches}}}[{window}]) unless {gpu.on(*_EACH)} {before})",
        labels={"action": action.value},
    )


def _alert(action: XidAction, settings: RuleSettings) -> Alert:
    severity, asked = _ASKS[action]
    return Alert(
        name=f"GpuXid{action.value.capitalize()}",
        expr=f'{EVENTS}{{action="{action.value}"}} > 0',
        severity=severity,
        for_seconds=settings.windows.xid.for_seconds,
        summary="GPU {{ $labels.gpu }} of {{ $labels.Hostname }}: XID {{ $labels.xid }}",
        description=f"{{{{ $labels.modelName }}}} {{{{ $labels.UUID }}}} reported it in the last "
        f"{duration(settings.windows.xid.window_seconds)}: {asked}.",
        labels={"action": action.value},
    )
