"""Ending attempts: one transaction that also takes their follow-ups, so that each happens exactly once.

What follows an end: the retry, the next action of the same fire, a waiting run for the freed slot, the next stages
of the run's flow, and the triggers that watch its job.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.admission import free_slots
from waterclock.domain.bookmark import Left
from waterclock.domain.flow import FlowRun
from waterclock.domain.job import NO_CAP, Job
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Outcome, Retry
from waterclock.domain.run import RunState, WaitReason, attempt_wire_id, may_move
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Kind, Row, Topic, Tx
from waterclock.stores.ops.bookmarks import LeftBookmark, save_bookmarks
from waterclock.stores.ops.chain_failing import GIVEN_UP, RunEnd
from waterclock.stores.ops.following import follow
from waterclock.stores.ops.jobs import tallies
from waterclock.stores.ops.marking import is_unclaimed, mark_stopping
from waterclock.stores.ops.moves import Moves
from waterclock.stores.ops.new_run import taken_by
from waterclock.stores.ops.reach import Reach, lock_reach
from waterclock.stores.ops.rows import storable
from waterclock.stores.ops.span import ALL, span, span_of
from waterclock.stores.ops.trying_again import Probes, probes_of, what_follows
from waterclock.stores.ops.waiting import oldest_waiting, oldest_waiting_of_each, start_waiting

GUARDED_EVERYWHERE: Final[Mapping[str, FireRules]] = {}


@dataclass(slots=True)
class _Ends:
    """What one batch writes, gathered while each end is decided."""

    now: Moment
    moves: Moves = field(default_factory=Moves)
    attempts: list[dict[str, object]] = field(default_factory=list)
    runs: list[dict[str, object]] = field(default_factory=list)
    retries: list[tuple[Row, Row, Retry]] = field(default_factory=list)
    fires: set[int] = field(default_factory=set)
    jobs: Counter[int] = field(default_factory=Counter)  # how many runs of each
    final: list[RunEnd] = field(default_factory=list)
    bookmarks: list[LeftBookmark] = field(default_factory=list)
    reports: list[dict[str, object]] = field(default_factory=list)


async def end_attempts(
    tx: Tx, outcomes: Sequence[Outcome], rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE
) -> frozenset[int]:
    """The ids that were really ended by this call; the others are somebody else's, or have ended before."""
    times = span_of(outcome.run_at for outcome in outcomes)
    reach = await lock_reach(tx, [outcome.attempt_id for outcome in outcomes], rules, times)
    return await end_locked(tx, outcomes, reach, await tx.now())


async def end_locked(tx: Tx, outcomes: Sequence[Outcome], reach: Reach, now: Moment) -> frozenset[int]:
    keys = {"ids": [outcome.attempt_id for outcome in outcomes], **span_of(outcome.run_at for outcome in outcomes)}
    attempts = {row["id"]: row for row in await tx.fetch("lock_attempts", keys)}
    runs = await _lock_runs(tx, attempts.values())
    probes = await probes_of(tx, runs.values())
    ends, ended = _Ends(now), set()
    for outcome in outcomes:
        attempt = attempts.get(outcome.attempt_id)
        if attempt is not None and outcome.attempt_id not in ended and _entitled(attempt, outcome):
            _decide(ends, attempt, runs[attempt["run_id"]], outcome, probes)
            ended.add(outcome.attempt_id)
    if ended:
        await _write(tx, ends, reach)
    return frozenset(ended)


async def _lock_runs(tx: Tx, attempts: Collection[Row]) -> dict[int, Row]:
    if not attempts:
        return {}
    keys = {"ids": sorted({row["run_id"] for row in attempts}), **span(row["run_at"] for row in attempts)}
    return {row["id"]: row for row in await tx.fetch("lock_runs", keys)}


def _entitled(attempt: Row, outcome: Outcome) -> bool:
    """The fence, and the table of moves: a program that ended before its beginning was stored has run all the same."""
    was = RunState(attempt["state"])
    allowed = may_move(was, outcome.state) or (was is RunState.STARTING and may_move(RunState.RUNNING, outcome.state))
    return bool(attempt["fence"] == outcome.fence) and allowed


def _decide(ends: _Ends, attempt: Row, run: Row, outcome: Outcome, probes: Probes) -> None:
    was = RunState(attempt["state"])
    ends.attempts.append(attempt_end(attempt, outcome, ends.now))
    if was is RunState.STARTING and outcome.beginning:
        ends.moves.add(attempt["org_id"], attempt["id"], was, RunState.RUNNING)
    last = RunState.RUNNING if was is RunState.STARTING and outcome.beginning else was
    ends.moves.add(attempt["org_id"], attempt["id"], last, outcome.state, storable(outcome.message))
    follows = what_follows(ends.now, attempt, run, outcome, probes)
    if isinstance(follows, Retry):
        ends.retries.append((attempt, run, follows))
        return
    end = RunEnd(run=run, state=follows.state, message=follows.message, output=outcome.output, node=attempt["node"])
    ends.runs.append(
        {
            "id": run["id"],
            "run_at": run["run_at"],
            "state": end.state,
            "message": storable(end.message),
            "was": run["state"],
            "started_at": ends.now if outcome.beginning else None,
            "now": ends.now,
        }
    )
    ends.final.append(end)
    if outcome.progress is not None:
        ends.reports.append(_key(run) | {"progress": outcome.progress})
    if outcome.bookmark is not None or outcome.bookmark_refused is not None:
        ends.bookmarks += _left_bookmark(attempt, run, outcome)
    if run["has_next"]:
        ends.fires.add(run["fire_id"])
    if run["job_id"] is not None:
        ends.jobs[run["job_id"]] += 1


def _left_bookmark(attempt: Row, run: Row, outcome: Outcome) -> list[LeftBookmark]:
    """None where the run has no job, or did not succeed after all."""
    if run["job_id"] is None or outcome.state is not RunState.SUCCEEDED:
        return []
    return [
        LeftBookmark(
            job_id=run["job_id"],
            org_id=attempt["org_id"],
            job_name=run["job_name"],
            run_id=run["id"],
            attempt=attempt["number"],
            wire_id=attempt["wire_id"],
            left=Left(content=outcome.bookmark, refused=outcome.bookmark_refused),
        )
    ]


def attempt_end(attempt: Row, outcome: Outcome, now: Moment) -> dict[str, object]:
    began = outcome.beginning
    return {
        "id": attempt["id"],
        "run_at": attempt["run_at"],
        "fence": outcome.fence,
        "was": attempt["state"],
        "state": outcome.state,
        "exit_code": outcome.exit_code,
        "exit_signal": outcome.exit_signal,
        "cpu_us": outcome.cpu_us,
        "peak_rss_bytes": outcome.peak_rss_bytes,
        "message": storable(outcome.message),
        "verdict": outcome.verdict,
        "output": storable(outcome.output),
        "started_at": now if began else None,
        "pid": began.pid if began else None,
        "pid_started_at": began.pid_started_at if began else None,
        "log_path": began.log_path if began else None,
        "now": now,
    }


def _key(row: Row) -> dict[str, object]:
    return {"id": row["id"], "run_at": row["run_at"]}


async def _write(tx: Tx, ends: _Ends, reach: Reach) -> None:
    await tx.run_many("end_attempt", ends.attempts)
    if ends.runs:
        await tx.run_many("end_run", ends.runs)
        tx.wake(Topic.ENDS)
    if ends.reports:
        await tx.run_many("end_report", ends.reports)
    if ends.retries:
        await _insert_retries(tx, ends, reach.flow_runs)
    await _start_followers(tx, ends, reach.jobs)
    await ends.moves.write(tx, ends.now)
    failing = await follow(tx, ends.final, reach, ends.now)
    if failing:
        await _give_up(tx, failing, reach, ends.now)
    if ends.bookmarks:
        await save_bookmarks(tx, ends.bookmarks, ends.now)


async def _give_up(tx: Tx, flow_run_ids: Collection[int], reach: Reach, now: Moment) -> None:
    """What no worker has taken yet of flow runs that have failed, a gate's next probe say, never begins."""
    rows = await tx.fetch("unclaimed_attempts_of_flow_runs", {"flow_run_ids": sorted(flow_run_ids)})
    ids = [row["id"] for row in rows]
    if not ids:
        return
    whole = await lock_reach(tx, ids, reach.rules)
    idle = [row for row in await tx.fetch("lock_attempts", {"ids": ids, **ALL}) if is_unclaimed(row)]
    await mark_stopping(tx, idle, now)
    outcomes = [
        Outcome(attempt_id=row["id"], fence=row["fence"], state=RunState.STOPPED, message=GIVEN_UP) for row in idle
    ]
    if outcomes:
        await end_locked(tx, outcomes, whole, now)


async def _insert_retries(tx: Tx, ends: _Ends, flow_runs: Mapping[int, FlowRun]) -> None:
    """For the role that the flow run has now: it may have been handed over since the last attempt was claimed."""
    numbers = await tx.numbers(Kind.RUN, len(ends.retries))
    rows = []
    for attempt_id, (attempt, run, retry) in zip(numbers, ends.retries, strict=True):
        flow_run = flow_runs.get(run["flow_run_id"])
        rows.append(
            {
                **{name: attempt[name] for name in ("run_id", "run_at", "org_id", "namespace", "job_id")},
                **{name: attempt[name] for name in ("queue", "labels", "memory_mb")},
                "role": flow_run.role if flow_run else attempt["role"],
                "id": attempt_id,
                "number": retry.number,
                "wire_id": attempt_wire_id(run["wire_id"], retry.number),
                "state": RunState.STARTING,
                **taken_by(None, ends.now),
                "due_at": retry.due_at,
                "message": None,
                "created_at": ends.now,
                "ended_at": None,
                "updated_at": ends.now,
            }
        )
        ends.moves.add(attempt["org_id"], attempt_id, None, RunState.STARTING, f"attempt {retry.number}")
    await tx.run_many("insert_attempt", rows)
    await tx.run_many("retry_run", [_key(run) | {"now": ends.now} for _, run, _ in ends.retries])
    tx.wake(Topic.ATTEMPTS)


async def _start_followers(tx: Tx, ends: _Ends, jobs: Mapping[int, Job]) -> None:
    """First the next actions of the same fires, then the oldest that wait for a slot."""
    nexts = await _next_actions(tx, ends.fires)
    touched = [jobs[i] for i in ends.jobs.keys() | {row["job_id"] for row in nexts} if i in jobs]
    waiting_jobs = [job for job in touched if job.spec.max_concurrent != NO_CAP]
    gone = {job_id: count for job_id, count in ends.jobs.items() if job_id not in jobs}
    if not nexts and not waiting_jobs and not gone:
        return
    counted = await tallies(tx, touched)
    starts: list[int] = []
    holds: list[int] = []
    for row in nexts:
        job = jobs.get(row["job_id"])
        slots = free_slots(job.spec, counted[job.id]) if job else None
        if slots == 0:
            holds.append(row["id"])
            continue
        starts.append(row["id"])
        if job:
            counted[job.id].active += 1
    for job in waiting_jobs:
        slots, waits = free_slots(job.spec, counted[job.id]), counted[job.id].live > counted[job.id].active
        starts += await oldest_waiting(tx, job.id, slots) if slots and waits else []
    starts += await oldest_waiting_of_each(tx, gone)  # nobody knows their caps any more: one goes, one comes
    await start_waiting(tx, starts, ends.now, ends.moves)
    if holds:
        await tx.run("hold_waiting_runs", {"ids": holds, "wait_reason": WaitReason.SLOT, "now": ends.now})


async def _next_actions(tx: Tx, fires: Collection[int]) -> list[Row]:
    """Of each fire the first run that still lives, if it waits for those before it."""
    if not fires:
        return []
    first: dict[int, Row] = {}
    for row in await tx.fetch("live_runs_of_fires", {"fire_ids": sorted(fires)}):
        first.setdefault(row["fire_id"], row)
    return [row for row in first.values() if row["wait_reason"] == WaitReason.ACTION]
