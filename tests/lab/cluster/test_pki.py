"""Certificates of the cluster, made for real."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

from lab.cluster import pki
from lab.cluster.records import Network
from tests.lab.cluster.shapes import make_cluster


def text_of(path: Path) -> str:
    command = ["openssl", "x509", "-noout", "-text", "-in", str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_certificates_are_made_once_and_keys_are_for_root_only(tmp_path: Path) -> None:
    cluster = make_cluster(tmp_path)
    assert pki.ensure(cluster) is True
    assert pki.ensure(cluster) is False
    keys = [*cluster.pki.glob("*.key"), *cluster.keys.iterdir()]
    assert len(list(cluster.pki.glob("*.crt"))) == 15
    assert len(keys) == 18
    assert {path.stat().st_mode & 0o777 for path in keys} == {0o600}


def test_names_users_and_groups(tmp_path: Path) -> None:
    cluster = make_cluster(tmp_path)
    pki.ensure(cluster)
    server = text_of(cluster.pki / "apiserver.crt")
    for name in (
        "IP Address:10.231.0.2",
        "IP Address:10.233.0.1",
        "DNS:kubernetes.default.svc.cluster.local",
    ):
        assert name in server
    assert "CA:FALSE" in server
    assert "TLS Web Client Authentication" not in server
    node = text_of(cluster.pki / "kubelet.crt")
    assert "O = system:nodes, CN = system:node:gpu-platform-lab" in node
    for certificate in pki.plan(cluster.network):
        authority = cluster.pki / f"{certificate.authority}.crt"
        verify = [
            "openssl",
            "verify",
            "-CAfile",
            str(authority),
            str(cluster.pki / f"{certificate.name}.crt"),
        ]
        assert subprocess.run(verify, check=False, capture_output=True).returncode == 0


def test_other_addresses_mean_new_certificates_but_the_same_keys_for_data(tmp_path: Path) -> None:
    cluster = make_cluster(tmp_path)
    pki.ensure(cluster)
    kept = {path.name: path.read_bytes() for path in cluster.keys.iterdir()}
    authority = (cluster.pki / "ca.crt").read_bytes()
    moved = replace(cluster, network=Network(nodes="10.9.0.0/24"))
    assert pki.ensure(moved) is True
    assert (cluster.pki / "ca.crt").read_bytes() != authority
    assert {path.name: path.read_bytes() for path in cluster.keys.iterdir()} == kept


def test_an_interrupted_run_is_made_good(tmp_path: Path) -> None:
    cluster = make_cluster(tmp_path)
    pki.ensure(cluster)
    (cluster.pki / "complete").unlink()
    (cluster.pki / "scheduler.key").write_text("")
    assert pki.ensure(cluster) is True
    assert "PRIVATE KEY" in (cluster.pki / "scheduler.key").read_text()


def test_secrets_are_encrypted_first(tmp_path: Path) -> None:
    cluster = make_cluster(tmp_path)
    pki.ensure(cluster)
    (row,) = json.loads((cluster.keys / "encryption.json").read_text())["resources"]
    assert row["resources"] == ["secrets"]
    assert [next(iter(provider)) for provider in row["providers"]] == ["secretbox", "identity"]
