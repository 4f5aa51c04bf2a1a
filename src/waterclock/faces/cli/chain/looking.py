"""`waterclock chain list|show|history|probes`: chains, their runs and the evidence of their gates."""

from collections.abc import Mapping
from typing import Any, Final

import click

from waterclock.faces.cli.chain.finding import find, on_chains
from waterclock.faces.cli.chain.live import VERDICTS, title_of
from waterclock.faces.cli.chain.words import span
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.output import Columns, as_json, print_json, print_list, print_one, printable

APART: Final = ("deps", "jobs", "last_run")  # of what is shown in lines of its own
GATES: Final[Columns] = {
    "GATE": lambda gate: gate["id"],
    "DESC": lambda gate: gate["desc"],
    "COMMAND": lambda gate: gate["command"],
    "ENV": lambda gate: gate["env"],
    "OTTIME": lambda gate: f"{gate['ottime']:g} min",
    "USUALLY PASSES": lambda gate: gate["usual_pass"],
}
STEPS: Final[Columns] = {
    "LEVEL": lambda step: step["step_lvl"],
    "STEP": lambda step: step["id"],
    "JOB_DESC": lambda step: step["job_desc"],
    "COMMAND": lambda step: step["command"],
    "ENV": lambda step: step["env"],
    "OTTIME": lambda step: f"{step['ottime']:g} min",
    "USUALLY": lambda step: None if step["usual_seconds"] is None else span(step["usual_seconds"]),
}
RUNS: Final[Columns] = {
    "RUN": lambda run: run["run_id"],
    "STATUS": lambda run: run["status"],
    "DUE": lambda run: run["fire_at"],
    "STARTED": lambda run: run["started_at"],
    "GATES PASSED": lambda run: run["dep_pass_ts"],
    "ENDED": lambda run: run["ended_at"],
    "ROLE": lambda run: run["role"],
    "BY": lambda run: run["requested_by"],
    "MESSAGE": lambda run: _first_line(run["message"]),
}
PROBES: Final[Columns] = {
    "GATE": lambda probe: probe["gate"],
    "PROBE": lambda probe: probe["number"],
    "AT": lambda probe: probe["at"],
    "ENDED": lambda probe: probe["ended_at"],
    "VERDICT": lambda probe: VERDICTS.get(probe["verdict"], probe["verdict"]) if probe["ended_at"] else "probing",
    "EXIT": lambda probe: probe["exit_code"] if probe["signal"] is None else f"signal {probe['signal']}",
    "OUTPUT": lambda probe: _first_line(probe["output"]),
    "MESSAGE": lambda probe: _first_line(probe["message"]),
}
LONGEST: Final = 60


@click.command("list")
@click.option("--tag", help="Only those with this tag.")
@click.option("--on/--off", "is_on", default=None, help="Only those whose switch is so.")
@as_json
@on_chains
def list_chains(client: Client, tag: str | None, is_on: bool | None, as_json: bool) -> None:
    """List chains, by their numbers, each with its next fire and its last run.

    \b
    Example:
      waterclock chain list --tag important --on
    """
    columns = {
        "ID": lambda chain: chain["id"],
        "JOB_DESC": lambda chain: chain["job_desc"],
        "SWITCH": lambda chain: chain["switch"],
        "TIMESTR": lambda chain: chain["timestr"],
        "NEXT": lambda chain: chain["problem"] or chain["next_fire_at"],
        "TAG": lambda chain: "/".join(filter(None, (chain["tag"], chain["subtag"]))) or None,
        "STEPS": lambda chain: chain["total_stpes"],
        "LAST RUN": lambda chain: chain["last_run"] and chain["last_run"]["run_id"],
        "STATUS": lambda chain: chain["last_run"] and chain["last_run"]["status"],
        "STARTED": lambda chain: chain["last_run"] and chain["last_run"]["started_at"],
    }
    switch = None if is_on is None else "ON" if is_on else "OFF"
    print_list(client.items("/chains", tag=tag, switch=switch), columns, to_json=as_json)


@click.command()
@click.argument("chain_id", metavar="ID")
@as_json
@on_chains
def show(client: Client, chain_id: str, as_json: bool) -> None:
    """Show the chain ID: its fields, its gates and steps with what is usual of them, and its last run.

    \b
    Example:
      waterclock chain show 'nightly load'
    """
    found = client.get(path("chains", str(find(client, chain_id)["id"])))
    if as_json:
        print_json(found)
        return
    print_one({name: value for name, value in found.items() if name not in APART}, to_json=False)
    for parts, columns in ((found["deps"], GATES), (found["jobs"], STEPS)):
        _print_under(parts, columns)
    _print_under([found["last_run"]] if found["last_run"] else [], RUNS)


@click.command()
@click.argument("chain_id", metavar="ID")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")
@as_json
@on_chains
def history(client: Client, chain_id: str, limit: int, as_json: bool) -> None:
    """List the runs of the chain ID, newest first.

    \b
    Example:
      waterclock chain history 'nightly load' -n 5
    """
    number = str(find(client, chain_id)["id"])
    print_list(client.items(path("chains", number, "runs"), most=limit), RUNS, to_json=as_json)


@click.command()
@click.argument("run_id", metavar="RUN_ID", type=click.IntRange(1))
@click.option("--output", "whole", is_flag=True, help="Also all that each probe printed.")
@as_json
@on_chains
def probes(client: Client, run_id: int, whole: bool, as_json: bool) -> None:
    """Show every probe of the gates of the run RUN_ID: when, how it ended, what it printed.

    \b
    Example:
      waterclock chain probes 42 --output
    """
    gates = client.get(path("chains", "runs", str(run_id)))["deps"]
    found = [{**probe, "gate": title_of(gate)} for gate in gates for probe in gate["probes"]]
    if as_json or not whole:
        print_list(found, PROBES, to_json=as_json)
        return
    for probe in found:
        print_list([probe], PROBES, to_json=False)
        for line in (probe["output"] or "").splitlines():
            click.echo(f"  {printable(line)}")


def _print_under(items: list[Mapping[str, Any]], columns: Columns) -> None:
    if items:
        click.echo()
        print_list(items, columns, to_json=False)


def _first_line(text: str | None) -> str | None:
    lines = (text or "").strip().splitlines()
    if not lines:
        return None
    return lines[0] if len(lines) == 1 and len(lines[0]) <= LONGEST else f"{lines[0][:LONGEST]}…"
