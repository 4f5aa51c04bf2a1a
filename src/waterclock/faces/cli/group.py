"""`waterclock group`: users who own things together."""

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.output import as_json, print_list


@click.group()
def group() -> None:
    """Let users own things together (admins only).

    What is made with a key or token of a group belongs to the group; each member may change it, with any key.

    \b
    Examples:
      waterclock group create etl
      waterclock group add etl ann
      waterclock key create ann --group etl > etl.credentials
      waterclock group remove etl ann
    """


@group.command("list")
@as_json
@connected
def list_groups(client: Client, as_json: bool) -> None:
    """List all groups with their members."""
    columns = {"NAME": lambda group: group["name"], "MEMBERS": lambda group: ", ".join(group["members"]) or None}
    print_list(client.get("/groups")["items"], columns, to_json=as_json)


@group.command()
@click.argument("name")
@connected
def create(client: Client, name: str) -> None:
    """Make the group NAME; no user may have that name."""
    client.post("/groups", {"name": name})
    click.echo(f"made {name}; next: waterclock group add {name} USER")


@group.command()
@click.argument("name")
@connected
def delete(client: Client, name: str) -> None:
    """Delete the group NAME, which must own nothing any more, and revoke all that spoke for it."""
    client.delete(path("groups", name))
    click.echo(f"deleted {name}")


@group.command()
@click.argument("name")
@click.argument("user_name", metavar="USER")
@connected
def add(client: Client, name: str, user_name: str) -> None:
    """Make USER a member of the group NAME."""
    client.put(path("groups", name, "members", user_name), None)
    click.echo(f"{user_name} is in {name}")


@group.command()
@click.argument("name")
@click.argument("user_name", metavar="USER")
@connected
def remove(client: Client, name: str, user_name: str) -> None:
    """Take USER out of the group NAME and revoke their keys and tokens for it."""
    client.delete(path("groups", name, "members", user_name))
    click.echo(f"{user_name} is not in {name} any more")
