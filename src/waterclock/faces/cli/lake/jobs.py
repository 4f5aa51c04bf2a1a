"""`waterclock lake create|update|show|list|delete`: jobs as files, and what the server has of them."""

from typing import Any, Final

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.lake.calling import at, job_id, listed, when
from waterclock.faces.cli.lake.definition import read_job
from waterclock.faces.cli.output import Columns, as_json, print_json, print_list, print_one

TIMES: Final = ("last_run_time", "next_run_time")
COLUMNS: Final[Columns] = {
    "ID": lambda job: job["job_id"],
    "NAME": lambda job: job["display_name"],
    "KIND": lambda job: job["class_name"],
    "STATUS": lambda job: job["current_sync_status"],
    "LAST": lambda job: when(job["last_run_time"]),
    "NEXT": lambda job: when(job["next_run_time"]),
    "CREATOR": lambda job: job["creator_id"],
}


@click.command()
@click.argument("file", metavar="FILE")
@as_json
@connected
def create(client: Client, file: str, as_json: bool) -> None:
    """Make a job of FILE, JSON or YAML (-: standard input); prints its number.

    \b
    A file, whose schedule may be left out:
      class_name: sql_job               # or python_job, java_job, sync_db_job, sync_service_job, sync_file_job
      display_name: daily totals
      schedule_time: {class_name: schedule_daily, recur_every: 1, start_time: 2026-11-15T06:00:00Z}
      query_info:
        query: select day, sum(price) from orders group by day
        outputs:
        - type: text_file
          config: {class_name: hadoop_config, hdfs_uri: localhost:9000, result_path: /data/totals}

    \b
    Example:
      waterclock lake create totals.yaml
    """
    print_made(client.post(at(client, "job", "create"), {"job": read_job(file)})["job"], to_json=as_json)


@click.command()
@job_id
@click.argument("file", metavar="FILE")
@connected
def update(client: Client, job_id: int, file: str) -> None:
    """Make the job ID what FILE says, all of it; refused while it runs. Its schedule goes on if it is the same.

    \b
    Example:
      waterclock lake show 3 --json > totals.json
      waterclock lake update 3 totals.json
    """
    client.put(at(client, "job", job_id), {"job": read_job(file)})
    click.echo(f"updated job {job_id}")


@click.command()
@job_id
@as_json
@connected
def show(client: Client, job_id: int, as_json: bool) -> None:
    """Show the job ID. With --json it is a file for `update`.

    \b
    Example:
      waterclock lake show 3
    """
    found = client.get(at(client, "job", job_id))["job"]
    print_one(found if as_json else readable(found), to_json=as_json)


@click.command("list")
@click.option("--keyword", help="Only those whose name holds this.")
@click.option(
    "--sort", "sorts", metavar="FIELD[:desc]", multiple=True, help="By this, such as next_run_time; repeatable."
)
@as_json
@connected
def list_jobs(client: Client, keyword: str | None, sorts: tuple[str, ...], as_json: bool) -> None:
    """List all jobs, by number.

    \b
    Examples:
      waterclock lake list --keyword total
      waterclock lake list --sort last_run_time:desc
    """
    found = listed(client, "job", keyword=keyword, sorts=[_sort(each) for each in sorts] or None)
    print_list((each["job"] for each in found), COLUMNS, to_json=as_json)


@click.command()
@job_id
@connected
def delete(client: Client, job_id: int) -> None:
    """Delete the job ID; its history stays. Refused while it runs.

    \b
    Example:
      waterclock lake delete 3
    """
    client.delete(at(client, "job", job_id))
    click.echo(f"deleted job {job_id}")


def print_made(job: dict[str, Any], *, to_json: bool) -> None:
    print_json(job) if to_json else click.echo(job["job_id"])


def readable(found: dict[str, Any]) -> dict[str, Any]:
    return {**found, **{name: when(found[name]) for name in TIMES if found.get(name) is not None}}


def _sort(given: str) -> dict[str, str]:
    field, _, order = given.partition(":")
    return {"field": field, "order": order.upper() or "ASC"}
