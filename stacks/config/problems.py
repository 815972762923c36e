"""What is wrong with settings, in the one form users see."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

Location = tuple[str | int, ...]

HIDDEN = "(hidden)"
NOTHING = "nothing"
_LONGEST_SHOWN = 80
_SECRET_WORDS = frozenset(
    {"password", "passwd", "passphrase", "secret", "secrets", "token", "tokens", "credential", "credentials"}
)
_SECRET_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key")})
_SECRET_RUN_TOGETHER = frozenset({"apikey", "accesskey", "privatekey", "secretkey"})
_CREDENTIALS_IN_ADDRESS = re.compile(r"//[^/\s@:]+:[^/\s@]+@")


@dataclass(frozen=True, kw_only=True)
class SettingProblem:
    """One thing wrong with the settings.

    Args:
        location: Keys from the top of the settings to the value.
        value: What was received, fit to be shown (see ``shown``).
        accepted: What would be accepted.
        fix: What to do.
        line: Line in the file, where the settings were read from one.
    """

    location: Location
    value: str
    accepted: str
    fix: str
    line: int | None = None

    @property
    def path(self) -> str:
        """The location with dots, as messages print it."""
        return ".".join(str(part) for part in self.location) or "(settings)"

    def __str__(self) -> str:
        where = f"line {self.line}, {self.path}" if self.line else self.path
        return f"{where}: got {self.value}; accepted: {self.accepted}; fix: {self.fix}"

    def at_line(self, line: int | None) -> "SettingProblem":
        """The same problem with its line."""
        return replace(self, line=line)


class SettingsError(ValueError):
    """All problems of one environment's settings at once.

    Args:
        subject: The file or stack they belong to.
        problems: What is wrong, in the order of the settings.
    """

    def __init__(self, subject: str, problems: Sequence[SettingProblem]) -> None:
        self.subject = subject
        self.problems = tuple(problems)
        count = len(self.problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{subject}: {count} problem{'' if count == 1 else 's'} in the settings\n{lines}")


def names_a_secret(key: object) -> bool:
    """Whether a key's name says that its value is a secret."""
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", str(key))]
    return (
        any(word in _SECRET_WORDS or word in _SECRET_RUN_TOGETHER for word in words)
        or any(pair in _SECRET_PAIRS for pair in pairwise(words))
        or words == ["secure"]
    )


def looks_secret(value: object) -> bool:
    """Whether a text is a key or carries credentials, whatever it is called."""
    text = value if isinstance(value, str) else ""
    return "PRIVATE KEY" in text or _CREDENTIALS_IN_ADDRESS.search(text) is not None


def shown(value: object, location: Location) -> str:
    """A value as messages may print it: short, and hidden where its path or its look says secret."""
    if looks_secret(value) or any(names_a_secret(part) for part in location):
        return HIDDEN
    if isinstance(value, dict | list | tuple):
        noun = "mapping" if isinstance(value, dict) else "list"
        return f"a {noun}" if value else f"an empty {noun}"
    if value is None or isinstance(value, bool):
        return {None: NOTHING, True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
