"""Runs of jobs that are known from before: decided without a look at the store, written if nothing has changed since.

It is for calls that have names: where the answer is lost, or a call is a repetition, they can be made once more.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from waterclock.domain.admission import Tally
from waterclock.domain.job import NO_CAP, Job
from waterclock.domain.moment import SECOND, Moment
from waterclock.stores.base import Tx, Values, by_key
from waterclock.stores.ops.jobs import JobsByPlace
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.newruns import rows_with_moves
from waterclock.stores.ops.room import has_ceiling
from waterclock.stores.ops.starting import Batch, StartCall, decided, wire_ids

BEHIND_US = SECOND  # that what we take for the store's time may be behind it; it is never ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownStart:
    """To be written as it is, if the jobs are still of these versions and have room, and it is about that time."""

    about: Moment
    versions: Mapping[int, int]  # of the jobs, by id, in their order
    rooms: Mapping[int, int | None]  # how high the ceiling of a job may be before; None: it has no cap
    new: Sequence[NewRun]
    names: Mapping[str, Sequence[Values]]
    answers: Sequence[str]  # to the calls, in their order

    @property
    def until(self) -> Moment:
        return self.about + BEHIND_US

    async def rows(self, tx: Tx) -> Mapping[str, Sequence[Values]]:
        """For `run_together`."""
        return {**self.names, **await rows_with_moves(tx, self.new, self.about)}


@dataclass(frozen=True, slots=True)
class Written:
    """Where `is_done` is false nothing was done."""

    is_done: bool
    now: Moment  # by the store's clock


@by_key
async def start_known(tx: Tx, *, start: KnownStart) -> Written:
    now = await tx.now()
    is_done = start.about <= now <= start.until and await _has_room(tx, start)
    if is_done:
        await tx.run_together(await start.rows(tx))
    return Written(is_done, now)


async def _has_room(tx: Tx, start: KnownStart) -> bool:
    held = await tx.fetch("lock_jobs", {"ids": list(start.versions)})
    if {row["id"]: row["version"] for row in held} != start.versions:
        return False
    capped = {job_id: room for job_id, room in start.rooms.items() if room is not None}
    found = await tx.fetch("live_ceilings", {"ids": list(capped)}) if capped else ()
    return all(row["live_ceiling"] is not None and row["live_ceiling"] <= capped[row["id"]] for row in found)


def known_start(calls: Sequence[StartCall], jobs: Iterable[Job], about: Moment) -> KnownStart | None:
    """None where something is to be counted, looked for or refused. `jobs`: all that the calls name."""
    by_place = JobsByPlace.of_jobs(jobs)
    named = {call.digest: call for call in calls if call.digest and not call.is_limited}
    if len(named) < len(calls) or not all(_may_be_known(job) for job in by_place.every):
        return None
    batch = Batch(
        keys=list(named),
        calls=named,
        own=dict(zip(named, wire_ids(about, len(named)), strict=True)),
        now=about,
        quotas={},
        jobs=by_place,
        counted={job.id: Tally() for job in by_place.every},
    )
    new, refused = decided(batch, named)
    if refused:
        return None
    more = Counter(run.job.id for run in new if run.job)
    ordered = sorted(by_place.every, key=lambda job: job.id)
    return KnownStart(
        about=about,
        versions={job.id: job.version for job in ordered},
        rooms={job.id: _room(job, more[job.id]) for job in ordered},
        new=new,
        names=batch.names_of(sorted(named)),
        answers=[batch.own[key] for key in named],
    )


def _may_be_known(job: Job) -> bool:
    return job.spec.max_concurrent == NO_CAP or has_ceiling(job)


def _room(job: Job, more: int) -> int | None:
    return None if job.spec.max_concurrent == NO_CAP else job.spec.max_concurrent - more
