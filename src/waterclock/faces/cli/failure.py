"""How a command fails: one line on stderr that says what to do next, and an exit code."""

from typing import Final

import click

from waterclock.domain.errors import InvalidInput, WaterclockError

FAILED: Final = 1
CALLERS_FAULT: Final = 2
INTERRUPTED: Final = 130


class Failure(click.ClickException):
    """Something went wrong that the caller could not know."""

    exit_code = FAILED


class Refused(Failure):
    """What was asked for is wrong."""

    exit_code = CALLERS_FAULT


def failure_of(error: Exception) -> Failure:
    match error:
        case InvalidInput():
            return Refused(str(error))
        case UnicodeEncodeError():
            return Refused("an argument is not UTF-8")
        case WaterclockError():
            return Failure(str(error))
        case OSError(strerror=str(reason), filename=str(name)):
            return Failure(f"{name}: {reason}")
    return Failure(str(error))


def shown(error: click.ClickException) -> str:
    text = " ".join(error.format_message().split())
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"waterclock: {text} (see: {error.ctx.command_path} --help)"
    return f"waterclock: {text}"
