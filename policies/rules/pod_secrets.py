"""pods-secrets: no secret in a pod's plain environment or command lines, nor in a ConfigMap."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence

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
    unknowns,
)
from policies.objects import Container, pods
from policies.secret_shapes import (
    has_secret_shape,
    has_url_password,
    in_command,
    in_settings,
    is_settings_file,
    names_a_secret,
    names_an_address,
    only_references,
)

_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FLAG = re.compile(r"--?(?P<name>[A-Za-z0-9][A-Za-z0-9\-_]*)(=(?P<value>.*))?", re.DOTALL)
_ACCEPTED = "a reference to a Secret (valueFrom.secretKeyRef) or a mounted file"
_HANDLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)
_COMMANDS = (("command",), ("args",), *((*handler, "exec", "command") for handler in _HANDLERS))


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
    for doubt in unknowns(entries):
        yield item.unproven("env", doubt, _ACCEPTED)
    for index, entry in enumerate(items(entries)):
        if not isinstance(entry, Unknown):
            name, value = at(entry, "name"), at(entry, "value")
            where = f"{container.where}.env[{name if isinstance(name, str) else index}]"
            yield from _value(item, where, f"{container.path}.env[{index}].value", name, value)
    for steps in _COMMANDS:
        words, below = at(container.body, *steps), ".".join(steps)
        yield from _command(item, f"{container.where}.{below}", f"{container.path}.{below}", words)
    for handler in _HANDLERS:
        headers = at(container.body, *handler, "httpGet", "httpHeaders")
        for index, header in enumerate(items(headers)):
            tail = f"{'.'.join(handler)}.httpGet.httpHeaders[{index}]"
            where, path = f"{container.where}.{tail}", f"{container.path}.{tail}.value"
            name, value = at(header, "name"), at(header, "value")
            secret = "login_token" if str(name).lower() == "authorization" else name
            yield from _value(item, where, path, secret, value)


def _command(item: KubeObject, where: str, path: str, words: Value) -> Iterator[Finding]:
    """Judge a command line: ``--name=value``, ``--name value``, and scripts inside one word."""
    if isinstance(words, Unknown):
        yield item.unproven("command", words, "words known in the preview, " + _ACCEPTED)
    flag: str | None = None
    for index, word in enumerate(items(words)):
        place, spot = f"{where}[{index}]", f"{path}[{index}]"
        before, flag = flag, None
        if isinstance(word, Unknown):
            if _is_marked(item, spot):
                yield _shown_secret(item, place)
            else:
                yield item.unproven("command", word, "words known in the preview, " + _ACCEPTED)
            continue
        match = _FLAG.fullmatch(word) if isinstance(word, str) else None
        if match is None:
            yield from _value(item, place, spot, before, word)
            yield from _script(item, place, word)
        elif match["value"] is None:
            flag = match["name"]
            yield from _value(item, place, spot, None, word)
        else:
            yield from _value(item, place, spot, match["name"], match["value"])


def _script(item: KubeObject, where: str, word: Value) -> Iterator[Finding]:
    for name in dict.fromkeys(in_command(word) if isinstance(word, str) else ()):
        message = f"{where} gives {name} a clear value in its text; accepted: {_ACCEPTED}"
        yield item.fail("command", message)


def _config_map(item: KubeObject) -> Iterator[Finding]:
    for field in ("data", "binaryData"):
        content = at(item.body, field)
        if isinstance(content, Unknown):
            yield item.unproven("config-map", content, f"{field} known in the preview")
        for key, value in (content if isinstance(content, Mapping) else {}).items():
            name = key if _ENVIRONMENT_NAME.fullmatch(key) else None
            text = _decoded(value) if field == "binaryData" else value
            where, path = f"{field}[{key}]", f"{field}.{key}"
            if isinstance(value, Unknown) and not _is_marked(item, path):
                yield item.unproven("config-map", value, f"{field} known in the preview")
                continue
            yield from _value(item, where, path, name, text)
            if is_settings_file(key) and isinstance(text, str):
                for found in dict.fromkeys(in_settings(text)):
                    message = f"{where} gives {found} a clear value; accepted: {_ACCEPTED}"
                    yield item.fail("config-map", message)


def _decoded(value: Value) -> Value:
    """Text of a base64 value; bytes that are no text stay out of sight but not the well-known shapes."""
    if not isinstance(value, str):
        return value
    try:
        return base64.b64decode(value, validate=True).decode("utf-8", errors="replace")
    except (binascii.Error, ValueError):
        return value


def _value(item: KubeObject, where: str, path: str, name: Value, value: Value) -> Iterator[Finding]:
    """Judge one clear value; its content never goes into the message."""
    if value in (None, ""):
        return
    if _is_marked(item, path):
        yield _shown_secret(item, where)
    elif isinstance(name, str) and names_a_secret(name) and not only_references(value):
        if isinstance(value, Unknown):
            yield item.unproven("env", value, _ACCEPTED)
        else:
            message = f"{where} holds a clear value under a secret's name; accepted: {_ACCEPTED}"
            yield item.fail("env", message)
    elif isinstance(value, Unknown):
        if isinstance(name, str) and names_an_address(name):
            yield item.unproven("url", value, f"an address without a password, or {_ACCEPTED}")
    elif isinstance(value, str) and has_url_password(value):
        yield item.fail("url", f"{where} holds a URL with a password; accepted: {_ACCEPTED}")
    elif isinstance(value, str) and has_secret_shape(value):
        message = f"{where} holds a private key, a token or a login header; accepted: {_ACCEPTED}"
        yield item.fail("shape", message)


def _shown_secret(item: KubeObject, where: str) -> Finding:
    return item.fail("pulumi-secret", f"{where} shows a Pulumi secret in the clear; accepted: {_ACCEPTED}")


def _is_marked(item: KubeObject, path: str) -> bool:
    """A value is secret when it, or anything around it, is marked."""
    marks: Sequence[str] = tuple(item.secret_paths or ())
    return any(path == mark or path.startswith((f"{mark}.", f"{mark}[")) for mark in marks)


RULE = Rule(
    id="pods-secrets",
    severity=Severity.CRITICAL,
    title="No secret lies in a pod's plain environment, command line or ConfigMap",
    fix="Put the value into a Secret and refer to it with secretKeyRef, or mount it as a file.",
    source="https://kubernetes.io/docs/concepts/security/secrets-good-practices/",
    check_resource=per_object(check),
    reads_secret_marks=True,
)
