"""Planted secrets don't come through, the rest does."""

import base64

import pytest

from cli.support.redact import REMOVED, Redactor

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2hunter2", "hunter2hunter2"),
        ('"admin-password": "a b\\"c"', "b\\"),
        ("DB_PASSWORD: s3cr3t, next: 1", "s3cr3t"),
        ("MLFLOW_SESSION_KEY='x y z'", "x y z"),
        ("secretAccessKey: abcdef", "abcdef"),
        ("aws_secret_access_key = abcdef/+", "abcdef/+"),
        ("run --token abc123 --verbose", "abc123"),
        ("postgresql://mlflow:pa%20ss@host/db", "pa%20ss"),
        ("redis://:onlypass@host:6379", "onlypass"),
        ("Authorization: Basic YWRtaW46cGFzcw==", "YWRtaW46cGFzcw"),
        ("authorization=[Bearer abcdefgh.ijkl]", "abcdefgh"),
        ("Set-Cookie: session=abcdef; HttpOnly", "abcdef"),
        (f"before {JWT} after", JWT),
        (f"key:\n{PEM}\nafter", "MIIEow"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEcut", "MIIEcut"),
        ("id AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
        ("ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123"),
        ("client-key-data: LS0tLS1CRUdJTi", "LS0tLS1CRUdJTi"),
        ("GET /b?X-Amz-Credential=AK/2026&X-Amz-Signature=deadbeef&x=1", "deadbeef"),
        ("encryptionsalt: v1:YHqxgUDJOp4=:v1:wDPPUYUVFmQ2msC4:v8NTCNbQekJLFmIvXXbPYeXi9qNYJQ==", "v8NTCN"),
    ],
)
def test_what_looks_like_a_secret_goes(text: str, secret: str) -> None:
    cleaned = Redactor().clean(text)
    assert secret not in cleaned
    assert REMOVED in cleaned


@pytest.mark.parametrize(
    "text",
    [
        "[00:01] cluster: kube-apiserver healthy",
        "FAILS pod gpu-platform-mlops/mlflow-0 CrashLoopBackOff",
        "image: ghcr.io/mlflow/mlflow:v3.1.0@sha256:0123456789abcdef",
        "http://localhost:5000/health 200",
        "urn:pulumi:dev::gpu-platform::kubernetes:core/v1:Secret::tracking-credentials",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert Redactor().clean(text) == text


KNOWN = "Zx9-qLm2/+Tr 7"


@pytest.mark.parametrize(
    "carried",
    [
        KNOWN,
        base64.b64encode(KNOWN.encode()).decode(),
        base64.b64encode(f"{KNOWN}\n".encode()).decode(),
        base64.urlsafe_b64encode(KNOWN.encode()).decode(),
        "Zx9-qLm2%2F%2BTr%207",
    ],
    ids=["plain", "base64", "base64 of a line", "base64 for addresses", "quoted"],
)
def test_a_known_value_goes_in_every_form(carried: str) -> None:
    assert Redactor([KNOWN]).clean(f"xx{carried}yy") == f"xx{REMOVED}yy"


def test_each_line_of_a_known_value_goes_and_the_longest_first() -> None:
    redactor = Redactor(["abcdefgh", "abcdefghijklmnop", "first-line\nsecond-line"])
    assert redactor.clean("abcdefghijklmnop second-line") == f"{REMOVED} {REMOVED}"


def test_words_are_not_removed_everywhere() -> None:
    assert Redactor(["admin", "mlflow", ""]).clean("admin of mlflow") == "admin of mlflow"
