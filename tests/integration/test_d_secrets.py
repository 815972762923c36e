"""No secret in the clear: not in the exported state, not in a log, not in an argument list."""

import json
from pathlib import Path

import pytest

from lab.paths import current
from tests.integration.support import dev, get, kubectl

pytestmark = [pytest.mark.kube, pytest.mark.usefixtures("environment"), pytest.mark.timeout(900)]


def _generated() -> dict[str, str]:
    """Every password of the stack by resource name, from the state with secrets shown."""
    exported = dev().pulumi("stack", "export", "--show-secrets", "--stack", "dev")
    assert exported.returncode == 0, exported.stderr
    found = {}
    for resource in json.loads(exported.stdout)["deployment"]["resources"]:
        if resource["type"] == "random:index/randomPassword:RandomPassword":
            value = resource["outputs"]["result"]
            plain = value if isinstance(value, str) else json.loads(value["plaintext"])
            found[resource["urn"].rsplit("::", 1)[-1]] = plain
    return found


def test_no_generated_password_is_in_the_clear_anywhere() -> None:
    secrets = _generated()
    assert len(secrets) >= 6
    assert all(len(value) >= 20 for value in secrets.values())

    paths = current()
    texts = {"exported state": dev().pulumi("stack", "export", "--stack", "dev").stdout}
    texts["outputs"] = dev().pulumi("stack", "output", "--json", "--stack", "dev").stdout
    for path in sorted(paths.backend.rglob("*")):
        if path.is_file() and path.suffix in {".json", ".bak"}:
            texts[str(path)] = path.read_text(errors="replace")
    for path in sorted(paths.logs.rglob("*")):
        if path.is_file():
            texts[str(path)] = path.read_text(errors="replace")
    for pod in get("pods", "-A")["items"]:
        metadata = pod["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        if namespace.startswith("gpu-platform-") and pod["spec"].get("nodeName") == "gpu-platform-lab":
            texts[f"log of {namespace}/{name}"] = kubectl(
                "logs", "-n", namespace, name, "--all-containers", "--tail=-1"
            )
            texts[f"spec of {namespace}/{name}"] = json.dumps(pod["spec"])
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            texts[str(process)] = process.read_bytes().decode(errors="replace")
        except OSError:
            continue
    leaks = [
        f"{name} in {where}"
        for where, text in texts.items()
        for name, value in secrets.items()
        if value in text
    ]
    assert leaks == []
