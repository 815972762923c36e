"""Pulumi's non-interactive output without its repetitions."""

import re

# The line that says how a resource ended is enough; starts, waits and plans only repeat it.
_RESOURCE = r"^\s*[+~><-]{0,3}\s+\S+:\S+ \S+ "
_UNDER_WAY = re.compile(_RESOURCE + r"(creating|updating|deleting|replacing|reading|refreshing)\b")
_PLANNED = re.compile(_RESOURCE + r"(create|update|delete|replace|read|refresh)\b")
_NOISE = re.compile(r"^(@ (previewing|updating|destroying|refreshing)\b|Loading policy packs)")
_AFTERWORD = re.compile(r"^(The resources in the stack have been deleted|If you want to remove the stack)")


class Narration:
    """Passes on the lines that say something new.

    Args:
        plans: Planned steps are news: a preview has nothing else to tell.
    """

    def __init__(self, *, plans: bool) -> None:
        self._plans = plans
        self._told: set[str] = set()
        self.latest = ""

    def worth_telling(self, line: str) -> bool:
        """Whether a line of Pulumi's output is news; the latest step under way is kept for long silences."""
        if _NOISE.match(line) or _AFTERWORD.match(line):
            return False
        if _UNDER_WAY.match(line):
            self.latest = line.strip()
            return "error" in line.lower()
        if _PLANNED.match(line):
            return self._plans and self._first(line)
        return "LAB:" not in line or self._first("LAB")

    def _first(self, line: str) -> bool:
        fresh = line not in self._told
        self._told.add(line)
        return fresh
