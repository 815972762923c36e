"""Whether this machine can carry the lab: findings with cause and fix, nothing changed, nothing repaired."""

from lab.doctor.findings import Finding, Level, blocking
from lab.doctor.run import run_checks

__all__ = ["Finding", "Level", "blocking", "run_checks"]
