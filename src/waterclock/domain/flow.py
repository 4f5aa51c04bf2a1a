"""A flow: jobs in a graph that the outcomes of its own runs advance. Pure: what may fire now, and when all is over.

A stage is what fires as one: in a Glue workflow a trigger with its actions, in a chain a level with its steps. A stage
fires once in a flow run, when what it needs has come true; one that needs nothing fires at the start. The graph is
fixed when the run starts: later changes of triggers are for later runs.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from waterclock.domain.gate import Probing
from waterclock.domain.moment import Moment
from waterclock.domain.role import Role
from waterclock.domain.run import RunState
from waterclock.domain.trigger import (
    Action,
    Condition,
    FireRules,
    Logical,
    Trigger,
    TriggerSpec,
    TriggerState,
    TriggerType,
)

NO_CAP: Final = 0


class FlowState(StrEnum):
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"  # whatever became of its nodes, where the graph is not strict
    STOPPING = "STOPPING"  # nothing fires any more; what runs is being stopped
    STOPPED = "STOPPED"
    ERROR = "ERROR"  # a strict graph's run, one of whose nodes did not succeed


FLOW_LIVE: Final = frozenset({FlowState.RUNNING, FlowState.STOPPING})

Outcomes = Mapping[str, RunState]  # of the nodes that have ended, by their id


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    id: str
    action: Action
    title: str = ""  # what people call it, where that is not the action's name
    probing: Probing | None = None  # of a gate: its run is tried again until it passes, or its time is over


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Met when one of these nodes has ended in one of these states."""

    nodes: tuple[str, ...]
    states: tuple[str, ...]

    def is_met(self, outcomes: Outcomes) -> bool:
        return any(outcomes.get(node) in self.states for node in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    id: str
    name: str
    nodes: tuple[Node, ...]
    needs: tuple[Need, ...] = ()
    logical: Logical = Logical.AND
    active: bool = True  # one that is not is shown, and never fires
    trigger_id: int | None = None

    def may_fire(self, outcomes: Outcomes) -> bool:
        if not self.active:
            return False
        met = [need.is_met(outcomes) for need in self.needs]
        return any(met) if met and self.logical is Logical.ANY else all(met)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    stages: tuple[Stage, ...] = ()
    rules: FireRules = field(default_factory=FireRules)
    strict: bool = False  # the first node that does not succeed fails the whole; what has not fired never does

    @property
    def gates(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.probing)

    @property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(node for stage in self.stages for node in stage.nodes)

    def node(self, node: str) -> Node:
        return next(each for each in self.nodes if each.id == node)

    def stage_of(self, node: str) -> Stage:
        return next(stage for stage in self.stages if any(node == each.id for each in stage.nodes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    id: int
    org_id: int
    namespace: str
    name: str
    owner: str
    max_concurrent: int  # 0: no cap
    properties: Mapping[str, str]  # what a run's own are laid over
    definition: Mapping[str, object]
    tags: Mapping[str, str]
    version: int
    created_at: Moment
    updated_at: Moment
    graph: Graph | None = None  # of a chain; a workflow's is made of its triggers
    roles: tuple[Role, ...] = ()  # which workers may run it; none: any


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowRun:
    id: int
    run_at: Moment
    org_id: int
    namespace: str
    wire_id: str
    flow_id: int
    flow_name: str
    owner: str
    requested_by: str
    trigger_name: str | None
    previous_wire_id: str | None
    state: FlowState
    message: str | None
    graph: Graph
    fired: frozenset[str]
    properties: Mapping[str, str]
    created_at: Moment
    ended_at: Moment | None
    updated_at: Moment
    role: Role = Role.ANY  # the one whose workers run it
    gates_passed_at: Moment | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """How a new run takes up an old one: what it keeps of it, and what it starts with."""

    carried: Outcomes
    fired: frozenset[str]
    starts: Mapping[str, tuple[str, ...]]  # the nodes to start, by their stage


def ready(graph: Graph, outcomes: Outcomes, fired: Collection[str]) -> list[Stage]:
    """The stages to fire now, in the graph's order."""
    return [stage for stage in graph.stages if stage.id not in fired and stage.may_fire(outcomes)]


def gates_are_passed(graph: Graph, outcomes: Outcomes) -> bool:
    return all(outcomes.get(gate.id) is RunState.SUCCEEDED for gate in graph.gates)


def state_at_end(graph: Graph, outcomes: Outcomes, *, stopping: bool) -> FlowState:
    """Of a run none of whose nodes is live any more, and nothing of which may fire."""
    if stopping:
        return FlowState.STOPPED
    if graph.strict and not all(outcomes.get(node.id) is RunState.SUCCEEDED for node in graph.nodes):
        return FlowState.ERROR
    return FlowState.COMPLETED


def resume(graph: Graph, outcomes: Outcomes, fired: Collection[str], chosen: Collection[str]) -> Resumption:
    """The chosen nodes run again, and so may all that follow from them; the rest keeps its outcomes."""
    below = downstream(graph, chosen)
    again = below | set(chosen)
    starts: dict[str, tuple[str, ...]] = {}
    for stage in graph.stages:
        mine = tuple(node.id for node in stage.nodes if node.id in chosen and node.id not in below)
        if mine:
            starts[stage.id] = mine
    kept = {stage.id for stage in graph.stages if not any(node.id in below for node in stage.nodes)}
    return Resumption(
        carried={node: state for node, state in outcomes.items() if node not in again},
        fired=(frozenset(fired) & kept) | frozenset(starts),
        starts=starts,
    )


def downstream(graph: Graph, nodes: Collection[str]) -> set[str]:
    """Every node that may start because one of these has ended; one of these itself only where there is a circle."""
    found: set[str] = set()
    ahead = set(nodes)
    while ahead:
        stages = [stage for stage in graph.stages if any(ahead.intersection(need.nodes) for need in stage.needs)]
        ahead = {node.id for stage in stages for node in stage.nodes} - found
        found |= ahead
    return found


def graph_of(flow: str, triggers: Sequence[Trigger], rules: FireRules) -> Graph:
    """A workflow's triggers as a graph: the start trigger first, then by name."""
    ordered = sorted(triggers, key=lambda each: (each.spec.type is TriggerType.CONDITIONAL, each.name))
    nodes = {
        trigger.name: tuple(
            Node(id=_unique_id(flow, trigger.name, str(number), action.target, action.name), action=action)
            for number, action in enumerate(trigger.spec.actions)
        )
        for trigger in ordered
    }
    every = [node for mine in nodes.values() for node in mine]
    return Graph(stages=tuple(_stage(flow, trigger, nodes[trigger.name], every) for trigger in ordered), rules=rules)


def _stage(flow: str, trigger: Trigger, nodes: tuple[Node, ...], every: Sequence[Node]) -> Stage:
    predicate = trigger.spec.predicate
    return Stage(
        id=_unique_id(flow, trigger.name),
        name=trigger.name,
        nodes=nodes,
        needs=tuple(_need(condition, every) for condition in predicate.conditions) if predicate else (),
        logical=predicate.logical if predicate else Logical.AND,
        # One that was kept before conditions were stored says nothing of what it waits for: it must not fire at once.
        active=starts_flow(trigger.spec) or (predicate is not None and trigger.state is TriggerState.RUNNING),
        trigger_id=trigger.id,
    )


def starts_flow(spec: TriggerSpec) -> bool:
    """A flow has one such trigger; all others wait for its nodes."""
    return spec.type is not TriggerType.CONDITIONAL


def _need(condition: Condition, every: Sequence[Node]) -> Need:
    meant = (condition.target, condition.name)
    return Need(
        nodes=tuple(node.id for node in every if (node.action.target, node.action.name) == meant),
        states=(condition.state,),
    )


def _unique_id(*parts: str) -> str:
    """The same for the same place in the same flow, run after run."""
    return "wnode_" + hashlib.sha256("\0".join(parts).encode()).hexdigest()


def flow_run_wire_id(at: Moment, entropy: bytes) -> str:
    """`wr_` and 64 hex digits that begin with the time."""
    return f"wr_{at // 1_000:012x}{entropy.hex()[:52]}"
