"""The cluster an environment is built on, refused early where it can't be reached by any means."""

from pathlib import Path
from typing import Any

import pulumi
import yaml

from components.contracts import ClusterAccess
from stacks.config import LabCluster, Settings

LAB_CONTEXT = "gpu-platform-lab"
_DEFAULT_KUBECONFIG = "~/.kube/config"


def cluster_access(settings: Settings) -> ClusterAccess:
    """The cluster the settings name; its identity outlives a new kubeconfig."""
    cluster = settings.cluster
    if isinstance(cluster, LabCluster):
        path, context = settings.lab_state / "kubeconfig", LAB_CONTEXT
    else:
        path, context = Path(cluster.path or _DEFAULT_KUBECONFIG).expanduser(), cluster.context
    return ClusterAccess(kubeconfig=str(path), context=context, identity=context)


def require_usable(settings: Settings) -> None:
    """Refuse a kubeconfig that is missing, is none, or lacks the context.

    The provider would go on without a cluster and call every resource new.

    Raises:
        RunError: Told with what, where, why and the next command; shown without a traceback.
    """
    access = cluster_access(settings)
    path = Path(str(access.kubeconfig))
    lab = isinstance(settings.cluster, LabCluster)
    try:
        contexts = _contexts(path)
    except (OSError, ValueError, yaml.YAMLError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no kubeconfig"
        fix = "make up" if lab else "put a kubeconfig there, or correct cluster.path in the settings"
        raise _refusal("the cluster's kubeconfig can't be read", str(path), why, fix) from None
    if access.context not in contexts:
        why = f"it has {', '.join(contexts) or 'no context'}"
        fix = "make up" if lab else "correct cluster.context in the settings, or name another cluster.path"
        raise _refusal(f"no context {access.context!r} in the kubeconfig", str(path), why, fix)


def _contexts(path: Path) -> tuple[str, ...]:
    """Names of the contexts of a kubeconfig.

    Raises:
        OSError: It can't be read.
        ValueError: It is no kubeconfig.
        YAMLError: It is no YAML.
    """
    document: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    rows = document.get("contexts", []) if isinstance(document, dict) else None
    if rows is None or not hasattr(rows, "__iter__"):
        raise ValueError("no list of contexts")
    return tuple(str(row["name"]) for row in rows if isinstance(row, dict) and "name" in row)


def _refusal(what: str, where: str, why: str, fix: str) -> pulumi.RunError:
    return pulumi.RunError(f"{what}\n  where: {where}\n  why:   {why}\n  next:  {fix}")
