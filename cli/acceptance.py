"""`acceptance`: the tests of a pool, and what their outputs prove. Reads files only."""

import json
from datetime import UTC, datetime
from pathlib import Path

import typer

from cli.exits import Exit, Stop
from cli.settings_commands import require_valid
from components.catalog import nearest
from components.scheduling.acceptance import (
    AcceptanceResult,
    AcceptanceTest,
    Floor,
    Subject,
    Verdict,
    floor_of,
    judge,
    nodes_of,
)
from lab.errors import LabError
from stacks.acceptance import subject
from stacks.config import Settings
from stacks.namespaces import JOBS


def acceptance(env: str, pool: str, *, test: str | None, output: Path | None, as_json: bool) -> None:
    """List the tests of a pool, or judge the output of one.

    Args:
        env: Environment.
        pool: Pool.
        test: Test whose output is judged.
        output: Its output: the logs of its pods one after the other; None lists the tests.
        as_json: Print JSON.

    Raises:
        LabError: An unknown pool or test, or a file that can't be read.
        Stop: The verdict isn't ``accepted``.
    """
    found, tests = _subject(require_valid(env, json_output=as_json), env, pool)
    if output is None:
        _list(found, tests, as_json=as_json)
        return
    chosen = _test(test, tests, pool)
    result = judge(chosen, _read(output), found, datetime.now(UTC).isoformat(timespec="seconds"))
    typer.echo(json.dumps(result.as_dict(), indent=2) if as_json else _told(result))
    if result.verdict is not Verdict.ACCEPTED:
        raise Stop(Exit.FAILED)


def _subject(settings: Settings, env: str, pool: str) -> tuple[Subject, tuple[AcceptanceTest, ...]]:
    where = f"Pulumi.{env}.yaml"
    if pool not in settings.pools:
        names = tuple(settings.pools)
        suggestion = nearest(pool, names)
        raise LabError(
            f"no pool {pool!r}",
            where=where,
            why=f"it has: {', '.join(names) or 'none'}",
            fix=f"did you mean {suggestion!r}?" if suggestion else "name one of them",
        )
    found = subject(settings, pool)
    if found is None:
        raise LabError(
            f"pool {pool!r} has no acceptance",
            where=f"{where}: pools.{pool}",
            why="its settings name no tests",
            fix=f"add `acceptance: {{queue: <queue>}}` to pools.{pool}",
        )
    return found


def _test(test: str | None, tests: tuple[AcceptanceTest, ...], pool: str) -> AcceptanceTest:
    names = tuple(one.value for one in tests)
    if test in names:
        return AcceptanceTest(test)
    raise LabError(
        f"no test {test!r} of pool {pool!r}" if test else "which test the output is of isn't said",
        where="--test",
        why=f"its tests: {', '.join(names)}",
        fix="name one of them with --test",
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise LabError(
            "the output can't be read", where=str(path), why=error.strerror or str(error), fix="name a file"
        ) from error


def _list(found: Subject, tests: tuple[AcceptanceTest, ...], *, as_json: bool) -> None:
    floors = {test: floor_of(test, found) for test in tests}
    if as_json:
        rows = [
            {"test": test.value, "nodes": nodes_of(test, found), "start": _start(found.pool, test)}
            | {"threshold": floor.value if (floor := floors[test]) else None}
            for test in tests
        ]
        typer.echo(json.dumps({"pool": found.pool, "simulated": found.simulated, "tests": rows}, indent=2))
        return
    note = "; simulated: placement only, nothing is ever accepted" if found.simulated else ""
    typer.echo(f"pool {found.pool}: {found.nodes} nodes x {found.gpus_per_node} {found.gpu}{note}")
    for test in tests:
        typer.echo(f"  {test.value:20} {nodes_of(test, found):>4} nodes  {_floor(test, floors[test])}")
    typer.echo(f"start one:  {_start(found.pool, tests[0])}")
    typer.echo(f"judge it:   python -m cli acceptance --pool {found.pool} --test {tests[0]} --judge <file>")


def _floor(test: AcceptanceTest, floor: Floor | None) -> str:
    if floor is not None:
        return f"at least {floor.value:g} {floor.unit} ({floor.source})"
    return "by its own verdicts" if test.value.startswith("dcgm") else "no threshold: never accepted"


def _start(pool: str, test: AcceptanceTest) -> str:
    path = f"{{.data.{test}\\.yaml}}"
    return f"kubectl get configmap acceptance-{pool} -n {JOBS} -o jsonpath='{path}' | kubectl create -f -"


def _told(result: AcceptanceResult) -> str:
    figures = ", ".join(f"{name} {value:g}" for name, value in result.measured.items())
    lines = [f"{result.test} of pool {result.pool}: {result.verdict}", f"  {result.reason}"]
    return "\n".join([*lines, f"  measured: {figures}"] if figures else lines)
