"""Every combination of switched-off services is built, or refused with the change that mends it."""

from itertools import product
from pathlib import Path

import pytest
import yaml

from lab.paths import REPOSITORY
from stacks.config import SettingsError, load_file
from stacks.config.versions import read
from stacks.machine import DEFAULT_STATE

SWITCHES = tuple(product((True, False), repeat=4))


def _file(root: Path, *, tracking: bool, samples: bool, gang: bool, queues: bool) -> Path:
    document = yaml.safe_load((REPOSITORY / "Pulumi.dev.yaml").read_text())
    settings = document["config"]["gpu-platform:settings"]
    settings["tracking"]["enabled"] = tracking
    settings["samples"]["enabled"] = samples
    if not gang:
        del settings["samples"]["gang_job"]
    if not queues:
        del settings["queues"]
        for pool in settings["pools"].values():
            pool.pop("acceptance", None)
    path = root / "Pulumi.dev.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize(("tracking", "samples", "gang", "queues"), SWITCHES)
def test_each_combination(tmp_path: Path, tracking: bool, samples: bool, gang: bool, queues: bool) -> None:
    path = _file(tmp_path, tracking=tracking, samples=samples, gang=gang, queues=queues)
    wanted = set()
    if gang and not queues:
        wanted.add("samples.gang_job.queue")
    if not wanted:
        found = load_file(path, "dev", read(DEFAULT_STATE))
        assert (found.tracking.enabled, found.samples.enabled) == (tracking, samples)
        return
    with pytest.raises(SettingsError) as refused:
        load_file(path, "dev", read(DEFAULT_STATE))
    problems = {problem.path.split("settings.")[-1]: problem.fix for problem in refused.value.problems}
    assert set(problems) == wanted
