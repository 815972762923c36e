"""OCI archives: layers from directories, configuration, index; the same input gives the same bytes."""

import hashlib
import io
import json
import stat
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar"
MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"
EPOCH = "1970-01-01T00:00:00Z"
READ_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ImageConfig:
    """How a container of the image runs.

    Args:
        reference: Full image reference, which ``ctr images import`` gives the image.
        user: Numeric uid; the gid is the same number.
        entrypoint: Program and arguments always used.
        command: Default arguments.
        workdir: Working directory.
        env: Environment variables.
        labels: Image labels.
    """

    reference: str
    user: int
    entrypoint: tuple[str, ...]
    command: tuple[str, ...] = ()
    workdir: str = "/"
    env: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Blob:
    """A finished part of the archive.

    Args:
        digest: ``sha256:`` and the hex digest.
        size: Length in bytes.
        source: File with the content, or the content itself.
    """

    digest: str
    size: int
    source: Path | bytes


def write_layer(root: Path, target: Path) -> Blob:
    """Write a directory as a layer: sorted, times zero, owners and modes kept, hard links kept.

    Layers are not compressed: they stay on one machine, and unpacking is the slower half of an import.

    Args:
        root: Directory whose content becomes the layer.
        target: File to write.
    """
    seen: dict[tuple[int, int], str] = {}
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(root.rglob("*"), key=lambda path: path.relative_to(root).parts):
            _add(tar, path, path.relative_to(root).as_posix(), seen)
    return Blob(digest=_digest(target), size=target.stat().st_size, source=target)


def write_archive(target: Path, layers: Iterable[Blob], config: ImageConfig) -> None:
    """Write the OCI archive of an image.

    Args:
        target: File to write; the caller makes it appear atomically.
        layers: Layers from the bottom to the top.
        config: How a container runs.
    """
    layers = list(layers)
    settings = _json(_settings(layers, config))
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": _descriptor(settings, CONFIG_TYPE),
            "layers": [_descriptor(layer, LAYER_TYPE) for layer in layers],
        }
    )
    annotations = {
        "io.containerd.image.name": config.reference,
        "org.opencontainers.image.ref.name": config.reference.rpartition(":")[2],
    }
    descriptor = _descriptor(manifest, MANIFEST_TYPE)
    descriptor |= {"platform": {"architecture": "amd64", "os": "linux"}, "annotations": annotations}
    index = _json({"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": [descriptor]})
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as tar:
        _member(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _member(tar, "index.json", index)
        blobs = {blob.digest: blob for blob in (settings, manifest, *layers)}
        for digest in sorted(blobs):
            _member(tar, f"blobs/{digest.replace(':', '/')}", blobs[digest])


def _settings(layers: list[Blob], config: ImageConfig) -> dict[str, Any]:
    """The image configuration; layers are not compressed, so their digests are the diff ids."""
    run: dict[str, Any] = {
        "User": f"{config.user}:{config.user}",
        "Entrypoint": list(config.entrypoint),
        "WorkingDir": config.workdir,
        "Env": [f"{name}={value}" for name, value in sorted(config.env.items())],
        "Labels": dict(sorted(config.labels.items())),
    }
    if config.command:
        run["Cmd"] = list(config.command)
    return {
        "created": EPOCH,
        "architecture": "amd64",
        "os": "linux",
        "config": run,
        "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in layers]},
        "history": [{"created": EPOCH, "created_by": "gpu-platform lab"} for _ in layers],
    }


def _add(tar: tarfile.TarFile, path: Path, name: str, seen: dict[tuple[int, int], str]) -> None:
    status = path.lstat()
    info = tarfile.TarInfo(name)
    info.mode, info.uid, info.gid = stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
    if stat.S_ISLNK(status.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
    elif stat.S_ISDIR(status.st_mode):
        info.type = tarfile.DIRTYPE
    elif not stat.S_ISREG(status.st_mode):
        return  # device nodes and sockets: the runtime makes its own
    elif (first := seen.setdefault((status.st_dev, status.st_ino), name)) != name:
        info.type, info.linkname = tarfile.LNKTYPE, first
    else:
        info.size = status.st_size
        with path.open("rb") as content:
            tar.addfile(info, content)
        return
    tar.addfile(info)


def _member(tar: tarfile.TarFile, name: str, blob: Blob) -> None:
    info = tarfile.TarInfo(name)
    info.size = blob.size
    if isinstance(blob.source, bytes):
        tar.addfile(info, io.BytesIO(blob.source))
        return
    with blob.source.open("rb") as content:
        tar.addfile(info, content)


def _json(value: Mapping[str, Any]) -> Blob:
    data = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return Blob(digest=f"sha256:{hashlib.sha256(data).hexdigest()}", size=len(data), source=data)


def _descriptor(blob: Blob, media_type: str) -> dict[str, Any]:
    return {"mediaType": media_type, "digest": blob.digest, "size": blob.size}


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while block := content.read(READ_BYTES):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"
