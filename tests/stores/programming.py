"""Short words for what a program that schedules its own callables does to a store.

By operations alone: not every store has SQL.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.job import CALLABLE, JobSpec
from waterclock.domain.library import NAMESPACE, RULES, LibraryJob, PastRun, StoredJob, queue_of
from waterclock.domain.moment import MINUTE, SECOND, Moment, seconds, to_datetime
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.planning import Misfire, Policy
from waterclock.domain.run import RunState
from waterclock.domain.schedule import Bounded, Every, Schedule
from waterclock.stores.base import Database
from waterclock.stores.ops import claiming, library, recording
from waterclock.stores.ops.firing import Fired, fire_due

QUEUE: Final = queue_of(NAMESPACE, "default")
ME: Final = Claimant(node="node", host="host", queues=(QUEUE,))
ALL_OF_THEM: Final = Misfire(policy=Policy.ALL, grace=timedelta(hours=1))
IMPATIENT: Final = Misfire(policy=Policy.SKIP, grace=timedelta(seconds=1))
EVERY_MINUTE: Final = Every(interval=timedelta(minutes=1), anchor=to_datetime(0))


class Program:
    """Its clock stands at ten seconds past a minute; `due` is that minute."""

    def __init__(self, database: Database, due: Moment) -> None:
        self.database = database
        self.due = due

    @classmethod
    async def on(cls, database: Database) -> "Program":
        now = (await database.write(fire_due, limit=0, rules={}, ticker=NAMESPACE)).now
        due = now + MINUTE - now % MINUTE
        database.offset_us += due + 10 * SECOND - now
        return cls(database, due)

    def pass_time(self, seconds_: float) -> None:
        self.database.offset_us += seconds(seconds_)

    # What it asks for

    def job(
        self,
        name: str = "job",
        *,
        schedule: Schedule = EVERY_MINUTE,
        misfire: Misfire = ALL_OF_THEM,
        since: int = 0,
        paused: bool = False,
        **spec: Any,
    ) -> LibraryJob:
        """Due at that minute, or so many minutes before it."""
        return LibraryJob(
            name=name,
            spec=JobSpec(**{"kind": CALLABLE, "queue": QUEUE, "call": {"func": "module:function"}, **spec}),
            definition={"id": name, "args": [1, {"two": 2}]},
            trigger={"type": "interval", "seconds": 60},
            schedule=schedule,
            misfire=misfire,
            next_fire_at=None if paused else self.due - since * MINUTE,
        )

    def until_now(self, **given: Any) -> LibraryJob:
        """One that has no instant after this minute."""
        return self.job(schedule=Bounded(schedule=EVERY_MINUTE, end=to_datetime(self.due)), **given)

    async def add(self, *jobs: LibraryJob, replace: tuple[str, ...] = ()) -> list[StoredJob]:
        return await self.database.write(library.add_library_jobs, namespace=NAMESPACE, jobs=jobs, replace=replace)

    async def change(self, name: str = "job", **changes: Any) -> StoredJob:
        return await self._revise(name, lambda stored: replace(stored.job, **changes))

    async def change_spec(self, name: str = "job", **changes: Any) -> StoredJob:
        return await self._revise(name, lambda stored: replace(stored.job, spec=replace(stored.job.spec, **changes)))

    async def _revise(self, name: str, revise: Callable[[StoredJob], LibraryJob]) -> StoredJob:
        return await self.database.write(library.change_library_job, namespace=NAMESPACE, name=name, revise=revise)

    async def remove(self, *names: str) -> list[str]:
        """All of them, unless some are named."""
        return await self.database.write(library.remove_library_jobs, namespace=NAMESPACE, names=names or None)

    async def quarantine(self, name: str, version: int) -> bool:
        return await self.database.write(
            library.quarantine, namespace=NAMESPACE, name=name, version=version, reason="no module named 'gone'"
        )

    # What its engine does

    async def fire(self) -> Fired:
        return await self.database.write(fire_due, limit=1_000, rules={NAMESPACE: RULES}, ticker=NAMESPACE)

    async def claims(self) -> Claims:
        return await self.database.write(claiming.claim, claimant=ME, limit=1_000, ttl_seconds=60)

    async def claim(self) -> list[Claimed]:
        return list((await self.claims()).claimed)

    async def end(self, *claimed: Claimed, state: RunState = RunState.SUCCEEDED, **how: Any) -> None:
        keys = [(each.attempt.id, each.attempt.fence) for each in claimed]
        beginnings = [Beginning(attempt_id=attempt_id, fence=fence) for attempt_id, fence in keys]
        outcomes = [Outcome(attempt_id=attempt_id, fence=fence, state=state, **how) for attempt_id, fence in keys]
        await self.database.write(recording.record, beginnings=beginnings, outcomes=outcomes)

    async def run_all(self) -> list[Moment]:
        """Claim and end whatever can be claimed; the instants that they were due at."""
        claimed = await self.claim()
        await self.end(*claimed)
        return [each.attempt.run_at for each in claimed]

    # What is there

    async def jobs(self, *names: str) -> list[StoredJob]:
        return await self.database.read(library.library_jobs, namespace=NAMESPACE, names=names or None)

    async def names(self) -> list[str]:
        return [each.job.name for each in await self.jobs()]

    async def past(self, stored: StoredJob, limit: int = 100) -> list[PastRun]:
        ids = {"job_id": stored.id, "trigger_id": stored.trigger_id}
        return await self.database.read(library.past_runs, **ids, limit=limit)

    async def states(self, stored: StoredJob) -> list[str]:
        """Newest first."""
        return [line.state for line in await self.past(stored)]
