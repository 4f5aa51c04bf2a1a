"""New flow runs: by a caller, by their start trigger, or to take up an old one; under the flow's cap and lock."""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from waterclock.domain.admission import Tally
from waterclock.domain.errors import ConcurrentRunsExceeded, InvalidInput, NotFound, WrongState
from waterclock.domain.flow import (
    FLOW_LIVE,
    NO_CAP,
    Flow,
    FlowRun,
    FlowState,
    Graph,
    Resumption,
    flow_run_wire_id,
    graph_of,
    ready,
    resume,
)
from waterclock.domain.moment import Moment
from waterclock.domain.quota import QuotaKind
from waterclock.domain.role import Role
from waterclock.domain.run import RunState
from waterclock.domain.trigger import FireRules, Target
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops.advancing import Advance, Driver, node_row
from waterclock.stores.ops.flow_rows import fired_text, flow_of, flow_run_of, graph_text
from waterclock.stores.ops.flows import triggers_of_flow
from waterclock.stores.ops.jobs import JobsByPlace, Place, hold_jobs, job_ids_by_names, jobs_by_ids, tallies
from waterclock.stores.ops.quotas import keep_quota
from waterclock.stores.ops.repeats import remember
from waterclock.stores.ops.rows import dumped


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowStart:
    """A run of a flow as decided, before it has a number."""

    flow: Flow
    graph: Graph
    run_at: Moment
    requested_by: str
    properties: Mapping[str, str]
    wire_id: str | None = None  # where its caller has been promised one
    fire_id: int | None = None
    trigger_id: int | None = None
    trigger_name: str | None = None
    previous_wire_id: str | None = None
    role: Role = Role.ANY
    resumption: Resumption | None = None
    carried: Sequence[Row] = field(default_factory=tuple)  # the old run's rows of the nodes that are kept


async def start_flow_run(
    tx: Tx,
    *,
    org_id: int,
    namespace: str,
    name: str,
    requested_by: str,
    properties: Mapping[str, str],
    rules: FireRules,
    digest: str | None = None,
) -> str:
    """Its wire id, the same for every call with this digest. The properties are laid over the flow's own."""
    now = await tx.now()
    wire_id = flow_run_wire_id(now, secrets.token_bytes(26))
    standing = (await remember(tx, {digest: wire_id}, now))[digest] if digest else wire_id
    if standing != wire_id:
        return standing
    await keep_quota(tx, org_id=org_id, user=requested_by, kind=QuotaKind.LIVE_RUNS)
    flow = await _admitting(tx, org_id, namespace, name)
    start = FlowStart(
        flow=flow,
        graph=await fixed_graph(tx, flow, rules),
        wire_id=wire_id,
        run_at=now,
        requested_by=requested_by,
        properties={**flow.properties, **properties},
    )
    return await start_alone(tx, start)


async def resume_flow_run(
    tx: Tx, *, org_id: int, namespace: str, name: str, wire_id: str, requested_by: str, nodes: Collection[str]
) -> str:
    """A new run that keeps what the old one has done, but for these nodes and all that follow from them."""
    flow = await _admitting(tx, org_id, namespace, name)
    row = await tx.fetch_one("flow_run_by_wire_id", {"wire_id": wire_id, "org_id": org_id})
    if row is None or row["flow_id"] != flow.id:
        raise NotFound("workflow run", wire_id)
    old = flow_run_of(row)
    if old.state in FLOW_LIVE:
        raise WrongState(f"workflow run {wire_id!r} is {old.state}: only a run that has ended can be resumed")
    rows = await tx.fetch("nodes_of_flow_runs", {"flow_run_ids": [old.id]})
    outcomes = {row["node"]: RunState(row["outcome"]) for row in rows if row["outcome"] is not None}
    for node in sorted(set(nodes) - outcomes.keys()):
        raise InvalidInput(f"{node!r} is no node that ran in {wire_id!r}", field="NodeIds", value=node)
    resumption = resume(old.graph, outcomes, old.fired, nodes)
    start = FlowStart(
        flow=flow,
        graph=old.graph,
        run_at=await tx.now(),
        requested_by=requested_by,
        properties=old.properties,
        previous_wire_id=old.wire_id,
        resumption=resumption,
        carried=[row for row in rows if row["node"] in resumption.carried],
    )
    return await start_alone(tx, start)


async def fixed_graph(tx: Tx, flow: Flow, rules: FireRules) -> Graph:
    """As its triggers are now; a chain's was compiled when it was defined."""
    if flow.graph is not None:
        return flow.graph
    triggers = await triggers_of_flow(tx, org_id=flow.org_id, namespace=flow.namespace, flow_name=flow.name)
    return graph_of(flow.name, triggers, rules)


async def free_runs(tx: Tx, flows: Collection[Flow]) -> dict[int, int]:
    """How many more runs each of those that have a cap may start; the caller holds their rows."""
    capped = {flow.id: flow.max_concurrent for flow in flows if flow.max_concurrent != NO_CAP}
    if capped:
        for row in await tx.fetch("count_live_flow_runs", {"flow_ids": sorted(capped)}):
            capped[row["flow_id"]] -= row["live"]
    return capped


def job_names_of(graphs: Iterable[tuple[Place, Graph]]) -> dict[Place, set[str]]:
    names: defaultdict[Place, set[str]] = defaultdict(set)
    for place, graph in graphs:
        names[place] |= {node.action.name for node in graph.nodes if node.action.target is Target.JOB}
    return names


async def insert_flow_runs(
    tx: Tx, starts: Sequence[FlowStart], jobs: JobsByPlace, counted: Mapping[int, Tally], now: Moment
) -> list[str]:
    """Their wire ids, in their order; the first nodes start with them."""
    driver = Driver(tx, jobs, counted, now)
    advances = []
    for number, start in zip(await tx.numbers(Kind.RUN, len(starts)), starts, strict=True):
        advance = Advance.of(_flow_run(start, number, now))
        await _begin(driver, advance, start)
        advances.append(advance)
    if starts:
        rows = [_row(advance, start) for advance, start in zip(advances, starts, strict=True)]
        await tx.run_many("insert_flow_run", rows)
        await _insert_carried(tx, advances, starts)
        await driver.insert(advances)
    return [advance.run.wire_id for advance in advances]


async def _begin(driver: Driver, advance: Advance, start: FlowStart) -> None:
    graph = start.graph
    if start.resumption is None:
        fire_id = start.fire_id
        for stage in ready(graph, {}, ()):
            await driver.fire(advance, stage, stage.nodes, run_at=start.run_at, fire_id=fire_id)
            fire_id = None
    else:
        taken_up = start.resumption
        advance.fired |= taken_up.fired
        advance.outcomes |= taken_up.carried
        advance.started |= taken_up.carried.keys()
        for stage in graph.stages:
            chosen = [node for node in stage.nodes if node.id in taken_up.starts.get(stage.id, ())]
            if chosen:
                await driver.fire(advance, stage, chosen, run_at=start.run_at)
    await driver.go_on(advance)


async def start_alone(tx: Tx, start: FlowStart) -> str:
    """Its wire id; the caller holds the flow, and has seen that there is room."""
    place = (start.flow.org_id, start.flow.namespace)
    ids = await job_ids_by_names(tx, job_names_of([(place, start.graph)]))
    held = await hold_jobs(tx, await jobs_by_ids(tx, ids))
    counted = await tallies(tx, held.values())
    (wire_id,) = await insert_flow_runs(tx, [start], JobsByPlace.of_jobs(held.values()), counted, start.run_at)
    return wire_id


async def _admitting(tx: Tx, org_id: int, namespace: str, name: str) -> Flow:
    row = await tx.fetch_one("lock_flow", {"org_id": org_id, "namespace": namespace, "name": name})
    if row is None:
        raise NotFound("workflow", name)
    flow = flow_of(row)
    if (await free_runs(tx, [flow])).get(flow.id, 1) < 1:
        raise ConcurrentRunsExceeded(name, flow.max_concurrent, kind="workflow")
    return flow


async def _insert_carried(tx: Tx, advances: Sequence[Advance], starts: Sequence[FlowStart]) -> None:
    rows = [
        node_row(advance.run.id, row["node"], row["run_id"], row["run_at"], row["outcome"])
        for advance, start in zip(advances, starts, strict=True)
        for row in start.carried
    ]
    if rows:
        await tx.run_many("insert_flow_node", rows)


def _flow_run(start: FlowStart, number: int, now: Moment) -> FlowRun:
    return FlowRun(
        id=number,
        run_at=start.run_at,
        org_id=start.flow.org_id,
        namespace=start.flow.namespace,
        wire_id=start.wire_id or flow_run_wire_id(start.run_at, secrets.token_bytes(26)),
        flow_id=start.flow.id,
        flow_name=start.flow.name,
        owner=start.flow.owner,
        requested_by=start.requested_by,
        trigger_name=start.trigger_name,
        previous_wire_id=start.previous_wire_id,
        state=FlowState.RUNNING,
        message=None,
        graph=start.graph,
        fired=frozenset(),
        properties=start.properties,
        created_at=now,
        ended_at=None,
        updated_at=now,
        role=start.role,
    )


def _row(advance: Advance, start: FlowStart) -> dict[str, object]:
    run = advance.run
    return {
        "id": run.id,
        "run_at": run.run_at,
        "org_id": run.org_id,
        "namespace": run.namespace,
        "wire_id": run.wire_id,
        "flow_id": run.flow_id,
        "flow_name": run.flow_name,
        "owner": run.owner,
        "requested_by": run.requested_by,
        "fire_id": start.fire_id,
        "trigger_id": start.trigger_id,
        "trigger_name": run.trigger_name,
        "previous_wire_id": run.previous_wire_id,
        "state": advance.state,
        "message": advance.message,
        "role": run.role,
        "gates_passed_at": advance.gates_passed_at,
        "graph": graph_text(run.graph),
        "fired": fired_text(advance.fired),
        "properties": dumped(run.properties),
        "created_at": run.created_at,
        "ended_at": None if advance.state in FLOW_LIVE else run.created_at,
        "updated_at": run.updated_at,
    }
