"""A run of a workflow as people watch it: its nodes' states as they change, and its levels as a table."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from waterclock.faces.cli.client import Client, Lost, path
from waterclock.faces.cli.following import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, Progress
from waterclock.faces.cli.output import Columns, print_list, printable

LOOK_SECONDS: Final = 0.2
LIVE: Final = frozenset({"RUNNING", "STOPPING"})
WELL: Final = frozenset({"WAITING", "STARTING", "RUNNING", "STOPPING", "SUCCEEDED"})
COLUMNS: Final[Columns] = {
    "LEVEL": lambda line: line["level"],
    "TRIGGER": lambda line: line["trigger"],
    "WHEN": lambda line: line["when"],
    "JOB": lambda line: line["job"],
    "STATE": lambda line: line["state"],
    "RUN": lambda line: line["run"],
}

Levels = Sequence[Sequence[Mapping[str, Any]]]


def follow(client: Client, name: str, wire_id: str) -> dict[str, Any]:
    """The run as it ended. A server that goes away is waited for."""
    progress, known = Progress(), dict[str, str]()
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            run: dict[str, Any] = client.get(path("workflows", name, "runs", wire_id))
        except Lost as problem:
            progress.say(f"{problem.message}; trying again in {pause:g} s")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            continue
        pause = FIRST_PAUSE_SECONDS
        _tell_changes(progress, known, run)
        if run["state"] not in LIVE:
            return run
        time.sleep(LOOK_SECONDS)


def nodes_of(shown: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Of a workflow or a run with levels, in their order; of one without, none."""
    return [node for level in shown.get("levels", ()) for stage in level for node in stage["nodes"]]


def unlucky(nodes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The jobs that ended otherwise than well. A crawler is never run: that it was skipped is no mishap."""
    return [node for node in nodes if "job" in node and node["state"] is not None and node["state"] not in WELL]


def print_levels(levels: Levels, seen: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """One line a node; `seen` are nodes to take the states and runs from, where it is not their own."""
    names = {node["id"]: _name(node) for level in levels for stage in level for node in stage["nodes"]}
    lines = [
        {
            "level": number,
            "trigger": stage["trigger"],
            "when": _when(stage, names),
            "job": _name(node),
            **_outcome(node if seen is None else seen.get(node["id"], {})),
        }
        for number, level in enumerate(levels, 1)
        for stage in level
        for node in stage["nodes"]
    ]
    if lines:
        print_list(lines, COLUMNS, to_json=False)


def _tell_changes(progress: Progress, known: dict[str, str], run: Mapping[str, Any]) -> None:
    for node in nodes_of(run):
        if node["state"] is not None and known.get(node["id"]) != node["state"]:
            known[node["id"]] = node["state"]
            progress.say(printable(f"{_name(node)} is {node['state']}"))
    if known.get("") != run["state"]:
        known[""] = run["state"]
        progress.say(f"{run['id']} is {run['state']}")


def _name(node: Mapping[str, Any]) -> str:
    return str(node["job"] if "job" in node else f"crawler {node.get('crawler')}")


def _outcome(node: Mapping[str, Any]) -> dict[str, Any]:
    runs = node.get("runs") or [None]
    return {"state": node.get("state"), "run": runs[-1]}


def _when(stage: Mapping[str, Any], names: Mapping[str, str]) -> str | None:
    """`load SUCCEEDED and clean SUCCEEDED`; nothing for what fires at the start."""
    if not stage["active"]:
        return "never: it is not activated"
    joint = " or " if stage["logical"] == "ANY" else " and "
    return joint.join(_need(need, names) for need in stage["needs"]) or None


def _need(need: Mapping[str, Any], names: Mapping[str, str]) -> str:
    who = "|".join(dict.fromkeys(names[node] for node in need["nodes"])) or "a job that is not in it"
    return f"{who} {'|'.join(need['states'])}"
