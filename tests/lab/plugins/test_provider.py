"""The provider interface of a table, without an engine."""

import asyncio

import pytest
from pulumi.provider.experimental import provider as sdk

from lab.plugins.provider import TableProvider
from lab.plugins.random.table import RANDOM
from lab.plugins.standin import StandInError
from lab.plugins.values import UNKNOWN, plain_map, wire, wire_map

PASSWORD = "urn:pulumi:dev::tiny::random:index/randomPassword:RandomPassword::it"
PET = "urn:pulumi:dev::tiny::random:index/randomPet:RandomPet::it"
PROVIDER = TableProvider(RANDOM)


def checked(urn: str, **inputs: object) -> sdk.CheckResponse:
    """The answer to check, its secret keepers kept secret."""
    sent = {name: wire(value, secret=name == "keepers") for name, value in inputs.items()}
    return asyncio.run(PROVIDER.check(sdk.CheckRequest(urn, {}, sent, b"")))


def test_results_and_what_was_given_in_secret_are_secret() -> None:
    inputs = checked(PASSWORD, length=8, keepers={"token": "hush"}).inputs or {}
    made = asyncio.run(PROVIDER.create(sdk.CreateRequest(PASSWORD, inputs, 0, preview=False)))
    assert made.resource_id == "none"
    assert {name for name, value in made.properties.items() if value.is_secret} == {
        "result",
        "bcryptHash",
        "keepers",
    }
    read = asyncio.run(PROVIDER.read(sdk.ReadRequest(PASSWORD, "none", made.properties, inputs)))
    assert read.properties == made.properties
    assert read.inputs == inputs


def test_a_preview_makes_nothing_and_leaves_outputs_unknown() -> None:
    inputs = checked(PASSWORD, length=8).inputs or {}
    made = asyncio.run(PROVIDER.create(sdk.CreateRequest(PASSWORD, inputs, 0, preview=True)))
    assert made.resource_id == ""
    assert plain_map(made.properties)["result"] is UNKNOWN
    assert made.properties["result"].is_secret


def test_diff_names_each_change_and_respects_ignored_ones() -> None:
    old = wire_map({"length": 2, "separator": "-", "keepers": {"a": "1"}}, frozenset())
    new = wire_map({"length": 3, "separator": "-", "prefix": "x"}, frozenset())

    def diff(ignored: list[str]) -> sdk.DiffResponse:
        return asyncio.run(PROVIDER.diff(sdk.DiffRequest(PET, "it", old, new, ignored)))

    found = diff([])
    assert found.changes is True
    assert set(found.replaces) == {"length", "prefix", "keepers"}
    kinds = {name: item.kind.name for name, item in found.detailed_diff.items()}
    assert kinds == {"length": "UPDATE_REPLACE", "prefix": "ADD_REPLACE", "keepers": "DELETE_REPLACE"}
    assert diff(["length", "prefix", "keepers"]).changes is False


def test_check_names_the_property_at_fault() -> None:
    failures = checked(PASSWORD, length=2, minUpper=3).failures or []
    assert [(item.property, item.reason.split(":")[0]) for item in failures] == [
        ("length", "expected at least 3")
    ]


def test_functions_and_schema_it_lacks_are_refused() -> None:
    with pytest.raises(StandInError, match="no function random:index:shuffle"):
        asyncio.run(PROVIDER.invoke(sdk.InvokeRequest("random:index:shuffle", {})))
    with pytest.raises(StandInError, match="no schema"):
        asyncio.run(PROVIDER.get_schema(sdk.GetSchemaRequest(0)))
