"""Short words for what the tests do to lake jobs: of organisation 1, made by ann, unless they are told otherwise."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from tests.stores.world import World
from waterclock.domain.lake import LakeDraft, LakeJob, LakeKind, LakeRun, Listed, Sort, SortField, status_of
from waterclock.domain.lake_source_rules import SourceDraft
from waterclock.domain.lake_sync import SourceKind
from waterclock.domain.moment import to_datetime
from waterclock.domain.run import ENDED, LIVE, Attempt
from waterclock.domain.schedule import Every, Once, Schedule
from waterclock.domain.trigger import Fire, Trigger
from waterclock.stores.ops import lake, lake_history, lake_reading, lake_sources, reading, starting, triggers

PLACE: Final[dict[str, Any]] = {"org_id": 1, "namespace": "lake"}
BY_HAND: Final[Mapping[str, object]] = {"class_name": "none_schedule"}
MINUTELY: Final[Mapping[str, object]] = {"class_name": "schedule_minutely", "recur_every": 1}
ONCE: Final[Mapping[str, object]] = {"class_name": "schedule_once", "start_time": 0}


def draft(
    name: str = "job",
    *,
    kind: str = LakeKind.SQL,
    schedule_time: Mapping[str, object] = BY_HAND,
    schedule: Schedule | None = None,
    **more: Any,
) -> LakeDraft:
    task: Mapping[str, object] = more.pop("task", {"query_info": {"query": "select 1"}})
    given = {"class_name": kind, "display_name": name, "job_type": "Sql", "schedule_time": schedule_time, **task}
    return LakeDraft(
        **{"job_type": "Sql", **more},
        display_name=name,
        class_name=kind,
        definition=given,
        task=task,
        schedule_time=schedule_time,
        schedule=schedule,
    )


def minutely(name: str = "job", **more: Any) -> LakeDraft:
    schedule = Every(interval=timedelta(minutes=1))
    return draft(name, schedule_time=MINUTELY, schedule=schedule, every_minutes=1, **more)


class Laking(World):
    async def lake_job(self, given: LakeDraft | str = "job", *, org_id: int = 1, creator: str = "ann") -> LakeJob:
        made = draft(given) if isinstance(given, str) else given
        return await self.database.write(
            lake.create_lake_job, org_id=org_id, owner=creator, creator=creator, draft=made
        )

    async def source(self, name: str = "shop", kind: SourceKind = SourceKind.POSTGRESQL, *, org_id: int = 1) -> int:
        """Its number."""
        drafted = SourceDraft(name=name, kind=kind, config={"host": "db", "database": "shop", "user": "ann"})
        sealing = lake_sources.Sealing(by="ann", seal=lambda *_: "", allow=lambda _: None)
        made = await self.database.write(
            lake_sources.create_source, org_id=org_id, owner="ann", creator="ann", draft=drafted, sealing=sealing
        )
        return made.id

    async def once(self, name: str = "job") -> LakeJob:
        """At the moment of the call, as the face means a start_time that is over."""
        now = to_datetime(await self.now())
        return await self.lake_job(draft(name, schedule_time=ONCE, schedule=Once(at=now)))

    async def change(self, job: LakeJob, given: LakeDraft, *, org_id: int = 1) -> LakeJob:
        key: dict[str, Any] = {"org_id": org_id, "job_id": job.id, "by": "bob", "allow": lambda _: None}
        return await self.database.write(lake.update_lake_job, **key, draft=given)

    async def remove(self, job: LakeJob, *, org_id: int = 1) -> None:
        await self.database.write(lake.delete_lake_job, org_id=org_id, job_id=job.id, allow=lambda _: None)

    async def kill(self, job: LakeJob, *, org_id: int = 1) -> bool:
        return await self.database.write(lake.kill_lake_job, org_id=org_id, job_id=job.id, rules={})

    async def run(self, job: LakeJob, **request: Any) -> int:
        asked = [starting.RunRequest(job_name=str(job.id), **request)]
        (started,) = await self.database.write(starting.start_runs, **PLACE, requested_by="bob", requests=asked)
        return started.run_id

    # What is there

    async def get(self, job: LakeJob, *, org_id: int = 1) -> LakeJob:
        return await self.database.read(lake_reading.get_lake_job, org_id=org_id, job_id=job.id)

    async def status(self, job: LakeJob) -> str:
        found = await self.get(job)
        return status_of(found.last_run, found.now, found.class_name)

    async def listed(
        self, *sorts: Sort[SortField], keyword: str | None = None, offset: int = 0, limit: int = 100, org_id: int = 1
    ) -> Listed[LakeJob]:
        page: dict[str, Any] = {"org_id": org_id, "keyword": keyword, "offset": offset, "limit": limit}
        return await self.database.read(lake_reading.list_lake_jobs, **page, sorts=sorts)

    async def history(
        self, *, keyword: str | None = None, job_id: int | None = None, org_id: int = 1, **how: Any
    ) -> Listed[LakeRun]:
        asked: dict[str, Any] = {"keyword": keyword, "job_id": job_id, "offset": 0, "limit": 100, "sorts": (), **how}
        return await self.database.read(lake_history.list_lake_runs, org_id=org_id, **asked)

    async def trigger_of(self, job: LakeJob) -> Trigger | None:
        found = await self.database.read(triggers.get_triggers, **PLACE, names=[str(job.id)])
        return found.get(str(job.id))

    async def fires(self, trigger: Trigger) -> list[Fire]:
        """Newest first."""
        page: dict[str, Any] = {"before": reading.FROM_THE_NEWEST[0], "limit": 1_000}
        return await self.database.read(triggers.list_fires, org_id=1, trigger_id=trigger.id, **page)

    async def lake_attempts(self) -> Sequence[Attempt]:
        """Newest first."""
        page: dict[str, Any] = {"before": reading.FROM_THE_NEWEST, "limit": 1_000, "states": ENDED | LIVE}
        return await self.database.read(reading.list_attempts, org_id=1, namespaces=["lake"], **page)
