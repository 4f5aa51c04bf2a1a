"""Runs that wait for a slot of their job: the oldest start first, in the transaction that frees or makes the slot."""

from collections.abc import Mapping, Sequence

from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState, WaitReason
from waterclock.stores.base import Topic, Tx
from waterclock.stores.ops.moves import Moves


async def oldest_waiting(tx: Tx, job_id: int, limit: int) -> list[int]:
    """The caller holds the job."""
    values = {"job_id": job_id, "wait_reason": WaitReason.SLOT, "limit": limit}
    return [row["id"] for row in await tx.fetch("runs_waiting_for_slot", values)]


async def oldest_waiting_of_each(tx: Tx, slots: Mapping[int, int]) -> list[int]:
    """For many jobs at once, each with its own number of slots."""
    if not slots:
        return []
    values = {"job_ids": sorted(slots), "wait_reason": WaitReason.SLOT, "most": max(slots.values())}
    rows = await tx.fetch("runs_waiting_for_slots", values)
    return [row["id"] for row in rows if row["place"] <= slots[row["job_id"]]]


async def start_waiting(tx: Tx, run_ids: Sequence[int], now: Moment, moves: Moves) -> None:
    if not run_ids:
        return
    for row in await tx.fetch("waiting_attempts", {"run_ids": list(run_ids)}):
        moves.add(row["org_id"], row["id"], RunState.WAITING, RunState.STARTING)
    await tx.run("start_waiting_attempts", {"run_ids": list(run_ids), "now": now})
    await tx.run("start_waiting_runs", {"ids": list(run_ids), "now": now})
    tx.wake(Topic.ATTEMPTS)
