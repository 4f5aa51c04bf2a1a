"""`waterclock chain messages`: what operators should know, until somebody says that it was read."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from waterclock.faces.cli.chain.finding import find, on_chains
from waterclock.faces.cli.client import Client
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.output import Columns, as_json, print_json, print_list, printable

LONGEST: Final = 80
COLUMNS: Final[Columns] = {
    "ID": lambda message: message["id"],
    "AT": lambda message: message["created_at"],
    "READ": lambda message: message["read_at"] is not None,
    "SEVERITY": lambda message: message["severity"],
    "KIND": lambda message: message["kind"],
    "CHAIN": lambda message: message["chain_id"],
    "RUN": lambda message: message["run_id"],
    "TAG": lambda message: message["tag"],
    "SUBJECT": lambda message: message["subject"],
    "SAYS": lambda message: _short(message["body"]),
}


@click.command()
@click.argument("ids", metavar="[MESSAGE_ID]...", nargs=-1, type=click.IntRange(1))
@click.option("--unread", is_flag=True, help="Only those that nobody has read.")
@click.option("--kind", help="Only this kind, such as chain_failed, gate_failed, chain_skipped, failover.")
@click.option("--tag", help="Only of chains with this tag.")
@click.option("--chain", "chain_id", metavar="ID", help="Only of this chain.")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many at most.")
@click.option("--full", is_flag=True, help="With all that they say, such as the end of a program's output.")
@click.option("--read", "marks", is_flag=True, help="Mark the messages MESSAGE_ID... as read.")
@click.option("--read-all", "marks_all", is_flag=True, help="Mark all messages as read.")
@as_json
@on_chains
def messages(
    client: Client,
    ids: Sequence[int],
    unread: bool,
    kind: str | None,
    tag: str | None,
    chain_id: str | None,
    limit: int,
    full: bool,
    marks: bool,
    marks_all: bool,
    as_json: bool,
) -> None:
    """List messages, newest first, or mark them as read.

    \b
    Examples:
      waterclock chain messages --unread --tag important
      waterclock chain messages --chain 'nightly load' --full -n 1
      waterclock chain messages --read 17 18
      waterclock chain messages --read-all
    """
    if marks or marks_all:
        _mark(client, ids, marks_all=marks_all, as_json=as_json)
        return
    if ids:
        raise Refused("message ids go with --read")
    chain = find(client, chain_id)["id"] if chain_id else None
    query = {"unread": "true" if unread else None, "kind": kind, "tag": tag, "chain": chain}
    found = client.items("/chains/messages", most=limit, **query)
    if full and not as_json:
        for message in found:
            _print_whole(message)
    else:
        print_list(found, COLUMNS, to_json=as_json)


def _mark(client: Client, ids: Sequence[int], *, marks_all: bool, as_json: bool) -> None:
    if marks_all == bool(ids):
        raise Refused("name the messages: --read ID..., or --read-all for all of them")
    answer = client.post("/chains/messages/read", {"all": True} if marks_all else {"ids": list(ids)})
    print_json(answer) if as_json else click.echo(f"{answer['read']} marked as read")


def _print_whole(message: Mapping[str, Any]) -> None:
    print_list([message], {name: column for name, column in COLUMNS.items() if name != "SAYS"}, to_json=False)
    for line in message["body"].splitlines():
        click.echo(f"  {printable(line)}")


def _short(body: str) -> str:
    first, _, more = body.strip().partition("\n")
    return f"{first[:LONGEST]}…" if more or len(first) > LONGEST else first
