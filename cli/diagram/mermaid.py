"""A graph as Mermaid text, as code hosts draw it in Markdown."""

from cli.diagram.graph import Box, Graph

# Mermaid reads quotes, brackets, # entities and markup inside labels; these leave only text.
_SAFE = str.maketrans({char: f"#{ord(char)};" for char in '"#<>&`|{}[]()\\;'} | {"\n": " ", "\r": " "})
_STYLES = {
    "create": "fill:#e6f4ea,stroke:#1a7f37",
    "update": "fill:#fff8c5,stroke:#9a6700",
    "replace": "fill:#ffe2d5,stroke:#bc4c00",
    "delete": "fill:#ffebe9,stroke:#cf222e,stroke-dasharray:4",
}


def render(graph: Graph) -> str:
    """Mermaid text: one box per component, solid arrows with their contracts, dotted ones for order only."""
    ids = {box.urn: f"c{number}" for number, box in enumerate(graph.boxes)}
    lines = ["flowchart LR"]
    for area in sorted({box.area for box in graph.boxes}):
        lines.append(f'  subgraph {_slug(area)}["{_safe(area)}"]')
        lines += [f'    {ids[box.urn]}["{_label(box)}"]' for box in graph.boxes if box.area == area]
        lines.append("  end")
    for arrow in graph.arrows:
        ends = ids[arrow.source], ids[arrow.target]
        text = "<br/>".join(_safe(name) for name in arrow.contracts)
        lines.append(f'  {ends[0]} -->|"{text}"| {ends[1]}' if text else f"  {ends[0]} -.-> {ends[1]}")
    for operation, style in _STYLES.items():
        members = [ids[box.urn] for box in graph.boxes if box.mark == operation]
        if members:
            lines += [
                f"  classDef {operation}Change {style}",
                f"  class {','.join(members)} {operation}Change",
            ]
    return "\n".join(lines) + "\n"


def _label(box: Box) -> str:
    lines = [f"<b>{_safe(box.name)}</b>", _safe(box.kind)]
    if box.changes:
        lines.append(f"<i>{_safe(', '.join(f'{word} {count}' for word, count in box.changes.items()))}</i>")
    return "<br/>".join(lines)


def _safe(text: str) -> str:
    return text.translate(_SAFE)


def _slug(text: str) -> str:
    # A bare word such as `end` is Mermaid syntax.
    return "area_" + "".join(char if char.isascii() and char.isalnum() else "_" for char in text)
