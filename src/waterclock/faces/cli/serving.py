"""`waterclock up`, or one role of it; and `migrate`. The servers themselves are in `waterclock.app.launch`."""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from waterclock.settings import Settings, load


def configured(command: Callable[[Settings], None]) -> Callable[..., None]:
    """The flags of every server; what is not given comes from the environment, waterclock.toml, or is the default."""

    @click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        help="Store, logs and keys.  [default: ./.waterclock]",
    )
    @click.option("--db", metavar="URL", help="postgresql://… or mysql://…  [default: SQLite in the data directory]")
    @wraps(command)
    def run(**flags: Any) -> None:
        command(load(flags))

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
    ):
        command = option(command)
    return command


def working(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--slots", "worker_slots", type=click.IntRange(1), help="Programs at once.  [default: 64]"),
        click.option("--queues", "worker_queues", metavar="A,B", help="Queues to take runs from.  [default: default]"),
        click.option("--labels", "worker_labels", metavar="A,B", help="Labels that this host offers."),
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


@click.command()
@configured
@working
def worker(settings: Settings) -> None:
    """Run a worker alone; one per host and data directory."""
    from waterclock.app import launch

    sys.exit(launch.worker(settings))


@click.command(hidden=True)
@configured
def supervisor(settings: Settings) -> None:
    """What a worker starts to hold its programs."""
    from waterclock.app import launch

    sys.exit(launch.supervisor(settings))


@click.command()
@configured
def migrate(settings: Settings) -> None:
    """Bring the store's schema up to date. A server does so by itself when it starts."""
    from waterclock.app import launch

    steps = launch.migrate(settings)
    for step in steps:
        click.echo(step)
    if not steps:
        click.echo("the schema is up to date")
