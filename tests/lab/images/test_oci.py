"""Archives: what is in them, and that equal input gives equal bytes."""

import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

from lab.images import oci

REFERENCE = "gpu-platform.lab/sample:1.0-0123456789ab"
CONFIG = oci.ImageConfig(
    reference=REFERENCE,
    user=10001,
    entrypoint=("/app", "--serve"),
    command=("now",),
    workdir="/srv",
    env={"B": "2", "A": "1"},
    labels={"z": "last", "a": "first"},
)


def make_root(root: Path, order: int = 1) -> Path:
    """The same content, written in either order and at different times."""
    root.mkdir()
    (root / "dir").mkdir()
    (root / "dir").chmod(0o750)
    for name in ("app", "data.txt")[::order]:
        (root / name).write_text(name)
        (root / name).chmod(0o755 if name == "app" else 0o640)
        os.utime(root / name, (order + 100, order + 100))
    os.chown(root / "data.txt", 10001, 10002)
    os.link(root / "app", root / "dir" / "same")
    (root / "link").symlink_to("dir/same")
    os.mkfifo(root / "socket")
    return root


def test_a_layer_holds_kinds_modes_owners_and_no_times(tmp_path: Path) -> None:
    blob = oci.write_layer(make_root(tmp_path / "root"), tmp_path / "layer.tar")
    with tarfile.open(tmp_path / "layer.tar") as tar:
        members = {m.name: (m.type, oct(m.mode), m.uid, m.gid, m.linkname, m.mtime) for m in tar.getmembers()}
    assert members == {
        "app": (tarfile.REGTYPE, "0o755", 0, 0, "", 0),
        "data.txt": (tarfile.REGTYPE, "0o640", 10001, 10002, "", 0),
        "dir": (tarfile.DIRTYPE, "0o750", 0, 0, "", 0),
        "dir/same": (tarfile.LNKTYPE, "0o755", 0, 0, "app", 0),
        "link": (tarfile.SYMTYPE, "0o777", 0, 0, "dir/same", 0),
    }
    data = (tmp_path / "layer.tar").read_bytes()
    assert (blob.digest, blob.size) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    for number, order in ((1, 1), (2, -1)):
        layer = oci.write_layer(make_root(tmp_path / f"root{number}", order), tmp_path / f"layer{number}")
        oci.write_archive(tmp_path / f"image{number}", [layer], CONFIG)
    assert (tmp_path / "image1").read_bytes() == (tmp_path / "image2").read_bytes()


def test_an_archive_is_a_complete_oci_layout(tmp_path: Path) -> None:
    (tmp_path / "upper").mkdir()
    (tmp_path / "upper" / "file").write_text("x")
    layers = [
        oci.write_layer(make_root(tmp_path / "root"), tmp_path / "lower.tar"),
        oci.write_layer(tmp_path / "upper", tmp_path / "upper.tar"),
    ]
    oci.write_archive(tmp_path / "image.tar", layers, CONFIG)
    with tarfile.open(tmp_path / "image.tar") as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar.getmembers()}  # type: ignore[union-attr]
    assert json.loads(files.pop("oci-layout")) == {"imageLayoutVersion": "1.0.0"}
    index = json.loads(files.pop("index.json"))
    for name, data in files.items():
        assert name == f"blobs/sha256/{hashlib.sha256(data).hexdigest()}", "a blob is named by its content"
    assert len(files) == 4, "two layers, configuration, manifest"

    (descriptor,) = index["manifests"]
    assert descriptor["platform"] == {"architecture": "amd64", "os": "linux"}
    assert descriptor["annotations"] == {
        "io.containerd.image.name": REFERENCE,
        "org.opencontainers.image.ref.name": "1.0-0123456789ab",
    }
    manifest = blob(files, descriptor)
    assert [layer["digest"] for layer in manifest["layers"]] == [layer.digest for layer in layers]
    config = blob(files, manifest["config"])
    assert config["rootfs"] == {"type": "layers", "diff_ids": [layer.digest for layer in layers]}
    assert config["config"] == {
        "User": "10001:10001",
        "Entrypoint": ["/app", "--serve"],
        "Cmd": ["now"],
        "WorkingDir": "/srv",
        "Env": ["A=1", "B=2"],
        "Labels": {"a": "first", "z": "last"},
    }


def test_layers_with_equal_content_are_stored_once(tmp_path: Path) -> None:
    layer = oci.write_layer(make_root(tmp_path / "root"), tmp_path / "layer.tar")
    oci.write_archive(tmp_path / "image.tar", [layer, layer], CONFIG)
    with tarfile.open(tmp_path / "image.tar") as tar:
        names = tar.getnames()
    assert len(names) == len(set(names)) == 5


def blob(files: dict[str, bytes], descriptor: dict[str, Any]) -> dict[str, Any]:
    data = files["blobs/" + descriptor["digest"].replace(":", "/")]
    assert len(data) == descriptor["size"]
    parsed: dict[str, Any] = json.loads(data)
    return parsed
