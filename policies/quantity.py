"""Kubernetes quantities as numbers."""

import re

from policies.model import Value

_FORM = re.compile(
    r"(?P<number>[+-]?(\d+\.?\d*|\.\d+))(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?", re.ASCII
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
# https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ (read 2026-11)


def amount(value: Value) -> float | None:
    """The number a quantity stands for (bytes, cores, pieces), None when it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    match = _FORM.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    number, suffix = float(match["number"]), match["suffix"] or ""
    if suffix in _BINARY:
        return number * 1024.0 ** _BINARY[suffix]
    power = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:] or "0")
    return number * 10.0**power
