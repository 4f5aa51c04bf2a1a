"""`waterclock chaos`: tries the guarantee on a set-up that runs, with jobs of its own, and removes them again."""

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import click

from waterclock.chaos.checker import Findings, History, check
from waterclock.chaos.evidence import program
from waterclock.chaos.report import in_words, percentile
from waterclock.faces.cli.chaos_trial import Plan, Trial, span_us
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import FAILED
from waterclock.faces.cli.output import as_json, print_json, say

STEPS: Final = (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60)
WORDS: Final = {
    "lost": "due instants without a run, or a record why there is none",
    "double": "attempts that were started twice, instants with two runs",
    "early": "starts before their instant",
    "late": "starts after the bound (--late)",
    "overlap": "attempts of one run at the same time",
    "phantom": "runs that nobody asked for",
    "state": "ends that the server tells otherwise than the program, or not at all",
}


def _print_script(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        click.echo(_script(), nl=False)
        context.exit()


@click.command()
@click.option("--seconds", type=click.FloatRange(1), default=60, show_default=True, help="How long the triggers fire.")
@click.option("--triggers", type=click.IntRange(1, 500), default=10, show_default=True, help="How many there are.")
@click.option(
    "--every",
    type=click.Choice([str(step) for step in STEPS]),
    default="5",
    show_default=True,
    help="Seconds between two fires of a trigger.",
)
@click.option("--retries", type=click.IntRange(0, 10), default=0, show_default=True, help="Of each run.")
@click.option("--kill-command", metavar="CMD", help="Run this again and again meanwhile: `systemctl kill …`.")
@click.option(
    "--kill-every", type=click.FloatRange(1), default=15, show_default=True, help="Seconds between two of it."
)
@click.option("--late", type=click.FloatRange(0), metavar="SECONDS", help="A start after more than this is a finding.")
@click.option(
    "--clock-error",
    type=click.FloatRange(0),
    default=100,
    show_default=True,
    metavar="MS",
    help="How far workers' clocks may be from the store's before a start counts as early.",
)
@click.option("--script", metavar="URL", help="Where workers find the program.  [default: a file on this host]")
@click.option("--prefix", default="chaos-", show_default=True, help="Of the names of its jobs and triggers.")
@click.option(
    "--patience",
    type=click.FloatRange(1),
    default=180,
    show_default=True,
    help="Seconds to wait for a server that is away, and for the last runs to end.",
)
@click.option(
    "--print-script",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_script,
    help="Print the program, to be put where workers find it, and end.",
)
@as_json
@connected
def chaos(
    client: Client,
    seconds: float,
    triggers: int,
    every: str,
    retries: int,
    kill_command: str | None,
    kill_every: float,
    late: float | None,
    clock_error: float,
    script: str | None,
    prefix: str,
    patience: float,
    as_json: bool,
) -> None:
    """Fire triggers for a while, whatever happens to the servers, and check that nothing was lost or doubled.

    The jobs are small Python programs that print a line at their start and one at their end. Their logs, read through
    the API, are held against the instants that were due. Kill, pause or restart what you like meanwhile, or let
    --kill-command do it. Jobs and triggers are removed in the end; their runs stay in the list of runs.

    \b
    Examples:
      waterclock chaos
      waterclock chaos --seconds 120 --kill-command 'systemctl kill -s KILL waterclock-scheduler' --kill-every 10
      waterclock chaos --print-script > chaos.py      for workers on other hosts: copy it, or put it into a bucket,
      waterclock chaos --script s3://ops/chaos.py     and say where it is

    The exit code is 0 when nothing was wrong, else 1. Processes that outlive their run cannot be seen from here.
    """
    with tempfile.TemporaryDirectory(prefix="waterclock-chaos-") as folder:
        plan = Plan(
            prefix=prefix,
            triggers=triggers,
            every_seconds=int(every),
            seconds=seconds,
            script=script or _written(Path(folder)),
            retries=retries,
            patience_seconds=patience,
            clock_error_us=span_us(clock_error),
            late_bound_us=None if late is None else span_us(late * 1000),
            kill_command=kill_command,
            kill_every_seconds=kill_every,
        )
        trial = Trial(client, plan, say)
        history = _tried(trial)
    findings = check(history)
    print_json(_as_plain(history, findings, trial)) if as_json else _print(history, findings, trial)
    sys.exit(FAILED if findings.faults else 0)


def _tried(trial: Trial) -> History:
    """Whatever happens, also a Ctrl-C: what it made goes away."""
    try:
        trial.make()
        trial.watch()
        return trial.gather()
    finally:
        for left in trial.remove():
            say(f"could not be removed: {left}")


def _print(history: History, findings: Findings, trial: Trial) -> None:
    figures = _figures(history, findings, trial)
    click.echo(", ".join(f"{name.replace('_', ' ')}: {figure}" for name, figure in figures.items()))
    for fault in findings.faults:
        click.echo(fault)
    for kind in WORDS:
        if found := getattr(findings, kind):
            click.echo(f"{len(found)} {kind}: {WORDS[kind]}")
    if not findings.faults:
        click.echo("nothing was wrong")


def _figures(history: History, findings: Findings, trial: Trial) -> dict[str, object]:
    ran = {(mark.work, mark.fire_at) for mark in history.starts}
    unbegun = [at for work, instants in history.failed.items() for at in instants if (work, at) not in ran]
    return {
        "due": sum(map(len, history.due.values())),
        "fires": len(ran),
        "runs": len({mark.of for mark in history.starts}),
        "failed_before_they_began": len(unbegun),
        "kills": trial.kills,
        "late_p99": in_words(percentile(findings.late_us)),
    }


def _as_plain(history: History, findings: Findings, trial: Trial) -> dict[str, Any]:
    late = percentile(findings.late_us)
    figures = {**_figures(history, findings, trial), "late_p99": None if late is None else late / 1_000_000}
    return {**figures, "findings": {kind: getattr(findings, kind) for kind in WORDS}}


def _script() -> str:
    return program("chaos", None)


def _written(folder: Path) -> str:
    """Readable by whatever user jobs run as."""
    script = folder / "chaos.py"
    script.write_text(_script())
    folder.chmod(0o711)
    script.chmod(0o644)
    return f"file://{script}"
