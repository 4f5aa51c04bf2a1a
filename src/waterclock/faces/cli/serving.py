"""`waterclock up`, or one role of it; and `migrate`. The servers themselves are in `waterclock.app.launch`."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any, Final

import click

from waterclock.domain.errors import InvalidInput
from waterclock.faces.cli.failure import FAILED
from waterclock.settings import MOST_PROCESSES, NO_TOKEN, Settings, load

SETTINGS: Final = frozenset(entry.name for entry in fields(Settings))


def configured(command: Callable[..., None]) -> Callable[..., None]:
    """The flags of every server; what is not given comes from the environment, waterclock.toml, or is the default.

    A flag that is no setting is handed to the command as it is.
    """

    @click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        help="Store, logs and keys.  [default: ./.waterclock]",
    )
    @click.option("--db", metavar="URL", help="postgresql://… or mysql://…  [default: SQLite in the data directory]")
    @wraps(command)
    def run(**flags: Any) -> None:
        own = {name: flags.pop(name) for name in tuple(flags) if name not in SETTINGS}
        command(load(flags), **own)

    return run


def listening(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--host", help="Address to serve on.  [default: 127.0.0.1]"),
        click.option(
            "--port", type=click.IntRange(0, 65535), help="Port to serve on; 0 takes a free one.  [default: 8470]"
        ),
        click.option(
            "--auth", type=click.Choice(["keys", "none"]), help="`none` is for loopback only.  [default: keys]"
        ),
        click.option(
            "--api-processes",
            type=click.IntRange(1, MOST_PROCESSES),
            help="Processes that answer calls on the one port.  [default: 1]",
        ),
    ):
        command = option(command)
    return command


def working(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--slots", "worker_slots", type=click.IntRange(1), help="Programs at once.  [default: 64]"),
        click.option(
            "--memory",
            "worker_memory_mb",
            type=click.IntRange(0),
            metavar="MB",
            help="Memory that runs may ask for together, by their limit memory_bytes; 0: not counted.  [default: 0]",
        ),
        click.option("--queues", "worker_queues", metavar="A,B", help="Queues to take runs from.  [default: default]"),
        click.option(
            "--labels",
            "worker_labels",
            metavar="A,B",
            help="Labels that this host offers, 8 at most: it takes jobs that ask for some of them, or for none.",
        ),
    ):
        command = option(command)
    return command


@click.command()
@configured
@listening
@working
def up(settings: Settings) -> None:
    """Run API, scheduler and worker; prints `ready URL` once it serves.

    The first start makes the user `admin` and writes DIR/credentials (for AWS_SHARED_CREDENTIALS_FILE) and DIR/token.

    \b
    Examples:
      waterclock up
      waterclock up --data-dir /var/lib/waterclock --port 9000 --db postgresql://waterclock@db/waterclock
      waterclock up --auth none        for trying out, on this host only
    """
    from waterclock.app import launch

    sys.exit(launch.up(settings))


@click.command()
@configured
@listening
def api(settings: Settings) -> None:
    """Run the API alone."""
    from waterclock.app import launch

    sys.exit(launch.api(settings))


@click.command()
@configured
def scheduler(settings: Settings) -> None:
    """Run the scheduler alone; several may share a store."""
    from waterclock.app import launch

    sys.exit(launch.scheduler(settings))


def remote(command: Callable[..., None]) -> Callable[..., None]:
    """A server goes before a database that the environment names, and the other way round."""

    @click.option(
        "--server",
        metavar="URL,…",
        help="Work for these servers, over HTTP and without a database.  [environment: WATERCLOCK_SERVER]",
    )
    @click.option(
        "--token-file", type=click.Path(dir_okay=False), help="Where the token of a user with the role worker lies."
    )
    @click.option("--token", help="The token itself: seen by all users of this host.  [environment: WATERCLOCK_TOKEN]")
    @wraps(command)
    def run(**flags: Any) -> None:
        if flags["server"] and flags["db"]:
            raise click.UsageError("--server and --db exclude each other: a worker has either")
        if flags["server"]:
            flags["db"] = ""
        elif flags["db"]:
            flags["server"] = ""
        command(**flags)

    return run


@click.command()
@remote
@configured
@working
def worker(settings: Settings) -> None:
    """Run a worker alone; one per host and data directory.

    \b
    Examples:
      waterclock worker --db postgresql://waterclock@db/waterclock
      waterclock worker --server https://one:8470,https://two:8470 --token-file /etc/waterclock/token
    """
    from waterclock.app import launch

    if click.get_current_context().params["server"] and not settings.is_remote:
        raise InvalidInput(NO_TOKEN, field="token")
    sys.exit(launch.worker(settings))


@click.command(hidden=True)
@configured
def supervisor(settings: Settings) -> None:
    """What a worker starts to hold its programs."""
    from waterclock.app import launch

    sys.exit(launch.supervisor(settings))


@click.command()
@configured
@click.option("--check", "checks", is_flag=True, help="Only say which steps are to be taken; exit code 1 if any is.")
def migrate(settings: Settings, checks: bool) -> None:
    """Bring the store's schema up to date. A server does so by itself when it starts."""
    from waterclock.app import launch

    if checks:
        _say_pending(settings)
        return
    steps = launch.migrate(settings)
    for step in steps:
        click.echo(step)
    if not steps:
        click.echo("the schema is up to date")


def _say_pending(settings: Settings) -> None:
    from waterclock.stores.pending import pending_steps

    steps = asyncio.run(pending_steps(settings.database_url))
    for step in steps:
        click.echo(f"to be taken: {step}")
    if steps:
        sys.exit(FAILED)
    click.echo("the schema is up to date")
