"""`waterclock key` and `waterclock token`: what programs and people prove themselves with."""

from collections.abc import Callable
from typing import Any

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.output import as_json, print_json, print_list, say
from waterclock.faces.cli.parameters import MOMENT

of_user = click.option("--user", "user_name", help="Whose.  [default: yours]")
for_group = click.option("--group", help="What is made with it belongs to this group of the user.")


@click.group()
def key() -> None:
    """Access keys, for AWS SDKs and the aws CLI.

    \b
    Examples:
      waterclock key create ann > ann.credentials
      waterclock key create ann --group etl > etl.credentials
      waterclock key list ann
      waterclock key revoke AKWC… --user ann
    """


@key.command("create")
@click.argument("user_name", metavar="[USER]", required=False)
@for_group
@as_json
@connected
def create_key(client: Client, user_name: str | None, group: str | None, as_json: bool) -> None:
    """Make a key and print it, once, in the AWS credentials format."""
    made = client.post(path("users", _whose(client, user_name), "keys"), {"group": group})
    if as_json:
        print_json(made)
    else:
        click.echo(f"[default]\naws_access_key_id = {made['id']}\naws_secret_access_key = {made['secret']}")
    say("the secret is not shown again")


@key.command("list")
@click.argument("user_name", metavar="[USER]", required=False)
@as_json
@connected
def list_keys(client: Client, user_name: str | None, as_json: bool) -> None:
    """List a user's keys, without their secrets."""
    found = client.get(path("users", _whose(client, user_name), "keys"))["items"]
    columns = {"ID": lambda each: each["id"], "GROUP": lambda each: each["group"], **_times()}
    print_list(found, columns, to_json=as_json)


@key.command("revoke")
@click.argument("key_id", metavar="ID")
@of_user
@connected
def revoke_key(client: Client, key_id: str, user_name: str | None) -> None:
    """Revoke a key: within seconds it is refused everywhere."""
    client.delete(path("users", _whose(client, user_name), "keys", key_id))
    click.echo(f"revoked {key_id}")


@click.group()
def token() -> None:
    """Bearer tokens, for this command line and for REST clients.

    \b
    Examples:
      waterclock token create laptop > ~/.config/waterclock/token
      waterclock token create ci --user builder --expires 2027-01-01
      waterclock token list
      waterclock token revoke 3
    """


@token.command("create")
@click.argument("name")
@of_user
@for_group
@click.option("--expires", "expires_at", type=MOMENT, help="When it ends.  [default: never]")
@as_json
@connected
def create_token(client: Client, user_name: str | None, as_json: bool, **body: Any) -> None:
    """Make a token and print it, once; NAME is for telling it from others."""
    made = client.post(path("users", _whose(client, user_name), "tokens"), body)
    print_json(made) if as_json else click.echo(made["token"])
    say("the token is not shown again")


@token.command("list")
@click.argument("user_name", metavar="[USER]", required=False)
@as_json
@connected
def list_tokens(client: Client, user_name: str | None, as_json: bool) -> None:
    """List a user's tokens, without their secrets."""
    found = client.get(path("users", _whose(client, user_name), "tokens"))["items"]
    columns = {"ID": lambda each: each["id"], "NAME": lambda each: each["name"]}
    print_list(found, {**columns, "GROUP": lambda each: each["group"], **_times()}, to_json=as_json)


@token.command("revoke")
@click.argument("token_id", metavar="ID")
@of_user
@connected
def revoke_token(client: Client, token_id: str, user_name: str | None) -> None:
    """Revoke a token: within seconds it is refused everywhere."""
    client.delete(path("users", _whose(client, user_name), "tokens", token_id))
    click.echo(f"revoked {token_id}")


def _whose(client: Client, user_name: str | None) -> str:
    return user_name or str(client.get("/me")["name"])


def _times() -> dict[str, Callable[[Any], object]]:
    return {
        "CREATED": lambda each: each["created_at"],
        "EXPIRES": lambda each: each["expires_at"],
        "REVOKED": lambda each: each["revoked_at"],
    }
