"""The object store by its S3 interface, through a port-forward."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from cli.backup.manifest import Object, digest
from lab.errors import LabError
from lab.process import ends_with_parent

_FORWARDED = re.compile(r"127\.0\.0\.1:(\d+)")
FAILURES = (BotoCoreError, ClientError)
# Its signature needs a region; the gateway in the cluster is told this one.
_REGION = "us-east-1"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A listed object."""

    bucket: str
    key: str
    size: int


class Store:
    """Buckets and objects of one store."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - boto3 ships no types
        self._client = client

    def entries(self) -> list[Entry]:
        """Every object of every bucket, by bucket and key."""
        found = []
        for bucket in self._client.list_buckets()["Buckets"]:
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket["Name"])
            for page in pages:
                found += [
                    Entry(bucket=bucket["Name"], key=one["Key"], size=int(one["Size"]))
                    for one in page.get("Contents", [])
                ]
        return sorted(found, key=lambda one: (one.bucket, one.key))

    def fetch(self, entry: Entry, directory: Path, name: str) -> Object:
        """Copy an object into a file."""
        path = directory / name
        answer = self._client.get_object(Bucket=entry.bucket, Key=entry.key)
        with path.open("wb") as file:
            for chunk in answer["Body"].iter_chunks(1 << 20):
                file.write(chunk)
        return Object(
            bucket=entry.bucket,
            key=entry.key,
            file=name,
            sha256=digest(path),
            size=path.stat().st_size,
            content_type=str(answer.get("ContentType") or "binary/octet-stream"),
            metadata=dict(answer.get("Metadata") or {}),
        )

    def put(self, kept: Object, directory: Path) -> None:
        """Write an object back as it was."""
        extra = {"ContentType": kept.content_type, "Metadata": dict(kept.metadata)}
        if kept.key.endswith("/") and kept.size == 0:
            self._client.put_object(Bucket=kept.bucket, Key=kept.key)  # a directory marker
            return
        self._client.upload_file(str(directory / kept.file), kept.bucket, kept.key, ExtraArgs=extra)

    def remove(self, entry: Entry) -> None:
        """Delete an object."""
        self._client.delete_object(Bucket=entry.bucket, Key=entry.key)


@contextmanager
def reached(
    kubectl: Sequence[str], namespace: str, service: str, port: int, login: tuple[str, str]
) -> Iterator[Store]:
    """A store behind a Service, as long as the context lasts.

    Raises:
        LabError: It can't be reached, or refuses a request.
    """
    process = subprocess.Popen(
        [*kubectl, "port-forward", "--namespace", namespace, f"service/{service}", f":{port}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=ends_with_parent(),  # noqa: PLW1509 - it only calls prctl
    )
    try:
        match = _FORWARDED.search(process.stdout.readline() if process.stdout else "")
        if not match:
            raise _failed(namespace, service, "the port-forward ended at once")
        yield Store(_client(f"http://127.0.0.1:{match[1]}", login))
    except FAILURES as error:
        raise _failed(namespace, service, str(error)) from error
    finally:
        process.terminate()
        process.wait(10)


def _client(endpoint: str, login: tuple[str, str]) -> Any:  # noqa: ANN401 - boto3 ships no types
    settings = Config(
        s3={"addressing_style": "path"},
        retries={"max_attempts": 5, "mode": "standard"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    return boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id=login[0],
        aws_secret_access_key=login[1],
        region_name=_REGION,
        config=settings,
    )


def _failed(namespace: str, service: str, why: str) -> LabError:
    return LabError(
        "the object store can't be read or written",
        where=f"service {namespace}/{service}",
        why=why,
        fix="make status; then the same command again",
    )
