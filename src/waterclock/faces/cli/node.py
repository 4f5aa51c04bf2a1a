"""`waterclock node`: take a machine out of service without losing a run, and back again."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Final

import click

from waterclock.faces.cli.client import Client, path
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.failure import INTERRUPTED, Failure, Refused
from waterclock.faces.cli.output import as_json, print_json, print_list, say

LOOK_SECONDS: Final = 0.5
SHORTEST_BEGINNING: Final = 4
UNANSWERED_SECONDS: Final = 30.0  # a node that has not answered by then does not know of drains, or cannot

Node = dict[str, Any]


def standing(node: Node) -> str:
    """`draining (3 running)`"""
    return f"draining ({node['running']} running)" if node["standing"] == "draining" else str(node["standing"])


def skew(node: Node) -> str:
    """What is too much is marked."""
    return f"{node['skew_seconds']:+.3f} s{' !' if node['skewed'] else ''}"


COLUMNS = {
    "ID": lambda node: node["id"],
    "NODE": lambda node: node["name"],
    "DUTIES": lambda node: ", ".join(node["duties"]),
    "STANDING": standing,
    "ROLE": lambda node: node["role"] or None,
    "SLOTS": lambda node: node["slots"] or None,
    "LABELS": lambda node: ", ".join(node["labels"]) or None,
    "VERSION": lambda node: node["version"],
    "SKEW": skew,
    "HEARTBEAT": lambda node: node["heartbeat_at"],
}


@click.group()
def node() -> None:
    """Take a node out of service without losing a run, and back again (admins).

    NODE is a node's id, the beginning of one, or its name (that of its host) where only one node has it. A node that
    drains takes nothing more: a worker finishes what runs, a scheduler fires nothing, an API answers 503 at /readyz.
    It does so at once, at the latest at its next heartbeat. A node that is stopped and started again does not drain any
    more; one that crashed and came back does.

    \b
    Examples:
      waterclock node list
      waterclock node drain db7.example.org --all --wait
      waterclock node resume 3f2a
    """


@node.command("list")
@as_json
@connected
def list_nodes(client: Client, as_json: bool) -> None:
    """List the nodes that live or were lost within the last hour."""
    print_list(_nodes(client), COLUMNS, to_json=as_json)


@node.command()
@click.argument("name", metavar="NODE")
@click.option("--all", "every", is_flag=True, help="All nodes of that name.")
@click.option("--wait", "waits", is_flag=True, help="Until nothing runs there; the drain goes on if you interrupt it.")
@as_json
@connected
def drain(client: Client, name: str, every: bool, waits: bool, as_json: bool) -> None:
    """Let NODE take nothing more, and finish what runs."""
    ids = [each["id"] for each in _chosen(_nodes(client), name, every=every)]
    drained = [client.post(path("nodes", each, "drain")) for each in ids]
    if waits:
        drained = _waited(client, ids)
    _show(drained, to_json=as_json)


@node.command()
@click.argument("name", metavar="NODE")
@click.option("--all", "every", is_flag=True, help="All nodes of that name.")
@as_json
@connected
def resume(client: Client, name: str, every: bool, as_json: bool) -> None:
    """Let NODE take work again."""
    chosen = _chosen(_nodes(client), name, every=every)
    _show([client.post(path("nodes", each["id"], "resume")) for each in chosen], to_json=as_json)


def _nodes(client: Client) -> list[Node]:
    found: list[Node] = client.get("/nodes")["items"]
    return found


def _chosen(nodes: Sequence[Node], name: str, *, every: bool) -> list[Node]:
    """By id, by name, by the beginning of an id: the first of these that fits."""
    fitting = (
        [each for each in nodes if each["id"] == name]
        or [each for each in nodes if each["name"] == name and each["standing"] != "lost"]
        or [each for each in nodes if len(name) >= SHORTEST_BEGINNING and each["id"].startswith(name)]
    )
    if not fitting:
        raise Refused(f"no node {name!r}: see `waterclock node list`")
    if len(fitting) > 1 and not every:
        listed = ", ".join(f"{each['id']} ({', '.join(each['duties'])})" for each in fitting)
        raise Refused(f"{name!r} fits {len(fitting)} nodes, name one by its id, or give --all: {listed}")
    return fitting


def _waited(client: Client, ids: Sequence[str]) -> list[Node]:
    """Until each is drained or gone; what they still run is told whenever it changes."""
    try:
        return _wait(client, ids)
    except KeyboardInterrupt:
        say("no longer waiting; the drain goes on. End it with: waterclock node resume")
        sys.exit(INTERRUPTED)


def _wait(client: Client, ids: Sequence[str]) -> list[Node]:
    told, looked = "", 0
    while True:
        found = [each for each in _nodes(client) if each["id"] in ids]
        if lost := [each for each in found if each["standing"] == "lost"]:
            raise Failure(f"{_named(lost)} gave no heartbeat: what it ran is decided when its lease is over")
        if resumed := [each for each in found if each["standing"] == "live"]:
            raise Failure(f"{_named(resumed)} was resumed meanwhile")
        left = [each for each in found if each["standing"] != "drained"]
        if not left:
            return found
        if (now := f"{sum(each['running'] for each in left)} running on {_named(left)}") != told:
            say(now)
            told = now
        time.sleep(LOOK_SECONDS)
        looked += 1
        if looked * LOOK_SECONDS == UNANSWERED_SECONDS and not any(each["running"] for each in left):
            say("no answer yet: a node of a version that knows no drains takes work until it is stopped with TERM")


def _named(nodes: Sequence[Node]) -> str:
    return ", ".join(f"{each['name']} ({each['id'][:8]})" for each in nodes)


def _show(nodes: Sequence[Node], *, to_json: bool) -> None:
    if to_json:
        print_json(nodes)
        return
    for each in nodes:
        click.echo(f"{each['name']} ({each['id']}) is {standing(each)}")
