"""Passwords from the operating system's generator, within the classes and minima asked for."""

import secrets
import string
import warnings
from collections.abc import Mapping

from lab.plugins.values import Plain

_BCRYPT_COST = 10
SPECIAL = "!@#$%&*()-_=+[]{}<>:?"  # the official provider's set


def _classes(inputs: Plain) -> tuple[tuple[str, str, int], ...]:
    """Each class of characters asked for: name of its minimum, characters, minimum."""
    special = inputs.get("overrideSpecial") or SPECIAL
    numeric = inputs["numeric"] and inputs["number"]  # the second is the first one's old name
    rows = (
        ("minLower", string.ascii_lowercase, inputs["lower"]),
        ("minUpper", string.ascii_uppercase, inputs["upper"]),
        ("minNumeric", string.digits, numeric),
        ("minSpecial", special, inputs["special"]),
    )
    return tuple((name, characters, inputs[name]) for name, characters, wanted in rows if wanted)


def problems(inputs: Plain) -> Mapping[str, str]:
    """What no password can fulfil, by property."""
    classes = _classes(inputs)
    least = sum(minimum for _, _, minimum in classes)
    if not classes:
        return {"length": "no class of characters is allowed: set lower, upper, numeric or special"}
    if inputs["length"] < max(1, least):
        return {"length": f"expected at least {max(1, least)}: the minima of its classes together"}
    return {}


def compose(inputs: Plain) -> str:
    """A password of the length asked for.

    Args:
        inputs: Checked inputs of a RandomPassword.
    """
    classes = _classes(inputs)
    everything = "".join(characters for _, characters, _ in classes)
    drawn = [secrets.choice(characters) for _, characters, minimum in classes for _ in range(minimum)]
    drawn += [secrets.choice(everything) for _ in range(inputs["length"] - len(drawn))]
    secrets.SystemRandom().shuffle(drawn)
    return "".join(drawn)


def bcrypt_hash(password: str) -> str:
    """The password's bcrypt hash with the official provider's cost of 10."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it leaves the library with Python 3.13
        import crypt  # noqa: PLC0415
    salt = crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=1 << _BCRYPT_COST)  # noqa: S324 - that is bcrypt
    return crypt.crypt(password, salt)
