"""Which cluster an environment is built on, and what is said where it can't be used."""

from dataclasses import replace
from pathlib import Path

import pulumi
import pytest

from lab.cluster.records import Network
from lab.paths import DEFAULT_STATE as LAB_DEFAULT
from lab.paths import REPOSITORY, STATE_VARIABLE
from stacks import machine
from stacks.access import LAB_CONTEXT, cluster_access, require_usable
from stacks.config import KubeconfigCluster, Settings, load_file, settings_file
from stacks.config.versions import read

KUBECONFIG = "contexts: [{name: mine}, {name: gpu-platform-lab}]"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The committed settings, with a lab in a directory of the test's."""
    return load_file(settings_file(REPOSITORY, "dev"), "dev", read(tmp_path))


def _own(settings: Settings, path: Path, context: str = "mine") -> Settings:
    cluster = KubeconfigCluster(source="kubeconfig", context=context, path=str(path))
    return replace(settings, cluster=cluster)


def _refusal(settings: Settings) -> str:
    with pytest.raises(pulumi.RunError) as caught:
        require_usable(settings)
    return str(caught.value)


def test_the_lab_is_where_the_machine_says(settings: Settings, tmp_path: Path) -> None:
    access = cluster_access(settings)
    assert (access.kubeconfig, access.context) == (str(tmp_path / "kubeconfig"), LAB_CONTEXT)
    assert settings.artifacts.charts["kueue"].chart == str(tmp_path / "charts" / "kueue")


def test_program_and_lab_agree_on_the_lab() -> None:
    assert (machine.STATE_VARIABLE, machine.DEFAULT_STATE) == (STATE_VARIABLE, LAB_DEFAULT)
    assert Network().name == LAB_CONTEXT
    assert machine.lab_state({}) == LAB_DEFAULT
    assert machine.lab_state({STATE_VARIABLE: ""}) == LAB_DEFAULT
    assert machine.lab_state({STATE_VARIABLE: "/srv/lab"}) == Path("/srv/lab")


def test_a_usable_kubeconfig_passes(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    require_usable(settings)
    require_usable(_own(settings, tmp_path / "kubeconfig"))


def test_a_missing_kubeconfig_is_refused(settings: Settings, tmp_path: Path) -> None:
    told = _refusal(_own(settings, tmp_path / "none"))
    assert told.splitlines() == [
        "the cluster's kubeconfig can't be read",
        f"  where: {tmp_path / 'none'}",
        "  why:   No such file or directory",
        "  next:  put a kubeconfig there, or correct cluster.path in the settings",
    ]
    assert _refusal(settings).endswith("next:  make up")


@pytest.mark.parametrize("text", ["", "[", "just text", "contexts: 3", "[1]", "a: \0"])
def test_what_is_no_kubeconfig_is_refused(settings: Settings, tmp_path: Path, text: str) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    assert "why:   it is no kubeconfig" in _refusal(_own(settings, tmp_path / "kubeconfig"))


def test_an_unknown_context_is_refused_with_those_there_are(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    told = _refusal(_own(settings, tmp_path / "kubeconfig", context="yours"))
    assert "no context 'yours' in the kubeconfig" in told
    assert "why:   it has mine, gpu-platform-lab" in told
