"""`waterclock user`: who may do what."""

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.output import as_json, print_list

ROLE = click.Choice(["viewer", "operator", "author", "admin", "worker"])


@click.group()
def user() -> None:
    """Decide who may do what (admins only).

    viewer: look; operator: run and stop, too; author: define, too; admin: all, and users. worker is for no person: with
    its token `waterclock worker --server` runs what others define, and does nothing else.

    \b
    Examples:
      waterclock user add ann --role author
      waterclock key create ann
      waterclock user role ann viewer
      waterclock user add rack-7 --role worker
    """


@user.command()
@click.argument("name")
@click.option("--role", type=ROLE, default="viewer", show_default=True, help="What they may do.")
@connected
def add(client: Client, name: str, role: str) -> None:
    """Make the user NAME; give them a key or a token next."""
    client.post("/users", {"name": name, "role": role})
    click.echo(
        f"made {name}, {role}; next: waterclock key create {name}, or waterclock token create --user {name} NAME"
    )


@user.command("list")
@as_json
@connected
def list_users(client: Client, as_json: bool) -> None:
    """List all users."""
    columns = {"NAME": lambda user: user["name"], "ROLE": lambda user: user["role"]}
    print_list(client.get("/users")["items"], columns, to_json=as_json)


@user.command()
@click.argument("name")
@click.argument("role", type=ROLE)
@connected
def role(client: Client, name: str, role: str) -> None:
    """Give the user NAME another ROLE."""
    client.put(path("users", name), {"role": role})
    click.echo(f"{name} is {role}")


@user.command()
@click.argument("name")
@connected
def delete(client: Client, name: str) -> None:
    """Delete the user NAME and revoke all that spoke for them; their jobs stay."""
    client.delete(path("users", name))
    click.echo(f"deleted {name}")
