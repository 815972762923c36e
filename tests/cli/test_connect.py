"""How to reach things; a login is shown only when asked for."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from cli import connect as module
from cli.connect import connect, service_lines
from cli.context import Context
from lab.errors import LabError

PASSWORD = "planted-password-1"
MLFLOW = {
    "namespace": "mlops",
    "service": "mlflow",
    "port": 5000,
    "healthPath": "/health",
    "auth": "basic",
    "credentials": {
        "secret": "mlflow-server",
        "keys": {"username": "admin-username", "password": "admin-password", "session": "session-key"},
    },
}
POSTGRES = {**MLFLOW, "service": "postgres", "port": 5432, "healthPath": "", "auth": "scram-sha-256"}
OUTPUTS = {
    "environment": "dev",
    "cluster": {"kubeconfig": "/a dir/kubeconfig", "context": "lab"},
    "services": {"mlflow": MLFLOW, "postgres": POSTGRES},
}


class Place:
    """An environment that is up."""

    env = "dev"

    def outputs(self) -> Mapping[str, Any]:
        return OUTPUTS


PLACE = cast("Context", Place())


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Secrets that were read."""
    read: list[str] = []

    def login(api: object, service: Mapping[str, Any]) -> Mapping[str, str]:
        del api
        read.append(service["service"])
        return {"username": "admin", "password": PASSWORD}

    monkeypatch.setattr(module, "api_client", lambda ctx, outputs: None)  # noqa: ARG005
    monkeypatch.setattr(module, "login", login)
    return read


def _connect(
    service: str | None = None, *, credentials: bool = False, forward: bool = False, as_json: bool
) -> None:
    connect(PLACE, service, credentials=credentials, forward=forward, as_json=as_json)


@pytest.mark.parametrize("as_json", [False, True])
def test_no_secret_is_read_unasked(
    as_json: bool, asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    _connect(as_json=as_json)
    assert asked == []
    assert PASSWORD not in capsys.readouterr().out


@pytest.mark.parametrize("as_json", [False, True])
def test_logins_on_request(as_json: bool, asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    _connect("mlflow", credentials=True, as_json=as_json)
    shown = capsys.readouterr()
    assert asked == ["mlflow"]
    assert PASSWORD in shown.out
    assert shown.err == ""


def test_the_lines_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    _connect(as_json=False)
    text = capsys.readouterr().out
    assert "kubeconfig: export KUBECONFIG='/a dir/kubeconfig'" in text
    assert "kubectl -n mlops port-forward service/mlflow 5000:5000, then http://localhost:5000\n" in text
    assert "kubectl -n mlops port-forward service/postgres 5432:5432\n" in text
    assert "session" not in "".join(service_lines("mlflow", MLFLOW))


def test_the_document_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    _connect("mlflow", as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["services"] == {
        "mlflow": {
            "inCluster": "mlflow.mlops.svc:5000",
            "portForward": "kubectl -n mlops port-forward service/mlflow 5000:5000",
            "url": "http://localhost:5000",
            "auth": "basic",
            "secret": {
                "namespace": "mlops",
                "name": "mlflow-server",
                "keys": {"username": "admin-username", "password": "admin-password"},
            },
        }
    }


def test_an_unknown_service_and_a_way_to_none_are_refused() -> None:
    with pytest.raises(LabError, match="use one of: mlflow, postgres"):
        _connect("mlfow", as_json=False)
    with pytest.raises(LabError, match="name one of: mlflow, postgres"):
        _connect(forward=True, as_json=False)
