"""`waterclock quota`: the most that users may have."""

import click

from waterclock.domain.quota import QuotaKind
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.output import as_json, print_list

KIND = click.argument("kind", type=click.Choice([kind.value for kind in QuotaKind]))
USER = click.option("--user", "user_name", help="A user or group; without it, everybody who has no line of their own.")


@click.group()
def quota() -> None:
    """Say how much users may have (admins only).

    What there is already stays; the next one too many is refused.

    \b
    Examples:
      waterclock quota set live_runs 20
      waterclock quota set live_runs 100 --user etl
      waterclock quota set jobs 500 --user ann
      waterclock quota remove jobs --user ann
    """


@quota.command("list")
@as_json
@connected
def list_quotas(client: Client, as_json: bool) -> None:
    """List all quotas, with how many there are now."""
    columns = {
        "KIND": lambda line: line["kind"],
        "USER": lambda line: line["user"] or "(everybody else)",
        "MOST": lambda line: line["most"],
        "USED": lambda line: line["used"],
    }
    print_list(client.get("/quotas")["items"], columns, to_json=as_json)


@quota.command("set")
@KIND
@click.argument("most", type=click.IntRange(min=0))
@USER
@connected
def set_quota(client: Client, kind: str, most: int, user_name: str | None) -> None:
    """Let users have MOST of KIND."""
    client.put(_path(kind, user_name), {"most": most})
    click.echo(f"{kind}: {most} for {user_name or 'everybody else'}")


@quota.command()
@KIND
@USER
@connected
def remove(client: Client, kind: str, user_name: str | None) -> None:
    """Remove the quota of KIND."""
    client.delete(_path(kind, user_name))
    click.echo(f"{kind}: no quota for {user_name or 'everybody else'}")


def _path(kind: str, user_name: str | None) -> str:
    return path("quotas", kind) if user_name is None else path("quotas", kind, user_name)
