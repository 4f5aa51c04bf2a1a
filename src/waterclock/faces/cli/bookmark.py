"""`waterclock job bookmark`: how far a job got."""

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.content import STDIN, from_file, read_content
from waterclock.faces.cli.output import as_json, print_one
from waterclock.faces.cli.parameters import namespace


@click.group()
def bookmark() -> None:
    """Look at a job's bookmark, set it, or begin anew.

    \b
    Examples:
      waterclock job bookmark show load
      echo '{"day": "2026-11-14"}' | waterclock job bookmark set load
      waterclock job bookmark reset load
    """


@bookmark.command()
@click.argument("name")
@namespace
@as_json
@connected
def show(client: Client, name: str, namespace: str, as_json: bool) -> None:
    """Show the bookmark of the job NAME, and which run left it."""
    print_one(client.get(path("jobs", name, "bookmark"), namespace=namespace), to_json=as_json)


@bookmark.command("set")
@click.argument("name")
@from_file
@namespace
@as_json
@connected
def set_bookmark(client: Client, name: str, from_file: str | None, namespace: str, as_json: bool) -> None:
    """Give the job NAME this bookmark, read from standard input or a file: its next run is given it."""
    body = {"content": read_content(from_file or STDIN)}
    print_one(client.put(path("jobs", name, "bookmark"), body, namespace=namespace), to_json=as_json)


@bookmark.command()
@click.argument("name")
@namespace
@as_json
@connected
def reset(client: Client, name: str, namespace: str, as_json: bool) -> None:
    """Forget the bookmark of the job NAME: its next run begins from nothing."""
    print_one(client.delete(path("jobs", name, "bookmark"), namespace=namespace), to_json=as_json)
