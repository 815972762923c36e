"""Programs that are shipped into pods."""

from importlib.resources import files

PREPARE_SERVER = "prepare_server.py"
TRAIN_SAMPLE = "train_sample.py"


def program(name: str) -> str:
    """Source of one program of ``components/mlops/files``."""
    return (files("components.mlops") / "files" / name).read_text(encoding="utf-8")
