"""What every component shares: base class, ownership labels, names, argument errors."""

from components.core.checks import check_dns_label, check_not_empty, check_port, check_positive
from components.core.component import Component
from components.core.errors import ArgsError, Problem, raise_problems
from components.core.names import dns_label
from components.core.ownership import Ownership

__all__ = [
    "ArgsError",
    "Component",
    "Ownership",
    "Problem",
    "check_dns_label",
    "check_not_empty",
    "check_port",
    "check_positive",
    "dns_label",
    "raise_problems",
]
