"""Volumes that jobs mount: data sets and checkpoints, kept apart."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import pulumi

from components.contracts import Purpose, StorageMount
from components.core import (
    Component,
    Ownership,
    Problem,
    check_dns_label,
    check_not_empty,
    check_positive,
    raise_problems,
)
from components.storage._claims import claim_volume


class AccessMode(StrEnum):
    """Who may mount a volume at the same time."""

    ONE_NODE = "ReadWriteOnce"
    MANY_NODES = "ReadWriteMany"


@dataclass(frozen=True, kw_only=True)
class VolumeArgs:
    """One volume.

    Args:
        claim: PersistentVolumeClaim name, a DNS label.
        storage_class: Existing StorageClass that provisions it.
        size_gib: Requested size, GiB, 1 or more.
        access_mode: Several nodes at once need a class on a shared file system; one node is what every
            class can do.
    """

    claim: str
    storage_class: str
    size_gib: int
    access_mode: AccessMode = AccessMode.ONE_NODE


@dataclass(frozen=True, kw_only=True)
class SharedVolumesArgs:
    """Volumes for the jobs of one namespace or more.

    Args:
        namespaces: Namespaces whose jobs mount them; each gets claims of its own, since a claim can't cross
            namespaces.
        ownership: Who owns and pays.
        datasets: What jobs read, large and sequential.
        checkpoints: What jobs write in bursts while every GPU waits.
        protect: Refuse deletion and replacement, and keep the claims when they leave the program.

    Raises:
        ArgsError: Both purposes on one class or one claim, a size below 1, a name that is no DNS label.
    """

    namespaces: tuple[str, ...]
    ownership: Ownership
    datasets: VolumeArgs
    checkpoints: VolumeArgs
    protect: bool = True

    def __post_init__(self) -> None:
        problems = check_not_empty("namespaces", self.namespaces, "one namespace or more")
        for namespace in self.namespaces:
            problems += check_dns_label("namespaces", namespace)
        for path, volume in (("datasets", self.datasets), ("checkpoints", self.checkpoints)):
            problems += check_dns_label(f"{path}.claim", volume.claim)
            problems += check_not_empty(f"{path}.storage_class", volume.storage_class, "a StorageClass name")
            problems += check_positive(f"{path}.size_gib", volume.size_gib)
        problems += _shared_problems(self.datasets, self.checkpoints)
        raise_problems("shared volumes", problems)


def _shared_problems(datasets: VolumeArgs, checkpoints: VolumeArgs) -> list[Problem]:
    return [
        Problem(
            path=f"checkpoints.{field}",
            value=f"{getattr(checkpoints, field)!r}, the same as datasets",
            accepted="one that differs from datasets",
            fix=f"give checkpoints {what} of their own: checkpoint bursts stall the reading of data",
        )
        for field, what in (("claim", "a claim"), ("storage_class", "a storage class"))
        if getattr(datasets, field) == getattr(checkpoints, field)
    ]


class SharedVolumes(Component):
    """Claims for data sets and checkpoints in each namespace, on different storage classes.

    Creates PersistentVolumeClaims. Creates no StorageClass and fills no volume; the volumes themselves come
    with the first job that mounts them, where the class binds late.

    Args:
        name: Logical name.
        args: What to claim.
        opts: Options, inherited by the claims.
    """

    TYPE: ClassVar[str] = "gpuplatform:storage:SharedVolumes"

    mounts: tuple[StorageMount, ...]

    def __init__(
        self, name: str, args: SharedVolumesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__(name, opts)
        volumes = ((Purpose.DATASETS, args.datasets), (Purpose.CHECKPOINTS, args.checkpoints))
        self.mounts = tuple(
            self._create_mount(name, args, namespace, purpose, volume)
            for namespace in sorted(set(args.namespaces))
            for purpose, volume in volumes
        )
        self.finish({"mounts": {f"{m.namespace}/{m.name}": m.claim for m in self.mounts}})

    def _create_mount(
        self, name: str, args: SharedVolumesArgs, namespace: str, purpose: Purpose, volume: VolumeArgs
    ) -> StorageMount:
        claim = claim_volume(
            self,
            f"{name}-{namespace}-{purpose}",
            ownership=args.ownership,
            claim=volume.claim,
            namespace=namespace,
            size_gib=volume.size_gib,
            access_mode=volume.access_mode,
            storage_class=volume.storage_class,
            protect=args.protect,
            labels={"gpu-platform/purpose": purpose},
        )
        return StorageMount(
            name=purpose,
            purpose=purpose,
            namespace=namespace,
            claim=claim,
            access_mode=volume.access_mode,
            storage_class=volume.storage_class,
            size_gib=volume.size_gib,
        )
