"""`waterclock lake table`: names that queries know, and where their rows lie."""

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.lake.calling import at, listed
from waterclock.faces.cli.output import as_json, print_list, print_one


@click.group()
def table() -> None:
    """Name files as tables: then `select * from orders` finds them.

    \b
    Examples:
      waterclock lake table create orders --format parquet --path file:///data/orders
      waterclock lake table create people --format csv --path s3://lake/people
      waterclock lake table list
    """


@table.command()
@click.argument("name")
@click.option(
    "--format", "form", type=click.Choice(["parquet", "csv", "json", "delta"]), required=True, help="Of its files."
)
@click.option("--path", required=True, help="A file or a folder: file://, hdfs:// or s3://.")
@as_json
@connected
def create(client: Client, name: str, form: str, path: str, as_json: bool) -> None:
    """Make the table NAME.

    \b
    Example:
      waterclock lake table create orders --format parquet --path file:///data/orders
    """
    body = {"name": name, "format": form, "path": path}
    made = client.post(at(client, "table", "create"), body)["table"]
    print_one(made, to_json=True) if as_json else click.echo(f"created table {name}")


@table.command("list")
@click.option("--keyword", help="Only those whose name holds this.")
@as_json
@connected
def list_tables(client: Client, keyword: str | None, as_json: bool) -> None:
    """List all tables, by name.

    \b
    Example:
      waterclock lake table list --json
    """
    columns = {
        "NAME": lambda table: table["name"],
        "FORMAT": lambda table: table["format"],
        "PATH": lambda table: table["path"],
    }
    print_list(listed(client, "table", keyword=keyword), columns, to_json=as_json)


@table.command()
@click.argument("name")
@connected
def delete(client: Client, name: str) -> None:
    """Forget the table NAME; its files stay.

    \b
    Example:
      waterclock lake table delete orders
    """
    client.delete(at(client, "table", name))
    click.echo(f"deleted table {name}; its files stay")
