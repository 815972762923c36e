"""A graph as SVG, drawn here: no other program, no script, no font from elsewhere."""

from collections.abc import Iterable, Iterator
from html import escape

from cli.diagram.graph import Arrow, Box, Graph
from cli.diagram.layout import Layout, Place, arrange

_MARGIN, _TITLE = 24.0, 34.0
_PADDING, _LINE = 12.0, 17.0
_ARROW = 9.0
# Widest common sans-serif faces average less than this share of the font size per character.
_CHARACTER = 0.62
_FONT = "font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\""
_LONGEST = 44
_AREAS = {
    "compute": "#0969da",
    "kube": "#57606a",
    "mlops": "#8250df",
    "observability": "#bf3989",
    "scheduling": "#1a7f37",
    "storage": "#9a6700",
}
_MARKS = {"create": "#1a7f37", "update": "#9a6700", "replace": "#bc4c00", "delete": "#cf222e"}
_FILLS = {"create": "#e6f4ea", "update": "#fff8c5", "replace": "#ffe2d5", "delete": "#ffebe9"}


def render(graph: Graph, *, title: str) -> str:
    """The drawing, complete in itself; every name is escaped.

    Args:
        graph: Components and arrows.
        title: Line above the drawing, and the name screen readers tell.
    """
    lines = {box.urn: _lines(box) for box in graph.boxes}
    sizes = {urn: _size(texts) for urn, texts in lines.items()}
    layout = arrange(graph, sizes, gap_x=72.0, gap_y=22.0, lane=4.0)
    legend = _legend_lines(graph)
    longest = max([_width(title, 15), *(_width(text, 11) + 46 for _, text in legend)])
    width = max(layout.width, longest) + 2 * _MARGIN
    height = layout.height + 2 * _MARGIN + _TITLE + 20 * (len(legend) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" {_FONT}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        _text(_MARGIN, _MARGIN + 10, title, 15, weight="bold"),
        f'<g transform="translate({_MARGIN:.0f} {_MARGIN + _TITLE:.0f})">',
        *(_arrow(arrow, layout) for arrow in graph.arrows),
        *(_box(box, lines[box.urn], layout.places[box.urn]) for box in graph.boxes),
        "</g>",
        *_legend(legend, _MARGIN + _TITLE + layout.height + 34),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _lines(box: Box) -> list[str]:
    made = [f"{count} {kind}" if count > 1 else kind for kind, count in box.resources.items()]
    texts = [box.name, f"{box.area} · {box.kind}", *_wrapped(made)]
    if box.gives:
        texts += _wrapped([f"→ {name}" for name in box.gives])
    if box.changes:
        texts.append(", ".join(f"{word} {count}" for word, count in box.changes.items()))
    return [text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…" for text in texts]


def _wrapped(items: Iterable[str]) -> list[str]:
    """Items in lines of bearable length, none torn apart."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) < _LONGEST - 6:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return lines


def _width(text: str, size: float) -> float:
    return len(text) * size * _CHARACTER


def _size(texts: list[str]) -> tuple[float, float]:
    widest = max(_width(text, 13 if number == 0 else 11) for number, text in enumerate(texts))
    return widest + 2 * _PADDING, len(texts) * _LINE + 2 * _PADDING - 4


def _box(box: Box, texts: list[str], place: Place) -> str:
    colour = _AREAS.get(box.area, "#57606a")
    edge, fill = _MARKS.get(box.mark, colour), _FILLS.get(box.mark, "#ffffff")
    dashes = ' stroke-dasharray="6 4"' if box.goes else ""
    x, y = place.x, place.y
    parts = [
        "<g>",
        f"<title>{escape(box.urn)}</title>",
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{place.width:.1f}" height="{place.height:.1f}" rx="6" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.5"{dashes}/>',
        f'<rect x="{x:.1f}" y="{y + 6:.1f}" width="4" height="{place.height - 12:.1f}" fill="{colour}"/>',
    ]
    for number, text in enumerate(texts):
        top = y + _PADDING + 11 + number * _LINE
        if number == 0:
            parts.append(_text(x + _PADDING, top, text, 13, weight="bold"))
        else:
            tint = colour if number == 1 or text.startswith("→") else "#57606a"
            last = number == len(texts) - 1 and bool(box.changes)
            parts.append(_text(x + _PADDING, top, text, 11, colour=edge if last else tint))
    return "".join([*parts, "</g>"])


def _arrow(arrow: Arrow, layout: Layout) -> str:
    points = layout.routes[arrow.source, arrow.target]
    colour, dashes = ("#24292f", "") if arrow.contracts else ("#8c959f", ' stroke-dasharray="4 4"')
    (x, y), *rest = points
    path = f"M{x:.1f} {y:.1f}"
    for number, (next_x, next_y) in enumerate(rest):
        end = next_x - (_ARROW if number == len(rest) - 1 else 0)
        bend = (end - x) / 2
        path += f" C{x + bend:.1f} {y:.1f} {end - bend:.1f} {next_y:.1f} {end:.1f} {next_y:.1f}"
        x, y = end, next_y
    told = ", ".join(arrow.contracts) or "comes first"
    head = f"M{x + _ARROW:.1f} {y:.1f} l-{_ARROW} -4 v8 z"
    return (
        f"<g><title>{escape(told)}</title>"
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4"{dashes}/>'
        f'<path d="{head}" fill="{colour}"/></g>'
    )


def _legend_lines(graph: Graph) -> list[tuple[str, str]]:
    lines = []
    if any(arrow.contracts for arrow in graph.arrows):
        lines.append(("flow", "takes a contract the other hands on (→ in its box)"))
    if any(not arrow.contracts for arrow in graph.arrows):
        lines.append(("order", "comes first"))
    marks = {box.mark for box in graph.boxes}
    return lines + [(mark, mark) for mark in _MARKS if mark in marks]


def _legend(lines: list[tuple[str, str]], top: float) -> Iterator[str]:
    for number, (kind, text) in enumerate(lines):
        y = top + 20 * number
        if kind in _MARKS:
            yield (
                f'<rect x="{_MARGIN:.0f}" y="{y - 9:.0f}" width="30" height="12" rx="3" '
                f'fill="{_FILLS[kind]}" stroke="{_MARKS[kind]}"/>'
            )
        else:
            colour, dashes = ("#24292f", "") if kind == "flow" else ("#8c959f", ' stroke-dasharray="4 4"')
            yield (f'<path d="M{_MARGIN:.0f} {y - 4:.0f} h30" stroke="{colour}" stroke-width="1.4"{dashes}/>')
        yield _text(_MARGIN + 40, y, text, 11, colour="#57606a")


def _text(x: float, y: float, text: str, size: int, *, colour: str = "#24292f", weight: str = "") -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}"{bold}>{escape(text)}</text>'
