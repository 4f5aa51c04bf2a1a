"""`waterclock chain on|off|rm`: whether chains fire by themselves, and whether there are any."""

import sys
from collections.abc import Sequence

import click

from waterclock.faces.cli.chain.finding import find, find_all, on_chains, title_of
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.failure import Refused


@click.command()
@click.argument("chain_ids", metavar="ID...", nargs=-1, required=True)
@on_chains
def on(client: Client, chain_ids: Sequence[str]) -> None:
    """Switch chains ON: they fire by their timestr.

    \b
    Example:
      waterclock chain on 12 'nightly load'
    """
    _switch(client, chain_ids, "ON")


@click.command()
@click.argument("chain_ids", metavar="ID...", nargs=-1, required=True)
@on_chains
def off(client: Client, chain_ids: Sequence[str]) -> None:
    """Switch chains OFF: they run only by hand. What runs goes on: see `waterclock chain stop`.

    \b
    Example:
      waterclock chain off 12 'nightly load'
    """
    _switch(client, chain_ids, "OFF")


@click.command()
@click.argument("chain_id", metavar="ID")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@on_chains
def rm(client: Client, chain_id: str, is_sure: bool) -> None:
    """Delete the chain ID, after asking; its runs and messages stay. Refused while a run of it lives.

    \b
    Example:
      waterclock chain rm 'nightly load' --yes
    """
    chain = find(client, chain_id)
    if not is_sure and not _confirmed(f"Delete {title_of(chain)}?"):
        click.echo("nothing was deleted")
        return
    client.delete(path("chains", str(chain["id"])))
    click.echo(f"deleted {title_of(chain)}")


def _switch(client: Client, chain_ids: Sequence[str], switch: str) -> None:
    for chain in find_all(client, chain_ids):
        found = client.put(path("chains", str(chain["id"]), "switch"), {"switch": switch})
        then = f", next at {found['next_fire_at']}" if found["next_fire_at"] else ""
        alone = ", but has neither main_flag nor BKP_flag: it runs only by hand" if _is_idle(found) else ""
        click.echo(f"{title_of(found)} is {found['switch']}{then}{alone}")


def _is_idle(chain: dict[str, object]) -> bool:
    return chain["switch"] == "ON" and not chain["main_flag"] and not chain["BKP_flag"]


def _confirmed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise Refused("nobody can be asked here: give --yes")
    return click.confirm(question)
