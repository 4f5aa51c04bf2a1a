"""Flows and their runs as they are shown: with states, on request with the graph; many at once, never one by one."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from waterclock.domain.errors import NotFound
from waterclock.domain.flow import Flow, FlowRun, Graph, graph_of
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules, Trigger
from waterclock.stores.base import Tx
from waterclock.stores.ops.flow_runs import details, get_flow_run, last_flow_runs, list_flow_runs, node_states
from waterclock.stores.ops.flows import get_flows
from waterclock.stores.ops.trigger_reading import with_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRun:
    run: FlowRun
    states: Mapping[str, RunState]  # of the nodes that have begun
    # With the graph only:
    attempts: Mapping[str, Sequence[Attempt]] = field(default_factory=dict)
    triggers: Mapping[int, Trigger] = field(default_factory=dict)  # those of the flow that still exist, by id


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFlow:
    flow: Flow
    last_run: ShownRun | None
    graph: Graph | None = None  # as a run that starts now would have it
    triggers: Mapping[int, Trigger] = field(default_factory=dict)


async def show_flows(
    tx: Tx, *, org_id: int, namespace: str, names: Sequence[str], rules: FireRules, with_graph: bool
) -> dict[str, ShownFlow]:
    """Those that exist, by name."""
    flows = await get_flows(tx, org_id=org_id, namespace=namespace, names=names)
    triggers = await _triggers(tx, org_id, namespace, flows if with_graph else ())
    last = await last_flow_runs(tx, flow_ids=[flow.id for flow in flows.values()])
    shown = {each.run.flow_id: each for each in await _shown(tx, [*last.values()], triggers, with_graph=with_graph)}
    return {
        name: ShownFlow(
            flow=flow,
            last_run=shown.get(flow.id),
            graph=graph_of(name, triggers[name], rules) if with_graph else None,
            triggers=_by_id(triggers[name]),
        )
        for name, flow in flows.items()
    }


async def show_flow_run(tx: Tx, *, org_id: int, namespace: str, name: str, wire_id: str, with_graph: bool) -> ShownRun:
    run = await get_flow_run(tx, org_id=org_id, namespace=namespace, name=name, wire_id=wire_id)
    triggers = await _triggers(tx, org_id, namespace, [name] if with_graph else ())
    (shown,) = await _shown(tx, [run], triggers, with_graph=with_graph)
    return shown


async def show_flow_runs(
    tx: Tx, *, org_id: int, namespace: str, name: str, before: tuple[int, int], limit: int, with_graph: bool
) -> list[ShownRun]:
    """Newest first; the flow must exist."""
    flows = await get_flows(tx, org_id=org_id, namespace=namespace, names=[name])
    if name not in flows:
        raise NotFound("workflow", name)
    runs = await list_flow_runs(tx, flow_id=flows[name].id, before=before, limit=limit)
    triggers = await _triggers(tx, org_id, namespace, [name] if with_graph else ())
    return await _shown(tx, runs, triggers, with_graph=with_graph)


async def _shown(
    tx: Tx, runs: Sequence[FlowRun], triggers: Mapping[str, Sequence[Trigger]], *, with_graph: bool
) -> list[ShownRun]:
    ids = [run.id for run in runs]
    if not with_graph:
        states = await node_states(tx, flow_run_ids=ids)
        return [ShownRun(run=run, states=states.get(run.id, {})) for run in runs]
    found = await details(tx, flow_run_ids=ids)
    known = {name: _by_id(mine) for name, mine in triggers.items()}
    return [
        ShownRun(
            run=run,
            states=found[run.id].states,
            attempts=found[run.id].attempts,
            triggers=known.get(run.flow_name, {}),
        )
        for run in runs
    ]


async def _triggers(
    tx: Tx, org_id: int, namespace: str, flow_names: Collection[str]
) -> defaultdict[str, list[Trigger]]:
    found: defaultdict[str, list[Trigger]] = defaultdict(list)
    key = {"org_id": org_id, "namespace": namespace, "flow_names": sorted(flow_names)}
    for trigger in await with_parts(tx, await tx.fetch("triggers_of_flows", key) if flow_names else ()):
        found[str(trigger.spec.flow_name)].append(trigger)
    return found


def _by_id(triggers: Sequence[Trigger]) -> dict[int, Trigger]:
    return {trigger.id: trigger for trigger in triggers}
