"""`waterclock`: the groups of commands, and the one place where their failures become lines and exit codes."""

import io
import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import click

import waterclock
from waterclock.domain.errors import WaterclockError
from waterclock.faces.cli.failure import FAILED, INTERRUPTED, failure_of, shown
from waterclock.faces.cli.lazy import LazyGroup

_HERE: Final = "waterclock.faces.cli"
COMMANDS: Final = {
    "up": f"{_HERE}.serving:up",
    "api": f"{_HERE}.serving:api",
    "scheduler": f"{_HERE}.serving:scheduler",
    "worker": f"{_HERE}.serving:worker",
    "supervisor": f"{_HERE}.serving:supervisor",
    "migrate": f"{_HERE}.serving:migrate",
    "job": f"{_HERE}.job:job",
    "trigger": f"{_HERE}.trigger:trigger",
    "workflow": f"{_HERE}.workflow:workflow",
    "chain": f"{_HERE}.chain.command:chain",
    "lake": f"{_HERE}.lake.command:lake",
    "run": f"{_HERE}.run:run",
    "cron": f"{_HERE}.cron:cron",
    "import": f"{_HERE}.importing.command:importing",
    "status": f"{_HERE}.status:status",
    "node": f"{_HERE}.node:node",
    "chaos": f"{_HERE}.chaos:chaos",
    "user": f"{_HERE}.user:user",
    "group": f"{_HERE}.group:group",
    "quota": f"{_HERE}.quota:quota",
    "key": f"{_HERE}.credentials:key",
    "token": f"{_HERE}.credentials:token",
    "audit": f"{_HERE}.audit:audit",
    "secret": f"{_HERE}.secret:secret",
    "channel": f"{_HERE}.channel:channel",
}


class Root(LazyGroup):
    def main(  # type: ignore[override]  # click's overloads say only that standalone never returns
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **more: Any
    ) -> Any:
        if not standalone_mode:
            return super().main(args, standalone_mode=False, **more)
        _never_fail_to_print()
        try:
            code = super().main(args, standalone_mode=False, **more)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except click.ClickException as error:
            click.echo(shown(error), err=True)
            code = error.exit_code
        except click.Abort:
            code = INTERRUPTED
        except BrokenPipeError:  # whoever read us has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = FAILED
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise
        except (WaterclockError, OSError, UnicodeEncodeError) as error:
            raise failure_of(error) from error


def _never_fail_to_print() -> None:
    """A log may hold what a terminal's encoding does not."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@click.command(cls=Root, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(waterclock.__version__, prog_name="waterclock")
def main() -> None:
    """A self-hosted scheduler and runner for data-lake jobs.

    \b
    Begin with:
      waterclock up                                     serve on http://127.0.0.1:8470, data in ./.waterclock
      waterclock job create hello --kind python --script hello.py
      waterclock run start hello --follow
      waterclock trigger create hourly --job hello --schedule '@hourly' --start

    The other commands talk to a running server: --server URL or WATERCLOCK_SERVER. The token is taken from
    WATERCLOCK_TOKEN, the server's data directory or ~/.config/waterclock/token.
    """
