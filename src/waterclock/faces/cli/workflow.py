"""`waterclock workflow`: look at workflows and their runs, start, stop and resume them."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Final

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import FAILED, INTERRUPTED, Refused
from waterclock.faces.cli.output import as_json, print_json, print_list, print_one, printable, say
from waterclock.faces.cli.parameters import PAIR
from waterclock.faces.cli.workflow_progress import LIVE, LOOK_SECONDS, follow, nodes_of, print_levels, unlucky

APART: Final = ("levels", "last_run", "states")  # of what is shown in lines of its own
NOTHING_FAILED: Final = "nothing of this run failed: say with --node where to go on from"
NOT_RUN: Final = "none of these nodes ran in it: name one that did"


@click.group()
def workflow() -> None:
    """Look at workflows, run, stop and resume them. They are defined through the Glue face.

    \b
    Examples:
      waterclock workflow list
      waterclock workflow show nightly
      waterclock workflow start nightly --property day=2026-11-15 --follow
      waterclock workflow runs nightly
      waterclock workflow stop nightly wr_…
      waterclock workflow resume nightly wr_… --node load
    """


@workflow.command("list")
@as_json
@connected
def list_workflows(client: Client, as_json: bool) -> None:
    """List all workflows, by name."""
    columns = {
        "NAME": lambda each: each["name"],
        "OWNER": lambda each: each["owner"],
        "LAST RUN": lambda each: each["last_run"] and each["last_run"]["id"],
        "STATE": lambda each: each["last_run"] and each["last_run"]["state"],
        "STARTED": lambda each: each["last_run"] and each["last_run"]["started_at"],
        "DESCRIPTION": lambda each: each["description"],
    }
    print_list(client.items("/workflows"), columns, to_json=as_json)


@workflow.command()
@click.argument("name")
@click.option("--run", "run_id", metavar="ID", help="This run, with the graph that it has.  [default: the last run]")
@as_json
@connected
def show(client: Client, name: str, run_id: str | None, as_json: bool) -> None:
    """Show the workflow NAME level by level, with what became of each job in its last run."""
    found = client.get(path("workflows", name) if run_id is None else path("workflows", name, "runs", run_id))
    if as_json:
        print_json(found)
        return
    last = found.get("last_run") or {}
    facts = {"last_run": last.get("id"), "state": last.get("state")} if run_id is None else {}
    print_one({**{key: value for key, value in found.items() if key not in APART}, **facts}, to_json=False)
    click.echo()
    print_levels(found["levels"], {node["id"]: node for node in nodes_of(last)} if run_id is None else None)


@workflow.command()
@click.argument("name")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")
@as_json
@connected
def runs(client: Client, name: str, limit: int, as_json: bool) -> None:
    """List the runs of the workflow NAME, newest first."""
    columns = {
        "ID": lambda run: run["id"],
        "STATE": lambda run: run["state"],
        "STARTED": lambda run: run["started_at"],
        "ENDED": lambda run: run["ended_at"],
        "NODES": lambda run: run["nodes"],
        "STATES": lambda run: ", ".join(f"{count} {state}" for state, count in run["states"].items()) or None,
        "BY": lambda run: run["trigger"] or run["requested_by"],
        "RESUMES": lambda run: run["previous_run"],
    }
    print_list(client.items(path("workflows", name, "runs"), most=limit), columns, to_json=as_json)


@workflow.command()
@click.argument("name")
@click.option("--property", "properties", type=PAIR, multiple=True, help="Property of this run; repeatable.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Show its progress and wait for its end.")
@as_json
@connected
def start(client: Client, name: str, properties: Sequence[tuple[str, str]], follows: bool, as_json: bool) -> None:
    """Run the workflow NAME, now; prints the run's id.

    With --follow its progress is shown on stderr and the whole of it on stdout when it has ended. The exit code is 0
    when all that ran went well, else 1. Ctrl-C stops the following, not the run.
    """
    started = client.post(path("workflows", name, "start"), {"properties": dict(properties)})
    _told(client, name, started, follows=follows, as_json=as_json)


@workflow.command()
@click.argument("name")
@click.argument("run_id", metavar="ID")
@click.option("--node", "chosen", multiple=True, help="A job, or a node's id; repeatable.  [default: all that failed]")
@click.option("--follow", "-f", "follows", is_flag=True, help="Show its progress and wait for its end.")
@as_json
@connected
def resume(client: Client, name: str, run_id: str, chosen: Sequence[str], follows: bool, as_json: bool) -> None:
    """Take up the run ID of the workflow NAME as a new run; prints the new run's id.

    The chosen nodes run again, and all that follows from them; the rest keeps what it has done.
    """
    ran = nodes_of(client.get(path("workflows", name, "runs", run_id)))
    started = client.post(path("workflows", name, "runs", run_id, "resume"), {"nodes": _chosen(ran, chosen)})
    _told(client, name, started, follows=follows, as_json=as_json)


@workflow.command()
@click.argument("name")
@click.argument("run_id", metavar="ID")
@click.option("--wait/--no-wait", "waits", default=True, help="Wait until nothing of it is left.  [default: wait]")
@as_json
@connected
def stop(client: Client, name: str, run_id: str, waits: bool, as_json: bool) -> None:
    """Stop the run ID of the workflow NAME: nothing of it starts any more, and what runs is killed."""
    found = client.post(path("workflows", name, "runs", run_id, "stop"))
    while waits and found["state"] in LIVE:
        time.sleep(LOOK_SECONDS)
        found = client.get(path("workflows", name, "runs", run_id))
    print_json(found) if as_json else click.echo(f"{run_id} is {found['state']}")


def _chosen(ran: Sequence[dict[str, Any]], wanted: Sequence[str]) -> list[str]:
    """Ids of nodes: those that were named, by id or by job, or all that ran and did not go well."""
    for each in wanted:
        if not any(each in (node["id"], node.get("job")) for node in ran):
            raise Refused(f"{each!r} is neither a job nor a node of this run")
    begun = [node for node in ran if node["state"] is not None and node.get("job") in wanted]
    named = [node for node in ran if node["id"] in wanted]
    found = [node["id"] for node in (begun + named if wanted else unlucky(ran))]
    if not found:
        raise Refused(NOT_RUN if wanted else NOTHING_FAILED)
    return found


def _told(client: Client, name: str, started: dict[str, Any], *, follows: bool, as_json: bool) -> None:
    if not follows:
        print_json(started) if as_json else click.echo(started["id"])
        return
    try:
        ended = follow(client, name, started["id"])
    except KeyboardInterrupt:
        say(f"no longer following; the run goes on. Stop it with: waterclock workflow stop {name} {started['id']}")
        sys.exit(INTERRUPTED)
    print_json(ended) if as_json else print_levels(ended["levels"])
    bad = unlucky(nodes_of(ended))
    if bad or ended["state"] != "COMPLETED":
        told = ", ".join(printable(f"{node['job']} {node['state']}") for node in bad) or "nothing failed"
        say(f"{ended['id']} is {ended['state']}: {told}")
        sys.exit(FAILED)
