"""Records of the pack's own fact files: exemptions, registries, the catalogue's tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Exemption:
    """A named exception with its reason.

    Args:
        rule: Rule it loosens.
        subject: Pattern over ``Finding.subject``.
        checks: The parts of the rule it loosens.
        reason: Why that is acceptable.
        expires: Last day it holds; from the next on it is itself a finding.
    """

    rule: str
    subject: str
    checks: tuple[str, ...]
    reason: str
    expires: date


@dataclass(frozen=True, kw_only=True)
class Registry:
    """A place images may come from.

    Args:
        prefix: Registry with path, ending in ``/``.
        reason: Why it is trusted.
        development_only: Accepted in development stacks only.
    """

    prefix: str
    reason: str
    development_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """Tables of the catalogue, each from key to row; rows as ``policies/catalog.json`` writes them.

    Args:
        servers: GPUs, RAM, NVMe, power supplies of a server.
        instances: The same of a cloud's instance type, as far as the cloud tells.
        gpus: Memory, power, product label of a GPU.
        mig: Counts and layouts a GPU can be cut into.
        versions: CUDA, driver, operator and Kubernetes releases.
        floors: Known holes and the versions that close them.
    """

    servers: Mapping[str, Any] = field(default_factory=dict)
    instances: Mapping[str, Any] = field(default_factory=dict)
    gpus: Mapping[str, Any] = field(default_factory=dict)
    mig: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, Any] = field(default_factory=dict)
    floors: Mapping[str, Any] = field(default_factory=dict)
