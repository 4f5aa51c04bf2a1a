"""Our flows and their runs as Glue shows them: workflows with statistics, and graphs of triggers, jobs and crawlers."""

from collections.abc import Callable, Mapping
from typing import Final

from waterclock.domain.flow import Graph, Node, Stage
from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState
from waterclock.domain.trigger import Target, Trigger
from waterclock.faces.glue.render import Wire, epoch, run_wire, trigger_wire
from waterclock.stores.ops.flow_showing import ShownFlow, ShownRun

# A SKIPPED node is counted in the total only: AWS has no name for it.
COUNTED: Final[Mapping[str, frozenset[RunState]]] = {
    "RunningActions": frozenset({RunState.STARTING, RunState.RUNNING, RunState.STOPPING}),
    "WaitingActions": frozenset({RunState.WAITING}),
    "SucceededActions": frozenset({RunState.SUCCEEDED}),
    "FailedActions": frozenset({RunState.FAILED}),
    "TimeoutActions": frozenset({RunState.TIMEOUT}),
    "StoppedActions": frozenset({RunState.STOPPED}),
    "ErroredActions": frozenset({RunState.ERROR, RunState.EXPIRED}),
}

Details = Callable[[Node], Wire]


def workflow_wire(shown: ShownFlow, *, now: Moment) -> Wire:
    flow = shown.flow
    wire: Wire = {
        **flow.definition,
        "Name": flow.name,
        "CreatedOn": epoch(flow.created_at),
        "LastModifiedOn": epoch(flow.updated_at),
    }
    if shown.last_run is not None:
        wire["LastRun"] = workflow_run_wire(shown.last_run, with_graph=shown.graph is not None, now=now)
    if shown.graph is not None:
        wire["Graph"] = _graph_wire(flow.name, shown.graph, shown.triggers, lambda _: {})
    return wire


def workflow_run_wire(shown: ShownRun, *, with_graph: bool, now: Moment) -> Wire:
    run = shown.run
    wire: Wire = {
        "Name": run.flow_name,
        "WorkflowRunId": run.wire_id,
        "WorkflowRunProperties": run.properties,
        "StartedOn": epoch(run.created_at),
        "Status": run.state.value,
        "Statistics": _statistics(run.graph, shown.states),
    }
    if run.ended_at is not None:
        wire["CompletedOn"] = epoch(run.ended_at)
    optional = {"PreviousRunId": run.previous_wire_id, "ErrorMessage": run.message}
    wire.update((name, value) for name, value in optional.items() if value)
    if with_graph:
        wire["Graph"] = _graph_wire(run.flow_name, run.graph, shown.triggers, _runs_of(shown, now))
    return wire


def _statistics(graph: Graph, states: Mapping[str, RunState]) -> Wire:
    counts = {name: sum(state in counted for state in states.values()) for name, counted in COUNTED.items()}
    return {"TotalActions": len(graph.nodes), **counts}


def _graph_wire(flow_name: str, graph: Graph, triggers: Mapping[int, Trigger], details: Details) -> Wire:
    """A trigger before what it starts, the start trigger first of all."""
    nodes: list[Wire] = []
    edges: dict[tuple[str, str], None] = {}  # two conditions on one job are one edge
    for stage in graph.stages:
        nodes.append(_trigger_node(flow_name, stage, triggers))
        nodes += [_node(node) | details(node) for node in stage.nodes]
        edges |= dict.fromkeys((cause, stage.id) for need in stage.needs for cause in need.nodes)
        edges |= dict.fromkeys((stage.id, node.id) for node in stage.nodes)
    return {"Nodes": nodes, "Edges": [{"SourceId": source, "DestinationId": to} for source, to in edges]}


def _trigger_node(flow_name: str, stage: Stage, triggers: Mapping[int, Trigger]) -> Wire:
    """As it is now; of one that has been deleted since the run started its name."""
    known = triggers.get(stage.trigger_id) if stage.trigger_id is not None else None
    shown = trigger_wire(known) if known else {"Name": stage.name, "WorkflowName": flow_name}
    return {"Type": "TRIGGER", "Name": stage.name, "UniqueId": stage.id, "TriggerDetails": {"Trigger": shown}}


def _node(node: Node) -> Wire:
    return {"Type": node.action.target.value.upper(), "Name": node.action.name, "UniqueId": node.id}


def _runs_of(shown: ShownRun, now: Moment) -> Details:
    def details(node: Node) -> Wire:
        if node.action.target is Target.CRAWLER:
            return {"CrawlerDetails": {"Crawls": []}}
        return {"JobDetails": {"JobRuns": [run_wire(each, now=now) for each in shown.attempts.get(node.id, ())]}}

    return details
