"""The table of a stand-in without an engine."""

import pytest

from lab.plugins.random.password import compose
from lab.plugins.random.table import PASSWORD, RANDOM
from lab.plugins.standin import Property, ResourceType, StandInError, State
from lab.plugins.values import UNKNOWN, plain, plain_map, secret_names, wire, wire_map


def _made(inputs: object) -> State:
    return State(identity="made", inputs=dict(inputs), outputs={"arn": "a"})  # type: ignore[call-overload]


THING = ResourceType(
    token="pkg:index/thing:Thing",
    inputs=(
        Property(name="name", kind="string", required=True, replace=True),
        Property(name="size", kind="integer", default=1),
        Property(name="tags", kind="map"),
        Property(name="open", kind="boolean"),
    ),
    outputs=("arn",),
    create=_made,
    check=lambda inputs: {"size": "too big"} if inputs["size"] > 9 else {},
)


def test_checked_fills_defaults_and_names_every_problem() -> None:
    assert THING.checked({"name": "x"}) == ({"name": "x", "size": 1}, {})
    assert THING.checked({"__defaults": [], "name": "x"})[1] == {}
    _, problems = THING.checked({"size": "big", "open": 1, "colour": "red"})
    assert problems == {
        "name": "missing required string",
        "size": "expected integer, got str",
        "open": "expected boolean, got int",
        "colour": "unknown property of pkg:index/thing:Thing",
    }
    assert THING.checked({"name": "x", "size": 10})[1] == {"size": "too big"}
    assert THING.checked({"name": "x", "size": True})[1] == {"size": "expected integer, got bool"}


def test_an_unknown_value_is_accepted_and_not_judged() -> None:
    inputs, problems = THING.checked({"name": UNKNOWN, "size": 10})
    assert inputs == {"name": UNKNOWN, "size": 10}
    assert problems == {}


def test_changes_say_what_replaces() -> None:
    old = {"name": "x", "size": 1, "arn": "a"}
    assert THING.changes(old, {"name": "x", "size": 1}) == {}
    assert THING.changes(old, {"name": "y", "size": 2}) == {"name": True, "size": False}
    assert THING.changes(old, {"name": "x", "size": 1, "tags": {"a": "b"}}) == {"tags": False}
    assert THING.changes(old, {"name": UNKNOWN, "size": 1}) == {"name": True}


def test_a_type_it_lacks_is_refused_by_name() -> None:
    with pytest.raises(
        StandInError, match="LAB stand-in of provider random has no x:y:Z; it has: RandomPassword"
    ):
        RANDOM.type_of("x:y:Z")


def test_type_tokens_are_those_of_the_sdk() -> None:
    assert {item.token for item in RANDOM.types} == {
        f"random:index/random{name}:Random{name}" for name in ("Password", "Bytes", "Id", "Pet")
    }


def test_values_survive_the_wire() -> None:
    value = {"text": "x", "whole": 3, "part": 1.5, "yes": True, "none": None, "list": [1, {"a": UNKNOWN}]}
    assert plain(wire(value)) == value
    assert plain(wire(UNKNOWN)) is UNKNOWN
    with pytest.raises(TypeError, match="bytes"):
        wire({"raw": b"x"})


def test_secrets_are_named_also_when_nested() -> None:
    sent = wire_map({"open": "a", "closed": "b", "absent": None}, frozenset({"closed"}))
    assert secret_names(sent) == {"closed"}
    assert plain_map(sent) == {"open": "a", "closed": "b"}
    assert secret_names({"outer": wire({"inner": "x"}).with_value({"inner": wire("x", secret=True)})}) == {
        "outer"
    }


@pytest.mark.parametrize("length", [8, 40])
def test_passwords_keep_their_minima(length: int) -> None:
    inputs, problems = PASSWORD.checked(
        {
            "length": length,
            "minLower": 2,
            "minUpper": 2,
            "minNumeric": 2,
            "minSpecial": 2,
            "overrideSpecial": "#",
        }
    )
    assert problems == {}
    made = {compose(inputs) for _ in range(50)}
    assert len(made) == 50
    for password in made:
        assert len(password) == length
        assert sum(map(str.islower, password)) >= 2
        assert sum(map(str.isupper, password)) >= 2
        assert sum(map(str.isdigit, password)) >= 2
        assert password.count("#") >= 2
        assert password.isascii()


@pytest.mark.parametrize(
    ("token", "given", "problem"),
    [
        ("Password", {"length": 3, "minUpper": 4}, "expected at least 4"),
        ("Password", {"length": 0}, "expected at least 1"),
        (
            "Password",
            {"length": 8, "lower": False, "upper": False, "numeric": False, "special": False},
            "no class of characters",
        ),
        ("Bytes", {"length": 0}, "expected at least 1"),
        ("Id", {"byteLength": 0}, "expected at least 1"),
        ("Pet", {"length": 0}, "expected at least 1"),
    ],
)
def test_what_cannot_be_is_a_problem(token: str, given: dict[str, object], problem: str) -> None:
    kind = RANDOM.type_of(f"random:index/random{token}:Random{token}")
    assert problem in " ".join(kind.checked(given)[1].values())


def test_number_is_the_old_name_of_numeric() -> None:
    for name in ("number", "numeric"):
        inputs, _ = PASSWORD.checked({"length": 200, name: False})
        assert not any(map(str.isdigit, compose(inputs)))
