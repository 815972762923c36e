"""Lines, numbers and tables of one panel as inline SVG and HTML; pure, every foreign text escaped."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

_WIDTH, _HEIGHT = 560, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 8, 8, 22
_PALETTE = ("#3274d9", "#e0752d", "#299c46", "#a352cc", "#c4162a", "#8f6b00", "#0a8f9c", "#666f7a")
_NAMED = {"green": "#299c46", "red": "#c4162a", "blue": "#3274d9", "orange": "#e0752d"}
_SUFFIXES = {
    "percent": " %",
    "watt": " W",
    "celsius": " °C",
    "mbytes": " MiB",
    "MBs": " MB/s",
    "reqps": "/s",
}
_MOST_LINES = 24
_MOST_ROWS = 60


@dataclass(frozen=True, kw_only=True)
class Line:
    """One series: labels and points (Unix seconds, value), oldest first."""

    labels: Mapping[str, str]
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
class Look:
    """How values are shown.

    Args:
        unit: Grafana's unit id.
        steps: (from value, colour), lowest first; None is where the scale begins.
        legend: Legend with ``{{label}}``.
    """

    unit: str
    steps: Sequence[tuple[float | None, str]]
    legend: str = ""


def number(value: float, unit: str) -> str:
    """A value with its unit, short enough for an axis."""
    if not math.isfinite(value):
        return "-"
    if unit == "percentunit":
        return f"{value * 100:.3g} %"
    if unit == "s":
        for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
            if abs(value) >= size:
                return f"{value / size:.3g} {name}"
        return f"{value:.3g} s"
    suffix = _SUFFIXES.get(unit, "")
    for least, divisor, prefix in ((1e9, 1e9, "G"), (1e6, 1e6, "M"), (1e5, 1e3, "k")):
        if abs(value) >= least:
            return f"{value / divisor:.3g} {prefix}{suffix.strip()}"
    return f"{value:.4g}{suffix}"


def colour(value: float, steps: Sequence[tuple[float | None, str]]) -> str:
    """The colour of the highest step that the value reaches."""
    chosen = "#3274d9"
    for least, name in steps:
        if least is None or value >= least:
            chosen = _NAMED.get(name, _PALETTE[-1])
    return chosen


def legend(line: Line, pattern: str) -> str:
    """The pattern with the series' labels filled in, else its labels."""
    if not pattern:
        return ", ".join(f"{key}={value}" for key, value in sorted(line.labels.items()) if key != "__name__")
    text = pattern
    for key, value in line.labels.items():
        text = text.replace("{{" + key + "}}", value)
    return text


def stat(lines: Sequence[Line], look: Look) -> str:
    """The latest value, large, in the colour of its step."""
    if not lines or not lines[0].points:
        return empty()
    value = lines[0].points[-1][1]
    return f'<p class="stat" style="color:{colour(value, look.steps)}">{escape(number(value, look.unit))}</p>'


def empty() -> str:
    """What a panel without an answer shows."""
    return '<p class="empty">no data</p>'


def table(lines: Sequence[Line], look: Look) -> str:
    """One row per series: its labels and its latest value."""
    if not lines:
        return empty()
    keys = sorted({key for line in lines for key in line.labels if key != "__name__"})
    head = "".join(f"<th>{escape(key)}</th>" for key in [*keys, "value"])
    rows = []
    for line in lines[:_MOST_ROWS]:
        value = line.points[-1][1]
        cells = "".join(f"<td>{escape(line.labels.get(key, ''))}</td>" for key in keys)
        shown = escape(number(value, look.unit))
        rows.append(f'<tr>{cells}<td style="color:{colour(value, look.steps)}">{shown}</td></tr>')
    body = "".join(rows)
    rest = _rest(lines, _MOST_ROWS)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def chart(lines: Sequence[Line], look: Look) -> str:
    """Lines over time with both axes, threshold lines and a legend with the latest values."""
    values = [value for line in lines for _, value in line.points if math.isfinite(value)]
    times = [moment for line in lines for moment, _ in line.points]
    if not values:
        return empty()
    low, high = min(0.0, *values), max(values)
    high = high * 1.05 if high > low else low + 1
    frame = _Frame(start=min(times), end=max(min(times) + 1, *times), low=low, high=high)
    parts = [frame.axes(look.unit)]
    for least, name in look.steps:
        if least is not None and low <= least <= high:
            y = frame.y(least)
            parts.append(
                f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                f'stroke="{_NAMED.get(name, _PALETTE[-1])}" stroke-dasharray="4 3"/>'
            )
    rows = []
    for index, line in enumerate(lines[:_MOST_LINES]):
        paint = _PALETTE[index % len(_PALETTE)]
        parts.append(frame.path(line, paint))
        shown = escape(f"{legend(line, look.legend)}: {number(line.points[-1][1], look.unit)}")
        rows.append(f'<span style="color:{paint}">■</span> {shown}')
    svg = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'
    return f'{svg}<p class="legend">{"<br>".join(rows)}</p>{_rest(lines, _MOST_LINES)}'


def _rest(lines: Sequence[Line], shown: int) -> str:
    return f'<p class="legend">and {len(lines) - shown} more</p>' if len(lines) > shown else ""


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """Where times and values lie in the picture."""

    start: float
    end: float
    low: float
    high: float

    def x(self, moment: float) -> float:
        return _LEFT + (moment - self.start) / (self.end - self.start) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _TOP + (self.high - value) / (self.high - self.low) * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, unit: str) -> str:
        parts = []
        for step in range(5):
            value = self.low + (self.high - self.low) * step / 4
            y = self.y(value)
            parts.append(
                f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>'
                f'<text x="{_LEFT - 4}" y="{y + 3:.1f}" text-anchor="end">'
                f"{escape(number(value, unit))}</text>"
            )
        for step, anchor in ((0, "start"), (1, "middle"), (2, "end")):
            moment = self.start + (self.end - self.start) * step / 2
            clock = datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%S")
            place = f'x="{self.x(moment):.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}"'
            parts.append(f"<text {place}>{clock}</text>")
        return "".join(parts)

    def path(self, line: Line, paint: str) -> str:
        """The series; a value that is not a number interrupts it, a lone point is a dot."""
        commands, pen_down = [], False
        for moment, value in line.points:
            if not math.isfinite(value):
                pen_down = False
                continue
            commands.append(f"{'L' if pen_down else 'M'}{self.x(moment):.1f} {self.y(value):.1f}")
            pen_down = True
        dot = " stroke-linecap='round'"
        tail = "h0.1" if len(commands) == 1 else ""
        return f'<path d="{"".join(commands)}{tail}" fill="none" stroke="{paint}" stroke-width="1.5"{dot}/>'
