"""`validate` and `schema`: settings checked and described, offline."""

import json
from typing import Annotated

import typer

from cli.exits import Exit, Stop
from components.catalog import SERVERS
from lab.paths import REPOSITORY, current
from stacks.config import Settings, SettingsError, load_file, settings_file
from stacks.config.schema import SCHEMA_FILE, render
from stacks.config.versions import read

Env = Annotated[str, typer.Option("--env", help="Environment, which is the name in Pulumi.<env>.yaml.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Check = Annotated[bool, typer.Option("--check", help="Only compare with the committed file.")]


def validate(env: Env = "dev", json_output: Json = False) -> None:
    """Check the settings of an environment and say what they describe. Reads files only, changes nothing."""
    settings = require_valid(env, json_output=json_output)
    facts, file = _facts(settings), settings_file(REPOSITORY, env).name
    if json_output:
        typer.echo(json.dumps({"ok": True, "file": file, "summary": facts, "problems": []}, indent=2))
    else:
        typer.echo("\n".join([f"OK: {file}", *(f"  {key}: {value}" for key, value in facts.items())]))


def require_valid(env: str, *, json_output: bool = False) -> Settings:
    """The settings of an environment; wrong ones are told and end the command with exit code 2."""
    try:
        return load_file(settings_file(REPOSITORY, env), env, read(current().state))
    except SettingsError as error:
        typer.echo(_problems_json(error) if json_output else str(error), err=not json_output)
        raise Stop(Exit.SETTINGS) from None


def schema(check: Check = False) -> None:
    """Write the JSON Schema of the settings, or only compare it with the committed file."""
    text, name = render(), SCHEMA_FILE.relative_to(REPOSITORY)
    if SCHEMA_FILE.is_file() and SCHEMA_FILE.read_text(encoding="utf-8") == text:
        typer.echo(f"{name} is up to date")
    elif check:
        typer.echo(f"{name} differs from the models; run `make schema`", err=True)
        raise Stop(Exit.FAILED)
    else:
        SCHEMA_FILE.write_text(text, encoding="utf-8")
        typer.echo(f"{name} written")


def _facts(settings: Settings) -> dict[str, str]:
    pools = [
        f"{name} ({one.nodes} x {one.server}, {one.nodes * SERVERS[one.server].gpus} GPUs, {one.fabric})"
        for name, one in settings.pools.items()
    ]
    queues = [
        f"{name} ({', '.join(f'{pool} {quota.gpus}' for pool, quota in one.pools.items())} GPUs, "
        f"{one.default_time_limit_minutes} to {one.max_time_limit_minutes} min)"
        for name, one in settings.queues.items()
    ]
    datasets, checkpoints = settings.storage.datasets, settings.storage.checkpoints
    return {
        "environment": f"{settings.environment} (kind {settings.kind}, cluster {settings.cluster.source})",
        "owner": f"{settings.ownership.owner}, cost centre {settings.ownership.cost_centre}",
        "pools": ", ".join(pools) or "none",
        "queues": ", ".join(queues) or "none",
        "storage": f"datasets {datasets.size_gib} GiB, checkpoints {checkpoints.size_gib} GiB",
        "tracking": "on" if settings.tracking.enabled else "off",
        "samples": "on" if settings.samples.enabled else "off",
    }


def _problems_json(error: SettingsError) -> str:
    problems = [
        {"path": one.path, "line": one.line, "value": one.value, "accepted": one.accepted, "fix": one.fix}
        for one in error.problems
    ]
    return json.dumps(
        {"ok": False, "file": error.subject, "problems": problems}, indent=2, ensure_ascii=False
    )
