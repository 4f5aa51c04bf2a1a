"""Jobs, triggers and runs as the Glue face makes them, for tests that look at a store from outside."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from tests.stores.plain import Plain, plain
from waterclock.domain.claim import Claimant
from waterclock.domain.job import JobSpec
from waterclock.domain.moment import Moment, to_datetime
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.schedule import parse_schedule, to_json
from waterclock.domain.trigger import Action, Target, TriggerSpec, TriggerType
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops.access import create_organisation
from waterclock.stores.ops.claiming import begin, claim
from waterclock.stores.ops.ending import end_attempts
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.starting import RunRequest, start_runs
from waterclock.stores.ops.triggers import create_trigger, start_trigger, stop_trigger

ACCOUNT: Final = "123456789012"
NODE: Final = "11111111-2222-3333-4444-555555555555"
PLACE: Final[dict[str, Any]] = {"org_id": 1, "namespace": "glue"}
CLAIMANT: Final = Claimant(node=NODE, host="host")


@dataclass(frozen=True, slots=True)
class Glue:
    """What the Glue face would do to a store, in short words, and plain SQL beside it."""

    database: Database
    sql: Plain
    dialect: str

    async def job(
        self, name: str, owner: str, definition: Mapping[str, object], *, namespace: str = "glue", **spec: Any
    ) -> int:
        job = await self.database.write(
            create_job,
            org_id=1,
            namespace=namespace,
            name=name,
            owner=owner,
            spec=JobSpec(kind="python", **spec),
            definition=definition,
            tags={},
        )
        return job.id

    async def trigger(
        self,
        name: str,
        schedule: str | None,
        *jobs: str,
        start: bool = False,
        definition: Mapping[str, object] | None = None,
        misfire: Mapping[str, object] | None = None,
        wrapped_in: Mapping[str, Any] | None = None,
    ) -> int:
        trigger = await self.database.write(
            create_trigger,
            **PLACE,
            name=name,
            owner="kim",
            spec=TriggerSpec(
                type=TriggerType.SCHEDULED if schedule else TriggerType.ON_DEMAND,
                actions=tuple(Action(target=Target.JOB, name=job) for job in jobs),
                expression=schedule,
                schedule=to_json(parse_schedule(schedule, **(wrapped_in or {}))) if schedule else None,
                misfire=misfire or {},
            ),
            definition=definition or {},
            tags={},
            start=start,
        )
        return trigger.id

    async def run(self, job: str, namespace: str = "glue") -> str:
        (inserted,) = await self.database.write(
            start_runs, org_id=1, namespace=namespace, requested_by="lee", requests=[RunRequest(job_name=job)]
        )
        return inserted.wire_id

    async def fire(self, trigger: str) -> None:
        await self.database.write(start_trigger, **PLACE, name=trigger, allow=lambda _: None, rules={})

    async def stop(self, trigger: str) -> None:
        await self.database.write(stop_trigger, **PLACE, name=trigger, allow=lambda _: None, stop_runs=True)

    async def claim(self) -> list[Attempt]:
        claims = await self.database.write(claim, claimant=CLAIMANT, limit=10, ttl_seconds=60)
        return [each.attempt for each in claims.claimed]

    async def begin(self, attempt: Attempt, pid: int) -> None:
        await self.database.write(begin, [Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=pid)])

    async def end(self, attempt: Attempt, state: RunState) -> None:
        await self.database.write(end_attempts, [Outcome(attempt_id=attempt.id, fence=attempt.fence, state=state)])

    def instant(self, moment: Moment) -> object:
        """As this database shows one to a person."""
        at = to_datetime(moment)
        match self.dialect:
            case "sqlite":
                return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            case "postgresql":
                return at
        return at.replace(tzinfo=None)


@asynccontextmanager
async def glue_on(url: str) -> AsyncIterator[Glue]:
    """A store that nobody has used, with its first organisation."""
    database = database_from_url(url)
    await database.open()
    await database.migrate()
    await database.write(create_organisation, account=ACCOUNT, name="us")
    async with plain(url) as sql:
        yield Glue(database, sql, urlsplit(url).scheme)
    await database.close()
