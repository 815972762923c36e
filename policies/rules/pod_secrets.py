"""pods-secrets: no secret in a pod's plain environment or command line, nor in a ConfigMap."""

import re
from collections.abc import Iterator, Mapping

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Rule,
    Severity,
    Unknown,
    Value,
    Verdict,
    at,
    items,
    per_object,
)
from policies.objects import Container, pods

_SECRET_WORD = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|APIKEY|TOKEN$|(^|_)(PWD|TOKEN|KEY)(_|$)"
)
# Names that say where a secret lies or how long it lives, not what it is.
_POINTER = re.compile(r"(_(FILE|PATH|DIR|NAME|NAMESPACE|URL|TTL|SECONDS|MINUTES|LENGTH|TYPE)|PUBLIC_KEY)$")
_ENVIRONMENT_NAME = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")
_URL_CREDENTIALS = re.compile(r"[a-z][a-z0-9+.\-]*://[^/\s:@]*:(?P<password>[^/\s@]+)@", re.IGNORECASE)
_REFERENCE = re.compile(r"\$\([A-Za-z_][A-Za-z0-9_.\-]*\)")
_FLAG = re.compile(r"^--?(?P<name>[A-Za-z0-9\-_]+)=(?P<value>.+)$")
_ACCEPTED = "a reference to a Secret (valueFrom.secretKeyRef) or a mounted file"


def check(item: KubeObject, _facts: Facts) -> Verdict:
    """Secrets reach pods by Secret references only."""
    if item.kind == "ConfigMap" and not item.group:
        return tuple(_config_map(item))
    made = pods(item)
    if not made or item.patch:
        return None
    if item.secret_paths is None:
        message = (
            "nobody recorded which values are secrets; accepted: this policy at its own level, remediate"
        )
        return (
            Finding(check="secret-marks", subject=item.subject, message=message, urn=item.urn, proven=False),
        )
    return tuple(
        finding for pod in made for container in pod.containers() for finding in _container(item, container)
    )


def _container(item: KubeObject, container: Container) -> Iterator[Finding]:
    entries = at(container.body, "env")
    if isinstance(entries, Unknown):
        yield item.unproven("env", entries, _ACCEPTED)
    for index, entry in enumerate(items(entries)):
        if isinstance(entry, Unknown):
            yield item.unproven("env", entry, _ACCEPTED)
            continue
        name, value = at(entry, "name"), at(entry, "value")
        where = f"{container.where}.env[{name if isinstance(name, str) else index}]"
        yield from _value(item, where, f"{container.path}.env[{index}].value", name, value)
    for key in ("command", "args"):
        for index, word in enumerate(items(at(container.body, key))):
            flag = _FLAG.match(word) if isinstance(word, str) else None
            name = flag["name"].replace("-", "_") if flag else None
            value = flag["value"] if flag else word
            where, path = f"{container.where}.{key}[{index}]", f"{container.path}.{key}[{index}]"
            yield from _value(item, where, path, name, value)


def _config_map(item: KubeObject) -> Iterator[Finding]:
    data = at(item.body, "data")
    if isinstance(data, Unknown):
        yield item.unproven("config-map", data, "data known in the preview")
    if not isinstance(data, Mapping):
        return
    for key, value in data.items():
        name = key if _ENVIRONMENT_NAME.match(key) else None
        yield from _value(item, f"data[{key}]", f"data.{key}", name, value)


def _value(item: KubeObject, where: str, path: str, name: Value, value: Value) -> Iterator[Finding]:
    """Judge one clear value; its content never goes into the message."""
    if value in (None, ""):
        return
    if item.secret_paths and any(_covers(secret, path) for secret in item.secret_paths):
        yield item.fail("pulumi-secret", f"{where} shows a Pulumi secret in the clear; accepted: {_ACCEPTED}")
    elif isinstance(name, str) and _names_a_secret(name) and not _only_references(value):
        if isinstance(value, Unknown):
            yield item.unproven("env", value, _ACCEPTED)
        else:
            yield item.fail(
                "env", f"{where} holds a clear value under a secret's name; accepted: {_ACCEPTED}"
            )
    elif isinstance(value, str) and any(
        not _only_references(match["password"]) for match in _URL_CREDENTIALS.finditer(value)
    ):
        yield item.fail("url", f"{where} holds a URL with a password; accepted: {_ACCEPTED}")


def _covers(secret: str, path: str) -> bool:
    """A value is secret when it, or anything around it, is marked."""
    return path == secret or path.startswith((f"{secret}.", f"{secret}["))


def _names_a_secret(name: str) -> bool:
    upper = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()
    return bool(_SECRET_WORD.search(upper)) and not _POINTER.search(upper)


def _only_references(value: Value) -> bool:
    return isinstance(value, str) and not _REFERENCE.sub("", value)


RULE = Rule(
    id="pods-secrets",
    severity=Severity.CRITICAL,
    title="No secret lies in a pod's plain environment, command line or ConfigMap",
    fix="Put the value into a Secret and refer to it with secretKeyRef, or mount it as a file.",
    source="https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
    check_resource=per_object(check),
    reads_secret_marks=True,
)
