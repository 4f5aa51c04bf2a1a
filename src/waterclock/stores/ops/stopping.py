"""Stopping: what has no process yet ends at once, what may have one is asked to die and waits for the proof."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import ENDED, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE, end_locked
from waterclock.stores.ops.marking import mark_stopping
from waterclock.stores.ops.reach import Reach, lock_reach
from waterclock.stores.ops.span import ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAnswer:
    """What became of one request to stop."""

    wire_id: str
    state: RunState | None  # None: no such run of that job

    @property
    def accepted(self) -> bool:
        return self.state is not None and self.state not in ENDED


async def stop_attempts(
    tx: Tx,
    *,
    org_id: int,
    job_name: str | None,
    wire_ids: Sequence[str],
    namespace: str | None = None,
    rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
) -> list[StopAnswer]:
    """One answer for each id, in their order: the state it was found in."""
    rows = await tx.fetch("attempts_by_wire_ids", {"org_id": org_id, "wire_ids": list(wire_ids)})
    wanted = {"job_name": job_name, "namespace": namespace}
    known = {
        row["wire_id"]: row
        for row in rows
        if all(value is None or row[name] == value for name, value in wanted.items())
    }
    await stop_by_ids(tx, [row["id"] for row in known.values()], await tx.now(), rules)
    return [
        StopAnswer(wire_id=wire_id, state=RunState(known[wire_id]["state"]) if wire_id in known else None)
        for wire_id in wire_ids
    ]


async def stop_by_ids(
    tx: Tx, attempt_ids: Sequence[int], now: Moment, rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE
) -> None:
    if not attempt_ids:
        return
    reach = await lock_reach(tx, attempt_ids, rules)
    rows = await tx.fetch("lock_attempts", {"ids": list(attempt_ids), **ALL})
    live = [row for row in rows if row["state"] in (RunState.WAITING, RunState.STARTING, RunState.RUNNING)]
    await mark_stopping(tx, live, now)
    await _end_unclaimed(tx, [row for row in live if row["node"] is None], reach, now)


async def _end_unclaimed(tx: Tx, rows: Sequence[Row], reach: Reach, now: Moment) -> None:
    """Nobody has them, so nothing of them can be alive: they will never be claimed."""
    outcomes = [
        Outcome(attempt_id=row["id"], fence=row["fence"], state=RunState.STOPPED, message="stopped before it started")
        for row in rows
    ]
    if outcomes:
        await end_locked(tx, outcomes, reach, now)
