"""The flow driver: fires the stages of flow runs that may fire now, and closes the runs that are over.

The caller holds the flow runs and every job that their graphs name: what is decided here stays true until the commit.
A node's row in flow_nodes is written with its run, once: the key says that no edge is ever taken twice.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from waterclock.domain.admission import Tally
from waterclock.domain.chain_graph import FIRE_AT, FLOW_RUN
from waterclock.domain.firing import PlannedRun, plan_actions
from waterclock.domain.flow import (
    FLOW_LIVE,
    FlowRun,
    FlowState,
    Node,
    Stage,
    gates_are_passed,
    ready,
    state_at_end,
)
from waterclock.domain.job import Job, merge_arguments
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import ENDED, RunState
from waterclock.stores.base import Kind, Tx
from waterclock.stores.ops.flow_rows import fired_text
from waterclock.stores.ops.jobs import JobsByPlace
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.newruns import insert_runs


@dataclass(slots=True)
class Advance:
    """One flow run on its way through a transaction."""

    run: FlowRun
    state: FlowState
    fired: set[str]
    started: set[str] = field(default_factory=set)  # the nodes that have a row
    outcomes: dict[str, RunState] = field(default_factory=dict)
    gates_passed_at: Moment | None = None
    message: str | None = None  # why it failed, where it does
    new: list[NewRun] = field(default_factory=list)

    @classmethod
    def of(cls, run: FlowRun) -> "Advance":
        return cls(run, run.state, set(run.fired), gates_passed_at=run.gates_passed_at, message=run.message)

    def has_changed(self) -> bool:
        was = (self.run.state, set(self.run.fired), self.run.message, self.run.gates_passed_at)
        return (self.state, self.fired, self.message, self.gates_passed_at) != was

    def is_over(self) -> bool:
        return self.started <= self.outcomes.keys()

    def close_if_over(self) -> None:
        if self.is_over():
            stopping = self.state is FlowState.STOPPING
            self.state = state_at_end(self.run.graph, self.outcomes, stopping=stopping)


class Driver:
    """One transaction's advances of many flow runs; `write` stores them all at once."""

    def __init__(self, tx: Tx, jobs: JobsByPlace, tallies: Mapping[int, Tally], now: Moment) -> None:
        self._tx = tx
        self._jobs = jobs
        self._tallies = tallies
        self._now = now

    async def go_on(self, advance: Advance) -> None:
        """Fire whatever may fire: what could not even start may let the next stage fire at once."""
        while advance.state is FlowState.RUNNING:
            stages = ready(advance.run.graph, advance.outcomes, advance.fired)
            if not stages:
                break
            for stage in stages:
                await self.fire(advance, stage, stage.nodes, run_at=self._now)
        graph = advance.run.graph
        if graph.strict and advance.gates_passed_at is None and gates_are_passed(graph, advance.outcomes):
            advance.gates_passed_at = self._now
        advance.close_if_over()

    async def fire(
        self, advance: Advance, stage: Stage, nodes: Sequence[Node], *, run_at: Moment, fire_id: int | None = None
    ) -> None:
        if fire_id is None:
            (fire_id,) = await self._tx.numbers(Kind.RUN, 1)
        advance.fired.add(stage.id)
        run = advance.run
        jobs = self._jobs.of(run.org_id, run.namespace)
        planned = plan_actions([node.action for node in nodes], jobs, self._tallies, run.graph.rules)
        for node, each in zip(nodes, planned, strict=True):
            advance.started.add(node.id)
            if each.state in ENDED:
                advance.outcomes[node.id] = each.state
            advance.new.append(_new_run(run, stage, node, each, run_at, fire_id))

    async def write(self, advances: Sequence[Advance]) -> None:
        """Of flow runs that are stored already."""
        await self.insert(advances)
        changed = [each for each in advances if each.has_changed()]
        if changed:
            await self._tx.run_many("move_flow_run", [self._moved(each) for each in changed])

    async def insert(self, advances: Sequence[Advance]) -> None:
        new = [run for each in advances for run in each.new]
        if not new:
            return
        moves = Moves()
        inserted = await insert_runs(self._tx, new, self._now, moves)
        await moves.write(self._tx, self._now)
        rows = [
            node_row(run.flow_run_id, run.flow_node, put.run_id, run.run_at, run.state if run.state in ENDED else None)
            for run, put in zip(new, inserted, strict=True)
        ]
        await self._tx.run_many("insert_flow_node", rows)

    def _moved(self, advance: Advance) -> dict[str, object]:
        return {
            "id": advance.run.id,
            "was": advance.run.state,
            "state": advance.state,
            "fired": fired_text(advance.fired),
            "message": advance.message,
            "gates_passed_at": advance.gates_passed_at,
            "ended_at": None if advance.state in FLOW_LIVE else self._now,
            "updated_at": self._now,
        }


async def load_nodes(tx: Tx, advances: Iterable[Advance]) -> None:
    """What became of their nodes so far."""
    by_id = {advance.run.id: advance for advance in advances}
    for row in await tx.fetch("nodes_of_flow_runs", {"flow_run_ids": sorted(by_id)}) if by_id else ():
        advance = by_id[row["flow_run_id"]]
        advance.started.add(row["node"])
        if row["outcome"] is not None:
            advance.outcomes[row["node"]] = RunState(row["outcome"])


def node_row(
    flow_run_id: int | None, node: str | None, run_id: int | None, run_at: Moment | None, outcome: RunState | None
) -> dict[str, object]:
    return {"flow_run_id": flow_run_id, "node": node, "run_id": run_id, "run_at": run_at, "outcome": outcome}


def _new_run(flow: FlowRun, stage: Stage, node: Node, run: PlannedRun, run_at: Moment, fire_id: int) -> NewRun:
    return NewRun(
        org_id=flow.org_id,
        namespace=flow.namespace,
        job=run.job,
        job_name=node.action.name,
        owner=run.job.owner if run.job else flow.owner,
        requested_by=flow.requested_by,
        run_at=run_at,
        state=run.state,
        wait_reason=run.wait_reason,
        message=run.message,
        fire_id=fire_id,
        action_no=run.action_no,
        has_next=run.has_next,
        trigger_id=stage.trigger_id,
        trigger_name=stage.name,
        flow_run_id=flow.id,
        flow_node=node.id,
        arguments=_arguments(flow, node, run.job),
        settings=_settings(flow),
        timeout_seconds=node.action.timeout_seconds,
        notify_after_seconds=node.action.notify_after_seconds,
        role=flow.role,
        probing=node.probing,
        probe_until=flow.created_at + seconds(node.probing.for_seconds) if node.probing else None,
    )


def _settings(flow: FlowRun) -> dict[str, object]:
    """A chain's programs are told when the chain was due, whichever level they are of."""
    return {FIRE_AT: flow.run_at, FLOW_RUN: flow.id} if flow.graph.strict else {}


def _arguments(flow: FlowRun, node: Node, job: Job | None) -> dict[str, str]:
    """The flow says first which run of it this is, and nobody overrides that."""
    of_flow = {"--WORKFLOW_NAME": flow.flow_name, "--WORKFLOW_RUN_ID": flow.wire_id}
    merged = merge_arguments(job.spec, of_trigger=node.action.arguments) if job else dict(node.action.arguments)
    if flow.graph.strict:
        return merged
    return {**of_flow, **merged, **of_flow}
