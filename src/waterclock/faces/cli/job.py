"""`waterclock job`: what to run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from waterclock.faces.cli.bookmark import bookmark
from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.output import as_json, print_list, print_one
from waterclock.faces.cli.parameters import ARGUMENT, PAIR, any_namespace, namespace

LIMITS: Final = ("memory_bytes", "cpu_seconds", "processes", "open_files")
DEFINITION: Final = (
    *("kind", "script", "arguments", "fixed_arguments", "timeout_seconds", "notify_after_seconds", "retries"),
    *("retry_delay_seconds", "max_concurrent", "queueing", "python_modules", "limits", "queue", "labels"),
)


@click.group()
def job() -> None:
    """Define what to run.

    \b
    Examples:
      waterclock job create hello --kind python --script hello.py --arg name=world
      waterclock job create load --kind shell --script load.sh --timeout 600 --retries 2
      waterclock job update load --timeout 1200
      waterclock job list --json
    """


job.add_command(bookmark)


def settings(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(
        (
            click.option("--script", help="A local file, or any address: file://, s3://, https://, git+https://."),
            click.option("--server-script", help="A path under the owner's script folder on the server."),
            click.option("--arg", "arguments", type=ARGUMENT, multiple=True, help="Argument of the program."),
            click.option("--fixed-arg", "fixed_arguments", type=ARGUMENT, multiple=True, help="One that stays."),
            click.option("--timeout", "timeout_seconds", type=click.IntRange(1), help="Seconds until it is killed."),
            click.option(
                "--notify-after", "notify_after_seconds", type=click.IntRange(1), help="Seconds until a notice."
            ),
            click.option("--retries", type=click.IntRange(0, 10), help="Further attempts after a failure."),
            click.option("--retry-delay", "retry_delay_seconds", type=click.FloatRange(0), help="Seconds before each."),
            click.option("--max-concurrent", type=click.IntRange(0), help="Runs at once; 0: any number."),
            click.option("--queueing/--no-queueing", default=None, help="Over that number: wait, or be refused."),
            click.option("--python-modules", help="Its own packages, as for pip, with commas."),
            click.option(
                "--limit", "limits", type=PAIR, multiple=True, help=f"One of {', '.join(LIMITS)}; repeatable."
            ),
            click.option("--queue", help="The queue that its runs wait in."),
            click.option("--label", "labels", multiple=True, help="Only on a worker with this label; repeatable."),
        )
    ):
        command = option(command)
    return command


@job.command()
@click.argument("name")
@click.option("--kind", required=True, help="python, shell, java, callable, or an interpreter of the server.")
@settings
@as_json
@connected
def create(client: Client, name: str, as_json: bool, **given: Any) -> None:
    """Define the job NAME."""
    print_one(client.post("/jobs", {"name": name, **_definition(given)}), to_json=as_json)


@job.command("list")
@any_namespace
@as_json
@connected
def list_jobs(client: Client, namespace: str | None, as_json: bool) -> None:
    """List all jobs, by name."""
    columns = {
        "NAME": lambda job: job["name"],
        "NAMESPACE": lambda job: job["namespace"],
        "KIND": lambda job: job["kind"],
        "OWNER": lambda job: job["owner"],
        "VERSION": lambda job: job["version"],
        "UPDATED": lambda job: job["updated_at"],
    }
    print_list(client.items("/jobs", namespace=namespace), columns, to_json=as_json)


@job.command()
@click.argument("name")
@namespace
@as_json
@connected
def show(client: Client, name: str, namespace: str, as_json: bool) -> None:
    """Show the job NAME."""
    print_one(client.get(path("jobs", name), namespace=namespace), to_json=as_json)


@job.command()
@click.argument("name")
@click.option("--kind", help="python, shell, java, callable, or an interpreter of the server.")
@settings
@as_json
@connected
def update(client: Client, name: str, as_json: bool, **given: Any) -> None:
    """Change the given settings of the job NAME; the others stay as they are."""
    present = client.get(path("jobs", name))
    definition = {field: present[field] for field in DEFINITION} | _definition(given)
    print_one(client.put(path("jobs", name), definition), to_json=as_json)


@job.command()
@click.argument("name")
@namespace
@connected
def delete(client: Client, name: str, namespace: str) -> None:
    """Delete the job NAME; the records of its runs stay."""
    client.delete(path("jobs", name), namespace=namespace)
    click.echo(f"deleted {name}")


def script_address(script: str) -> str:
    """A local file as the file:// address that the server is given; an address stays as it is."""
    if "://" in script:
        return script
    file = Path(script).expanduser()
    if not file.is_file():
        raise Refused(f"--script {script}: no such file here (for one on the server use --server-script)")
    return file.resolve().as_uri()


def _definition(given: dict[str, Any]) -> dict[str, Any]:
    """What was given on the command line, as the API wants it."""
    script, on_server = given.pop("script"), given.pop("server_script")
    if script and on_server:
        raise Refused("give --script or --server-script, not both")
    definition = {name: value for name, value in given.items() if value not in (None, ())}
    if script or on_server:
        definition["script"] = script_address(script) if script else on_server
    for name in ("arguments", "fixed_arguments"):
        if name in definition:
            definition[name] = dict(definition[name])
    if "limits" in definition:
        definition["limits"] = {name: _number(name, value) for name, value in definition["limits"]}
    return definition


def _number(name: str, value: str) -> int:
    if name not in LIMITS:
        raise Refused(f"--limit {name}: must be one of {', '.join(LIMITS)}")
    if not value.isascii() or not value.isdigit():
        raise Refused(f"--limit {name}={value}: must be a whole number")
    return int(value)
