"""Jobs of the memory store: added, changed, removed, listed, and what became of their runs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from waterclock.domain.admission import Tally, free_slots
from waterclock.domain.claim import Taker
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.library import LibraryJob, PastRun, StoredJob, ToRun
from waterclock.domain.moment import Moment
from waterclock.domain.planning import Misfire
from waterclock.domain.schedule import Once, from_us
from waterclock.stores.memory.state import Entry, Run, State
from waterclock.stores.memory.working import claimed_by, start_waiting
from waterclock.stores.ops.rows import NOTHING
from waterclock.stores.ops.submitting import Submitted

ONCE: Final = Once(at=from_us(0))  # of what is never fired
USUAL: Final = Misfire()


def add_library_jobs(
    state: State,
    *,
    namespace: str,
    jobs: Sequence[LibraryJob],
    replace: Collection[str] = (),
    keeping: Collection[str] = (),
) -> list[StoredJob]:
    seen: set[str] = set()
    for job in jobs:
        if job.name in seen or ((namespace, job.name) in state.entries and job.name not in replace):
            raise AlreadyExists("job", job.name)
        seen.add(job.name)
    return [_put(state, namespace, job, keeps=job.name in keeping) for job in jobs]


def add_free_job(state: State, *, namespace: str, job: LibraryJob) -> StoredJob | None:
    return None if (namespace, job.name) in state.entries else _put(state, namespace, job, keeps=False)


def submit_calls(state: State, *, namespace: str, calls: Sequence[ToRun], run_at: Moment, taker: Taker) -> Submitted:
    """They have no fire; of each job there is nothing but its history.

    The taker has them at once where it has room for all, and nothing that came before waits to be claimed.
    """
    now, job_ids, claimed = state.now(), [], []
    is_free = len(calls) <= taker.room and not state.ready.get(calls[0].spec.queue)
    for call in calls:
        entry = Entry(id=next(state.numbers), namespace=namespace, job=_of_call(call), live=1, active=1)
        number = next(state.numbers)
        run = Run(entry, entry.job, entry.version, number, number, run_at, run_at, now)
        entry.keep(run)
        state.past.append(entry)
        if is_free:
            claimed.append(claimed_by(state, run, taker.node))
        else:
            state.put(run)
        job_ids.append(entry.id)
    return Submitted(job_ids=job_ids, claimed=tuple(claimed))


def _of_call(call: ToRun) -> LibraryJob:
    return LibraryJob(
        name=call.name,
        spec=call.spec,
        definition=NOTHING,
        trigger=NOTHING,
        schedule=ONCE,
        misfire=USUAL,
        next_fire_at=None,
    )


def change_library_job(
    state: State, *, namespace: str, name: str, revise: Callable[[StoredJob], LibraryJob]
) -> StoredJob:
    entry = _entry(state, namespace, name)
    _redefine(state, entry, revise(entry.stored()))
    return entry.stored()


def remove_library_jobs(state: State, *, namespace: str, names: Sequence[str] | None) -> list[str]:
    wanted = [name for place, name in state.entries if place == namespace] if names is None else names
    found = [name for name in dict.fromkeys(wanted) if (namespace, name) in state.entries]
    for name in found:
        state.remove(state.entries[namespace, name])
    return found


def library_jobs(state: State, *, namespace: str, names: Sequence[str] | None = None) -> list[StoredJob]:
    if names is None:
        found = [entry for (place, _), entry in state.entries.items() if place == namespace]
    else:
        found = [entry for name in names if (entry := state.entries.get((namespace, name)))]
    found.sort(key=lambda entry: (entry.next_at is None, entry.next_at or 0, entry.job.name))
    return [entry.stored() for entry in found]


def past_runs(state: State, *, job_id: int, trigger_id: int, limit: int) -> list[PastRun]:
    every = (*state.entries.values(), *state.past)
    entry = next((each for each in every if each.id == job_id), None)
    if entry is None:
        return []
    lines = [each if isinstance(each, PastRun) else _line(each) for each in entry.past]
    return sorted(lines, key=lambda line: line.scheduled_at, reverse=True)[:limit]


def quarantine(state: State, *, namespace: str, name: str, version: int, reason: str) -> bool:
    entry = state.entries.get((namespace, name))
    if entry is None or entry.version != version:
        return False
    entry.job = replace(entry.job, problem=reason)
    state.schedule(entry, None)
    return True


def has_server(state: State) -> bool:
    return False


def _put(state: State, namespace: str, job: LibraryJob, *, keeps: bool) -> StoredJob:
    entry = state.entries.get((namespace, job.name))
    if entry:
        stays = keeps and entry.next_at is not None and entry.job.schedule == job.schedule
        _redefine(state, entry, replace(job, next_fire_at=entry.next_at) if stays else job)
    else:
        entry = state.entries[namespace, job.name] = Entry(id=next(state.numbers), namespace=namespace, job=job)
        state.schedule(entry, job.next_fire_at)
    return entry.stored()


def _redefine(state: State, entry: Entry, job: LibraryJob) -> None:
    was = entry.job
    # The spec is never compared: it holds the user's own arguments, which may not like it.
    if job.spec is not was.spec or job.definition != was.definition:
        entry.version += 1
    entry.job = replace(job, name=was.name)
    state.schedule(entry, job.next_fire_at)
    slots = free_slots(job.spec, Tally(live=entry.live, active=entry.active))
    start_waiting(state, entry, len(entry.waiting) if slots is None else slots)


def _entry(state: State, namespace: str, name: str) -> Entry:
    entry = state.entries.get((namespace, name))
    if entry is None:
        raise NotFound("job", name)
    return entry


def _line(run: Run) -> PastRun:
    return PastRun(
        scheduled_at=run.run_at,
        state=run.state,
        started_at=run.started_at,
        ended_at=run.ended_at,
        attempts=run.number + 1,
        result=run.output,
        message=run.message,
        wire_id=run.wire_id,
    )
