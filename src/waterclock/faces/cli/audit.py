"""`waterclock audit`: who called what."""

from typing import Any, Final

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.output import Columns, as_json, print_list
from waterclock.faces.cli.parameters import MOMENT

COLUMNS: Final[Columns] = {
    "AT": lambda entry: entry["at"],
    "USER": lambda entry: entry["user"] or None,
    "ADDRESS": lambda entry: entry["address"],
    "ACTION": lambda entry: entry["action"] or None,
    "RESOURCE": lambda entry: entry["resource"] or None,
    "STATUS": lambda entry: entry["status"],
    "ERROR": lambda entry: entry["error"],
    "MS": lambda entry: entry["ms"],
}


@click.command()
@click.option("--user", help="Only this user's calls.")
@click.option("--action", help="Only this action: GetJobRun, or POST /api/v1/jobs.")
@click.option("--resource", help="Only about this: a job with its runs, a trigger, …")
@click.option("--since", type=MOMENT, help="From then on.")
@click.option("--until", type=MOMENT, help="Before then.")
@click.option("--unknown", is_flag=True, help="Calls of nobody we know: refused keys and tokens.")
@click.option("-n", "most", type=click.IntRange(1), default=100, show_default=True, help="How many, the newest first.")
@as_json
@connected
def audit(client: Client, most: int, unknown: bool, as_json: bool, **query: Any) -> None:
    """Show who called what, from where, and what became of it (admins only).

    \b
    Examples:
      waterclock audit --user ann --since 2026-11-15
      waterclock audit --action DeleteJob --json
      waterclock audit --resource nightly
    """
    found = client.items("/audit", most=most, unknown="true" if unknown else None, **query)
    print_list(found, COLUMNS, to_json=as_json)
