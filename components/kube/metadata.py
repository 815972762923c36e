"""Metadata every object of ours carries."""

from collections.abc import Mapping
from typing import Any

import pulumi

from components.core import Ownership

NAME_LABEL = "app.kubernetes.io/name"


def ownership_metadata(
    ownership: Ownership,
    *,
    name: str | None = None,
    namespace: pulumi.Input[str] | None = None,
    labels: Mapping[str, pulumi.Input[str]] | None = None,
    annotations: Mapping[str, pulumi.Input[str]] | None = None,
) -> dict[str, Any]:
    """Metadata with the ownership labels, in the API's own spelling.

    Args:
        ownership: Who owns and pays.
        name: Physical name; None leaves it to the provider (or, in a pod template, out).
        namespace: Namespace; None for cluster-wide objects and pod templates.
        labels: More labels.
        annotations: More annotations.
    """
    metadata: dict[str, Any] = {
        "labels": {**ownership.labels(), **(labels or {})},
        "annotations": {**ownership.annotations(), **(annotations or {})},
    }
    if name is not None:
        metadata["name"] = name
    if namespace is not None:
        metadata["namespace"] = namespace
    return metadata
