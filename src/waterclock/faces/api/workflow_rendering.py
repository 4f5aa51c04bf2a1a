"""Workflows and their runs as this face shows them: the graph level by level, each node with its state and its runs."""

from collections import Counter
from collections.abc import Mapping, Sequence

from waterclock.domain.flow import Graph, Node, Stage
from waterclock.domain.levels import levels
from waterclock.domain.moment import to_iso
from waterclock.domain.run import Attempt, RunState
from waterclock.faces.iso import to_iso_or_none
from waterclock.stores.ops.flow_showing import ShownFlow, ShownRun

Rendered = dict[str, object]


def workflow(shown: ShownFlow) -> Rendered:
    flow = shown.flow
    return {
        "id": flow.id,
        "namespace": flow.namespace,
        "name": flow.name,
        "owner": flow.owner,
        "description": flow.definition.get("Description"),
        "max_concurrent": flow.max_concurrent,
        "properties": flow.properties,
        "tags": flow.tags,
        "created_at": to_iso(flow.created_at),
        "updated_at": to_iso(flow.updated_at),
        "last_run": run(shown.last_run) if shown.last_run else None,
    }


def workflow_with_graph(shown: ShownFlow) -> Rendered:
    """The graph as a run that starts now would have it, and apart from it the last run with its own."""
    last = run_with_graph(shown.last_run) if shown.last_run else None
    return {**workflow(shown), "levels": _levels(shown.graph or Graph()), "last_run": last}


def run(shown: ShownRun) -> Rendered:
    """`nodes` counts them all, `states` those that have begun."""
    found = shown.run
    return {
        "id": found.wire_id,
        "workflow": found.flow_name,
        "state": found.state,
        "message": found.message,
        "nodes": len(found.graph.nodes),
        "states": dict(sorted(Counter(state.value for state in shown.states.values()).items())),
        "properties": found.properties,
        "previous_run": found.previous_wire_id,
        "trigger": found.trigger_name,
        "owner": found.owner,
        "requested_by": found.requested_by,
        "started_at": to_iso(found.created_at),
        "ended_at": to_iso_or_none(found.ended_at),
    }


def run_with_graph(shown: ShownRun) -> Rendered:
    return {**run(shown), "levels": _levels(shown.run.graph, shown)}


def _levels(graph: Graph, shown: ShownRun | None = None) -> list[list[Rendered]]:
    fired = shown.run.fired if shown else frozenset()
    states: Mapping[str, RunState] = shown.states if shown else {}
    attempts: Mapping[str, Sequence[Attempt]] = shown.attempts if shown else {}

    def node(given: Node) -> Rendered:
        return {
            "id": given.id,
            given.action.target.value: given.action.name,
            "state": states.get(given.id),
            "runs": [attempt.wire_id for attempt in attempts.get(given.id, ())],
        }

    def stage(given: Stage) -> Rendered:
        return {
            "id": given.id,
            "trigger": given.name,
            "active": given.active,
            "fired": given.id in fired,
            "logical": given.logical if given.needs else None,
            "needs": [{"nodes": need.nodes, "states": need.states} for need in given.needs],
            "nodes": [node(each) for each in given.nodes],
        }

    return [[stage(each) for each in level] for level in levels(graph)]
