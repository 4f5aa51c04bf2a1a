"""`waterclock lake source test|preview|tables`: a source asked by a worker, which is what will read it."""

from typing import Any

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.lake.calling import at
from waterclock.faces.cli.lake.source_options import Config, put_values, source_id
from waterclock.faces.cli.output import as_json, print_json, print_list, printable, say
from waterclock.faces.cli.parameters import PAIR

named = click.argument("source", metavar="SOURCE")


@click.command()
@named
@as_json
@connected
def test(client: Client, source: str, as_json: bool) -> None:
    """Try whether a worker can reach SOURCE and log in there.

    \b
    Example:
      waterclock lake source test shop
    """
    answer = client.post(at(client, "source", source_id(client, source), "test"))
    print_json(answer) if as_json else click.echo(printable(answer["message"]))


@click.command()
@named
@as_json
@connected
def tables(client: Client, source: str, as_json: bool) -> None:
    """List what SOURCE has to read: tables, files, endpoints.

    \b
    Example:
      waterclock lake source tables shop
    """
    answer = client.get(at(client, "source", source_id(client, source), "tables"))
    if as_json:
        print_json(answer["tables"])
        return
    for name in answer["tables"]:
        click.echo(printable(name))
    if answer.get("cut"):
        say(f"these are {len(answer['tables'])} of {answer['total']}")


@click.command()
@named
@click.option("--table", "table_name", help="Of a database.")
@click.option("--query", help="Of a database, instead of a table.")
@click.option("--path", help="Of files: a name, or a pattern such as 2026/*.csv.")
@click.option("--format", help="Of files: csv, json, parquet or excel.  [default: by their names]")
@click.option("--endpoint", help="Of a service, such as /orders.")
@click.option("--set", "others", type=PAIR, multiple=True, help="Any other field of a sync job; repeatable.")
@click.option("-n", "--limit", type=click.IntRange(1, 100), help="How many rows.  [default: 20]")
@as_json
@connected
def preview(client: Client, source: str, others: tuple[tuple[str, str], ...], as_json: bool, **given: Any) -> None:
    """Show the first rows of SOURCE and the types of their columns.

    \b
    Examples:
      waterclock lake source preview shop --table orders -n 5
      waterclock lake source preview files --path 'orders/*.csv' --set options.separator=';'
      waterclock lake source preview crm --endpoint /people --set records=data.items
    """
    body: Config = {name: value for name, value in given.items() if value is not None}
    put_values(body, others)
    answer = client.post(at(client, "source", source_id(client, source), "preview"), body)
    if as_json:
        print_json(answer)
        return
    columns = {
        f"{printable(column['name'])} ({column['type']})": lambda row, place=place: row[place]
        for place, column in enumerate(answer["columns"])
    }
    print_list(answer["rows"], columns, to_json=False)
