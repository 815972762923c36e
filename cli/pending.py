"""Operations a killed run left pending: what they were to make, and whether it exists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kubernetes import client, dynamic
from urllib3.exceptions import HTTPError

OWNER_LABEL = "gpu-platform/managed-by"
OWNER = "pulumi"
_FIELD_MANAGER = "pulumi-kubernetes-"
HELM_RELEASE = "kubernetes:helm.sh/v3:Release"


class Fate(StrEnum):
    """What becomes of a pending operation."""

    ADOPT = "adopt"
    FORGET = "forget"


@dataclass(frozen=True, kw_only=True)
class Pending:
    """One interrupted operation.

    Args:
        urn: The resource.
        operation: What the engine was doing: creating, updating, deleting …
        fate: What ``recover`` does.
        why: What was seen, in words.
        identity: The provider's id of what exists, to adopt it.
        outputs: What the provider must know of it to go on as its owner.
    """

    urn: str
    operation: str
    fate: Fate
    why: str
    identity: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The resource's logical name."""
        return self.urn.rsplit("::", 1)[-1]


def settle(operations: Sequence[Mapping[str, Any]], api: client.ApiClient | None) -> list[Pending]:
    """Judge every pending operation of a state.

    Args:
        operations: ``pending_operations`` of the exported state.
        api: The stack's cluster; None where it can't be asked.
    """
    return [_judge(one, api) for one in operations]


def _judge(operation: Mapping[str, Any], api: client.ApiClient | None) -> Pending:
    resource, kind = operation["resource"], str(operation.get("type", ""))
    urn, token = str(resource["urn"]), str(resource.get("type", ""))
    if kind != "creating":
        why = "the state still holds the resource; the refresh reads how it is now"
    elif token == HELM_RELEASE:
        why = "a release left half-way is uninstalled; the next up installs it"
    elif not token.startswith("kubernetes:"):
        why = "nothing of it exists outside the state"
    else:
        return _by_name(urn, kind, resource.get("inputs") or {}, api)
    return Pending(urn=urn, operation=kind, fate=Fate.FORGET, why=why)


def _by_name(urn: str, kind: str, inputs: Mapping[str, Any], api: client.ApiClient | None) -> Pending:
    """Look an object up by the fixed name its create was given."""
    metadata = inputs.get("metadata") or {}
    name, namespace = metadata.get("name"), metadata.get("namespace")
    place = f"{namespace}/{name}" if namespace else str(name)
    found, seen = None, f"{place} never came to be"
    try:
        if api is None or not isinstance(name, str):
            seen = "can't be looked up now; its fixed name lets the next up adopt it"
        else:
            found = _look_up(api, inputs, name, namespace)
    except (client.ApiException, HTTPError, dynamic.exceptions.ResourceNotFoundError) as error:
        seen = f"can't be looked up ({type(error).__name__}); its fixed name lets the next up adopt it"
    if found is None:
        return Pending(urn=urn, operation=kind, fate=Fate.FORGET, why=seen)
    if (found.get("labels") or {}).get(OWNER_LABEL) != OWNER:
        why = f"{place} exists and is not ours; it is left alone"
        return Pending(urn=urn, operation=kind, fate=Fate.FORGET, why=why)
    return Pending(
        urn=urn,
        operation=kind,
        fate=Fate.ADOPT,
        why=f"{place} exists",
        identity=place,
        outputs=_provider_outputs(inputs, found),
    )


def _provider_outputs(inputs: Mapping[str, Any], metadata: Mapping[str, Any]) -> Mapping[str, str]:
    """The field manager the killed run applied with: under another one, later changes would conflict."""
    managers = [str(one.get("manager", "")) for one in metadata.get("managedFields") or []]
    ours = [one for one in managers if one.startswith(_FIELD_MANAGER)]
    known = {"__fieldManager": ours[0]} if ours else {}
    return {**known, "__initialApiVersion": str(inputs.get("apiVersion"))}


def _look_up(
    api: client.ApiClient, inputs: Mapping[str, Any], name: str, namespace: str | None
) -> Mapping[str, Any] | None:
    """Metadata of an object by its fixed name; None where there is none."""
    kinds = dynamic.DynamicClient(api).resources
    resource = kinds.get(api_version=str(inputs.get("apiVersion")), kind=str(inputs.get("kind")))
    try:
        found = resource.get(name=name, namespace=namespace)
    except dynamic.exceptions.NotFoundError:
        return None
    metadata: Mapping[str, Any] = found.to_dict()["metadata"]
    return metadata
