"""The rules, one module per area; pure functions over the records of ``policies.model``."""

from policies.rules import (
    access,
    admission,
    charts,
    exposure,
    fabric,
    host_storage,
    images,
    labels,
    namespaces,
    network,
    pod_secrets,
    pods,
    stateful,
    storage_split,
)

RULES = (
    charts.RULE,
    labels.RULE,
    pods.RULE,
    pod_secrets.RULE,
    images.RULE,
    exposure.RULE,
    network.RULE,
    admission.RULE,
    access.RULE,
    host_storage.RULE,
    stateful.RULE,
    namespaces.RULE,
    storage_split.RULE,
    fabric.RULE,
    charts.VALUES_RULE,
)

__all__ = ["RULES"]
