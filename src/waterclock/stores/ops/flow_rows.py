"""Flows and their runs, from rows and back. A graph is kept as JSON: the same text is the same graph."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from waterclock.domain.flow import Flow, FlowRun, FlowState, Graph, Need, Node, Stage
from waterclock.domain.gate import Probing
from waterclock.domain.role import Role, roles_of
from waterclock.domain.trigger import Action, FireRules, Logical, OverCap, Target
from waterclock.stores.base import Row
from waterclock.stores.ops.rows import dumped, loaded


def flow_of(row: Row) -> Flow:
    return Flow(
        id=row["id"],
        org_id=row["org_id"],
        namespace=row["namespace"],
        name=row["name"],
        owner=row["owner"],
        max_concurrent=row["max_concurrent"],
        properties=loaded(row["properties"]),
        definition=loaded(row["definition"]),
        tags=loaded(row["tags"]),
        version=row["version"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        graph=graph_of_text(row["graph"]) if row["graph"] else None,
        roles=roles_of(row["roles"]),
    )


def flow_run_of(row: Row) -> FlowRun:
    return FlowRun(
        id=row["id"],
        run_at=row["run_at"],
        org_id=row["org_id"],
        namespace=row["namespace"],
        wire_id=row["wire_id"],
        flow_id=row["flow_id"],
        flow_name=row["flow_name"],
        owner=row["owner"],
        requested_by=row["requested_by"],
        trigger_name=row["trigger_name"],
        previous_wire_id=row["previous_wire_id"],
        state=FlowState(row["state"]),
        message=row["message"],
        graph=graph_of_text(row["graph"]),
        fired=frozenset(loaded(row["fired"])),
        properties=loaded(row["properties"]),
        created_at=row["created_at"],
        ended_at=row["ended_at"],
        updated_at=row["updated_at"],
        role=Role(row["role"]),
        gates_passed_at=row["gates_passed_at"],
    )


def graph_text(graph: Graph) -> str:
    return dumped(graph)


def fired_text(fired: Iterable[str]) -> str:
    return dumped(sorted(fired))


@lru_cache(maxsize=1024)
def graph_of_text(text: str) -> Graph:
    given = loaded(text)
    rules = given["rules"]
    return Graph(
        stages=tuple(_stage(each) for each in given["stages"]),
        rules=FireRules(sequential=rules["sequential"], over_cap=OverCap(rules["over_cap"])),
        strict=given.get("strict", False),  # graphs of an earlier release have neither this nor titles nor gates
    )


def _stage(given: dict[str, Any]) -> Stage:
    return Stage(
        id=given["id"],
        name=given["name"],
        nodes=tuple(_node(node) for node in given["nodes"]),
        needs=tuple(Need(nodes=tuple(need["nodes"]), states=tuple(need["states"])) for need in given["needs"]),
        logical=Logical(given["logical"]),
        active=given["active"],
        trigger_id=given["trigger_id"],
    )


def _node(given: dict[str, Any]) -> Node:
    probing = given.get("probing")
    return Node(
        id=given["id"],
        action=_action(given["action"]),
        title=given.get("title", ""),
        probing=Probing(**probing) if probing else None,
    )


def _action(given: dict[str, Any]) -> Action:
    return Action(
        target=Target(given["target"]),
        name=given["name"],
        arguments=given["arguments"],
        timeout_seconds=given["timeout_seconds"],
        notify_after_seconds=given["notify_after_seconds"],
    )
