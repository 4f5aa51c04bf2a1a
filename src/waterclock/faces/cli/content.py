"""What a command is given as content: from a file or standard input, never from the command line, which others see."""

import sys
from pathlib import Path
from typing import Final

import click

from waterclock.faces.cli.failure import Refused

STDIN: Final = "-"

from_file = click.option("--from-file", metavar="FILE", help="Read it from here; -: from standard input.")


def read_content(source: str) -> str:
    """As it is there, to the last byte."""
    data = sys.stdin.buffer.read() if source == STDIN else Path(source).expanduser().read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Refused("standard input is not UTF-8" if source == STDIN else f"{source} is not UTF-8") from None
