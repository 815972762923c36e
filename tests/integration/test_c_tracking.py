"""Runs and models: recorded by a real training, safe from lost pods and restarts, closed to strangers."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from lab.paths import REPOSITORY
from tests.integration.support import DATA, MLOPS, cli, forwarded, get, http, kubectl, secret, until

pytestmark = [pytest.mark.kube, pytest.mark.usefixtures("environment"), pytest.mark.timeout(900)]

MODEL = "/api/2.0/mlflow/registered-models/get-latest-versions"


@pytest.fixture(scope="module")
def trained(environment: None) -> dict[str, Any]:
    """The result of the sample training, through `make smoke`."""
    del environment
    output = cli("smoke").stdout
    assert "FAIL" not in output
    line = next(line for line in output.splitlines() if "run recorded" in line)
    result: dict[str, Any] = json.loads(line[line.index("({") + 1 : line.rindex("})") + 1])
    return result


@pytest.fixture
def admin() -> tuple[str, str]:
    """The administrator's login."""
    values = secret(MLOPS, "mlflow-server")
    return values["admin-username"], values["admin-password"]


@pytest.fixture
def mlflow() -> Iterator[str]:
    """Address of the tracking server from here."""
    with forwarded(MLOPS, "mlflow", 5000) as port:
        yield f"http://localhost:{port}"


def _recorded(url: str, login: tuple[str, str], trained: dict[str, Any]) -> bool:
    status, text = http(f"{url}/api/2.0/mlflow/runs/get?run_id={trained['run_id']}", login=login)
    if status != 200:
        return False
    run = json.loads(text)["run"]
    metrics = {item["key"] for item in run["data"]["metrics"]}
    params = {item["key"] for item in run["data"]["params"]}
    status, text = http(f"{url}{MODEL}", login=login, body={"name": trained["model"]})
    versions = {item["version"] for item in json.loads(text).get("model_versions", [])}
    return status == 200 and "accuracy" in metrics and "seed" in params and bool(versions)


def _artifact(url: str, login: tuple[str, str], trained: dict[str, Any]) -> int:
    version = f"name={trained['model']}&version={trained['model_version']}"
    _, text = http(f"{url}/api/2.0/mlflow/model-versions/get-download-uri?{version}", login=login)
    uri = json.loads(text)["artifact_uri"]
    path = uri.split("mlflow-artifacts:/", 1)[-1].lstrip("/")
    status, _ = http(f"{url}/api/2.0/mlflow-artifacts/artifacts/{path}/MLmodel", login=login)
    return status


def test_the_training_is_recorded(trained: dict[str, Any], admin: tuple[str, str], mlflow: str) -> None:
    assert _recorded(mlflow, admin, trained)
    assert _artifact(mlflow, admin, trained) == 200


@pytest.mark.parametrize(
    ("namespace", "pod"), [(MLOPS, "mlflow"), (DATA, "postgres"), (DATA, "object-store")]
)
def test_records_survive_the_loss_of_a_pod(
    namespace: str, pod: str, trained: dict[str, Any], admin: tuple[str, str]
) -> None:
    label = f"app.kubernetes.io/name={pod}"
    before = get("pods", "-n", namespace, "-l", label)["items"][0]["metadata"]["uid"]
    kubectl("delete", "pod", "-n", namespace, "-l", label, "--wait=true")

    def back() -> bool:
        pods = get("pods", "-n", namespace, "-l", label)["items"]
        return any(
            item["metadata"]["uid"] != before
            and any(
                one["type"] == "Ready" and one["status"] == "True" for one in item["status"]["conditions"]
            )
            for item in pods
            if item["status"].get("conditions")
        )

    until(f"a new {pod} pod is ready", back, 180)
    with forwarded(MLOPS, "mlflow", 5000) as port:
        url = f"http://localhost:{port}"
        until("the run is there", lambda: _recorded(url, admin, trained), 60)
        assert _artifact(url, admin, trained) == 200


def test_records_survive_a_restart_of_the_lab(trained: dict[str, Any], admin: tuple[str, str]) -> None:
    for step in ("stop", "start"):
        subprocess.run([sys.executable, "-m", "lab", step], cwd=REPOSITORY, check=True)
    cli("up")
    with forwarded(MLOPS, "mlflow", 5000) as port:
        url = f"http://localhost:{port}"
        until("the run is there", lambda: _recorded(url, admin, trained), 60)
        assert _artifact(url, admin, trained) == 200


@pytest.mark.parametrize("path", ["/", MODEL, "/api/2.0/mlflow/experiments/search?max_results=1", "/metrics"])
def test_mlflow_refuses_strangers(path: str, mlflow: str) -> None:
    for login in (None, ("admin", "password1234"), ("admin", "")):
        status, _ = http(f"{mlflow}{path}", login=login)
        assert status == 401


def test_the_object_store_refuses_strangers() -> None:
    with forwarded(DATA, "object-store", 7070) as port:
        for path in ("/", "/mlflow", "/mlflow/?list-type=2"):
            status, _ = http(f"http://localhost:{port}{path}")
            assert status == 403


def test_the_database_refuses_strangers() -> None:
    for url in (
        "postgresql://postgres@127.0.0.1/postgres",
        "postgresql://mlflow@127.0.0.1/mlflow",
        "postgresql://mlflow:wrong@127.0.0.1/mlflow",
        "postgresql://postgres@/postgres?host=/var/run/postgresql",
    ):
        # The probe's own login is in the container's environment; a stranger has none.
        stranger = ("sh", "-c", 'unset PGPASSWORD PGPASSFILE; exec psql -w "$0" -c "select 1"', url)
        refused = kubectl("exec", "-n", DATA, "postgres-0", "--", *stranger, ok=False)
        assert "password" in refused


@pytest.fixture
def jobs() -> tuple[str, str]:
    """The login jobs have."""
    values = secret("gpu-platform-workbench", "mlflow-credentials")
    return values["MLFLOW_TRACKING_USERNAME"], values["MLFLOW_TRACKING_PASSWORD"]


@pytest.fixture
def foreign(mlflow: str, admin: tuple[str, str]) -> Iterator[dict[str, str]]:
    """A run of the administrator's with an artifact, which jobs may not see."""
    api = f"{mlflow}/api/2.0"
    name = f"foreign-{time.monotonic_ns()}"
    _, text = http(f"{api}/mlflow/experiments/create", login=admin, body={"name": name})
    experiment = json.loads(text)["experiment_id"]
    _, text = http(f"{api}/mlflow/runs/create", login=admin, body={"experiment_id": experiment})
    run = json.loads(text)["run"]["info"]["run_id"]
    path = f"{experiment}/{run}/artifacts"
    place = f"{api}/mlflow-artifacts/artifacts/{path}/secret.txt"
    assert http(place, login=admin, body={"secret": "s3cr3t"}, method="PUT")[0] == 200
    assert http(place, login=admin)[0] == 200
    yield {"experiment": experiment, "run": run, "path": path, "url": place}
    http(f"{api}/mlflow/experiments/delete", login=admin, body={"experiment_id": experiment})


def test_a_model_version_leads_to_no_run_of_others(
    mlflow: str, jobs: tuple[str, str], foreign: dict[str, str]
) -> None:
    api, model = f"{mlflow}/api/2.0", f"probe-{foreign['run'][:8]}"
    status, _ = http(f"{api}/mlflow/registered-models/create", login=jobs, body={"name": model})
    assert status == 200
    run, path = foreign["run"], foreign["path"]
    sources = {
        f"s3://mlflow/{path}": 400,
        f"S3://mlflow/{path}": 400,
        f"mlflow-artifacts:/{path}": 400,
        f"file:///tmp/{path}": 400,
        f"{mlflow}/api/2.0/mlflow-artifacts/artifacts/{path}": 400,
        f"runs:/{run}": 400,
    }
    for source, refused in sources.items():
        body = {"name": model, "source": source}
        status, text = http(f"{api}/mlflow/model-versions/create", login=jobs, body=body)
        assert (status, "model_version" in json.loads(text)) == (refused, False), source
        # With the run it belongs to it is the run's permission that says no.
        status, text = http(f"{api}/mlflow/model-versions/create", login=jobs, body={**body, "run_id": run})
        assert status in (400, 403), source
    assert http(foreign["url"], login=jobs)[0] == 403
    http(f"{api}/mlflow/registered-models/delete", login=jobs, body={"name": model}, method="DELETE")
