"""Who writes to a destination: an attempt, for as long as it lives, docs/decisions/0009.

A lock is never given back: whoever comes after its attempt has ended, or was pruned, takes it over. An attempt whose
worker was lost is decided when its processes are dead, and not before: until then it holds. Locks that nobody has asked
for in a long while are pruned.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from waterclock.domain.errors import NotAllowed
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import LIVE
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.span import ALL

LONGEST_DESTINATION: Final = 1_000
LONGEST_REASON: Final = 255
PAGE: Final = 500


async def take(tx: Tx, *, attempt_id: int, fence: int, destinations: Collection[str]) -> str | None:
    """All of them, or none and the reason why it has to wait, which its run shows meanwhile.

    Asked again by who has them already, it says the same: the first answer may have been lost.
    """
    asking = await _asking(tx, attempt_id, fence)
    now = await tx.now()
    rows = await _locked(tx, asking["org_id"], destinations, now)
    others = [row for row in rows if row["attempt_id"] not in (0, attempt_id)]
    reason = await _held(tx, others) if others else None
    if reason is None:
        mine = {"attempt_id": attempt_id, "run_at": asking["run_at"], "now": now}
        await tx.run("take_lake_locks", {**mine, "names": [row["name"] for row in rows]})
    await _explain(tx, asking, reason, now)
    return reason


async def prune(tx: Tx, *, keep_seconds: float) -> int:
    """One page of those that were taken longer ago, and whose attempt is over; how many.

    Whoever comes for one that goes makes it anew.
    """
    before = await tx.now() - seconds(keep_seconds)
    rows = await tx.fetch("unused_lake_locks", {"before": before, "limit": PAGE})
    living = await _living(tx, rows) if rows else {}
    names = [row["name"] for row in rows if row["attempt_id"] not in living]
    if names:
        await tx.run("delete_lake_locks", {"names": names})
    return len(names)


def name_of(org_id: int, destination: str) -> str:
    return hashlib.sha256(f"{org_id}\0{destination}".encode()).hexdigest()


async def _asking(tx: Tx, attempt_id: int, fence: int) -> Row:
    found = await tx.fetch("lock_attempts", {"ids": [attempt_id], **ALL})
    if not found or found[0]["fence"] != fence or found[0]["state"] not in LIVE:
        raise NotAllowed(f"attempt {attempt_id} is not held by this worker")
    return found[0]


async def _locked(tx: Tx, org_id: int, destinations: Collection[str], now: Moment) -> Sequence[Row]:
    """In the order of their names, so that nobody waits in a circle."""
    named = {name_of(org_id, each): each[:LONGEST_DESTINATION] for each in destinations}
    rows = await tx.fetch("lock_lake_locks", {"names": sorted(named)})
    if len(rows) == len(named):
        return rows
    new = [{"name": name, "org_id": org_id, "destination": named[name], "now": now} for name in sorted(named)]
    await tx.run_many("insert_lake_lock", new)
    return await tx.fetch("lock_lake_locks", {"names": sorted(named)})


async def _held(tx: Tx, rows: Sequence[Row]) -> str | None:
    living = await _living(tx, rows)
    held = next((row for row in rows if row["attempt_id"] in living), None)
    if held is None:
        return None
    return f"job {living[held['attempt_id']]} is writing to {held['destination']}"[:LONGEST_REASON]


async def _living(tx: Tx, rows: Sequence[Row]) -> Mapping[int, str]:
    """Of the attempts that took these, those that have not ended, with the names of their jobs."""
    keys = {"ids": sorted({row["attempt_id"] for row in rows}), "run_ats": sorted({row["run_at"] for row in rows})}
    found = await tx.fetch("living_attempts", {**keys, "live": sorted(LIVE)})
    return {row["id"]: row["job_name"] for row in found}


async def _explain(tx: Tx, asking: Row, reason: str | None, now: Moment) -> None:
    key = {"id": asking["run_id"], "run_at": asking["run_at"], "now": now}
    await tx.run("explain_starting_run", {**key, "wait_reason": reason or ""})
