"""The one shape of a PersistentVolumeClaim."""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_kubernetes.core.v1 import PersistentVolumeClaim

from components.core import Component, Ownership
from components.kube import ownership_metadata

# Classes that bind when the first pod comes would otherwise hold up the program for ever: the pod is
# created after the claim, or by a job that is submitted later.
_NO_WAIT = {"pulumi.com/skipAwait": "true"}


def claim_volume(
    parent: Component,
    name: str,
    *,
    ownership: Ownership,
    claim: str,
    namespace: str,
    size_gib: int,
    access_mode: str,
    storage_class: str | None,
    protect: bool,
    labels: Mapping[str, str] | None = None,
) -> pulumi.Output[str]:
    """Create a claim as a child of ``parent`` and give its name, which waits for it.

    Args:
        parent: Component that owns it.
        name: Logical name.
        ownership: Who owns and pays.
        claim: Physical name.
        namespace: Namespace of the claim and of its readers.
        size_gib: Requested size, GiB.
        access_mode: Kubernetes access mode.
        storage_class: Class; None takes the cluster's default class.
        protect: Refuse deletion and replacement, and keep the object when it leaves the program.
        labels: More labels.
    """
    spec: dict[str, Any] = {
        "accessModes": [access_mode],
        "resources": {"requests": {"storage": f"{size_gib}Gi"}},
    }
    if storage_class is not None:
        spec["storageClassName"] = storage_class
    made = PersistentVolumeClaim(
        name,
        metadata=ownership_metadata(
            ownership, name=claim, namespace=namespace, labels=labels, annotations=_NO_WAIT
        ),
        spec=spec,
        opts=keep(parent, protect=protect),
    )
    named: pulumi.Output[str] = made.metadata.name
    return named


def keep(parent: Component, *, protect: bool) -> pulumi.ResourceOptions:
    """Options of what must survive a mistake in the program; unprotected, it inherits the parent's."""
    return parent.child(protect=protect or None, retain_on_delete=protect or None)
