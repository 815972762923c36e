"""Checks of single argument values; each returns the problems it found."""

from collections.abc import Collection

from components.core.errors import Problem
from components.core.names import DNS_LABEL, DNS_LABEL_MAX


def check_dns_label(path: str, value: str) -> list[Problem]:
    """A name Kubernetes accepts as a namespace, a Service or a label value."""
    if len(value) <= DNS_LABEL_MAX and DNS_LABEL.match(value):
        return []
    return [
        Problem(
            path=path,
            value=repr(value),
            accepted=f"1 to {DNS_LABEL_MAX} characters a-z, 0-9 and '-', starting and ending alphanumeric",
            fix="choose such a name",
        )
    ]


def check_positive(path: str, value: int) -> list[Problem]:
    """A count or a duration that must be at least one."""
    if value >= 1:
        return []
    return [Problem(path=path, value=str(value), accepted="1 or more", fix="set a positive whole number")]


def check_not_empty(path: str, value: Collection[object], accepted: str) -> list[Problem]:
    """Something that must have at least one entry."""
    if value:
        return []
    return [Problem(path=path, value="nothing", accepted=accepted, fix="add at least one entry")]


def check_port(path: str, value: int) -> list[Problem]:
    """A TCP or UDP port number."""
    if 1 <= value <= 65535:
        return []
    return [Problem(path=path, value=str(value), accepted="1 to 65535", fix="set a port number")]
