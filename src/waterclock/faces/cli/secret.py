"""`waterclock secret`: what programs are given and nobody is shown."""

import sys

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.content import STDIN, from_file, read_content
from waterclock.faces.cli.output import as_json, print_list, print_one, say


@click.group()
def secret() -> None:
    """Keep secrets: encrypted, given to programs by name, masked in their logs.

    \b
    Examples:
      waterclock secret set warehouse                       asks for it
      waterclock secret set crm --from-file crm.key
      waterclock job update load --arg secret-env=DB_PASSWORD=warehouse,API_KEY=crm
      waterclock secret list
    """


@secret.command("set")
@click.argument("name")
@from_file
@click.option("--description", help="What it is for.")
@as_json
@connected
def set_secret(client: Client, name: str, from_file: str | None, description: str | None, as_json: bool) -> None:
    """Set the secret NAME, or give it a new value.

    Without --from-file you are asked for it, or it is read from standard input. There the end of the last line is not
    part of it; a file is taken as it is.
    """
    body = {"value": _value(name, from_file), "description": description}
    print_one(client.put(path("secrets", name), body), to_json=as_json)


@secret.command("list")
@as_json
@connected
def list_secrets(client: Client, as_json: bool) -> None:
    """List all secrets, without their values."""
    columns = {
        "NAME": lambda secret: secret["name"],
        "VERSION": lambda secret: secret["version"],
        "OWNER": lambda secret: secret["owner"],
        "UPDATED": lambda secret: secret["updated_at"],
        "BY": lambda secret: secret["updated_by"],
        "DESCRIPTION": lambda secret: secret["description"],
    }
    print_list(client.items("/secrets"), columns, to_json=as_json)


@secret.command()
@click.argument("name")
@connected
def delete(client: Client, name: str) -> None:
    """Delete the secret NAME: runs that refer to it fail from now on. Old logs stay masked."""
    client.delete(path("secrets", name))
    click.echo(f"deleted {name}")


@secret.command()
@as_json
@connected
def rotate(client: Client, as_json: bool) -> None:
    """Make a new key and seal all secrets and access keys with it again (admins only)."""
    done = client.post("/secret-key")
    print_one(done, to_json=as_json)
    if done["unreadable"]:
        say(f"{done['unreadable']} could not be opened: their key is not in the server's key file")


def _value(name: str, source: str | None) -> str:
    if source is None and sys.stdin.isatty():
        return str(click.prompt(f"Value of {name}", hide_input=True, confirmation_prompt=True))
    given = read_content(source or STDIN)
    return given.removesuffix("\n").removesuffix("\r") if source in (None, STDIN) else given
