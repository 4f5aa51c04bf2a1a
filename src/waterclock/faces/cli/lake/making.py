"""`waterclock lake sql|python|java`: a job made in one line, without a file."""

from collections.abc import Callable
from typing import Any

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.content import read_content
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.lake.calling import at
from waterclock.faces.cli.lake.jobs import print_made
from waterclock.faces.cli.lake.outputs import HELP, output_of
from waterclock.faces.cli.lake.scheduling import schedule_time, scheduled
from waterclock.faces.cli.output import as_json, print_json

Options = Callable[[Callable[..., None]], Callable[..., None]]


def all_of(*options: Options) -> Options:
    def add(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


common: Options = all_of(
    scheduled,
    click.option("--retries", type=click.IntRange(0, 10), help="Further attempts after a failure."),
    click.option("--timeout", "timeout_seconds", type=click.IntRange(1), help="Seconds until it is killed."),
    click.option("--queue", help="The queue that its runs wait in."),
    click.option("--label", "labels", multiple=True, help="Only on a worker with this label; repeatable."),
    click.option("--dry-run", is_flag=True, help="Only print the job, as a file for `create`."),
    as_json,
    connected,
)
from_git: Options = all_of(
    click.option("--git-url", help="https://, ssh://, or file:// under a root of the server."),
    click.option("--branch", help="Of the repository.  [default: its own]"),
    click.option("--credentials", metavar="NAME", help="The secret with the password or key for it."),
)
arguments: Options = click.option("--arg", "args", multiple=True, help="Argument of the program; repeatable.")


@click.command()
@click.argument("name")
@click.option("--query", help="The query itself.")
@click.option("--query-file", metavar="FILE", help="A file with it; -: standard input.")
@click.option("--output", "outputs", multiple=True, help=HELP)
@common
def sql(
    client: Client, name: str, query: str | None, query_file: str | None, outputs: tuple[str, ...], **given: Any
) -> None:
    """Make the query NAME; prints the number of the job.

    \b
    Examples:
      waterclock lake sql totals --query 'select count(*) from orders' --output text:file:///data/totals
      waterclock lake sql load --query-file load.sql --output clickhouse:shop.totals:replace --cron '0 6 * * *'
    """
    text = one_of_two(query, query_file, "--query", "--query-file")
    if text is None:
        raise Refused("give --query or --query-file")
    info = {"query": text, "outputs": [output_of(each) for each in outputs]}
    make(client, name, "sql_job", {"query_info": info}, given)


@click.command()
@click.argument("name")
@click.option("--code-file", metavar="FILE", help="A program, which becomes part of the job; -: standard input.")
@click.option("--script", help="A program's address: file://, s3://, https://.")
@from_git
@click.option("--entrypoint", help="What to run of a repository: a file, or a module as package.module.")
@click.option(
    "--requirement", "requirements", multiple=True, help="A package for pip, such as requests>=2; repeatable."
)
@click.option("--requirements-file", metavar="FILE", help="A requirements.txt.")
@arguments
@common
def python(client: Client, name: str, code_file: str | None, requirements_file: str | None, **given: Any) -> None:
    """Make the Python job NAME; prints the number of the job.

    \b
    Examples:
      waterclock lake python report --code-file report.py --requirement requests --every 1d
      waterclock lake python etl --git-url https://example.com/etl.git --entrypoint main.py --arg full
    """
    task = taken(given, "script", "git_url", "branch", "credentials", "entrypoint", "requirements", "args")
    if code_file:
        task["code"] = read_content(code_file)
    if requirements_file:
        if "requirements" in task:
            raise Refused("give --requirement or --requirements-file, not both")
        task["requirements"] = read_content(requirements_file)
    if not any(source in task for source in ("code", "script", "git_url")):
        raise Refused("give --code-file, --script or --git-url")
    make(client, name, "python_job", task, given)


@click.command()
@click.argument("name")
@from_git
@click.option("--build-tool", type=click.Choice(["maven", "gradle", "sbt", "none"]), help="What builds it.")
@click.option("--build-cmd", help="The tool's arguments, in place of the usual ones.")
@click.option("--main-class", help="What to run.  [default: the jar's own]")
@click.option("--jar", help="Which of the built jars.  [default: the only one]")
@arguments
@common
def java(client: Client, name: str, **given: Any) -> None:
    """Make the Java job NAME: cloned, built, run; prints the number of the job.

    \b
    Example:
      waterclock lake java etl --git-url https://example.com/etl.git --build-tool maven --main-class etl.Main --every 1h
    """
    task = taken(given, "git_url", "branch", "credentials", "build_tool", "build_cmd", "main_class", "jar", "args")
    if "git_url" not in task:
        raise Refused("give --git-url")
    make(client, name, "java_job", task, given)


def make(client: Client, name: str, class_name: str, task: dict[str, Any], given: dict[str, Any]) -> None:
    is_dry, to_json = given.pop("dry_run"), given.pop("as_json")
    job = job_of(name, class_name, task, given)
    if is_dry:
        print_json({"job": job})
        return
    print_made(client.post(at(client, "job", "create"), {"job": job})["job"], to_json=to_json)


def job_of(name: str, class_name: str, task: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """With its schedule and the options that all kinds have, which are all that is left of `given`."""
    schedule = schedule_time(given)
    options = {field: value for field, value in given.items() if value not in (None, ())}
    return {"class_name": class_name, "display_name": name, "schedule_time": schedule, **task, **options}


def taken(given: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those that were given, taken out of `given`."""
    found = {name: given.pop(name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items() if value}


def one_of_two(text: str | None, file: str | None, option: str, file_option: str) -> str | None:
    if text is not None and file is not None:
        raise Refused(f"give {option} or {file_option}, not both")
    return read_content(file) if file is not None else text
