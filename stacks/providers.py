"""The providers of a stack: the one place that makes them."""

import pulumi_kubernetes as kubernetes

from components.contracts import ClusterAccess


def kubernetes_provider(name: str, access: ClusterAccess) -> kubernetes.Provider:
    """A provider for one cluster, never the ambient kubeconfig.

    Args:
        name: Logical name.
        access: The cluster; its identity keeps resources in place when the kubeconfig changes.
    """
    return kubernetes.Provider(
        name,
        args=kubernetes.ProviderArgs(
            kubeconfig=access.kubeconfig,
            context=access.context,
            cluster_identifier=access.identity,
            enable_server_side_apply=True,
            # They have fixed names, and pods roll by digest: a change needs no replacement.
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
        ),
    )
