"""A backup restored into a fresh environment: runs, models and artifacts equal; no secret in a bundle."""

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.integration.support import DATA, MLOPS, cli, forwarded, http, kubectl, secret

# Several minutes each, so with the long runs: `make test` must stay short.
pytestmark = [
    pytest.mark.soak,
    pytest.mark.kube,
    pytest.mark.usefixtures("environment"),
    pytest.mark.timeout(1500),
]

PLANTED = "planted-Zx9qLm2Tr7"


def _ask(url: str, login: tuple[str, str], path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    status, text = http(f"{url}/api/2.0/mlflow/{path}", login=login, body=body)
    assert status == 200, text
    found: dict[str, Any] = json.loads(text)
    return found


def _records() -> dict[str, Any]:
    """Everything users recorded, each artifact of a model by its digest."""
    values = secret(MLOPS, "mlflow-server")
    login = (values["admin-username"], values["admin-password"])
    with forwarded(MLOPS, "mlflow", 5000) as port:
        url = f"http://localhost:{port}"
        experiments = _ask(url, login, "experiments/search?max_results=1000")["experiments"]
        ids = [one["experiment_id"] for one in experiments]
        runs = _ask(url, login, "runs/search", {"experiment_ids": ids, "max_results": 1000}).get("runs", [])
        versions = _ask(url, login, "model-versions/search?max_results=1000").get("model_versions", [])
        artifacts = {}
        for one in versions:
            query = f"name={one['name']}&version={one['version']}"
            uri = _ask(url, login, f"model-versions/get-download-uri?{query}")["artifact_uri"]
            path = uri.split("mlflow-artifacts:/", 1)[-1].lstrip("/")
            status, text = http(f"{url}/api/2.0/mlflow-artifacts/artifacts/{path}/MLmodel", login=login)
            assert status == 200, text
            artifacts[f"{one['name']}/{one['version']}"] = hashlib.sha256(text.encode()).hexdigest()
    return {"experiments": experiments, "runs": runs, "versions": versions, "artifacts": artifacts}


def test_a_restored_environment_holds_what_the_first_one_held(tmp_path: Path) -> None:
    cli("smoke")
    before = _records()
    assert before["runs"]
    assert before["artifacts"]
    kept = tmp_path / "kept.tar"
    cli("backup", str(kept))
    assert [path.name for path in tmp_path.iterdir()] == ["kept.tar"]
    assert "0.0 hours ago: 2 databases" in cli("status").stdout
    assert "isn't empty" in cli("restore", str(kept), ok=False).stdout
    cli("destroy", "--yes")
    cli("up")
    assert _records()["runs"] == []
    cli("restore", str(kept))
    assert _records() == before


def test_no_secret_gets_into_a_support_bundle(tmp_path: Path) -> None:
    line = f"connecting with {PLANTED} and password=other-planted-word"
    secrets = {PLANTED, "other-planted-word"}
    for namespace, name in ((MLOPS, "mlflow-server"), (DATA, "postgres-superuser")):
        secrets |= {value for key, value in secret(namespace, name).items() if "name" not in key}
    kubectl("create", "secret", "generic", "planted", "-n", MLOPS, f"--from-literal=token={PLANTED}")
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "planted", "namespace": MLOPS},
        "involvedObject": {"kind": "Namespace", "name": MLOPS, "namespace": MLOPS},
        "reason": "Planted",
        "message": line,
    }
    kubectl("create", "-f", "-", stdin=json.dumps(event))
    to = tmp_path / "bundle.tar.gz"
    try:
        cli("support-bundle", str(to))
    finally:
        kubectl("delete", "event/planted", "secret/planted", "-n", MLOPS)
    with tarfile.open(to) as tar:
        texts = {one.name: tar.extractfile(one).read().decode() for one in tar.getmembers()}  # type: ignore[union-attr]
    assert "Planted" in texts[f"support/{MLOPS}/events.json"]
    assert {"support/status.json", "support/state.json", "support/logs/etcd.log"} <= set(texts)
    assert not [name for name in texts if name.endswith(".failed.txt")]
    logs = [text for name, text in texts.items() if "/pods/mlflow-" in name and name.endswith(".log")]
    assert logs
    assert all("\n" in text and not text.startswith("b'") for text in logs)
    found = [(name, one[:6]) for name, text in texts.items() for one in secrets if one in text]
    assert found == []
