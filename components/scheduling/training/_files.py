"""Programs that jobs over several pods run."""

from importlib.resources import files

ALL_REDUCE = "all_reduce.py"
TRAIN = "train_ddp.py"
PROGRAMS = (ALL_REDUCE, TRAIN, "models.py", "process_group.py")


def programs() -> dict[str, str]:
    """File name → source of every program of ``components/scheduling/training/files``."""
    folder = files("components.scheduling.training") / "files"
    return {name: (folder / name).read_text(encoding="utf-8") for name in PROGRAMS}
