"""`waterclock status`: is it up, who serves it, how much is waiting, what is wrong."""

from typing import Any

import click

from waterclock.faces.cli.client import Client
from waterclock.faces.cli.connecting import connected
from waterclock.faces.cli.node import skew, standing
from waterclock.faces.cli.output import as_json, print_json, print_list, printable

NODES = {
    "NODE": lambda node: node["name"],
    "DUTIES": lambda node: ", ".join(node["duties"]),
    "ROLE": lambda node: node["role"] or None,
    "STANDING": standing,
    "SLOTS": lambda node: node["slots"] or None,
    "RUNNING": lambda node: node["running"] if "worker" in node["duties"] else None,
    "PID": lambda node: node["pid"],
    "VERSION": lambda node: node["version"],
    "SKEW": skew,
    "LATE P99": lambda node: f"{node['late_seconds']['p99']:.3f} s" if node["late_seconds"] else None,
    "HEARTBEAT": lambda node: node["heartbeat_at"],
}
QUEUES = {
    "QUEUE": lambda queue: queue["queue"],
    "WAITING": lambda queue: queue["waiting"],
    "STARTING": lambda queue: queue["starting"],
    "RUNNING": lambda queue: queue["running"],
    "OLDEST": lambda queue: f"{queue['oldest_seconds']:.0f} s" if queue["starting"] else None,
}

# What a server of the version before does not say: the command line may be newer while a cluster is upgraded.
UNSAID_OF_NODE = {"standing": "live", "running": None, "skewed": False, "late_seconds": None}
UNSAID = {"store_latency_seconds": 0.0, "leases": {"held": 0, "overdue": 0}, "by_queue": [], "warnings": []}


@click.command()
@as_json
@connected
def status(client: Client, as_json: bool) -> None:
    """Show the server's version and store, its nodes and queues, how late it fires, and what is not as it should be."""
    found = client.get("/status")
    if as_json:
        print_json(found)
        return
    found = UNSAID | found
    latency = f"answers in {found['store_latency_seconds'] * 1000:.1f} ms"
    click.echo(f"{client.server}: waterclock {found['version']} on {found['store']} ({latency}), {found['now']}")
    counts = ", ".join(f"{count} {state}" for state, count in sorted(found["queues"].items()))
    click.echo(f"runs: {counts or 'none live'}; leases: {found['leases']['held']} held{_overdue(found['leases'])}")
    for warning in found["warnings"]:
        click.echo(f"warning: {printable(warning)}")
    if found["by_queue"]:
        print_list(found["by_queue"], QUEUES, to_json=False)
    print_list([UNSAID_OF_NODE | node for node in found["nodes"]], NODES, to_json=False)


def _overdue(leases: dict[str, Any]) -> str:
    return f", {leases['overdue']} over and not yet decided" if leases["overdue"] else ""
