"""`doctor`: what is wrong with this machine, with the command that mends it."""

import json
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape

from cli.exits import Exit, Stop
from lab.doctor import Finding, blocking, run_checks
from lab.paths import Paths
from lab.progress import Progress

_MARKS = {"error": "[red]error[/]", "warning": "[yellow]warn [/]", "ok": "[green]ok   [/]"}


def show_findings(findings: list[Finding], *, as_json: bool, only_failures: bool = False) -> None:
    """Print the findings, failures first."""
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
        return
    console = Console(stderr=only_failures, highlight=False, soft_wrap=True)
    for finding in findings:
        if only_failures and finding.level == "ok":
            continue
        console.print(f"{_MARKS[finding.level]} {finding.id}: {escape(finding.what)}")
        if finding.level != "ok":
            console.print(f"      cause: {escape(finding.cause)}\n      mend:  {escape(finding.fix)}")


def doctor(paths: Paths, *, online: bool, as_json: bool) -> None:
    """Check the machine and say what mends it; exit code 3 where `make up` would be refused."""
    findings = run_checks(paths, online=online)
    show_findings(findings, as_json=as_json)
    if blocking(findings):
        raise Stop(Exit.MACHINE)


def refuse_bad_machine(paths: Paths, progress: Progress) -> None:
    """Stop before anything is touched when a finding blocks."""
    progress.step("checking this machine")
    findings = run_checks(paths, online=False)
    if blocking(findings):
        show_findings(findings, as_json=False, only_failures=True)
        raise Stop(Exit.MACHINE)
