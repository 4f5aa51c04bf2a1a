"""Fire what is due: the same plans as on every other store, over a heap."""

from collections.abc import Mapping
from heapq import heappop

from waterclock.domain.admission import Admission, Tally, admit
from waterclock.domain.claim import Taker
from waterclock.domain.firing import Skipped, SkippedFor
from waterclock.domain.library import PastRun, PastState
from waterclock.domain.moment import Moment
from waterclock.domain.planning import SkipSpan, plan_us
from waterclock.domain.run import RunState, WaitReason
from waterclock.domain.trigger import FireRules
from waterclock.stores.memory.state import Entry, Run, State
from waterclock.stores.ops.fire_rows import not_run
from waterclock.stores.ops.firing import NO_TAKERS, Fired


def fire_due(
    state: State,
    *,
    limit: int,
    rules: Mapping[str, FireRules],
    ticker: str = "",
    takers: Mapping[str, Taker] = NO_TAKERS,
) -> Fired:
    """There is one set of rules here, one kind of ticker, and nobody to take anything from."""
    now, triggers, runs = state.now(), 0, 0
    skipped: list[Skipped] = []
    exhausted: list[str] = []
    while triggers < limit and (entry := _next_due(state, now)):
        fired, not_run = _fire(state, entry, now)
        triggers, runs = triggers + 1, runs + fired
        skipped += not_run
        if entry.next_at is None:
            state.remove(entry)
            exhausted.append(entry.job.name)
    return Fired(
        triggers=triggers,
        runs=runs,
        more=0 < limit == triggers,
        next_due_at=state.fires[0][0] if state.fires else None,
        now=now,
        skipped=tuple(skipped),
        exhausted=tuple(exhausted),
    )


def _next_due(state: State, now: Moment) -> Entry | None:
    """Taken from the heap; places that are void, of jobs changed or removed since, are thrown away on the way."""
    heap = state.fires
    while heap and (heap[0][0] <= now or heap[0][2] != heap[0][3].mark):
        _, _, mark, entry = heappop(heap)
        if mark == entry.mark:
            return entry
    return None


def _fire(state: State, entry: Entry, now: Moment) -> tuple[int, list[Skipped]]:
    job, due = entry.job, entry.next_at
    assert due is not None
    fires, skips, next_at = plan_us(job.schedule, due, now, job.misfire)
    skipped = [_not_run(entry, skip) for skip in skips]
    runs = 0
    for instant in fires:
        over = _start(state, entry, instant, now, in_turn=runs > 0)
        if over is None:
            runs += 1
        else:
            skipped.append(over)
    state.schedule(entry, next_at)
    return runs, skipped


def _start(state: State, entry: Entry, at: Moment, now: Moment, *, in_turn: bool) -> Skipped | None:
    """A run of it, now or when a slot is free; or why there is none."""
    admission = Admission.START
    if entry.live:
        admission = admit(entry.job.spec, Tally(live=entry.live, active=entry.active), in_turn=in_turn)
    if admission is Admission.REFUSE:
        return _over_cap(entry, at)
    number = next(state.numbers)
    run = Run(entry, entry.job, entry.version, number, number, at, at, now)
    entry.live += 1
    entry.keep(run)
    if admission is Admission.WAIT:
        run.state, run.message = RunState.WAITING, WaitReason.SLOT
        entry.waiting.append(run)
    else:
        entry.active += 1
        state.put(run)
    return None


def _over_cap(entry: Entry, at: Moment) -> Skipped:
    reason = f"job {entry.job.name!r} already has its {entry.job.spec.max_concurrent} concurrent run(s)"
    entry.keep(PastRun(scheduled_at=at, state=RunState.SKIPPED, message=reason))
    return Skipped(
        namespace=entry.namespace,
        name=entry.job.name,
        why=SkippedFor.OVER_CAP,
        first_at=at,
        last_at=at,
        count=1,
        reason=reason,
    )


def _not_run(entry: Entry, skip: SkipSpan) -> Skipped:
    skipped = not_run(entry.namespace, entry.job.name, skip, entry.job.schedule, entry.job.misfire)
    state = PastState.MISSED if skipped.why is SkippedFor.MISSED else RunState.SKIPPED
    entry.keep(
        PastRun(
            scheduled_at=skipped.last_at,
            state=state,
            message=skip.reason,
            first_at=skipped.first_at,
            count=skip.count,
        )
    )
    return skipped
