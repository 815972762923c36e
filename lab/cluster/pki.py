"""The cluster's certificates and keys, made with the host's ``openssl``; keys are readable by root only."""

import base64
import hashlib
import json
import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.cluster.processes import write_atomically
from lab.cluster.records import Cluster, Network
from lab.cluster.shell import run, succeeds

WHERE = "certificates of the lab"
FIX = "install openssl 3 (apt-get install openssl), then run the command again"
# The whole set is made anew at an `up` with less than a month left.
VALID_DAYS = 825
RENEW_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """One certificate below an authority.

    Args:
        name: File name without suffix.
        common_name: User name of a client, label of a server.
        organization: Group of a client.
        usage: ``serverAuth``, ``clientAuth`` or both.
        names: Subject alternative names as openssl writes them, such as ``DNS:localhost``.
        authority: Name of the signing authority.
    """

    name: str
    common_name: str
    organization: str = ""
    usage: str = "clientAuth"
    names: tuple[str, ...] = ()
    authority: str = "ca"


AUTHORITIES = ("ca", "front-proxy-ca")


def plan(network: Network) -> tuple[Certificate, ...]:
    """Every certificate of the cluster but the authorities."""
    loopback = ("DNS:localhost", "IP:127.0.0.1")
    service = ("kubernetes", "default", "svc", "cluster", "local")
    service_names = tuple("DNS:" + ".".join(service[:length]) for length in (1, 2, 3, 5))
    node = (f"DNS:{network.name}", f"IP:{network.node_address}")
    api_names = (*loopback, *node, *service_names, f"IP:{network.api_service_address}")
    both = "serverAuth,clientAuth"
    return (
        Certificate(name="etcd", common_name="etcd", usage=both, names=loopback),
        Certificate(name="apiserver-etcd-client", common_name="kube-apiserver"),
        Certificate(name="apiserver", common_name="kube-apiserver", usage="serverAuth", names=api_names),
        Certificate(name="apiserver-kubelet-client", common_name="kube-apiserver-kubelet-client"),
        Certificate(name="front-proxy-client", common_name="front-proxy-client", authority="front-proxy-ca"),
        Certificate(name="kubelet-server", common_name=network.name, usage="serverAuth", names=node),
        Certificate(name="kubelet", common_name=f"system:node:{network.name}", organization="system:nodes"),
        Certificate(name="controller-manager", common_name="system:kube-controller-manager"),
        Certificate(name="scheduler", common_name="system:kube-scheduler"),
        Certificate(name="kube-proxy", common_name="system:kube-proxy"),
        Certificate(name="kwok", common_name="gpu-platform:kwok"),
        Certificate(name="kube-router", common_name="gpu-platform:kube-router"),
        Certificate(name="admin", common_name="gpu-platform:admin", organization="system:masters"),
    )


def openssl_config(certificate: Certificate | None) -> str:
    """Configuration for one certificate, or for an authority, independent of the host's openssl.cnf."""
    lines = ["[req]", "distinguished_name = dn", "x509_extensions = ext", "prompt = no", "[dn]"]
    if certificate is None:
        return "\n".join(
            [*lines, "CN = gpu-platform-lab-ca", "[ext]", "basicConstraints = critical,CA:TRUE",
             "keyUsage = critical,keyCertSign,cRLSign,digitalSignature", "subjectKeyIdentifier = hash", ""]
        )  # fmt: skip
    if certificate.organization:
        lines.append(f"O = {certificate.organization}")
    lines += [
        f"CN = {certificate.common_name}",
        "[ext]",
        "basicConstraints = critical,CA:FALSE",
        "keyUsage = critical,digitalSignature",
        f"extendedKeyUsage = {certificate.usage}",
    ]
    if certificate.names:
        lines.append(f"subjectAltName = {','.join(certificate.names)}")
    return "\n".join([*lines, ""])


def fingerprint(network: Network) -> str:
    """What the certificates depend on, as one hash: another plan means another set."""
    described = json.dumps([asdict(certificate) for certificate in plan(network)])
    return hashlib.sha256(described.encode()).hexdigest()


def ensure(cluster: Cluster) -> bool:
    """Make what is missing, outdated or soon expired; keys the data depends on are made once only.

    Returns:
        Whether the certificates were made anew.
    """
    _ensure_keys(cluster)
    done = cluster.pki / "complete"
    wanted = fingerprint(cluster.network)
    complete = done.exists() and done.read_text() == wanted
    if complete and succeeds(
        ["openssl", "x509", "-checkend", str(RENEW_SECONDS), "-noout", "-in", str(cluster.pki / "ca.crt")]
    ):
        return False
    shutil.rmtree(cluster.pki, ignore_errors=True)
    cluster.pki.mkdir(parents=True, mode=0o700)
    for authority in AUTHORITIES:
        _issue(cluster.pki, authority, None)
    for certificate in plan(cluster.network):
        _issue(cluster.pki, certificate.name, certificate)
    write_atomically(done, wanted)
    return True


def _ensure_keys(cluster: Cluster) -> None:
    cluster.keys.mkdir(parents=True, exist_ok=True, mode=0o700)
    private, public = cluster.keys / "service-accounts.key", cluster.keys / "service-accounts.pub"
    if not public.exists():
        making = cluster.keys / ".service-accounts.key"
        run(["openssl", "genrsa", "-out", str(making), "2048"], where=WHERE, fix=FIX)
        making.chmod(0o600)
        making.replace(private)
        text = run(["openssl", "rsa", "-in", str(private), "-pubout"], where=WHERE, fix=FIX)
        write_atomically(public, text)
    encryption = cluster.keys / "encryption.json"
    if not encryption.exists():
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        write_atomically(encryption, encryption_configuration(key))


def encryption_configuration(key: str) -> str:
    """Encryption of Secrets at rest with one key."""
    document = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [
            {
                "resources": ["secrets"],
                "providers": [{"secretbox": {"keys": [{"name": "lab", "secret": key}]}}, {"identity": {}}],
            }
        ],
    }
    return json.dumps(document)


def _issue(directory: Path, name: str, certificate: Certificate | None) -> None:
    config = directory / f"{name}.cnf"
    config.write_text(openssl_config(certificate))
    key = directory / f"{name}.key"
    os.close(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600))
    signer: list[str] = []
    if certificate is not None:
        authority = directory / certificate.authority
        signer = ["-CA", f"{authority}.crt", "-CAkey", f"{authority}.key"]
    run(
        [
            "openssl", "req", "-x509", "-config", str(config), "-newkey", "ec",
            "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(VALID_DAYS), *signer,
            "-keyout", str(key), "-out", str(directory / f"{name}.crt"),
        ],
        where=WHERE,
        fix=FIX,
    )  # fmt: skip
    key.chmod(0o600)
