"""Logs as they come from pods and launchers, without what was put before each line."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from components.scheduling.acceptance.result import OutputError

# `kubectl logs --prefix`, and Open MPI's --tag-output.
_PREFIX = re.compile(r"^(\[pod/[^]]+\] )?(\[\d+,\d+\]<std(out|err)>: ?)?")


def lines(text: str) -> list[str]:
    """Lines without prefixes and trailing space."""
    return [_PREFIX.sub("", line).rstrip() for line in text.splitlines()]


def json_documents(text: str) -> Iterator[Mapping[str, Any]]:
    """Every JSON object that begins a line; what stands between is skipped.

    Raises:
        OutputError: An object that doesn't end.
    """
    clean, decoder, place = "\n".join(lines(text)), json.JSONDecoder(), 0
    start = re.compile(r"^\{", re.MULTILINE)
    while match := start.search(clean, place):
        try:
            found, place = decoder.raw_decode(clean, match.start())
        except ValueError as error:
            raise OutputError("the JSON is cut off or not well formed") from error
        yield found


def listed(value: object) -> list[Mapping[str, Any]]:
    """The objects of a JSON list; nothing where there is none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def number(value: object) -> float | None:
    """A JSON number as it is, NaN included; None for anything else."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
