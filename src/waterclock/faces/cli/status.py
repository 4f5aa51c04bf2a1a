"""`waterclock status`: is it up, who serves it, how much is waiting."""

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.output import as_json, print_json, print_list

COLUMNS = {
    "NODE": lambda node: node["name"],
    "DUTIES": lambda node: ", ".join(node["duties"]),
    "ROLE": lambda node: node["role"] or None,
    "SLOTS": lambda node: node["slots"] or None,
    "PID": lambda node: node["pid"],
    "VERSION": lambda node: node["version"],
    "SKEW": lambda node: f"{node['skew_seconds']:+.3f} s",
    "HEARTBEAT": lambda node: node["heartbeat_at"],
}


@click.command()
@as_json
@connected
def status(client: Client, as_json: bool) -> None:
    """Show the server's version and store, its nodes, and how many runs wait, start and run."""
    found = client.get("/status")
    if as_json:
        print_json(found)
        return
    click.echo(f"{client.server}: waterclock {found['version']} on {found['store']}, {found['now']}")
    counts = ", ".join(f"{count} {state}" for state, count in sorted(found["queues"].items()))
    click.echo(f"runs: {counts or 'none live'}")
    print_list(found["nodes"], COLUMNS, to_json=False)
