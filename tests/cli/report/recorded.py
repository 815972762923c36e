"""One preview the real engine made, recorded whole.

Stack dev with: pool h100 removed, the checkpoints' claim renamed, two MLflow replicas, a refused image.
"""

import gzip
from pathlib import Path

HERE = Path(__file__).parent / "data"


def digest() -> str:
    """What ``pulumi preview --json --show-sames --show-replacement-steps`` wrote."""
    return gzip.decompress((HERE / "preview-change.json.gz").read_bytes()).decode()


def events() -> str:
    """What its ``--event-log`` wrote."""
    return gzip.decompress((HERE / "preview-change.events.gz").read_bytes()).decode()
