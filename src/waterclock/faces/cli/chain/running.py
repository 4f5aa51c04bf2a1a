"""`waterclock chain run|watch|stop`: run now, look on until the end, kill."""

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, tzinfo
from typing import Any, Final

import click

from waterclock import clock
from waterclock.faces.cli.chain.finding import find, live_run_of, on_chains
from waterclock.faces.cli.chain.live import RUNNING, SUCCESS
from waterclock.faces.cli.chain.watching import print_frame, server_now, zone_of
from waterclock.faces.cli.chain.watching import watch as watch_to_its_end
from waterclock.faces.cli.client import Client, Lost, path
from waterclock.faces.cli.failure import FAILED, INTERRUPTED, Refused
from waterclock.faces.cli.output import as_json, print_json, say

LOOK_SECONDS: Final = 0.2
TELL_SECONDS: Final = 2.0


@click.command()
@click.argument("chain_id", metavar="ID")
@click.option("--follow", "-f", "follows", is_flag=True, help="Watch it to its end.")
@as_json
@on_chains
def run(client: Client, chain_id: str, follows: bool, as_json: bool) -> None:
    """Run the chain ID now, also when it is OFF; prints the number of the run.

    With --follow it is watched as `waterclock chain watch` does, and the exit code is 0 when it is a Success, 1 when
    it Failed or was KILLED. Ctrl-C stops the watching, not the chain.

    \b
    Example:
      waterclock chain run 'nightly load' --follow
    """
    chain = find(client, chain_id)
    started = client.post(path("chains", str(chain["id"]), "run"))
    if follows:
        _watch(client, started["run_id"], zone_of(chain), as_json=as_json)
    else:
        print_json(started) if as_json else click.echo(started["run_id"])


@click.command()
@click.argument("run_id", metavar="RUN_ID", type=click.IntRange(1))
@as_json
@on_chains
def watch(client: Client, run_id: int, as_json: bool) -> None:
    """Watch the run RUN_ID level by level until it has ended: gates and their probes, steps, elapsed and usual times.

    On a terminal it is drawn in place; elsewhere each change is a line on stderr. At the end all of it is on stdout,
    and the exit code is that of `waterclock chain run --follow`.

    \b
    Example:
      waterclock chain watch 42
    """
    seen = client.get(path("chains", "runs", str(run_id)))
    _watch(client, run_id, _zone_of_run(client, seen), as_json=as_json)


@click.command()
@click.argument("run_id", metavar="[RUN_ID]", type=click.IntRange(1), required=False)
@click.option("--chain", "chain_id", metavar="ID", help="The live run of this chain.")
@click.option("--wait/--no-wait", "waits", default=True, help="Wait until nothing of it is left.  [default: wait]")
@as_json
@on_chains
def stop(client: Client, run_id: int | None, chain_id: str | None, waits: bool, as_json: bool) -> None:
    """Stop the run RUN_ID, or the live run of a chain: nothing of it starts any more, and what runs is killed.

    \b
    Examples:
      waterclock chain stop 42
      waterclock chain stop --chain 'nightly load' --no-wait
    """
    if (run_id is None) == (chain_id is None):
        raise Refused("name a run, or a chain with --chain")
    number = run_id or live_run_of(find(client, chain_id or ""))
    found = client.post(path("chains", "runs", str(number), "stop"))
    if waits:
        found = _wait_for_end(client, number, found)
    print_json(found) if as_json else click.echo(f"run {number} is {found['status']}")


def _watch(client: Client, run_id: int, zone: tzinfo, *, as_json: bool) -> None:
    try:
        ended = watch_to_its_end(client, run_id, zone)
    except KeyboardInterrupt:
        say(f"no longer watching; the chain goes on. Stop it with: waterclock chain stop {run_id}")
        sys.exit(INTERRUPTED)
    print_json(ended) if as_json else print_frame(ended, server_now(client), zone)
    if ended["status"] != SUCCESS:
        sys.exit(FAILED)


def _zone_of_run(client: Client, run: Mapping[str, Any]) -> tzinfo:
    """Its chain may be gone."""
    try:
        return zone_of(client.get(path("chains", str(run["chain_id"]))))
    except Refused:
        return UTC


def _wait_for_end(client: Client, run_id: int, found: dict[str, Any]) -> dict[str, Any]:
    """A server that goes away meanwhile is waited for: what it acknowledged it does."""
    began = told = clock.monotonic()
    while found["status"] == RUNNING:
        time.sleep(LOOK_SECONDS)
        with suppress(Lost):
            found = client.get(path("chains", "runs", str(run_id)))
        if clock.monotonic() - told >= TELL_SECONDS:
            told = clock.monotonic()
            say(f"waiting for run {run_id} to be dead, {told - began:.0f} s so far")
    return found
