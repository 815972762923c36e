"""Pulumi's non-interactive output without its repetitions."""

import re

# One line per resource is enough: the one that says how it ended. Starts and heartbeats only repeat it.
_STARTED = re.compile(
    r"^\s*[+~><-]{0,3}\s+\S+:\S+ \S+ (creating|updating|deleting|replacing|reading)\b.*\(\d+s\)\s*$"
)
_PLANNED = re.compile(r"^\s*[+~><-]{1,3}\s+(\S+:\S+ \S+) (create|update|delete|replace|read)\s*$")
_HEARTBEAT = re.compile(r"^@ (previewing|updating|destroying|refreshing)\b")


class Narration:
    """Passes on the lines that say something new."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def worth_telling(self, line: str) -> bool:
        """Whether a line of Pulumi's output is news."""
        if _STARTED.match(line) or _HEARTBEAT.match(line):
            return False
        if _PLANNED.match(line):
            fresh = line not in self._told
            self._told.add(line)
            return fresh
        return True
