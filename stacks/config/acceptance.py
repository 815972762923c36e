"""Settings of a pool's acceptance, and the rules between them and the rest."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from components.catalog import SERVERS
from stacks.config.fields import (
    ACCEPTANCE_TESTS,
    DEFAULT_NODES_PER_RACK,
    DEFAULT_RACKS_PER_BLOCK,
    Figure,
    Form,
    NodeCount,
    Slug,
    TestName,
)
from stacks.config.problems import SettingProblem
from stacks.config.section import Section, empty, read_only
from stacks.config.view import View

_SPAN_NODES = ("nccl-inter",)
_A_LIST, _NAME_THEM = "a list with at least one test", "name tests, or remove `tests` to have all"


class AcceptanceSettings(Section):
    """Tests of a pool, delivered as manifests; `python -m cli acceptance` lists and judges them."""

    queue: Slug
    """Queue they go through; it or its cohort holds the whole pool: most tests run on every node at once."""
    tests: Annotated[
        tuple[TestName, ...],
        Field(strict=False),
        Form(accepted=_A_LIST, fix=_NAME_THEM),
    ] = tuple(ACCEPTANCE_TESTS)
    """Which; left out: all, without nccl-inter where the pool has one node."""
    nodes: NodeCount | None = None
    """Nodes of the tests that span nodes; left out: all of the pool, at most one topology block."""
    thresholds: Annotated[Mapping[TestName, Figure], AfterValidator(read_only)] = Field(default_factory=empty)
    """Test name to the least figure (GB/s for nccl and storage, tokens/s of one GPU for gpt2 and bert)."""


def wanted_tests(settings: AcceptanceSettings, nodes: int) -> tuple[str, ...]:
    """The tests, in the order of the catalogue, each once."""
    asked = [name for name in ACCEPTANCE_TESTS if name in settings.tests]
    return tuple(name for name in asked if nodes > 1 or name not in _SPAN_NODES)


def block_nodes(nodes_per_rack: int, racks_per_block: int, nodes: int) -> int:
    """The most nodes that are in one topology block."""
    return min(nodes, nodes_per_rack * racks_per_block)


def acceptance_problems(root: View) -> Iterator[SettingProblem]:
    """What is wrong between the acceptance of each pool and the rest of the settings."""
    for name, pool in root.at("pools").entries():
        acceptance = pool.at("acceptance")
        if not isinstance(acceptance.raw, Mapping):
            continue
        yield from _queue(root, name, pool, acceptance)
        yield from _nodes(name, pool, acceptance)
        yield from _thresholds(acceptance)


def _reachable(root: View, queue: str, pool: str) -> int:
    """GPUs of a pool a queue can get: its own, in a cohort all of the cohort, by borrowing."""
    queues = root.at("queues")
    cohort = queues.at(queue, "cohort").text
    members = [
        key
        for key, entry in queues.entries()
        if key == queue or (cohort is not None and entry.at("cohort").text == cohort)
    ]
    return sum(queues.at(key, "pools", pool, "gpus").number or 0 for key in members)


def _queue(root: View, name: str, pool: View, acceptance: View) -> Iterator[SettingProblem]:
    queue, queues = acceptance.at("queue"), tuple(key for key, _ in root.at("queues").entries())
    if queue.text is None:
        return
    if queue.text not in queues:
        known = f"a known queue: {', '.join(queues)}" if queues else "a known queue, and there is none yet"
        yield queue.problem(
            known, "name a queue with a quota of this pool", value=f"the unknown queue {queue.text!r}"
        )
        return
    quotas = root.at("queues", queue.text, "pools")
    server, nodes = SERVERS.get(pool.at("server").text or ""), pool.at("nodes").number
    quota = _reachable(root, queue.text, name)
    if server and nodes and quota < server.gpus * nodes and quotas.raw:
        yield queue.problem(
            f"a queue with a quota of all {server.gpus * nodes} GPUs of pools.{name}: a test of every node "
            "at once would wait for ever",
            f"raise queues.{queue.text}.pools.{name}.gpus to {server.gpus * nodes}, or name another queue",
            value=f"{queue.text!r} with {quota}",
        )


def _nodes(name: str, pool: View, acceptance: View) -> Iterator[SettingProblem]:
    nodes, asked = pool.at("nodes").number, acceptance.at("nodes")
    tests = acceptance.at("tests").raw
    if tests == []:
        yield acceptance.at("tests").problem(_A_LIST, _NAME_THEM)
    if nodes == 1 and isinstance(tests, list) and any(test in tests for test in _SPAN_NODES):
        yield acceptance.at("tests").problem(
            "no nccl-inter in a pool of one node", "remove it, or add a node to the pool", value="nccl-inter"
        )
    per_rack = pool.at("topology", "nodes_per_rack").number_or(DEFAULT_NODES_PER_RACK)
    racks = pool.at("topology", "racks_per_block").number_or(DEFAULT_RACKS_PER_BLOCK)
    if not (nodes and asked.number and per_rack and racks):
        return
    most = block_nodes(per_rack, racks, nodes)
    if asked.number > most:
        yield asked.problem(
            f"at most the {most} nodes of one topology block of pools.{name}",
            f"lower it to {most}, or leave it out",
        )
    elif asked.number == 1 and nodes > 1 and (not isinstance(tests, list) or "nccl-inter" in tests):
        yield asked.problem("2 nodes or more for nccl-inter", "raise it, or leave it out")


def _thresholds(acceptance: View) -> Iterator[SettingProblem]:
    for name, threshold in acceptance.at("thresholds").entries():
        if name in ACCEPTANCE_TESTS and not ACCEPTANCE_TESTS[name]:
            yield threshold.problem(
                "no threshold for a diagnostic, which has its own verdicts",
                f"remove {name} from the thresholds",
            )
