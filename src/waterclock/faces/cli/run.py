"""`waterclock run`: start, follow, look at and stop runs."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Final

import click

from waterclock import clock
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import FAILED, INTERRUPTED
from waterclock.faces.cli.following import follow, print_log, reason
from waterclock.faces.cli.output import as_json, print_json, print_list, print_one, say
from waterclock.faces.cli.parameters import ARGUMENT, any_namespace, namespace

LIVE: Final = frozenset({"WAITING", "STARTING", "RUNNING", "STOPPING"})
STATES: Final = (*sorted(LIVE), "SUCCEEDED", "FAILED", "TIMEOUT", "STOPPED", "ERROR", "EXPIRED")
LOOK_SECONDS: Final = 0.2
TELL_SECONDS: Final = 2.0


@click.group()
def run() -> None:
    """Start, follow and stop runs.

    \b
    Examples:
      waterclock run start hello --arg name=world --follow
      waterclock run list --state RUNNING
      waterclock run logs jr_… -f
      waterclock run stop jr_…
    """


@run.command()
@click.argument("name")
@click.option("--arg", "arguments", type=ARGUMENT, multiple=True, help="Argument of this run; repeatable.")
@click.option("--timeout", "timeout_seconds", type=click.IntRange(1), help="Seconds until it is killed.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Show its log and wait for its end.")
@namespace
@as_json
@connected
def start(
    client: Client,
    name: str,
    arguments: Sequence[tuple[str, str]],
    timeout_seconds: int | None,
    follows: bool,
    namespace: str,
    as_json: bool,
) -> None:
    """Run the job NAME once, now; prints the run's id.

    With --follow the log is shown on stdout instead, and the exit code is 0 when the run SUCCEEDED, else 1. Ctrl-C
    stops the following, not the run.
    """
    body = {"job": name, "namespace": namespace, "arguments": dict(arguments), "timeout_seconds": timeout_seconds}
    started = client.post("/runs", body)
    if not follows:
        print_json(started) if as_json else click.echo(started["id"])
        return
    ended = _followed(client, started["id"])
    if ended["state"] != "SUCCEEDED":
        say(f"{ended['id']} {ended['state']}: {reason(ended)}")
        sys.exit(FAILED)


@run.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only those in this state.")
@click.option("--job", help="Only those of this job.")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")
@any_namespace
@as_json
@connected
def list_runs(
    client: Client, state: str | None, job: str | None, limit: int, namespace: str | None, as_json: bool
) -> None:
    """List runs, newest first; each retry is a line of its own."""
    columns = {
        "ID": lambda run: run["id"],
        "JOB": lambda run: run["job"],
        "STATE": lambda run: run["state"],
        "TRIGGER": lambda run: run["trigger"],
        "DUE": lambda run: run["fire_time"],
        "SECONDS": lambda run: run["execution_seconds"],
        "MESSAGE": lambda run: run["message"] or run["wait_reason"],
    }
    found = client.items("/runs", most=limit, state=state, job=job, namespace=namespace)
    print_list(found, columns, to_json=as_json)


@run.command()
@click.argument("run_id", metavar="ID")
@as_json
@connected
def show(client: Client, run_id: str, as_json: bool) -> None:
    """Show the run ID."""
    print_one(client.get(path("runs", run_id)), to_json=as_json)


@run.command()
@click.argument("run_id", metavar="ID")
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on until the run has ended.")
@connected
def logs(client: Client, run_id: str, follows: bool) -> None:
    """Print the log of the run ID."""
    if follows:
        _followed(client, run_id)
    else:
        print_log(client, run_id)


@run.command()
@click.argument("run_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--wait/--no-wait", "waits", default=True, help="Wait until nothing of them is left.  [default: wait]")
@connected
def stop(client: Client, run_ids: Sequence[str], waits: bool) -> None:
    """Stop runs: everything that they started is killed."""
    answers = client.post("/runs/stop", {"ids": list(run_ids)})["runs"]
    unknown = [answer["id"] for answer in answers if answer["state"] is None]
    for answer in answers:
        if answer["state"] and not answer["accepted"]:
            click.echo(f"{answer['id']} is {answer['state']} already")
    accepted = [answer["id"] for answer in answers if answer["accepted"]]
    if waits:
        _wait_for_ends(client, accepted)
    else:
        for run_id in accepted:
            click.echo(f"{run_id} is STOPPING")
    for run_id in unknown:
        say(f"run {run_id!r} not found")
    sys.exit(FAILED if unknown else 0)


def _followed(client: Client, run_id: str) -> dict[str, Any]:
    try:
        return follow(client, run_id)
    except KeyboardInterrupt:
        say(f"no longer following; the run goes on. Stop it with: waterclock run stop {run_id}")
        sys.exit(INTERRUPTED)


def _wait_for_ends(client: Client, run_ids: Sequence[str]) -> None:
    began = told = clock.monotonic()
    waiting = list(run_ids)
    while waiting:
        for run_id in tuple(waiting):
            found = client.get(path("runs", run_id))
            if found["state"] not in LIVE:
                click.echo(f"{run_id} is {found['state']}")
                waiting.remove(run_id)
        if waiting and clock.monotonic() - told >= TELL_SECONDS:
            told = clock.monotonic()
            say(f"waiting for {len(waiting)} run(s) to be dead, {told - began:.0f} s so far")
        if waiting:
            time.sleep(LOOK_SECONDS)
