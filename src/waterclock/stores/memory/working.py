"""Claim and record: what a worker asks of the store. Here it is the one worker there is, so that no lease runs out."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from heapq import heappop
from typing import cast

from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Beginning, Outcome, Retry, plan_retry
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Topic
from waterclock.stores.memory.state import Entry, Run, State
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE


def claim(state: State, *, claimant: Claimant, limit: int, ttl_seconds: float) -> Claims:
    now = state.now()
    taken: list[Run] = []
    next_due: list[Moment] = []
    for queue in claimant.queues:
        later = state.later.get(queue, [])
        while later and later[0][0] <= now and len(taken) < limit:
            taken.append(heappop(later)[2])
        ready = state.ready[queue]
        while ready and len(taken) < limit:
            taken.append(ready.popleft())
        next_due += [later[0][0]] if later else []
    return Claims(
        claimed=tuple(claimed_by(state, run, claimant.node) for run in taken),
        next_due_at=min(next_due, default=None),
        now=now,
    )


def claimed_by(state: State, run: Run, node: str) -> Claimed:
    run.fence += 1
    run.node = node
    state.claimed[run.id] = run
    return Claimed(attempt=cast(Attempt, run), spec=run.job.spec)


def release(state: State, *, node: str, attempt_ids: Sequence[int]) -> None:
    for attempt_id in reversed(attempt_ids):  # each goes to the front
        if run := state.claimed.pop(attempt_id, None):
            run.node = None
            state.ready[run.job.spec.queue].appendleft(run)
    state.topics.add(Topic.ATTEMPTS)


def give_back(state: State, *, claimant: Claimant, besides: Collection[int]) -> list[int]:
    """No answer is ever lost between a process and its own memory."""
    return []


def renew(state: State, *, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
    return frozenset(
        attempt_id for attempt_id, fence in held if (run := state.claimed.get(attempt_id)) and run.fence == fence
    )


def adopt(state: State, *, claimant: Claimant, ttl_seconds: float) -> tuple[Claimed, ...]:
    return ()


def stopping(state: State, *, node: str) -> list[int]:
    return []


def record(
    state: State,
    *,
    beginnings: Sequence[Beginning],
    outcomes: Sequence[Outcome],
    rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
    alone: bool = True,
    carefully: bool = False,
) -> frozenset[int]:
    now = state.now()
    lost = {each.attempt_id for each in beginnings if not _begin(state, each, now)}
    ended = [_end(state, outcome, now) for outcome in outcomes]
    if any(ended):
        state.topics.add(Topic.ENDS)
    return frozenset(lost)


def _begin(state: State, beginning: Beginning, now: Moment) -> bool:
    run = state.claimed.get(beginning.attempt_id)
    if run is None or run.fence != beginning.fence:
        return False
    run.state, run.started_at = RunState.RUNNING, now
    return True


def _end(state: State, outcome: Outcome, now: Moment) -> bool:
    run = state.claimed.get(outcome.attempt_id)
    if run is None or run.fence != outcome.fence:
        return False
    del state.claimed[outcome.attempt_id]
    spec = run.job.spec
    retry = None
    if not outcome.final:
        retry = plan_retry(
            was=run.state,
            ended=outcome.state,
            number=run.number,
            retries=spec.retries,
            delay_seconds=spec.retry_delay_seconds,
            doubles=spec.retry_doubles,
            now=now,
        )
    if retry:
        _try_again(state, run, retry)
        return False
    run.state, run.ended_at = outcome.state, now
    run.started_at = run.started_at or now
    run.message, run.output = outcome.message, outcome.output
    _free_slot(state, run.entry)
    return True


def _try_again(state: State, run: Run, retry: Retry) -> None:
    """The next attempt takes the place of the last in the job's history."""
    again = replace(run, id=next(state.numbers), state=RunState.STARTING, number=retry.number, fence=0, node=None)
    again.due_at, again.started_at = retry.due_at, None
    past = run.entry.past
    if run in past:  # else so much has happened since that it is forgotten
        past[past.index(run)] = again
    state.put(again)


def _free_slot(state: State, entry: Entry) -> None:
    entry.live -= 1
    entry.active -= 1
    if entry.waiting:
        start_waiting(state, entry, 1)


def start_waiting(state: State, entry: Entry, slots: int) -> None:
    for _ in range(min(slots, len(entry.waiting))):
        run = entry.waiting.pop(0)
        run.state, run.message = RunState.STARTING, None
        entry.active += 1
        state.put(run)
