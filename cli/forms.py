"""Forms of what commands write; by themselves, so that `--help` loads nothing else."""

from enum import StrEnum


class ReportForm(StrEnum):
    """Forms of the report."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


class DiagramForm(StrEnum):
    """Forms of the diagram."""

    MERMAID = "mermaid"
    SVG = "svg"
