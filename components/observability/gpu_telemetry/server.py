"""Serves scrapes: asks the cluster who holds which GPU when it is asked itself."""

import json
import os
import ssl
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from .scrape import Fleet

PORT = 9400
NODES_SELECTOR = "gpu-platform/simulated=true"
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TIMEOUT_SECONDS = 8
_FRESH_SECONDS = 2
_NOT_FOUND = 404


class Cluster:
    """The three lists a scrape needs, read with the pod's own account."""

    def __init__(self, namespace: str, config_map: str) -> None:
        host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
        self._base = f"https://{host}:{port}/api/v1"
        self._faults = f"/namespaces/{namespace}/configmaps/{config_map}"
        self._tls = ssl.create_default_context(cafile=str(_ACCOUNT / "ca.crt"))

    def nodes(self) -> Sequence[Mapping[str, Any]]:
        """Simulated nodes."""
        found: Sequence[Mapping[str, Any]] = self._get(f"/nodes?labelSelector={quote(NODES_SELECTOR)}")[
            "items"
        ]
        return found

    def pods(self) -> Sequence[Mapping[str, Any]]:
        """Running pods of every namespace."""
        return self._list("/pods?fieldSelector=status.phase%3DRunning")

    def faults(self) -> Mapping[str, str]:
        """Injected faults; none while nobody has made the ConfigMap."""
        try:
            return dict(self._get(self._faults).get("data") or {})
        except HTTPError as error:
            if error.code != _NOT_FOUND:
                raise
            return {}

    def _list(self, path: str) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self._get(path)["items"]
        return found

    def _get(self, path: str) -> dict[str, Any]:
        token = (_ACCOUNT / "token").read_text()  # read anew: the kubelet renews it
        request = Request(self._base + path, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
        with urlopen(request, timeout=_TIMEOUT_SECONDS, context=self._tls) as answer:  # noqa: S310
            found: dict[str, Any] = json.load(answer)
            return found


class Telemetry:
    """The newest scrape; two scrapers within two seconds get the same one."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._fleet = cluster, Fleet()
        self._lock = threading.Lock()
        self._text, self._made = "", 0.0

    def text(self) -> str:
        """Text of a scrape.

        Raises:
            OSError: The cluster does not answer; an old text would hide that.
        """
        with self._lock:
            now = time.time()
            if now - self._made > _FRESH_SECONDS:
                cluster = self._cluster
                self._text = self._fleet.scrape(cluster.nodes(), cluster.pods(), cluster.faults(), now)
                self._made = now
            return self._text


def handler(telemetry: Telemetry) -> type[BaseHTTPRequestHandler]:
    """What answers requests."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/healthz":
                return self._answer(200, "ok\n")
            if self.path != "/metrics":
                return self._answer(_NOT_FOUND, "there is /metrics\n")
            try:
                return self._answer(200, telemetry.text())
            except OSError as error:
                sys.stderr.write(f"telemetry: the cluster does not answer: {error}\n")
                return self._answer(503, "the cluster does not answer\n")

        def _answer(self, status: int, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """A line per scrape says nothing."""

    return Handler


def main() -> None:
    """Serve on every address of the pod."""
    cluster = Cluster(os.environ["FAULTS_NAMESPACE"], os.environ["FAULTS_CONFIG_MAP"])
    server = ThreadingHTTPServer(("0.0.0.0", PORT), handler(Telemetry(cluster)))  # noqa: S104
    sys.stdout.write(f"telemetry: LAB, simulated GPUs; listening on {PORT}\n")
    sys.stdout.flush()
    server.serve_forever()
