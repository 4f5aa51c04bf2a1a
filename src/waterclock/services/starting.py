"""Calls for runs that came together, started in as few trips to the store as may be.

Whoever has started a job knows it: its next runs are decided from that, and written in one trip if it is still the
same. Nothing is answered from memory; where anything has changed the store is asked, as for a job nobody has started.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from waterclock import clock
from waterclock.domain.errors import AlreadyExists, CommitUnknown, WaterclockError
from waterclock.domain.job import Job
from waterclock.domain.moment import SECOND, Moment
from waterclock.stores.base import Database
from waterclock.stores.ops.starting import StartCall, start_each, start_new
from waterclock.stores.ops.starting_known import KnownStart, known_start, start_known

MOST: Final = 1_000  # jobs that are known
FRESH_SECONDS: Final = 1.0  # an answer that is lost this soon was lost by a connection that was dead before

Answers = Sequence[str | WaterclockError]
Name = tuple[int, str, str]  # organisation, namespace and its own


class Starting:
    """Each call has the id of its run, or why it has none."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = KnownJobs()

    async def start(self, calls: Sequence[StartCall]) -> Answers:
        try:
            return await self._start_known(calls) or await self._start_new(calls)
        except AlreadyExists:  # one of them is a repetition
            return await self._database.write(start_each, calls=calls)

    async def _start_known(self, calls: Sequence[StartCall]) -> Answers | None:
        asked_at = clock.monotonic()
        start = self._known.start_of(calls, asked_at)
        if start is None:
            return None
        try:
            written = await self._database.write(start_known, start=start)
        except CommitUnknown:
            if clock.monotonic() > asked_at + FRESH_SECONDS:
                raise
            return None  # they have names: if this was done, it is not done again
        if not written.is_done:
            return None
        self._known.saw(written.now, clock.monotonic())
        return start.answers

    async def _start_new(self, calls: Sequence[StartCall]) -> Answers:
        started = await self._database.write(start_new, calls=calls)
        self._known.learn(started.jobs, started.now, clock.monotonic())
        return started.answers


class KnownJobs:
    """Jobs as they were when they were last looked at, and the store's time since then: never later than it is."""

    def __init__(self) -> None:
        self._jobs: dict[Name, Job] = {}
        self._ahead_us: Moment | None = None  # the store's clock, of the monotonic one

    def learn(self, jobs: Iterable[Job], now: Moment, heard_at: float) -> None:
        self._jobs |= {(job.org_id, job.namespace, job.name): job for job in jobs}
        while len(self._jobs) > MOST:
            del self._jobs[next(iter(self._jobs))]
        self._ahead_us = now - _us(heard_at)

    def saw(self, now: Moment, heard_at: float) -> None:
        """An answer is heard later than it was given: of two ideas of the time the later one is nearer to it."""
        ahead_us = now - _us(heard_at)
        self._ahead_us = ahead_us if self._ahead_us is None else max(self._ahead_us, ahead_us)

    def start_of(self, calls: Sequence[StartCall], at: float) -> KnownStart | None:
        """None where one of the jobs is not known, or has to be looked at."""
        names = {(call.org_id, call.namespace, call.request.job_name) for call in calls}
        jobs = [self._jobs[name] for name in names if name in self._jobs]
        if self._ahead_us is None or len(jobs) < len(names):
            return None
        return known_start(calls, jobs, self._ahead_us + _us(at))


def _us(seconds: float) -> int:
    return int(seconds * SECOND)
