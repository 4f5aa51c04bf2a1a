"""Flow runs: shown with their nodes, given properties, stopped until nothing of them lives."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.errors import NotFound, WrongState
from waterclock.domain.flow import FLOW_LIVE, FlowRun, FlowState
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.flow_rows import fired_text, flow_run_of
from waterclock.stores.ops.rows import attempt_of, dumped
from waterclock.stores.ops.span import ALL
from waterclock.stores.ops.stopping import stop_by_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowDetail:
    """A flow run's nodes as they are now: those that have begun, and the attempts of each."""

    states: Mapping[str, RunState]
    attempts: Mapping[str, Sequence[Attempt]]


async def get_flow_run(tx: Tx, *, org_id: int, namespace: str, name: str, wire_id: str) -> FlowRun:
    row = await tx.fetch_one("flow_run_by_wire_id", {"wire_id": wire_id, "org_id": org_id})
    return flow_run_of(_its_own(row, namespace, name, wire_id))


async def list_flow_runs(tx: Tx, *, flow_id: int, before: tuple[int, int], limit: int) -> list[FlowRun]:
    """Newest first; the page goes on below `before` (run_at, id)."""
    values = {"flow_id": flow_id, "before_at": before[0], "before_id": before[1], "limit": limit}
    return [flow_run_of(row) for row in await tx.fetch("flow_runs_of_flow", values)]


async def last_flow_runs(tx: Tx, *, flow_ids: Sequence[int]) -> dict[int, FlowRun]:
    found = await tx.fetch("last_flow_run_ids", {"flow_ids": list(flow_ids)}) if flow_ids else ()
    ids = [row["id"] for row in found if row["id"] is not None]
    rows = await tx.fetch("flow_runs_by_ids", {"ids": ids}) if ids else ()
    return {row["flow_id"]: flow_run_of(row) for row in rows}


async def node_states(tx: Tx, *, flow_run_ids: Sequence[int]) -> dict[int, dict[str, RunState]]:
    found: defaultdict[int, dict[str, RunState]] = defaultdict(dict)
    rows = await tx.fetch("node_states_of_flow_runs", {"flow_run_ids": list(flow_run_ids)}) if flow_run_ids else ()
    for row in rows:
        if row["state"] is not None:
            found[row["flow_run_id"]][row["node"]] = RunState(row["state"])
    return found


async def details(tx: Tx, *, flow_run_ids: Sequence[int]) -> dict[int, FlowDetail]:
    states = await node_states(tx, flow_run_ids=flow_run_ids)
    attempts = await _attempts(tx, flow_run_ids)
    return {number: FlowDetail(states=states.get(number, {}), attempts=attempts[number]) for number in flow_run_ids}


async def put_properties(
    tx: Tx, *, org_id: int, namespace: str, name: str, wire_id: str, properties: Mapping[str, str]
) -> None:
    """Laid over those that the run has."""
    run = await _lock(tx, org_id, namespace, name, wire_id)
    merged = dumped({**run.properties, **properties})
    await tx.run("set_flow_run_properties", {"id": run.id, "properties": merged, "updated_at": await tx.now()})


async def stop_flow_run(
    tx: Tx, *, org_id: int, namespace: str, name: str, wire_id: str, rules: Mapping[str, FireRules]
) -> None:
    """Once acknowledged nothing of it fires; it is STOPPED when its last run has ended, at once if none lives."""
    run = await _lock(tx, org_id, namespace, name, wire_id)
    if run.state not in FLOW_LIVE and run.graph.stages:
        raise WrongState(f"workflow run {wire_id!r} has ended: it is {run.state}")
    await stop_locked(tx, run, rules)


async def stop_locked(tx: Tx, run: FlowRun, rules: Mapping[str, FireRules]) -> None:
    if run.state is not FlowState.RUNNING:  # nothing to stop, or being stopped already
        return
    now = await tx.now()
    live = [row["id"] for row in await tx.fetch("live_attempt_ids_of_flow_run", {"flow_run_id": run.id})]
    state = FlowState.STOPPING if live else FlowState.STOPPED
    same = {"fired": fired_text(run.fired), "message": run.message, "gates_passed_at": run.gates_passed_at}
    moved = {**same, "id": run.id, "was": run.state, "state": state}
    await tx.run("move_flow_run", {**moved, "ended_at": None if live else now, "updated_at": now})
    await stop_by_ids(tx, live, now, rules)


async def _attempts(tx: Tx, flow_run_ids: Sequence[int]) -> defaultdict[int, defaultdict[str, list[Attempt]]]:
    found: defaultdict[int, defaultdict[str, list[Attempt]]] = defaultdict(lambda: defaultdict(list))
    rows = await tx.fetch("attempt_ids_of_flow_runs", {"flow_run_ids": list(flow_run_ids)}) if flow_run_ids else ()
    ids = sorted({row["id"] for row in rows})
    whole = {row["id"]: attempt_of(row) for row in await tx.fetch("whole_attempts", {"ids": ids, **ALL})} if ids else {}
    for row in rows:
        if row["id"] in whole:
            found[row["flow_run_id"]][row["node"]].append(whole[row["id"]])
    return found


async def _lock(tx: Tx, org_id: int, namespace: str, name: str, wire_id: str) -> FlowRun:
    row = await tx.fetch_one("lock_flow_run_by_wire_id", {"wire_id": wire_id, "org_id": org_id})
    return flow_run_of(_its_own(row, namespace, name, wire_id))


def _its_own(row: Row | None, namespace: str, name: str, wire_id: str) -> Row:
    if row is None or (row["namespace"], row["flow_name"]) != (namespace, name):
        raise NotFound("workflow run", wire_id)
    return row
