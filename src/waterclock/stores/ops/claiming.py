"""Claim, begin, renew, adopt, rescue: who may run an attempt, and for how long."""

from collections.abc import Collection, Mapping, Sequence

from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.moment import seconds
from waterclock.domain.outcome import WORKER_LOST, Beginning, Outcome
from waterclock.domain.run import ENDED, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Topic, Tx, Values
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE, end_locked
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.reach import lock_reach
from waterclock.stores.ops.rows import attempt_of, spec_of


async def claim(tx: Tx, *, claimant: Claimant, limit: int, ttl_seconds: float) -> Claims:
    now = await tx.now()
    wanted = {"queues": claimant.queues, "labels": claimant.labels, "roles": claimant.roles}
    rows = await tx.fetch("attempts_to_claim", {**wanted, "now": now, "limit": limit})
    ids = [row["id"] for row in rows]
    claimed: tuple[Claimed, ...] = ()
    if ids:
        lease = now + seconds(ttl_seconds)
        mine = {"node": claimant.node, "host": claimant.host, "lease_until": lease, "now": now}
        await tx.run("claim_attempts", {**mine, "ids": ids})
        claimed = await _claimed(tx, ids)
    due = await tx.fetch_one("next_claim", wanted) if len(ids) < limit else None
    return Claims(claimed=claimed, next_due_at=due["due_at"] if due else None, now=now)


async def release(tx: Tx, *, node: str, attempt_ids: Sequence[int]) -> None:
    await tx.run("release_attempts", {"ids": list(attempt_ids), "node": node, "now": await tx.now()})
    tx.wake(Topic.ATTEMPTS)


async def give_back(tx: Tx, *, claimant: Claimant, besides: Collection[int]) -> list[int]:
    """After a claim whose answer was lost: what the store says is ours, and is not `besides`, was never started.

    Only the claimant's own queues: another dispatcher of the same node may be in the middle of a claim.
    """
    key = {"host": claimant.host, "node": claimant.node, "queues": claimant.queues}
    ids = [row["id"] for row in await tx.fetch("unstarted_of_node", key) if row["id"] not in besides]
    if ids:
        await release(tx, node=claimant.node, attempt_ids=ids)
    return ids


async def begin(tx: Tx, beginnings: Sequence[Beginning]) -> frozenset[int]:
    """The ids that are not the caller's any more. One that is to be stopped stays STOPPING, with its pid."""
    rows = {row["id"]: row for row in await tx.fetch("lock_attempts", {"ids": [b.attempt_id for b in beginnings]})}
    now, moves = await tx.now(), Moves()
    attempts, runs, lost = [], [], set()
    for beginning in beginnings:
        row = rows.get(beginning.attempt_id)
        if row is None or row["fence"] != beginning.fence or row["state"] in ENDED:
            lost.add(beginning.attempt_id)
            continue
        if row["state"] == RunState.RUNNING:  # said before, and the answer was lost
            continue
        was = RunState(row["state"])
        state = RunState.RUNNING if was is RunState.STARTING else was
        attempts.append(
            {
                "id": row["id"],
                "run_at": row["run_at"],
                "fence": beginning.fence,
                "was": was,
                "state": state,
                "pid": beginning.pid,
                "pid_started_at": beginning.pid_started_at,
                "log_path": beginning.log_path,
                "now": now,
            }
        )
        runs.append({"id": row["run_id"], "run_at": row["run_at"], "was": was, "state": state, "now": now})
        if state is not was:
            moves.add(row["org_id"], row["id"], was, state)
    if attempts:
        await tx.run_many("begin_attempt", attempts)
        await tx.run_many("begin_run", runs)
        await moves.write(tx, now)
    return frozenset(lost)


async def renew(tx: Tx, *, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
    fences = dict(held)
    rows = await tx.fetch("held_leases", {"ids": sorted(fences)})
    ours = [row["id"] for row in rows if row["fence"] == fences[row["id"]]]
    if ours:
        await tx.run("renew_leases", {"ids": ours, "lease_until": await tx.now() + seconds(ttl_seconds)})
    return frozenset(ours)


async def adopt(tx: Tx, *, claimant: Claimant, ttl_seconds: float) -> tuple[Claimed, ...]:
    """What this host held before the worker restarted now belongs to the new one, with the same fences."""
    rows = await tx.fetch("attempts_of_host", {"host": claimant.host})
    ids = [row["id"] for row in rows if row["node"] != claimant.node]
    if not ids:
        return ()
    now = await tx.now()
    values = {"ids": ids, "node": claimant.node, "lease_until": now + seconds(ttl_seconds), "now": now}
    await tx.run("adopt_attempts", values)
    return await _claimed(tx, ids)


async def rescue(
    tx: Tx,
    *,
    margin_seconds: float,
    limit: int,
    rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
    namespace: str | None = None,
) -> frozenset[int]:
    """Decide what a lost worker left: its processes are dead, how they ended is unknown.

    `namespace`: of this one alone; whoever knows the rules of others decides theirs.
    """
    horizon = await tx.now() - seconds(margin_seconds)
    ids = [row["id"] for row in await _lost_attempts(tx, namespace, {"horizon": horizon, "limit": limit})]
    if not ids:
        return frozenset()
    reach = await lock_reach(tx, ids, rules)
    sure = await tx.fetch("still_lost", {"ids": ids, "horizon": horizon})
    return await end_locked(tx, [_lost(row["id"], row["fence"], row["state"]) for row in sure], reach, await tx.now())


async def _lost_attempts(tx: Tx, namespace: str | None, values: Values) -> Sequence[Row]:
    if namespace is None:
        return await tx.fetch("lost_attempts", values)
    return await tx.fetch("lost_attempts_of_namespace", {**values, "namespace": namespace})


async def stopping(tx: Tx, *, node: str) -> list[int]:
    return [row["id"] for row in await tx.fetch("stopping_of_node", {"node": node})]


def _lost(attempt_id: int, fence: int, state: str) -> Outcome:
    ended = RunState.STOPPED if state == RunState.STOPPING else RunState.FAILED
    return Outcome(attempt_id=attempt_id, fence=fence, state=ended, message=WORKER_LOST)


async def _claimed(tx: Tx, ids: Sequence[int]) -> tuple[Claimed, ...]:
    attempts = [attempt_of(row) for row in await tx.fetch("whole_attempts", {"ids": list(ids)})]
    job_ids = {attempt.job_id for attempt in attempts if attempt.job_id is not None}
    numbers = {attempt.job_version for attempt in attempts if attempt.job_version is not None}
    rows = await tx.fetch("versions_of_jobs", {"job_ids": sorted(job_ids), "versions": sorted(numbers)})
    versions = {(row["job_id"], row["version"]): row for row in rows}
    return tuple(
        Claimed(attempt=attempt, spec=spec_of(version["spec"]), bookmark=version["bookmark"])
        for attempt in attempts
        if (version := versions.get((attempt.job_id, attempt.job_version)))
    )
