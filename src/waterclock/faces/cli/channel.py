"""`waterclock channel`: where operators are told of messages."""

import sys
from typing import Any, Final

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.content import STDIN, from_file, read_content
from waterclock.faces.cli.failure import Failure, Refused
from waterclock.faces.cli.output import Columns, as_json, print_list, print_one

COLUMNS: Final[Columns] = {
    "NAME": lambda channel: channel["name"],
    "ON": lambda channel: channel["on"],
    "URL": lambda channel: channel["url"],
    "TAGS": lambda channel: ", ".join(channel["tags"]) or "important",
    "KINDS": lambda channel: ", ".join(channel["kinds"]) or "all",
    "SENT": lambda channel: channel["last_sent_at"],
    "FAILED": lambda channel: channel["last_failed_at"],
    "ERROR": lambda channel: channel["last_error"],
}


@click.group()
def channel() -> None:
    """Tell operators of messages: by mail, webhook, Slack and more.

    \b
    Examples:
      waterclock channel add ops                            asks for the address
      printf 'jsons://hooks.firm.example/T0/B1' | waterclock channel add hook --kind chain_failed --tag '*'
      waterclock channel test ops
      waterclock channel list
    """


@channel.command()
@click.argument("name")
@click.option("--url", help="The address; better asked for or read from a file: a command line is seen by others.")
@from_file
@click.option("--tag", "tags", multiple=True, help="Only of chains with this tag; repeatable, * is any.  [important]")
@click.option("--kind", "kinds", multiple=True, help="Only messages of this kind; repeatable.  [default: all]")
@click.option("--severity", "severities", multiple=True, help="Only these; repeatable.  [default: all]")
@click.option("--off", is_flag=True, help="Do not send anything through it yet.")
@as_json
@connected
def add(
    client: Client, name: str, url: str | None, from_file: str | None, off: bool, as_json: bool, **rules: Any
) -> None:
    """Define the channel NAME.

    Without --url and --from-file you are asked for the address, or it is read from standard input. Addresses are
    apprise's: mailto://user:password@host?to=ops@firm, slack://…, jsons://host/path (a webhook); see
    docs/notifications.md.
    """
    given = {rule: list(values) for rule, values in rules.items() if values}
    body = {"name": name, "url": _address(name, url, from_file), "on": not off, **given}
    print_one(client.post("/channels", body), to_json=as_json)


@channel.command("list")
@as_json
@connected
def list_channels(client: Client, as_json: bool) -> None:
    """List all channels, by name, and how they fare."""
    print_list(client.items("/channels"), COLUMNS, to_json=as_json)


@channel.command()
@click.argument("name")
@as_json
@connected
def show(client: Client, name: str, as_json: bool) -> None:
    """Show the channel NAME."""
    print_one(client.get(path("channels", name)), to_json=as_json)


@channel.command()
@click.argument("name")
@connected
def rm(client: Client, name: str) -> None:
    """Remove the channel NAME: what is on its way through it is not sent any more."""
    client.delete(path("channels", name))
    click.echo(f"removed {name}")


@channel.command()
@click.argument("name")
@connected
def on(client: Client, name: str) -> None:
    """Send messages through the channel NAME from now on."""
    client.put(path("channels", name), {"on": True})
    click.echo(f"{name} is on")


@channel.command()
@click.argument("name")
@connected
def off(client: Client, name: str) -> None:
    """Send nothing through the channel NAME from now on."""
    client.put(path("channels", name), {"on": False})
    click.echo(f"{name} is off")


@channel.command()
@click.argument("name")
@connected
def test(client: Client, name: str) -> None:
    """Send a notice through the channel NAME now, and say whether it was taken on."""
    answer = client.post(path("channels", name, "test"))
    if not answer["sent"]:
        raise Failure(f"{name}: {answer['error']}")
    click.echo(f"sent through {name}")


def _address(name: str, url: str | None, source: str | None) -> str:
    if url is not None and source is not None:
        raise Refused("give --url or --from-file, not both")
    if url is not None:
        return url
    if source is None and sys.stdin.isatty():
        return str(click.prompt(f"Address of {name}", hide_input=True))
    return read_content(source or STDIN).strip()
