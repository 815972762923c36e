"""Versions as tuples of numbers; the policies may not import the catalogue's own."""

import re

from policies.model import Value

_FORM = re.compile(r"v?(?P<numbers>[0-9]+(\.[0-9]+)*)([-+_.].*)?", re.ASCII | re.DOTALL)


def numbers(version: Value) -> tuple[int, ...] | None:
    """``(580, 65, 6)`` of ``580.65.06``; None for what is no version, such as a hash."""
    match = _FORM.fullmatch(version) if isinstance(version, str) else None
    return tuple(int(part) for part in match["numbers"].split(".")) if match else None


def minor(version: tuple[int, ...]) -> str:
    """The first two numbers as text, ``1.34`` of ``1.34.4``."""
    return ".".join(str(part) for part in (*version, 0)[:2])


def below(version: tuple[int, ...], other: str) -> bool:
    """Whether a version is older; missing numbers count as zero."""
    bound = numbers(other) or ()
    width = max(len(version), len(bound))
    return (*version, *[0] * (width - len(version))) < (*bound, *[0] * (width - len(bound)))
