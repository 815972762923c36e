"""How deep, long and large a single setting may be, before anything looks at what it means.

Settings reach the program as JSON from the engine too, so this relies on no check of the file.
"""

import re
from collections.abc import Iterator

from stacks.config.problems import Location, SettingProblem, shown

# The deepest setting lies five levels down.
MAX_DEPTH = 16
# The longest of all limits is a path's, 4096 characters.
MAX_CHARACTERS = 8192
# Above it numbers stop being exact in parsers that hold them as 64-bit floats.
MAX_NUMBER = 2**53
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def beyond_bounds(raw: object) -> Iterator[SettingProblem]:
    """Values too deep, too long or too large, and text with control characters; in no recursion."""
    todo: list[tuple[Location, object]] = [((), raw)]
    while todo:
        location, value = todo.pop()
        if len(location) > MAX_DEPTH:
            fix = "write it flat, as Pulumi.dev.yaml has it"
            yield _problem(location[:4], f"more than {MAX_DEPTH} levels", f"at most {MAX_DEPTH} levels", fix)
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from _key(location, key)
                todo.append(((*location, key), inner))
        elif isinstance(value, list):
            todo += [((*location, index), inner) for index, inner in enumerate(value)]
        else:
            yield from _scalar(location, value)


def _key(location: Location, key: object) -> Iterator[SettingProblem]:
    if not isinstance(key, str):
        yield _problem(location, f"{key!r:.40} as a key", "names as keys", "put it in quotes")
    elif len(key) > MAX_CHARACTERS:
        yield _problem(location, f"a key of {len(key)} characters", "names as keys", "correct or remove it")


def _scalar(location: Location, value: object) -> Iterator[SettingProblem]:
    if isinstance(value, str) and len(value) > MAX_CHARACTERS:
        accepted, fix = f"at most {MAX_CHARACTERS} characters", "shorten it"
        yield _problem(location, f"{len(value)} characters", accepted, fix)
    elif isinstance(value, str) and _CONTROL.search(value):
        fix = "remove the control character, such as NUL"
        yield _problem(location, shown(value, location), "text without control characters", fix)
    elif isinstance(value, int) and abs(value) > MAX_NUMBER:
        yield _problem(location, "a number above 2^53", "a number up to 2^53", "write a smaller one")


def _problem(location: Location, value: str, accepted: str, fix: str) -> SettingProblem:
    return SettingProblem(location=location, value=value, accepted=accepted, fix=fix)
