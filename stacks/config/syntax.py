"""What a settings file must be before it is built in memory: small, flat, read alike by every parser.

The engine reads the file with Go's yaml.v3 (pulumi sdk/v3/go/common/workspace/project.go), we read it as YAML
1.2. Where the two disagree (``010`` is 8 there and 10 here) the text is refused instead of guessed at.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)

from stacks.config.problems import HIDDEN, SettingProblem, SettingsError, names_a_secret

# Twice what 500 pools take; parsing this much takes some two seconds.
MAX_BYTES = 128 * 1024
# The deepest setting lies seven levels down.
MAX_DEPTH = 20
# Nodes of the file with every alias written out; without aliases the size keeps it lower.
MAX_NODES = 50_000
# Above it numbers stop being exact in parsers that hold them as 64-bit floats.
MAX_DIGITS = 15

_BOOLEAN_OF_OLD = re.compile(r"yes|no|on|off|y|n", re.IGNORECASE)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_OTHER_BASE = re.compile(r"[-+]?0([0-9_]+|[box_][0-9a-f_]*)", re.IGNORECASE)
_UNDERSCORES = re.compile(r"[-+]?[0-9]+(_[0-9]+)+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)(e[-+]?[0-9]+)?|[-+]?\.(inf|nan)", re.IGNORECASE)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*")
_MERGE = "<<"
_NO_TEXT = frozenset({"", "~", "null", "true", "false"})
_LONGEST_SHOWN = 40


@dataclass(kw_only=True)
class _Open:
    """A mapping or list whose end has not come yet."""

    mapping: bool
    anchor: str | None
    nodes: int = 1
    children: int = 0


def text_of(path: Path) -> str:
    """The text of a settings file, if it is one and not too large.

    Raises:
        SettingsError: It is no plain file, unreadable, too large, or not UTF-8.
    """
    if not path.is_file():
        raise SettingsError(path.name, [_problem("no plain file", "a regular file", "write it as one")])
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SettingsError(path.name, [_problem(why, "a readable file", f"see ls -l {path}")]) from None
    if len(data) > MAX_BYTES:
        raise SettingsError(
            path.name,
            [
                _problem(
                    f"{path.stat().st_size} bytes",
                    f"at most {MAX_BYTES // 1024} KiB",
                    "keep only the settings in it",
                )
            ],
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise SettingsError(path.name, [not_yaml("bytes that are not UTF-8", None)]) from None


def refuse_odd(name: str, text: str) -> None:
    """Refuse what makes a file expensive or ambiguous, before it is built in memory.

    Args:
        name: Name of the file.
        text: Its text.

    Raises:
        SettingsError: The text is too deep or too large once its aliases are written out; or everything in it
            that parsers read differently, at once.
        YAMLError: It is no YAML.
    """
    found = list(_Walk(name).problems(YAML(typ="rt").parse(text)))
    if found:
        raise SettingsError(name, found)


class _Walk:
    """One pass over the parser's events, with what is open at each."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[_Open] = []
        self._sizes: dict[str, int] = {}
        self._total = 0
        self._key = ""

    def problems(self, events: Iterator[Event]) -> Iterator[SettingProblem]:
        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, DocumentStartEvent) and (event.version or event.tags):
                yield _problem("a % directive", "plain YAML", "remove the line", line)
            if isinstance(event, CollectionEndEvent):
                self._close()
            elif isinstance(event, NodeEvent):
                key = bool(self._open) and self._open[-1].mapping and self._open[-1].children % 2 == 0
                if key and isinstance(event, ScalarEvent):
                    self._key = event.value
                yield from _oddities(event, _Place(key=key, line=line, secret=names_a_secret(self._key)))
                self._count(event, line)

    def _count(self, event: NodeEvent, line: int) -> None:
        if self._open:
            self._open[-1].children += 1
        if isinstance(event, CollectionStartEvent):
            self._open.append(_Open(mapping=isinstance(event, MappingStartEvent), anchor=event.anchor))
            if len(self._open) > MAX_DEPTH:
                self._stop(f"more than {MAX_DEPTH} levels", f"at most {MAX_DEPTH} levels", line)
            return
        if isinstance(event, AliasEvent) and event.anchor not in self._sizes:
            self._stop("an alias inside or before its value", "an alias of a value above", line)
        size = self._sizes[event.anchor] if isinstance(event, AliasEvent) else 1
        if isinstance(event, ScalarEvent) and event.anchor:
            self._sizes[event.anchor] = 1
        self._add(size, line)

    def _add(self, size: int, line: int) -> None:
        self._total += size
        if self._open:
            self._open[-1].nodes += size
        if self._total > MAX_NODES:
            self._stop(f"more than {MAX_NODES} values with every alias written out", "fewer", line)

    def _close(self) -> None:
        ended = self._open.pop()
        if ended.anchor:
            self._sizes[ended.anchor] = ended.nodes
        if self._open:
            self._open[-1].nodes += ended.nodes

    def _stop(self, value: str, accepted: str, line: int) -> None:
        raise SettingsError(self._name, [_problem(value, accepted, "write the values out, once each", line)])


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a value stands: as a key or below one, on which line, and whether its key says secret."""

    key: bool
    line: int
    secret: bool

    def shown(self, text: str) -> str:
        if self.secret and not self.key:
            return HIDDEN
        return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"

    def problem(self, value: str, accepted: str, fix: str) -> SettingProblem:
        return _problem(value, accepted, fix, self.line)


def _oddities(event: NodeEvent, place: _Place) -> Iterator[SettingProblem]:
    """What is wrong with one value by itself."""
    if getattr(event, "tag", None) is not None:
        yield place.problem("a ! tag", "plain values, whose type is seen", "remove the tag")
    if place.key and not isinstance(event, ScalarEvent):
        fix = "write one name before the colon"
        yield place.problem("a mapping, list or alias as a key", "a name as a key", fix)
    if isinstance(event, ScalarEvent) and event.style is None and event.tag is None:
        found = _ambiguity(event.value, place) or (_no_name(event.value, place) if place.key else None)
        if found is not None:
            yield found


def _ambiguity(text: str, place: _Place) -> SettingProblem | None:
    """What parsers read differently, of a value without quotes."""
    shown = place.shown(text)
    in_quotes = f'"{shown}" where text is meant'
    if _BOOLEAN_OF_OLD.fullmatch(text):
        value = f"{shown} without quotes, a switch to some parsers and text to others"
        fix = f"write true or false, or {in_quotes}"
        return place.problem(value, "true or false; or text in quotes", fix)
    if _BASE_60.fullmatch(text):
        value = f"{shown} without quotes, which some parsers read to base 60"
        return place.problem(value, "a decimal number", f"write it in decimal, or {in_quotes}")
    if _OTHER_BASE.fullmatch(text) or _UNDERSCORES.fullmatch(text):
        value = f"{shown}, which parsers read differently (010 is 8 to Pulumi)"
        fix = f"write it in decimal without leading zeros, or {in_quotes}"
        return place.problem(value, "a decimal number", fix)
    if _DATE.fullmatch(text):
        value = f"{shown} without quotes, a date to some parsers"
        return place.problem(value, "text in quotes", f'write "{shown}"')
    if _NUMBER.fullmatch(text) and sum(one.isdigit() for one in text) > MAX_DIGITS:
        value, accepted = f"a number of {len(text)} characters", f"a number of at most {MAX_DIGITS} digits"
        return place.problem(value, accepted, "write a smaller one")
    return None


def _no_name(text: str, place: _Place) -> SettingProblem | None:
    """What is not text, of a key without quotes."""
    if text == _MERGE:
        fix = "copy the keys to where they apply"
        return place.problem("the merge key <<, which YAML 1.2 dropped", "every key written out", fix)
    if _NUMBER.fullmatch(text) or text.lower() in _NO_TEXT:
        value = f"{text or 'nothing'} as a key, which is no name"
        return place.problem(value, "a name as a key", f'write "{text}" in quotes, or another name')
    return None


def not_yaml(what: str, line: int | None) -> SettingProblem:
    """The problem of a file that is no YAML mapping."""
    return _problem(
        what,
        "a YAML mapping with `config:`, each key once, indented by spaces",
        "correct the file where the line says",
        line,
    )


def _problem(value: str, accepted: str, fix: str, line: int | None = None) -> SettingProblem:
    return SettingProblem(location=("(file)",), value=value, accepted=accepted, fix=fix, line=line)
