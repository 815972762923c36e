"""Names of the prometheus-operator's API, https://prometheus-operator.dev/docs/api-reference/api/ (v0.85)."""

import re

API_VERSION = "monitoring.coreos.com/v1"
CONFIG_API_VERSION = "monitoring.coreos.com/v1alpha1"
SCRAPE_API_VERSION = "monitoring.coreos.com/v1alpha1"
# What pods of the operator's resources are called by it; the rest of our pods carry the same label.
PROMETHEUS_PODS = {"app.kubernetes.io/name": "prometheus"}
ALERTMANAGER_PODS = {"app.kubernetes.io/name": "alertmanager"}
TOKEN_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - a path
CA_FILE = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
_VERSION = re.compile(r"v?(\d+\.\d+\.\d+)(?:[-+].*)?")


def image_version(image: str) -> str:
    """The release in an image's tag; the operator writes flags and configuration for that release.

    Raises:
        ValueError: The tag does not begin with a release, as in a reference by digest alone.
    """
    tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
    found = _VERSION.fullmatch(tag)
    if found is None:
        raise ValueError(f"image {image!r} does not say its release: write the tag too, name:v1.2.3@sha256:…")
    return found.group(1)
