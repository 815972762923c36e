"""Where data lives: volumes for jobs, an object store, a relational database."""

from components.storage.object_store import ObjectStore, ObjectStoreArgs
from components.storage.postgres import Postgres, PostgresArgs
from components.storage.shared_volumes import AccessMode, SharedVolumes, SharedVolumesArgs, VolumeArgs

__all__ = [
    "AccessMode",
    "ObjectStore",
    "ObjectStoreArgs",
    "Postgres",
    "PostgresArgs",
    "SharedVolumes",
    "SharedVolumesArgs",
    "VolumeArgs",
]
