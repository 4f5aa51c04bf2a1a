"""`waterclock lake source`: where syncs read from; secrets come from files or standard input, never as an argument."""

from typing import Any, Final

import click

from waterclock.domain.lake_sync import SourceKind
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.lake.calling import at, listed, when
from waterclock.faces.cli.lake.source_options import configured, source_config, source_id, with_changes
from waterclock.faces.cli.lazy import LazyGroup
from waterclock.faces.cli.output import Columns, as_json, print_json, print_list, print_one

_ASKING: Final = "waterclock.faces.cli.lake.asking"
COLUMNS: Final[Columns] = {
    "ID": lambda source: source["source_id"],
    "NAME": lambda source: source["name"],
    "KIND": lambda source: source["kind"],
    "OWNER": lambda source: source["owner"],
    "UPDATED": lambda source: when(source["updated_time"]),
}
SENT: Final = ("name", "kind", "config")

named = click.argument("source", metavar="SOURCE")


@click.group(cls=LazyGroup, lazy={name: f"{_ASKING}:{name}" for name in ("test", "preview", "tables")})
def source() -> None:
    """Databases, services and files that syncs read from. A source is named by its name or its number.

    \b
    Examples:
      waterclock lake source create shop --kind postgresql --host db --database shop --user reader --password-file pw
      waterclock lake source test shop
      waterclock lake source tables shop
      waterclock lake source preview shop --table orders
    """


@source.command()
@click.argument("name")
@click.option("--kind", type=click.Choice([kind.value for kind in SourceKind]), required=True, help="What it is.")
@configured
@as_json
@connected
def create(client: Client, name: str, kind: str, as_json: bool, **given: Any) -> None:
    """Make the source NAME; prints its number.

    Fields without an option of their own are given by --set: `--set options.sslmode=require`. A secret is given by
    --secret-file, or as {{secret:NAME}} (see waterclock secret); it is kept encrypted, and shown to nobody.

    \b
    Examples:
      waterclock lake source create shop --kind postgresql --host db --database shop --user reader --password-file pw
      waterclock lake source create crm --kind rest --base-url https://crm.example.com/api --set auth.type=bearer \\
        --secret-file auth.token=token.txt
      waterclock lake source create files --kind s3 --bucket exports --access-key AK --secret-file secret_key=-
    """
    body = {"name": name, "kind": kind, "config": source_config(given)}
    made = client.post(at(client, "source", "create"), body)["source"]
    print_json(made) if as_json else click.echo(made["source_id"])


@source.command("list")
@click.option("--keyword", help="Only those whose name holds this.")
@as_json
@connected
def list_sources(client: Client, keyword: str | None, as_json: bool) -> None:
    """List all sources, by name.

    \b
    Example:
      waterclock lake source list --json
    """
    print_list(listed(client, "source", keyword=keyword), COLUMNS, to_json=as_json)


@source.command()
@named
@as_json
@connected
def show(client: Client, source: str, as_json: bool) -> None:
    """Show SOURCE, without its secrets.

    \b
    Example:
      waterclock lake source show shop
    """
    found = client.get(at(client, "source", source_id(client, source)))["source"]
    times = {name: when(found[name]) for name in ("created_time", "updated_time")}
    print_one(found if as_json else {**found, **times}, to_json=as_json)


@source.command()
@named
@click.option("--name", help="Its new name.")
@click.option("--unset", multiple=True, metavar="FIELD", help="Take this field away; repeatable.")
@configured
@connected
def update(client: Client, source: str, name: str | None, unset: tuple[str, ...], **given: Any) -> None:
    """Change SOURCE: what is not given stays as it is, its secrets, too.

    \b
    Examples:
      waterclock lake source update shop --host db2
      waterclock lake source update shop --password-file pw --unset options.sslmode
    """
    path = at(client, "source", source_id(client, source))
    found = client.get(path)["source"]
    changed = {**found, "config": with_changes(found["config"], source_config(given), unset)}
    client.put(path, {field: changed[field] for field in SENT} | ({"name": name} if name else {}))
    click.echo(f"updated source {source}")


@source.command()
@named
@connected
def delete(client: Client, source: str) -> None:
    """Delete SOURCE and the secrets that were made for it. Refused while a job names it.

    \b
    Example:
      waterclock lake source delete shop
    """
    client.delete(at(client, "source", source_id(client, source)))
    click.echo(f"deleted source {source}")
