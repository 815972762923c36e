"""Credentials copied to their readers, and clients let in."""

from typing import Any

import pytest

from components.core import ArgsError, Ownership
from components.kube import DeliveredSecret, DeliveredSecretArgs, Pods, client_namespaces
from tests.harness import run

SECRET = "kubernetes:core/v1:Secret"
OWNERSHIP = Ownership(
    owner="ml", project="vision", environment="dev", cost_centre="research", contact="ml@example.com"
)


def arguments(**changes: Any) -> DeliveredSecretArgs:
    base: dict[str, Any] = {
        "secret": "login",
        "namespaces": ("b", "a", "b"),
        "ownership": OWNERSHIP,
        "values": {"user": "me", "word": "hidden"},
        "roles": {"username": "user", "password": "word"},
    }
    return DeliveredSecretArgs(**(base | changes))


@pytest.mark.parametrize("preview", [False, True])
def test_each_namespace_gets_one_equal_copy(preview: bool) -> None:
    def program() -> dict[str, Any]:
        ref = DeliveredSecret("login", arguments()).ref
        return {"name": ref.name, "keys": dict(ref.keys)}

    recording = run(program, preview=preview)
    for namespace in ("a", "b"):
        recording.assert_resource(
            SECRET,
            f"login-{namespace}",
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "type": "Opaque",
                "metadata": {
                    "name": "login",
                    "namespace": namespace,
                    "labels": OWNERSHIP.labels(),
                    "annotations": OWNERSHIP.annotations(),
                },
                "stringData": {"user": "me", "word": "hidden"},
            },
            parent="login",
        )
    recording.assert_counts({"gpuplatform:kube:DeliveredSecret": 1, SECRET: 2})
    recording.assert_secrets(("login-a", "stringData"), ("login-b", "stringData"))
    recording.assert_no_clear("hidden")
    assert recording.outputs == {"name": "login", "keys": {"username": "user", "password": "word"}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"secret": "Login"}, "secret: got 'Login'"),
        ({"namespaces": ()}, "namespaces: got nothing"),
        ({"namespaces": ("A",)}, "namespaces: got 'A'"),
        ({"values": {}}, "values: got nothing"),
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgsError) as caught:
        arguments(**changes)
    assert message in str(caught.value)


def test_a_reader_in_the_servers_own_namespace_counts_once() -> None:
    assert client_namespaces("data", (Pods(namespace="jobs"), Pods(namespace="data"))) == ("data", "jobs")
