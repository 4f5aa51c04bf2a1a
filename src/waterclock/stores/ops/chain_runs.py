"""Runs of chains: started by hand, stopped until nothing of them lives, shown with every probe and step."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.chain import NAMESPACE, Chain, chain_name
from waterclock.domain.errors import NotAllowed, NotFound, WrongState
from waterclock.domain.flow import FLOW_LIVE, FlowRun
from waterclock.domain.gate import Verdict
from waterclock.domain.role import NotNow, who_runs
from waterclock.domain.run import Attempt
from waterclock.domain.trigger import FireRules
from waterclock.domain.usual import Span
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.chains import get_chain
from waterclock.stores.ops.flow_rows import flow_of, flow_run_of
from waterclock.stores.ops.flow_runs import last_flow_runs, list_flow_runs, stop_locked
from waterclock.stores.ops.flow_starting import FlowStart, fixed_graph, free_runs, start_alone
from waterclock.stores.ops.roles import living_roles
from waterclock.stores.ops.rows import attempt_of
from waterclock.stores.ops.span import ALL

LEARNED_FROM: Final = 30  # the last runs of a chain

Spans = Mapping[str, Sequence[Span]]  # by node


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainRun:
    """A run with all that is known of its nodes."""

    run: FlowRun
    chain: Chain | None  # None: deleted since
    nodes: Mapping[str, Row]  # the runs of the nodes that have begun
    attempts: Mapping[str, Sequence[Attempt]]  # a gate's are its probes: the last ones, where not all were asked for
    errors: Mapping[str, int]  # how many of all a gate's probes were errors
    spans: Spans


async def start_chain(tx: Tx, *, org_id: int, chain_id: int, requested_by: str, rules: Mapping[str, FireRules]) -> int:
    """The number of the new run. The switch does not matter; a live run and a role that is down do."""
    await get_chain(tx, org_id=org_id, chain_id=chain_id)
    row = await tx.fetch_one("lock_flow", {"org_id": org_id, "namespace": NAMESPACE, "name": chain_name(chain_id)})
    if row is None:
        raise NotFound("chain", chain_id)
    flow = flow_of(row)
    if (await free_runs(tx, [flow]))[flow.id] < 1:
        raise NotAllowed(f"the last run of chain {chain_id} still lives: stop it or wait for its end first")
    fire_rules = rules.get(NAMESPACE, FireRules())
    role = who_runs(flow.roles, await living_roles(tx, fire_rules))
    if isinstance(role, NotNow):
        raise NotAllowed(f"chain {chain_id} cannot run now: {role.reason}")
    start = FlowStart(
        flow=flow,
        graph=await fixed_graph(tx, flow, fire_rules),
        run_at=await tx.now(),
        requested_by=requested_by,
        properties={},
        role=role,
    )
    wire_id = await start_alone(tx, start)
    made = await tx.fetch_one("flow_run_by_wire_id", {"wire_id": wire_id, "org_id": org_id})
    return int(_known(made, wire_id)["id"])


async def stop_chain_run(tx: Tx, *, org_id: int, run_id: int, rules: Mapping[str, FireRules]) -> None:
    row = await tx.fetch_one("lock_chain_run", {"id": run_id, "org_id": org_id})
    run = flow_run_of(_known(row, run_id))
    if run.state not in FLOW_LIVE:
        raise WrongState(f"run {run_id} has ended already")
    await stop_locked(tx, run, rules)


async def list_chain_runs(tx: Tx, *, org_id: int, chain_id: int, before: tuple[int, int], limit: int) -> list[FlowRun]:
    """Newest first; the chain must exist."""
    chain = await get_chain(tx, org_id=org_id, chain_id=chain_id)
    return await list_flow_runs(tx, flow_id=chain.flow_id, before=before, limit=limit)


async def last_chain_runs(tx: Tx, *, chains: Sequence[Chain]) -> dict[int, FlowRun]:
    """By the chain's number."""
    last = await last_flow_runs(tx, flow_ids=[chain.flow_id for chain in chains])
    return {chain.id: last[chain.flow_id] for chain in chains if chain.flow_id in last}


async def get_chain_run(tx: Tx, *, org_id: int, run_id: int, probes: int | None = None) -> ChainRun:
    """With all probes of each gate, or only the last so many: one that is asked for hours has many."""
    run = flow_run_of(_known(await tx.fetch_one("chain_run_by_id", {"id": run_id, "org_id": org_id}), run_id))
    tried: defaultdict[str, list[Row]] = defaultdict(list)
    for row in await tx.fetch("tries_of_chain_run", {"flow_run_id": run.id}):
        tried[row["node"]].append(row)
    rows = await tx.fetch("runs_of_chain_run", {"flow_run_id": run.id})
    return ChainRun(
        run=run,
        chain=await _chain_of(tx, run),
        nodes={row["node"]: row for row in rows},
        attempts=await _attempts(tx, {node: tries[-probes:] if probes else tries for node, tries in tried.items()}),
        errors={node: sum(row["verdict"] == Verdict.ERROR for row in tries) for node, tries in tried.items()},
        spans=await spans_of(tx, flow_id=run.flow_id),
    )


async def _attempts(tx: Tx, tried: Mapping[str, Sequence[Row]]) -> dict[str, list[Attempt]]:
    ids = sorted(row["id"] for tries in tried.values() for row in tries)
    whole = {row["id"]: attempt_of(row) for row in await tx.fetch("whole_attempts", {"ids": ids, **ALL})} if ids else {}
    return {node: [whole[row["id"]] for row in tries if row["id"] in whole] for node, tries in tried.items()}


async def spans_of(tx: Tx, *, flow_id: int) -> Spans:
    """Of the last runs, by node, those that succeeded."""
    rows = await tx.fetch("last_flow_run_ids_of_flow", {"flow_id": flow_id, "limit": LEARNED_FROM})
    ids = [row["id"] for row in rows]
    found: defaultdict[str, list[Span]] = defaultdict(list)
    for row in await tx.fetch("spans_of_flow_runs", {"flow_run_ids": ids}) if ids else ():
        found[row["node"]].append((row["started_at"], row["ended_at"]))
    return found


async def _chain_of(tx: Tx, run: FlowRun) -> Chain | None:
    found = await tx.fetch("chains_of_flows", {"flow_ids": [run.flow_id]})
    return await get_chain(tx, org_id=run.org_id, chain_id=found[0]["id"]) if found else None


def _known(row: Row | None, run_id: int | str) -> Row:
    if row is None:
        raise NotFound("chain run", run_id)
    return row
