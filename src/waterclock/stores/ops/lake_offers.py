"""Lake runs for workers of others, who know neither nodes, fences nor leases: the store keeps these for them.

A run is offered, and taken with the first report of it. Until then it is offered again, to the same worker: the answer
may have been lost on its way. So whoever reports before it starts anything starts nothing twice.
"""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.lake import NAMESPACE, LakeRun, Listed
from waterclock.domain.lake_work import QUEUE
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.lake_history import shown_runs
from waterclock.stores.ops.lake_rows import total_of
from waterclock.stores.ops.nodes import Node, Pulse, beat
from waterclock.stores.ops.rows import attempt_of
from waterclock.stores.ops.span import ALL, span

AGAIN_SECONDS: Final = 10.0  # before an offer that nothing was said of is repeated
MOST_SHOWN: Final = 1_000
NOT_STARTED: Final = "stopped before it started"


async def is_worth_a_look(tx: Tx, *, node: Node) -> bool:
    """Whether there may be an offer: it costs no write."""
    now = {"now": await tx.now()}
    if await tx.fetch("offers_at_station", station_of(node) | now):
        return True
    return await tx.fetch_one("lake_attempt_that_waits", _wanted(node) | now) is not None


async def offer(tx: Tx, *, node: Node, ttl_seconds: float, rules: Mapping[str, FireRules]) -> Attempt | None:
    """One at a time: before something was said of the last one there is no other. `node` joins with its first call."""
    draining, now = await sign_of_life(tx, node), await tx.now()
    if standing := await _standing(tx, node, rules):
        return await _repeated(tx, standing[0], now, again_seconds=min(AGAIN_SECONDS, ttl_seconds / 3))
    row = None if draining else await tx.fetch_one("lake_attempt_to_claim", _wanted(node) | {"now": now})
    if row is None:
        return None
    mine = {"node": node.id, "host": node.host, "lease_until": now + seconds(ttl_seconds), "now": now}
    await tx.run("claim_attempts", {**mine, "ids": [row["id"]], **span([row["run_at"]])})
    await sign_of_life(tx, node)  # with one more
    return await whole_attempt(tx, row["id"])


async def live_runs(tx: Tx, *, org_id: int) -> Listed[LakeRun]:
    """The first thousand, oldest first, and how many there are."""
    rows = await tx.fetch("live_lake_runs", {"org_id": org_id, "limit": MOST_SHOWN})
    total = await total_of(tx, "count_live_lake_runs", {"org_id": org_id})
    return Listed(items=await shown_runs(tx, org_id, rows), total=total)


async def sign_of_life(tx: Tx, node: Node) -> bool:
    """Of the worker; whether it is to take nothing more. Its row is held from then on: its calls go one by one."""
    held = await tx.fetch_one("leases_of_node", {"host": node.host, "id": node.id})
    pulse = Pulse(running=held["held"] if held else 0)
    return (await beat(tx, node=node, wall_us=await tx.now(), pulse=pulse)).draining


async def whole_attempt(tx: Tx, attempt_id: int) -> Attempt:
    (row,) = await tx.fetch("whole_attempts", {"ids": [attempt_id], **ALL})
    return attempt_of(row)


def station_of(node: Node) -> dict[str, object]:
    return {"host": node.host, "org_id": node.org_id}


async def _standing(tx: Tx, node: Node, rules: Mapping[str, FireRules]) -> list[Row]:
    """Offers that nothing was said of. One that was stopped meanwhile never begins."""
    rows = await tx.fetch("offers_at_station", station_of(node) | {"now": await tx.now()})
    stopped = [
        Outcome(attempt_id=row["id"], fence=row["fence"], state=RunState.STOPPED, message=NOT_STARTED)
        for row in rows
        if row["state"] == RunState.STOPPING
    ]
    if stopped:
        await end_attempts(tx, stopped, rules)
    return [row for row in rows if row["state"] == RunState.STARTING]


async def _repeated(tx: Tx, row: Row, now: Moment, *, again_seconds: float) -> Attempt | None:
    """Not at once: the worker may be about to report, and another of its threads may ask."""
    if now < row["updated_at"] + seconds(again_seconds):
        return None
    await tx.run("repeat_offer", {"id": row["id"], "fence": row["fence"], "now": now})
    return await whole_attempt(tx, row["id"])


def _wanted(node: Node) -> dict[str, object]:
    return {"queue": QUEUE, "namespace": NAMESPACE, "org_id": node.org_id}
