"""`waterclock lake sync`: a table, files or the records of a service into the lake, in one line."""

import json
from collections.abc import Sequence
from typing import Any, Final

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.lake.calling import Found, at
from waterclock.faces.cli.lake.jobs import print_made
from waterclock.faces.cli.lake.making import common, job_of, one_of_two, taken
from waterclock.faces.cli.lake.outputs import OTHERS, PLACES, output_of
from waterclock.faces.cli.lake.running import follow_run
from waterclock.faces.cli.output import print_json

ALL: Final = "*"
CLASSES: Final = {
    **dict.fromkeys(("tables", "query"), "sync_db_job"),
    "endpoint": "sync_service_job",
    **dict.fromkeys(("path", "spreadsheet_id"), "sync_file_job"),
}
STORES: Final = {"clickhouse": "Clickhouse", "hadoop": "Hadoop"}


@click.command()
@click.argument("name")
@click.option("--source", required=True, help="Where the rows come from: a name or number of `lake source list`.")
@click.option("--table", "tables", multiple=True, help="Of a database; repeatable, each its own job; '*': all of them.")
@click.option("--query", help="Of a database, in place of a table.")
@click.option("--query-file", metavar="FILE", help="A file with it; -: standard input.")
@click.option("--endpoint", help="Of a service, such as /v1/orders.")
@click.option("--records", metavar="PATH", help="Of a service: where in a page they are, such as $.data[*].")
@click.option("--path", help="Of files: one, or many by * and **.")
@click.option("--format", "format", help="Of files: csv, json, parquet, excel.  [default: by their names]")
@click.option("--spreadsheet", "spreadsheet_id", metavar="ID", help="Of Google Sheets.")
@click.option("--sheet", help="Of a spreadsheet.")
@click.option("--to", "places", multiple=True, help=f"Where the rows go: {PLACES}, clickhouse, hadoop, {OTHERS}")
@click.option("--database", "dest_database_name", help="Of --to clickhouse and --to hadoop.")
@click.option("--into", "dest_table_name", metavar="TABLE", help="Of --to clickhouse and --to hadoop.")
@click.option("--incremental", "incremental_column", metavar="COLUMN", help="Read only what has grown in this column.")
@click.option("--new-files", is_flag=True, help="Read only files that are new or have changed.")
@click.option("--since", "last_synced_value", metavar="VALUE", help="Where the first run of --incremental begins.")
@click.option("--key", "key_columns", multiple=True, help="A row takes the place of the one with this key; repeatable.")
@click.option("--on-bad-line", type=click.Choice(["fail", "skip"]), help="What becomes of a line that is none.")
@click.option("--set", "others", metavar="FIELD=JSON", multiple=True, help="Any other field of the job; repeatable.")
@click.option("--follow", "-f", "follows", is_flag=True, help="Run it at once, show how far it is, wait for its end.")
@common
def sync(client: Client, name: str, follows: bool, places: tuple[str, ...], **given: Any) -> None:
    """Make the sync NAME; prints the number of the job, or of each of them.

    All rows are read and take the place of those that were there, unless --incremental or --new-files is given.

    \b
    Examples:
      waterclock lake sync orders --source shop --table orders --to parquet:file:///data/orders --follow
      waterclock lake sync orders --source shop --table orders --to clickhouse:shop.orders --incremental id --every 10m
      waterclock lake sync shop --source shop --table '*' --to 'parquet:s3://lake/shop/{table}' --cron '0 6 * * *'
      waterclock lake sync users --source crm --endpoint /users --records '$.data[*]' --to postgresql:dwh:users
      waterclock lake sync sales --source bucket --path 'sales/*.csv' --new-files --to duckdb:/data/lake.db:sales
    """
    tables, task = _read(given)
    task |= {"sync_mode": _mode(given), **taken(given, "incremental_column", "last_synced_value", "key_columns")}
    task |= taken(given, "on_bad_line", "dest_database_name", "dest_table_name", "sheet", "records", "format")
    task |= {"destinations": [_destination(each) for each in places]} if places else {}
    task |= dict(_field(each) for each in given.pop("others"))
    is_many = len(tables) > 1 or ALL in tables
    if not is_many and not {"destinations", "dest_table_name"} & task.keys():
        raise Refused("say where the rows go: --to parquet:file:///PATH, or --into TABLE of the store in the settings")
    is_dry, to_json = given.pop("dry_run"), given.pop("as_json")
    job = job_of(name, task.pop("class_name"), task, given)
    if is_many:
        _make_many(client, job, tables, is_dry=is_dry, to_json=to_json, follows=follows)
    elif is_dry:
        print_json({"job": job})
    else:
        made = client.post(at(client, "job", "create"), {"job": job})["job"]
        print_made(made, to_json=to_json)
        if follows:
            follow_run(client, made["job_id"], _start(client, made["job_id"]))


def _read(given: Found) -> tuple[Sequence[str], Found]:
    """The tables, and what else is read: of a database, a service, or files."""
    given["query"] = one_of_two(given["query"], given.pop("query_file"), "--query", "--query-file")
    found = taken(given, "source", *CLASSES)
    said = [name for name in CLASSES if name in found]
    if len(said) != 1:
        raise Refused("give one of --table, --query, --endpoint, --path and --spreadsheet")
    tables = found.pop("tables", ())
    one = {"table_name": tables[0]} if len(tables) == 1 and tables[0] != ALL else {}
    return tables, {"class_name": CLASSES[said[0]], **found, **one}


def _mode(given: Found) -> str:
    is_new = given.pop("new_files")
    return "IncrementalSync" if is_new or given["incremental_column"] else "FullSync"


def _destination(given: str) -> object:
    """The sync decides how it is written."""
    if given in STORES:
        return STORES[given]
    found = output_of(given, "--to")
    if not given.endswith((":append", ":replace")) and not given.startswith("{"):
        found["config"].pop("write_mode", None)
    return found


def _field(given: str) -> tuple[str, object]:
    name, sign, value = given.partition("=")
    if not name or not sign:
        raise Refused(f"--set {given}: must be FIELD=JSON")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _make_many(
    client: Client, job: Found, tables: Sequence[str], *, is_dry: bool, to_json: bool, follows: bool
) -> None:
    if follows:
        raise Refused("--follow is of one table: run the others with `waterclock lake run`")
    body = {"job": job, "tables": ALL if ALL in tables else list(tables)}
    if is_dry:
        print_json(body)
        return
    made = [each["job"] for each in client.post(at(client, "job", "create_many"), body)["data"]]
    if to_json:
        print_json(made)
    else:
        for each in made:
            print_made(each, to_json=False)


def _start(client: Client, job_id: int) -> int:
    return int(client.put(at(client, "schedule", "job", job_id, "now"), {})["run_id"])
