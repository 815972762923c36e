"""The random provider as a table.

Type tokens, property names, defaults, secret outputs and what replaces a resource as in pulumi-random
4.21.4 and the Terraform provider behind it.
"""

import base64
import secrets
from collections.abc import Mapping

from lab.plugins.random import VERSION
from lab.plugins.random.password import bcrypt_hash, compose, problems
from lab.plugins.random.words import ADJECTIVES, ADVERBS, ANIMALS
from lab.plugins.standin import Property, ResourceType, StandIn, State
from lab.plugins.values import Plain

NO_IDENTITY = "none"  # the id of a secret value, as in the official provider
KEEPERS = Property(name="keepers", kind="map", replace=True)


def _fixed(name: str, kind: str, default: object = None, *, required: bool = False) -> Property:
    return Property(name=name, kind=kind, default=default, required=required, replace=True)


def _at_least_one(name: str) -> Mapping[str, str]:
    return {name: "expected at least 1"}


def _password(inputs: Plain) -> State:
    return State(identity=NO_IDENTITY, inputs=inputs, outputs=_password_outputs(compose(inputs)))


def _adopt_password(identity: str) -> State:
    inputs, _ = PASSWORD.checked({"length": len(identity)})
    return State(identity=NO_IDENTITY, inputs=inputs, outputs=_password_outputs(identity))


def _password_outputs(password: str) -> dict[str, str]:
    return {"bcryptHash": bcrypt_hash(password), "result": password}


def _bytes(inputs: Plain) -> State:
    value = secrets.token_bytes(inputs["length"])
    outputs = {"base64": base64.b64encode(value).decode(), "hex": value.hex()}
    return State(identity=NO_IDENTITY, inputs=inputs, outputs=outputs)


def _id(inputs: Plain) -> State:
    value = secrets.token_bytes(inputs["byteLength"])
    prefix = inputs.get("prefix", "")
    url = base64.urlsafe_b64encode(value).decode().rstrip("=")
    outputs = {
        "b64Std": prefix + base64.b64encode(value).decode(),
        "b64Url": prefix + url,
        "dec": prefix + str(int.from_bytes(value)),
        "hex": prefix + value.hex(),
    }
    return State(identity=url, inputs=inputs, outputs=outputs)


def _pet(inputs: Plain) -> State:
    length = inputs["length"]
    words = [secrets.choice(ADVERBS) for _ in range(length - 2)]
    words += [secrets.choice(ADJECTIVES)] if length > 1 else []
    words.append(secrets.choice(ANIMALS))
    prefix = [inputs["prefix"]] if inputs.get("prefix") else []
    return State(identity=inputs["separator"].join(prefix + words), inputs=inputs, outputs={})


PASSWORD = ResourceType(
    token="random:index/randomPassword:RandomPassword",  # noqa: S106  a type token
    inputs=(
        _fixed("length", "integer", required=True),
        *(_fixed(name, "boolean", True) for name in ("lower", "number", "numeric", "special", "upper")),
        *(_fixed(name, "integer", 0) for name in ("minLower", "minNumeric", "minSpecial", "minUpper")),
        _fixed("overrideSpecial", "string"),
        KEEPERS,
    ),
    outputs=("bcryptHash", "result"),
    secrets=frozenset({"bcryptHash", "result"}),
    check=problems,
    create=_password,
    adopt=_adopt_password,
)
BYTES = ResourceType(
    token="random:index/randomBytes:RandomBytes",  # noqa: S106  a type token
    inputs=(_fixed("length", "integer", required=True), KEEPERS),
    outputs=("base64", "hex"),
    secrets=frozenset({"base64", "hex"}),
    check=lambda inputs: _at_least_one("length") if inputs["length"] < 1 else {},
    create=_bytes,
)
ID = ResourceType(
    token="random:index/randomId:RandomId",  # noqa: S106  a type token
    inputs=(_fixed("byteLength", "integer", required=True), _fixed("prefix", "string"), KEEPERS),
    outputs=("b64Std", "b64Url", "dec", "hex"),
    check=lambda inputs: _at_least_one("byteLength") if inputs["byteLength"] < 1 else {},
    create=_id,
)
PET = ResourceType(
    token="random:index/randomPet:RandomPet",  # noqa: S106  a type token
    inputs=(
        _fixed("length", "integer", 2),
        _fixed("separator", "string", "-"),
        _fixed("prefix", "string"),
        KEEPERS,
    ),
    outputs=(),
    check=lambda inputs: _at_least_one("length") if inputs["length"] < 1 else {},
    create=_pet,
)
RANDOM = StandIn(package="random", version=VERSION, types=(PASSWORD, BYTES, ID, PET))
