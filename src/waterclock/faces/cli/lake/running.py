"""`waterclock lake run|kill|status|history|logs`: runs of lake jobs, from their start to their logs."""

import sys
import time
from contextlib import suppress
from typing import Final

import click

from waterclock import clock
from waterclock.faces.cli.client import Client, Lost
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import FAILED, INTERRUPTED, Failure, Refused
from waterclock.faces.cli.following import follow, print_log, reason
from waterclock.faces.cli.lake.calling import Found, at, job_id, last_run, listed, most, when
from waterclock.faces.cli.lake.definition import milliseconds
from waterclock.faces.cli.lake.jobs import readable
from waterclock.faces.cli.lake.progress import SyncProgress
from waterclock.faces.cli.lake.progress import readable as progress_line
from waterclock.faces.cli.output import Columns, as_json, print_json, print_list, print_one, say

LIVE: Final = frozenset({"Queued", "Compiling", "Running", "Syncing", "Unknown"})
LOOK_SECONDS: Final = 0.2
TELL_SECONDS: Final = 2.0
COLUMNS: Final[Columns] = {
    "RUN": lambda run: run["run_id"],
    "JOB": lambda run: run["job_id"],
    "NAME": lambda run: run["job_name"],
    "STATUS": lambda run: run["job_status"],
    "START": lambda run: when(run["start_time"]),
    "END": lambda run: when(run["end_time"]),
    "ROWS": lambda run: run["stats"].get("rows_written"),
    "MESSAGE": lambda run: run["message"].partition("\n")[0] or None,
}


@click.command()
@job_id
@click.option("--follow", "-f", "follows", is_flag=True, help="Show its log and wait for its end.")
@click.option("--at", "moment", metavar="TIME", help="Not now, but then; ISO 8601.")
@click.option("--mode", type=click.Choice(["FullSync", "IncrementalSync"]), help="Of a sync: how this run reads.")
@as_json
@connected
def run(client: Client, job_id: int, follows: bool, moment: str | None, mode: str | None, as_json: bool) -> None:
    """Run the job ID once more, whatever its schedule; prints the number of the run.

    With --follow the log is shown on stdout instead, and how far a sync is on stderr; the exit code is 0 when the run
    is Finished or Synced, else 1. Ctrl-C stops the following, not the run.

    \b
    Examples:
      waterclock lake run 3 --follow
      waterclock lake run 3 --at 2026-12-24T18:00:00Z
      waterclock lake run 5 --mode FullSync
    """
    body: Found = {"at_time": milliseconds(moment, "--at")} if moment else {}
    started = client.put(at(client, "schedule", "job", job_id, "now"), {**body, **({"mode": mode} if mode else {})})
    if follows:
        follow_run(client, job_id, started["run_id"])
    else:
        print_json(started) if as_json else click.echo(started["run_id"])


def follow_run(client: Client, job_id: int, run_id: int) -> None:
    """Until its end, which is ours: 1, if it did not succeed."""
    ended = _followed(client, job_id, _log_id(last_run(client, job_id, run_id), job_id))
    if ended["state"] != "SUCCEEDED":
        say(f"run {run_id} of job {job_id} is {ended['state']}: {reason(ended)}")
        sys.exit(FAILED)


@click.command()
@job_id
@click.option("--wait/--no-wait", "waits", default=True, help="Wait until nothing of it is left.  [default: wait]")
@connected
def kill(client: Client, job_id: int, waits: bool) -> None:
    """Kill the live run of the job ID: all that it started dies.

    \b
    Example:
      waterclock lake kill 3
    """
    if not client.put(at(client, "schedule", "job", job_id, "kill"), {})["success"]:
        raise Refused(f"job {job_id} has no live run")
    status = _wait_for_end(client, job_id) if waits else "being killed"
    click.echo(f"job {job_id} is {status}")


@click.command()
@job_id
@as_json
@connected
def status(client: Client, job_id: int, as_json: bool) -> None:
    """Show how the job ID stands: its last run, how far it is, and when it runs next.

    \b
    Example:
      waterclock lake status 3
    """
    found = client.get(at(client, "job", job_id, "status"))
    shown = found if as_json else {**readable(found), "progress": progress_line(found["progress"]) or None}
    print_one(shown, to_json=as_json)


@click.command()
@click.option("--job", "job_id", metavar="ID", type=click.IntRange(1), help="Only of this job.")
@click.option("--keyword", help="Only of jobs whose name holds this.")
@most
@as_json
@connected
def history(client: Client, job_id: int | None, keyword: str | None, limit: int, as_json: bool) -> None:
    """List runs, newest first, also of jobs that are gone.

    \b
    Example:
      waterclock lake history --job 3 -n 5
    """
    print_list(listed(client, "history", job_id=job_id, keyword=keyword, most=limit), COLUMNS, to_json=as_json)


@click.command()
@job_id
@click.option("--run", "run_id", metavar="RUN", type=click.IntRange(1), help="Of this run, not the last one.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Go on until the run has ended.")
@connected
def logs(client: Client, job_id: int, run_id: int | None, follows: bool) -> None:
    """Print the log of the last run of the job ID: a build's lines first, then the program's.

    \b
    Example:
      waterclock lake logs 3 -f
    """
    log_id = _log_id(last_run(client, job_id, run_id), job_id)
    if follows:
        _followed(client, job_id, log_id)
    else:
        print_log(client, log_id)


def _log_id(run: Found | None, job_id: int) -> str:
    if run is None:
        raise Failure(f"job {job_id} has no such run: see waterclock lake history --job {job_id}")
    return str(run["log_id"])


def _followed(client: Client, job_id: int, log_id: str) -> Found:
    progress = SyncProgress(client, job_id)
    try:
        ended = follow(client, log_id, progress)
    except KeyboardInterrupt:
        say(f"no longer following; the run goes on. Kill it with: waterclock lake kill {job_id}")
        sys.exit(INTERRUPTED)
    progress.ended()
    return ended


def _wait_for_end(client: Client, job_id: int) -> str:
    """A server that goes away meanwhile is waited for: what it acknowledged it does."""
    began = told = clock.monotonic()
    found = "Running"
    while True:
        with suppress(Lost):
            found = client.get(at(client, "job", job_id, "status"))["current_sync_status"]
        if found not in LIVE:
            return found
        if clock.monotonic() - told >= TELL_SECONDS:
            told = clock.monotonic()
            say(f"waiting for job {job_id} to be dead, {told - began:.0f} s so far")
        time.sleep(LOOK_SECONDS)
