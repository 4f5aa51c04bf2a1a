"""`waterclock chain`: its commands, each imported when it is asked for."""

from typing import Final

import click

from waterclock.faces.cli.lazy import LazyGroup

_HERE: Final = "waterclock.faces.cli.chain"
COMMANDS: Final = {
    "list": f"{_HERE}.looking:list_chains",
    "show": f"{_HERE}.looking:show",
    "plan": f"{_HERE}.plan:plan",
    "run": f"{_HERE}.running:run",
    "watch": f"{_HERE}.running:watch",
    "stop": f"{_HERE}.running:stop",
    "on": f"{_HERE}.switching:on",
    "off": f"{_HERE}.switching:off",
    "rm": f"{_HERE}.switching:rm",
    "history": f"{_HERE}.looking:history",
    "probes": f"{_HERE}.looking:probes",
    "messages": f"{_HERE}.messages:messages",
    "apply": f"{_HERE}.files:apply",
    "diff": f"{_HERE}.files:diff",
    "export": f"{_HERE}.files:export",
}


@click.group(cls=LazyGroup, lazy=COMMANDS)
def chain() -> None:
    """Chains: gates that are probed until they pass, then programs level by level.

    \b
    Examples:
      waterclock chain apply -f nightly.yaml --dry-run
      waterclock chain apply -f nightly.yaml
      waterclock chain plan 'nightly load'
      waterclock chain run 'nightly load' --follow
      waterclock chain history 'nightly load'
      waterclock chain messages --unread

    A chain is named by its number or by its job_desc, where no other has the same.
    """
