"""Secrets in the clear where everybody reads them: in the settings, and in the keys beside them."""

import re
from collections.abc import Iterator, Mapping

from stacks.config.problems import Location, SettingProblem, looks_secret, names_a_secret, shown

_READERS = "everybody who sees the repository"
_PATH = re.compile(r"[/~.][^\n]*")
# A kubeconfig carries keys or tokens, though its name doesn't say so.
_CARRIES_A_LOGIN = frozenset({"kubeconfig"})


def in_settings(raw: object, location: Location = ()) -> Iterator[SettingProblem]:
    """Keys of the settings that hold a secret."""
    entries = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
    for key, value in entries:
        place = (*location, key)
        named = isinstance(key, str) and not _names_below(location) and names_a_secret(key)
        if named or looks_secret(value):
            yield SettingProblem(
                location=place,
                value=shown(value, place),
                accepted=f"no secret in the settings, which are read by {_READERS}",
                fix="remove it: the stack generates its services' passwords. One of your own goes beside the "
                "settings by `pulumi config set --secret <name>`; change one that was written here",
            )
        else:
            yield from in_settings(value, place)


def beside_settings(config: Mapping[object, object], settings: str) -> Iterator[SettingProblem]:
    """Provider keys such as ``aws:secretKey`` whose value stands in the clear.

    Args:
        config: The mapping below ``config:``, as plain values.
        settings: Its key that holds the settings, which is judged by ``in_settings``.
    """
    for key, value in config.items():
        if key != settings and _in_the_clear(value, named=_says_secret(str(key).rpartition(":")[2])):
            yield SettingProblem(
                location=("config", str(key)),
                value="a secret in the clear",
                accepted=f"an encrypted value, `secure: …`; the file is read by {_READERS}",
                fix=f"remove it, run `pulumi config set --secret {key}`, and change what was written here",
            )


def _in_the_clear(value: object, *, named: bool) -> bool:
    """Whether a secret stands in a value; ``named`` where a key above says that it is one."""
    if isinstance(value, Mapping):
        if list(value) == ["secure"]:
            return False
        return any(
            _in_the_clear(inner, named=named or _says_secret(str(key))) for key, inner in value.items()
        )
    if isinstance(value, list):
        return any(_in_the_clear(inner, named=named) for inner in value)
    if isinstance(value, bool) or value is None or value == "":
        return False
    # Where the secret lies is none: `aws:sharedCredentialsFiles`, a kubeconfig's path.
    text = str(value)
    return looks_secret(text) or (named and _PATH.fullmatch(text) is None)


def _says_secret(key: str) -> bool:
    return names_a_secret(key) or key.lower() in _CARRIES_A_LOGIN


def _names_below(location: Location) -> bool:
    """Whether the keys below are names of pools or queues, which may be called what they like."""
    return location in (("pools",), ("queues",)) or (
        len(location) == 3 and location[0] == "queues" and location[2] == "pools"
    )
