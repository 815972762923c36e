"""What a secret looks like: names that hold one, values that are one, and text that carries one.

Nothing here returns the secret itself; answers name the place.
"""

import re
from collections.abc import Iterator

from policies.model import Value

_SECRET_WORD = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|APIKEY|TOKEN$|(^|_)(PASS|PWD|TOKEN|KEY)(_|$)"
    r"|(DB|USER|ADMIN|ROOT|PG|SQL|REDIS|SMTP|LDAP)PASS$"
)
# Names that say where a secret lies or how long it lives, not what it is.
_POINTER = re.compile(
    r"(_(FILE|PATH|DIR|NAME|NAMESPACE|URL|TTL|SECONDS|MINUTES|LENGTH|TYPE|REF)|PUBLIC_KEY)$|_KEY_REF"
)
# Names whose value is an address, which may carry a password.
_ADDRESS = re.compile(r"(^|_)(URL|URI|DSN|CONN(ECTION)?)(_|$)")
_URL_CREDENTIALS = re.compile(r"[a-z][a-z0-9+.\-]*://[^/\s:@]*:(?P<value>[^/\s@]+)@", re.IGNORECASE)
_KNOWN_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\bA(KI|SI)A[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{36,}\b"
    r"|\bhf_[A-Za-z0-9]{30,}\b"
    r"|\bglpat-[A-Za-z0-9_\-]{20,}"
    r"|\bnvapi-[A-Za-z0-9_\-]{40,}"
)
_LOGIN_HEADER = re.compile(
    r"\bauthorization['\"]?\s*:\s*['\"]?(Bearer|Basic|Token)\s+(?P<value>[^\s'\"]+)", re.I
)
_REFERENCE = re.compile(r"\$\([A-Za-z_][A-Za-z0-9_.\-]*\)")
# In a shell: $NAME, ${NAME…}, $(command), `command`.
_SHELL_REFERENCE = re.compile(r"^[\"']?(\$[A-Za-z_({]|`)")
_FLAG = re.compile(r"(^|[\s;&|(\"'])--?(?P<name>[A-Za-z][A-Za-z0-9_\-]*)(=|\s+)(?P<value>[^\s;&|)]+)")
_ASSIGNMENT = re.compile(r"(^|[\s;&|(])(?P<name>[A-Za-z_][A-Za-z0-9_]*)=(?P<value>[^\s;&|)]+)")
_SETTING = re.compile(
    r"^[ \t]*(-[ \t]+)?[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*)[\"']?[ \t]*[:=][ \t]*"
    r"(?P<value>[^\s#].*?),?[ \t]*$",
    re.M,
)
# What a settings file writes where no text follows: structures, references to elsewhere, switches, numbers.
_NO_TEXT = re.compile(r"[\"']{2}|[\[{|>&*].*|true|false|null|none|yes|no|on|off|~|[0-9.]+", re.I)
_SETTINGS_FILE = re.compile(r"(^|\.)(env|ini|conf|cfg|cnf|properties|ya?ml|json|toml)$", re.I)


def names_a_secret(name: str) -> bool:
    """Whether a variable, flag or key of this name holds a secret."""
    upper = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper().replace("-", "_").replace(".", "_")
    return bool(_SECRET_WORD.search(upper)) and not _POINTER.search(upper)


def names_an_address(name: str) -> bool:
    """Whether a variable of this name holds an address."""
    return bool(_ADDRESS.search(name.upper()))


def only_references(value: Value) -> bool:
    """Whether the value is nothing but references to other variables."""
    return isinstance(value, str) and not _REFERENCE.sub("", value)


def has_url_password(text: str) -> bool:
    """Whether the text holds a URL with a clear password."""
    return any(not _is_reference(match["value"]) for match in _URL_CREDENTIALS.finditer(text))


def has_secret_shape(text: str) -> bool:
    """Whether the text holds a private key, a well-known token, or a login header with a clear value."""
    if _KNOWN_SHAPES.search(text):
        return True
    return any(not _is_reference(match["value"]) for match in _LOGIN_HEADER.finditer(text))


def in_command(text: str) -> Iterator[str]:
    """Names under which a command line or shell script gives a clear secret."""
    for pattern in (_FLAG, _ASSIGNMENT):
        for match in pattern.finditer(text):
            if names_a_secret(match["name"]) and not _is_reference(match["value"]):
                yield match["name"]


def is_settings_file(key: str) -> bool:
    """Whether a ConfigMap key is a file of settings."""
    return bool(_SETTINGS_FILE.search(key))


def in_settings(text: str) -> Iterator[str]:
    """Names under which a settings file gives a clear secret."""
    for match in _SETTING.finditer(text):
        value = match["value"]
        # `key` alone is the name of any key, such as that of a taint.
        if match["name"].lower() == "key" or not names_a_secret(match["name"]):
            continue
        if not _NO_TEXT.fullmatch(value) and not _is_reference(value):
            yield match["name"]


def _is_reference(value: str) -> bool:
    return only_references(value) or bool(_SHELL_REFERENCE.match(value))
