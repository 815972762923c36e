"""Version numbers, compared part by part."""

import re

Version = tuple[int, ...]


def parse_version(text: str) -> Version:
    """The leading numbers of a version, trailing zeros dropped, so that ``1.18`` equals ``v1.18.0``.

    Args:
        text: ``1.17.8``, ``v2.27.3-1``, ``580.65.06``; what follows the dotted numbers is ignored.

    Raises:
        ValueError: It does not begin with a number.
    """
    found = re.match(r"v?(\d+(?:\.\d+)*)", text.strip())
    if not found:
        raise ValueError(f"version: got {text!r}; accepted: dotted numbers, e.g. 580.65.06")
    parts = [int(part) for part in found[1].split(".")]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def within(version: str, since: str | None = None, below: str | None = None) -> bool:
    """Whether ``since <= version < below``; a missing bound does not limit."""
    parsed = parse_version(version)
    return (since is None or parsed >= parse_version(since)) and (
        below is None or parsed < parse_version(below)
    )
