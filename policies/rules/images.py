"""images: every image has an exact tag or digest and comes from an allowed registry."""

import re
from collections.abc import Iterator, Mapping

from policies.model import (
    Facts,
    Finding,
    KubeObject,
    Planned,
    Rule,
    Severity,
    Unknown,
    Value,
    Verdict,
    at,
    items,
)
from policies.objects import CONTAINER_LISTS, RELEASE, pods

# The grammar of the distribution specification, less capitals in the registry's name; used on whole strings.
# https://github.com/distribution/reference (read 2026-11)
_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?P<repository>{_PART}(:[0-9]+(?=/))?(/{_PART})*)"
    r"(:(?P<tag>[A-Za-z0-9_][A-Za-z0-9._\-]{0,127}))?(@(?P<digest>[a-z0-9+]+:[0-9a-fA-F]+))?",
    re.ASCII,
)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
# Exact: two numbers of a version at least, a hash, or a day. ``15`` or ``stable`` move on.
_EXACT_TAG = re.compile(r"\d+\.\d+|(^|[-_.])(?=[a-f]*\d)[0-9a-f]{7,}($|[-_.])|20\d{6}")
_MOVING_WORD = re.compile(r"(^|[-_.])(latest|nightly|edge|snapshot|main|master|dev)($|[-_.])", re.IGNORECASE)
_ACCEPTED = "<registry>/<name>:<exact version> or …@sha256:<digest>"
_PULL_HOST = "docker.io/"


def check(planned: Planned, facts: Facts) -> Verdict:
    """Images of pods, of custom resources and of chart values."""
    found = [*_of_objects(planned), *_of_chart_values(planned)]
    if not found:
        return None
    return tuple(finding for item, where, image in found for finding in _image(item, where, image, facts))


def _of_objects(planned: Planned) -> Iterator[tuple[KubeObject, str, Value]]:
    for item in planned.objects:
        made = pods(item)
        for pod in made:
            for container in pod.containers():
                if not (item.patch and at(container.body, "image") is None):
                    yield item, f"{container.where}.image", at(container.body, "image")
            for index, volume in enumerate(items(at(pod.spec, "volumes"))):
                if at(volume, "image") is not None:
                    where = f"{pod.spec_path}.volumes[{index}].image.reference"
                    yield item, where, at(volume, "image", "reference")
        if not made and item.kind not in ("CustomResourceDefinition", "ConfigMap", "Secret"):
            for where, image in _fields_named_image(at(item.body, "spec"), "spec"):
                yield item, where, image


def _of_chart_values(planned: Planned) -> Iterator[tuple[KubeObject, str, Value]]:
    if planned.type != RELEASE:
        return
    values = planned.props.get("values")
    head = KubeObject(
        kind="Release", group="helm.sh", name=planned.name, namespace=None, body={}, urn=planned.urn
    )
    for where, image in _fields_named_image(values, "values"):
        yield head, where, image
    for where, image in _split_images(values, "values"):
        yield head, where, image


def _fields_named_image(value: Value, path: str) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Mapping):
        for key, below in value.items():
            if key == "image" and isinstance(below, str | Unknown):
                if below:
                    yield f"{path}.image", below
            elif key not in CONTAINER_LISTS:
                yield from _fields_named_image(below, f"{path}.{key}")
    else:
        for index, below in enumerate(items(value)):
            yield from _fields_named_image(below, f"{path}[{index}]")


def _split_images(value: Value, path: str) -> Iterator[tuple[str, Value]]:
    """Images that values give in parts: repository, tag, perhaps registry and digest."""
    if isinstance(value, Mapping):
        repository = value.get("repository")
        parts = [value.get(key) for key in ("registry", "repository", "tag", "digest")]
        if isinstance(repository, str) and ("tag" in value or "digest" in value):
            unknown = next((part for part in parts if isinstance(part, Unknown)), None)
            registry, _, tag, digest = parts
            text = f"{registry}/{repository}" if registry else repository
            text += f":{tag}" if tag else ""
            text += f"@{digest}" if digest else ""
            yield path, unknown or text
        for key, below in value.items():
            yield from _split_images(below, f"{path}.{key}")
    else:
        for index, below in enumerate(items(value)):
            yield from _split_images(below, f"{path}[{index}]")


def _image(item: KubeObject, where: str, image: Value, facts: Facts) -> Iterator[Finding]:
    if isinstance(image, Unknown):
        yield item.unproven("reference", image, _ACCEPTED)
        return
    match = _REFERENCE.fullmatch(image) if isinstance(image, str) else None
    if match is None:
        yield item.fail("reference", f"{where} is {image!r}; accepted: {_ACCEPTED}")
        return
    tag, digest = match["tag"], match["digest"]
    if digest and not _DIGEST.fullmatch(digest):
        yield item.fail("digest", f"{where} is {image!r} with a malformed digest; accepted: {_ACCEPTED}")
    if not digest and not tag:
        yield item.fail(
            "tag", f"{where} is {image!r} without a tag, which means latest; accepted: {_ACCEPTED}"
        )
    elif not digest and (_MOVING_WORD.search(tag) or not _EXACT_TAG.search(tag)):
        yield item.fail("tag", f"{where} is {image!r}, whose tag {tag!r} can move; accepted: {_ACCEPTED}")
    repository = full_name(match["repository"])
    development = facts.is_development(item.urn)
    allowed = [row.prefix for row in facts.registries if development or not row.development_only]
    if not any(repository.startswith(prefix) for prefix in allowed):
        yield item.fail(
            "registry", f"{where} is {image!r} from {repository}; accepted: {', '.join(allowed) or 'none'}"
        )


def full_name(repository: str) -> str:
    """Repository with its registry, as a container runtime completes short names."""
    first, slash, _ = repository.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return repository
    return f"{_PULL_HOST}{repository}" if slash else f"{_PULL_HOST}library/{repository}"


RULE = Rule(
    id="images",
    severity=Severity.HIGH,
    title="Every image has an exact tag or digest and comes from an allowed registry",
    fix="Pin the image in versions.toml; a new registry joins policies/allow.json with its reason.",
    source="https://kubernetes.io/docs/concepts/containers/images/#image-names",
    check_resource=check,
)
