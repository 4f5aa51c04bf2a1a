"""Claim, begin, renew, adopt, rescue: who may run an attempt, and for how long."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.labels import subsets
from waterclock.domain.lake import LakeKind
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.outcome import WORKER_LOST, Beginning, Outcome
from waterclock.domain.placement import AGED_US, MOST_MB, Others, Waiting, fitting, others, share
from waterclock.domain.run import ENDED, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Topic, Tx, Values
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE, end_locked
from waterclock.stores.ops.lake_claims import with_sources
from waterclock.stores.ops.lake_tables import tables_of
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.placing import live_workers
from waterclock.stores.ops.reach import lock_reach
from waterclock.stores.ops.rows import attempt_of, spec_of
from waterclock.stores.ops.span import span, span_of
from waterclock.stores.ops.unbundling import unpack_lost, unpack_of_node

MOST_COUNTED: Final = 10_000  # attempts that wait; who finds as many has enough to do


async def claim(tx: Tx, *, claimant: Claimant, limit: int, ttl_seconds: float) -> Claims:
    """Up to `limit`, less where memory is short or other workers have room for some."""
    now, wanted = await tx.now(), _wanted(claimant)
    beside = await _others(tx, claimant, now) if claimant.look_seconds else None
    most, left = await _share(tx, claimant, wanted, limit, now)
    found = await _to_claim(tx, claimant, wanted, most, now) if most else {}
    claimed: tuple[Claimed, ...] = ()
    if found:
        lease = now + seconds(ttl_seconds)
        mine = {"node": claimant.node, "host": claimant.host, "lease_until": lease, "now": now}
        await tx.run("claim_attempts", {**mine, **_keys(found)})
        claimed = await _claimed(tx, found)
    after = now if claimant.memory_mb else 0
    due = await tx.fetch_one("next_claim", {**wanted, "after": after}) if len(found) < limit and not left else None
    return Claims(claimed=claimed, next_due_at=due["due_at"] if due else None, now=now, left=left, others=beside)


def _wanted(claimant: Claimant) -> dict[str, object]:
    return {
        "queues": claimant.queues,
        "labels": subsets(claimant.labels),
        "roles": claimant.roles,
        "org_id": claimant.org_id or 0,
    }


async def _others(tx: Tx, claimant: Claimant, now: Moment) -> Others:
    workers = await live_workers(tx, since=now - seconds(claimant.look_seconds))
    return others(workers, host=claimant.host, queues=claimant.queues)


async def _share(tx: Tx, claimant: Claimant, wanted: Values, limit: int, now: Moment) -> tuple[int, bool]:
    """How many of what waits are ours to take, and whether that leaves some that we have room for."""
    if not claimant.others_room:
        return limit, False
    others_room = min(claimant.others_room, MOST_COUNTED)
    row = await tx.fetch_one("count_to_claim", {**wanted, "now": now, "most": limit + others_room})
    waiting = row["count"] if row else 0
    ours = share(waiting, room=limit, others_room=others_room)
    return ours, ours < min(waiting, limit)


async def _to_claim(tx: Tx, claimant: Claimant, wanted: Values, limit: int, now: Moment) -> Mapping[int, Moment]:
    """By their numbers, with the times of their runs."""
    values = {**wanted, "now": now, "limit": limit}
    if not claimant.memory_mb:
        return {row["id"]: row["run_at"] for row in await tx.fetch("attempts_to_claim", values)}
    most_mb, free_mb = min(claimant.memory_mb, MOST_MB), min(claimant.free_mb, claimant.memory_mb, MOST_MB)
    memory = {"memory_mb": most_mb, "free_mb": free_mb, "aged": now - AGED_US}
    rows = await tx.fetch("fitting_attempts_to_claim", {**values, **memory})
    waiting = (Waiting(id=row["id"], due_at=row["due_at"], memory_mb=row["memory_mb"]) for row in rows)
    times = {row["id"]: row["run_at"] for row in rows}
    return {number: times[number] for number in fitting(waiting, free_mb=free_mb, now=now)}


def _keys(found: Mapping[int, Moment]) -> dict[str, object]:
    return {"ids": list(found), **span(found.values())}


async def release(tx: Tx, *, node: str, attempt_ids: Sequence[int]) -> None:
    await tx.run("release_attempts", {"ids": list(attempt_ids), "node": node, "now": await tx.now()})
    tx.wake(Topic.ATTEMPTS)


async def give_back(tx: Tx, *, claimant: Claimant, besides: Collection[int]) -> list[int]:
    """After a claim whose answer was lost: what the store says is ours, and is not `besides`, was never started.

    Only the claimant's own queues: another dispatcher of the same node may be in the middle of a claim.
    """
    await unpack_of_node(tx, node=claimant.node)
    key = {"host": claimant.host, "node": claimant.node, "queues": claimant.queues}
    ids = [row["id"] for row in await tx.fetch("unstarted_of_node", key) if row["id"] not in besides]
    if ids:
        await release(tx, node=claimant.node, attempt_ids=ids)
    return ids


async def begin(tx: Tx, beginnings: Sequence[Beginning]) -> frozenset[int]:
    """The ids that are not the caller's any more. One that is to be stopped stays STOPPING, with its pid."""
    keys = {"ids": [each.attempt_id for each in beginnings], **span_of(each.run_at for each in beginnings)}
    rows = {row["id"]: row for row in await tx.fetch("lock_attempts", keys)}
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


async def adopt(tx: Tx, *, claimant: Claimant, ttl_seconds: float, again: bool = False) -> tuple[Claimed, ...]:
    """What this host held before the worker restarted now belongs to the new one, with the same fences.

    `again`: also what it has adopted already, where the answer may have been lost.
    """
    rows = await tx.fetch("attempts_of_host", {"host": claimant.host})
    found = {row["id"]: row["run_at"] for row in rows if again or row["node"] != claimant.node}
    if not found:
        return ()
    now = await tx.now()
    values = {"ids": list(found), "node": claimant.node, "lease_until": now + seconds(ttl_seconds), "now": now}
    await tx.run("adopt_attempts", values)
    return await _claimed(tx, found)


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
    await unpack_lost(tx, horizon=horizon, namespace=namespace)
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


async def _claimed(tx: Tx, found: Mapping[int, Moment]) -> tuple[Claimed, ...]:
    attempts = [attempt_of(row) for row in await tx.fetch("whole_attempts", _keys(found))]
    job_ids = {attempt.job_id for attempt in attempts if attempt.job_id is not None}
    numbers = {attempt.job_version for attempt in attempts if attempt.job_version is not None}
    rows = await tx.fetch("versions_of_jobs", {"job_ids": sorted(job_ids), "versions": sorted(numbers)})
    versions = {(row["job_id"], row["version"]): row for row in rows}
    tables = await tables_of(tx, {attempt.org_id for attempt in attempts if attempt.kind == LakeKind.SQL})
    claimed = tuple(
        Claimed(
            attempt=attempt,
            spec=spec_of(version["spec"]),
            bookmark=version["bookmark"],
            tables=tables[attempt.org_id] if attempt.kind == LakeKind.SQL else (),
        )
        for attempt in attempts
        if (version := versions.get((attempt.job_id, attempt.job_version)))
    )
    return await with_sources(tx, claimed)
