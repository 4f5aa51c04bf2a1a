"""What workers of others report of lake runs: begun, how far, ended, each under the fence that is kept for them."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.lake import in_words_of, status_of
from waterclock.domain.lake_work import ENDS, PHASES, Heard, Told, is_over_time, is_untaken, late
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.run import Attempt, Phase, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Topic, Tx
from waterclock.stores.ops import claiming, progressing
from waterclock.stores.ops.ending import end_locked
from waterclock.stores.ops.lake_offers import sign_of_life, station_of, whole_attempt
from waterclock.stores.ops.marking import mark_stopping
from waterclock.stores.ops.nodes import Node
from waterclock.stores.ops.reach import lock_reach
from waterclock.stores.ops.rows import dumped, loaded
from waterclock.stores.ops.span import span

NO_MESSAGE: Final = "the worker reported Error, without a message"
UNSTOPPED: Final = (RunState.STARTING, RunState.RUNNING)


async def hear(tx: Tx, *, node: Node, told: Told, ttl_seconds: float, rules: Mapping[str, FireRules]) -> Heard:
    """A report is a sign of life: the lease begins anew. What has ended stays as it is."""
    await sign_of_life(tx, node)
    row = await _meant(tx, node, told)
    attempt = await whole_attempt(tx, row["id"])
    if told.job_id not in (None, int(attempt.job_name)):
        raise InvalidInput(f"run {told.run_id} is one of job {attempt.job_name}", field="job_id", value=told.job_id)
    if attempt.ended:
        return late(attempt, told, await tx.now())
    if is_untaken(attempt):
        tx.wake(Topic.ATTEMPTS)  # whoever waits behind this offer may have the next one
    progress = told.added_to(loaded(row["progress"]))
    if told.is_end:
        heard = await _end(tx, attempt, told, progress, rules)
        await sign_of_life(tx, node)  # with one less
        return heard
    return await _go_on(tx, attempt, told, progress, ttl_seconds)


async def _meant(tx: Tx, node: Node, told: Told) -> Row:
    """The newest try of the run, or the one that is named. An end of what was never taken is one that is said again, of
    the try before."""
    rows = await tx.fetch("attempts_of_run_at_station", station_of(node) | {"run_id": told.run_id})
    if told.attempt is not None:
        rows = [row for row in rows if row["number"] == told.attempt]
    if not rows:
        raise NotFound("run", told.run_id)
    is_new = rows[0]["state"] == RunState.STARTING and rows[0]["phase"] is None
    return rows[1] if told.is_end and is_new and len(rows) > 1 else rows[0]


async def _go_on(tx: Tx, attempt: Attempt, told: Told, progress: Mapping[str, object], ttl_seconds: float) -> Heard:
    """Under the lock of its lease: it may have been stopped, or decided, since it was looked up."""
    ours = await claiming.renew(tx, held=[(attempt.id, attempt.fence)], ttl_seconds=ttl_seconds)
    held, now = await whole_attempt(tx, attempt.id), await tx.now()
    if held.id not in ours:
        return late(held, told, now)
    phase = PHASES.get(told.status)
    if phase is None:
        await tx.run("take_offer", {"id": held.run_id, "run_at": held.run_at, "phase": Phase.PREPARING, "now": now})
    elif held.started_at is None:
        await claiming.begin(tx, [_beginning(held)])
    report = Report(attempt_id=held.id, fence=held.fence, phase=phase, progress=progress)
    await progressing.report(tx, reports=[report])
    kill = held.state is RunState.STOPPING or is_over_time(held, now)
    return Heard(taken=True, status=in_words_of(held.kind, told.status), kill=kill)


async def _end(
    tx: Tx, attempt: Attempt, told: Told, progress: Mapping[str, object], rules: Mapping[str, FireRules]
) -> Heard:
    reach = await lock_reach(tx, [attempt.id], rules)
    (held,) = await tx.fetch("lock_attempts", {"ids": [attempt.id], **span([attempt.run_at])})
    now = await tx.now()
    outcome = _outcome(attempt, told, progress, held, now)
    if outcome.state is RunState.STOPPED and held["state"] in UNSTOPPED:
        await mark_stopping(tx, [held], now)  # nobody asked for it here: it was killed over there
    ended = await end_locked(tx, [outcome], reach, now)
    found = await whole_attempt(tx, attempt.id)
    return Heard(taken=True, status=status_of(found, now, found.kind)) if ended else late(found, told, now)


def _outcome(attempt: Attempt, told: Told, progress: Mapping[str, object], held: Row, now: Moment) -> Outcome:
    state, message = ENDS[told.status], told.message or None
    if state is RunState.STOPPED and held["state"] != RunState.STOPPING and is_over_time(attempt, now):
        state, message = RunState.TIMEOUT, message or f"timed out after {attempt.timeout_seconds} s"
    if state is RunState.FAILED:
        message = message or NO_MESSAGE
    return Outcome(
        attempt_id=attempt.id,
        fence=attempt.fence,
        state=state,
        beginning=_beginning(attempt) if attempt.started_at is None else None,
        message=message,
        progress=dumped(progress) if progress else None,
    )


def _beginning(attempt: Attempt) -> Beginning:
    """Nothing is known of its process."""
    return Beginning(attempt_id=attempt.id, fence=attempt.fence)
