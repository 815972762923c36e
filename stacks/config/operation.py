"""How the nodes of a pool are operated: kubelet, MIG, sharing, driver; and the rules between these."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictInt, StrictStr

from components.catalog import SERVERS
from stacks.config.fields import Form
from stacks.config.problems import SettingProblem
from stacks.config.section import Section, empty, read_only
from stacks.config.view import View

_PROFILE_PATTERN = r"^[0-9]+g\.[0-9]+gb(\+[a-z.]+)?$"
_VERSION_PATTERN = r"^[0-9]+(\.[0-9]+){1,2}$"
# A GPU has seven compute slices, https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ (read 2026-11)
_MAX_INSTANCES = 7
_MAX_REPLICAS = 48

MigProfile = Annotated[
    StrictStr, Field(pattern=_PROFILE_PATTERN), Form(accepted="a MIG profile such as 1g.10gb or 3g.40gb")
]
MigCount = Annotated[
    StrictInt,
    Field(ge=1, le=_MAX_INSTANCES),
    Form(accepted=f"a whole number of instances on one GPU from 1 to {_MAX_INSTANCES}"),
]
SharingReplicas = Annotated[
    StrictInt,
    Field(ge=1, le=_MAX_REPLICAS),
    Form(accepted=f"a whole number of users of one GPU from 1 to {_MAX_REPLICAS}"),
]
FullVersion = Annotated[
    StrictStr,
    Field(pattern=_VERSION_PATTERN),
    Form(accepted='a version in quotes, such as "580.65.06" or "13.0"'),
]
_Strategy = Literal["none", "time-slicing", "mps"]


class KubeletSettings(Section):
    """How the kubelet of the pool's nodes places CPUs, memory and GPUs."""

    topology_manager: Annotated[
        Literal["none", "best-effort", "restricted", "single-numa-node"],
        Form(
            accepted="single-numa-node; restricted for whole-node jobs over several nodes; best-effort; none",
            known=("none", "best-effort", "restricted", "single-numa-node"),
        ),
    ] = "single-numa-node"
    """Topology manager policy."""
    cpu_manager: Annotated[
        Literal["none", "static"], Form(accepted="static or none", known=("none", "static"))
    ] = "static"
    """CPU manager policy; static gives a pod with whole CPUs cores of its own."""


class MigSettings(Section):
    """How each GPU of the pool is cut into instances."""

    strategy: Annotated[
        Literal["single", "mixed"],
        Form(accepted="single (one profile) or mixed", known=("single", "mixed")),
    ] = "single"
    """How the instances are named to the scheduler; mixed for several profiles."""
    layout: Annotated[
        Mapping[MigProfile, MigCount],
        Field(min_length=1),
        AfterValidator(read_only),
        Form(accepted="at least one profile with its count on one GPU, such as `1g.10gb: 7`"),
    ] = Field(default_factory=empty)
    """Profile to count on one GPU."""


class SharingSettings(Section):
    """Several pods on one GPU, without walls between them."""

    strategy: Annotated[
        _Strategy,
        Form(accepted="none, time-slicing or mps", known=("none", "time-slicing", "mps")),
    ] = "none"
    """How they take turns."""
    replicas: SharingReplicas = 1
    """Pods that share one GPU."""


class DriverSettings(Section):
    """Versions the GPU Operator is to install on the pool's nodes."""

    version: FullVersion
    """Driver version in full."""
    cuda: FullVersion
    """Newest CUDA release jobs of the pool use."""


def operation_problems(root: View) -> Iterator[SettingProblem]:
    """What is wrong between the operation of each pool and the rest of the settings."""
    for name, pool in root.at("pools").entries():
        yield from _kubelet(pool)
        yield from _mig(pool)
        yield from _sharing(root, name, pool)


def _kubelet(pool: View) -> Iterator[SettingProblem]:
    server = SERVERS.get(pool.at("server").text or "")
    if server is None or server.gpus < 2:
        return
    spans = pool.at("multi_node_training").flag(default=False)
    topology, cpu = pool.at("kubelet", "topology_manager"), pool.at("kubelet", "cpu_manager")
    accepted = ("single-numa-node", "restricted") if spans else ("single-numa-node",)
    if topology.text in {"none", "best-effort", "restricted"} - set(accepted):
        yield topology.problem(
            f"{' or '.join(accepted)} on nodes with several GPUs: elsewhere memory and PCIe traffic "
            "cross the sockets",
            "set it to single-numa-node, or leave it out",
        )
    if cpu.text == "none":
        yield cpu.problem(
            "static on nodes with several GPUs: without it no CPU stays beside its GPU",
            "set it to static, or leave it out",
        )


def _mig(pool: View) -> Iterator[SettingProblem]:
    layout, strategy = pool.at("mig", "layout"), pool.at("mig", "strategy")
    if not isinstance(pool.at("mig").raw, Mapping):
        return
    profiles = [name for name, _ in layout.entries() if re.match(_PROFILE_PATTERN, name)]
    if (strategy.text or "single") == "single" and len(profiles) > 1:
        yield strategy.problem(
            "mixed for a layout of several profiles",
            "set it to mixed, or keep one profile",
            value=f"'single' with {', '.join(profiles)}",
        )
    if pool.at("multi_node_training").flag(default=False):
        yield pool.at("mig").problem(
            "no MIG with `multi_node_training: true`: instances have neither NVLink nor a path to the fabric",
            "remove `mig`, or put the instances into a pool of their own",
            value="a layout",
        )


def _sharing(root: View, name: str, pool: View) -> Iterator[SettingProblem]:
    strategy, replicas = pool.at("sharing", "strategy"), pool.at("sharing", "replicas")
    shared, number = strategy.text in ("time-slicing", "mps"), replicas.number_or(1) or 1
    if shared and number < 2:
        yield replicas.problem(f"2 or more with {strategy.text}", "raise it, or set the strategy to none")
    if strategy.text in (None, "none") and number > 1:
        yield replicas.problem("1 while the strategy is none", "leave it out, or name a strategy")
    queues = [key for key, queue in root.at("queues").entries() if name in dict(queue.at("pools").entries())]
    if shared and len(queues) > 1:
        yield strategy.problem(
            "none for a pool of several queues: nothing keeps one team's job out of another's memory",
            "give the pool to one queue, or cut its GPUs by `mig`",
            value=f"{strategy.text!r} for queues {', '.join(queues)}",
        )
