"""Which server a command talks to, and with which token: options that every such command has."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from waterclock.faces.cli.client import API, Client
from waterclock.faces.cli.failure import Refused

T = TypeVar("T")

SERVER: Final = "http://127.0.0.1:8470"
DATA_DIR: Final = ".waterclock"


def connected(command: Callable[..., T], *, base: str = API) -> Callable[..., T]:
    """Hands the command, as its first argument, an open client of the face below `base`."""

    @click.option(
        "--server", envvar="WATERCLOCK_SERVER", default=SERVER, show_default=True, help="The server's address."
    )
    @click.option(
        "--data-dir",
        envvar="WATERCLOCK_DATA_DIR",
        type=click.Path(path_type=Path),
        help=f"Where the server's token lies, if it is ours.  [default: ./{DATA_DIR}]",
    )
    @wraps(command)
    def run(*args: Any, server: str, data_dir: Path | None, **kwargs: Any) -> T:
        with Client(server, find_token(data_dir), base=base) as client:
            return command(client, *args, **kwargs)

    return run


def find_token(data_dir: Path | None) -> str | None:
    """The nearest: the environment's, that of a data directory that was named, the person's, that of ./.waterclock."""
    if given := os.environ.get("WATERCLOCK_TOKEN", "").strip():
        return given
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    folders = [config / "waterclock", Path(DATA_DIR)]
    for folder in folders if data_dir is None else [data_dir, *folders]:
        if found := _read(folder / "token"):
            return found
    return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as problem:
        raise Refused(f"cannot read the token in {path}: {problem}") from None
