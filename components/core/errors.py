"""Argument errors that name path, value, accepted form and fix."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing wrong with an argument.

    Args:
        path: Where, e.g. ``pools.a100.nodes``.
        value: What was received, as shown to the user (never a secret).
        accepted: What would be accepted.
        fix: What to do.
    """

    path: str
    value: str
    accepted: str
    fix: str

    def __str__(self) -> str:
        return f"{self.path}: got {self.value}; accepted: {self.accepted}; fix: {self.fix}"


class ArgsError(ValueError):
    """All problems of one set of arguments at once."""

    def __init__(self, subject: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{subject}: {len(self.problems)} problem(s)\n{lines}")


def raise_problems(subject: str, problems: Sequence[Problem]) -> None:
    """Raise one ``ArgsError`` with every problem, or return when there is none."""
    if problems:
        raise ArgsError(subject, problems)
