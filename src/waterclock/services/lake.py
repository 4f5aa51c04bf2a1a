"""Lake jobs and tables: defined by authors, run and killed by operators, seen by everyone in the organisation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from waterclock import clock
from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import InvalidInput, NotFound
from waterclock.domain.job import Job
from waterclock.domain.lake import (
    NAMESPACE,
    Field,
    LakeDraft,
    LakeJob,
    LakeRun,
    LakeTable,
    Listed,
    RunSortField,
    Sort,
    SortField,
)
from waterclock.domain.lake_checks import check_draft, check_mode, check_path, is_table_name, table_name
from waterclock.domain.lake_sync import SyncMode
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.sync_task import MODE_ARGUMENT
from waterclock.domain.trigger import FireRules
from waterclock.services.runs import Runs
from waterclock.stores.base import Database
from waterclock.stores.ops import lake as ops
from waterclock.stores.ops import lake_tables as tables
from waterclock.stores.ops.lake_history import list_lake_runs
from waterclock.stores.ops.lake_reading import get_lake_job, list_lake_jobs
from waterclock.stores.ops.starting import RunRequest

FURTHEST_US: Final = 366 * 86_400 * SECOND  # that a run may be put off: until it has run, its job runs no other


class Lake:
    def __init__(self, database: Database, runs: Runs, fire_rules: Mapping[str, FireRules]) -> None:
        self._database = database
        self._runs = runs
        self._fire_rules = fire_rules

    async def create(self, caller: Caller, draft: LakeDraft) -> LakeJob:
        caller.needs(Right.DEFINE)
        check_draft(draft)
        return await self._database.write(
            ops.create_lake_job, org_id=caller.org_id, owner=caller.owner, creator=caller.user, draft=draft
        )

    async def create_many(self, caller: Caller, drafts: Sequence[LakeDraft]) -> list[LakeJob]:
        """All of them, or none."""
        caller.needs(Right.DEFINE)
        for draft in drafts:
            check_draft(draft)
        return await self._database.write(
            ops.create_lake_jobs, org_id=caller.org_id, owner=caller.owner, creator=caller.user, drafts=drafts
        )

    async def get(self, caller: Caller, job_id: int) -> LakeJob:
        caller.needs(Right.READ)
        return await self._database.read(get_lake_job, org_id=caller.org_id, job_id=job_id)

    async def status(self, caller: Caller, job_id: int) -> LakeJob:
        """Its last run with its progress."""
        return await self.get(caller, job_id)

    async def update(self, caller: Caller, job_id: int, draft: LakeDraft) -> LakeJob:
        """All of it but its kind, while nothing of it runs."""
        caller.needs(Right.DEFINE)
        check_draft(draft)
        return await self._database.write(
            ops.update_lake_job,
            org_id=caller.org_id,
            job_id=job_id,
            by=caller.user,
            draft=draft,
            allow=_owned_by(caller),
        )

    async def delete(self, caller: Caller, job_id: int) -> None:
        """Its history stays, until it is pruned."""
        caller.needs(Right.DEFINE)
        await self._database.write(ops.delete_lake_job, org_id=caller.org_id, job_id=job_id, allow=_owned_by(caller))

    async def list(
        self,
        caller: Caller,
        *,
        keyword: str | None = None,
        offset: int = 0,
        limit: int = 100,
        sorts: Sequence[Sort[SortField]] = (),
    ) -> Listed[LakeJob]:
        caller.needs(Right.READ)
        return await self._database.read(
            list_lake_jobs, org_id=caller.org_id, keyword=keyword, offset=offset, limit=limit, sorts=_each_once(sorts)
        )

    async def history(
        self,
        caller: Caller,
        *,
        keyword: str | None = None,
        job_id: int | None = None,
        offset: int = 0,
        limit: int = 100,
        sorts: Sequence[Sort[RunSortField]] = (),
    ) -> Listed[LakeRun]:
        """Also of jobs that were deleted; what nobody takes says what it waits for."""
        caller.needs(Right.READ)
        found = await self._database.read(
            list_lake_runs,
            org_id=caller.org_id,
            keyword=keyword,
            job_id=job_id,
            offset=offset,
            limit=limit,
            sorts=_each_once(sorts),
        )
        attempts = await self._runs.explained([run.attempt for run in found.items])
        explained = [replace(run, attempt=attempt) for run, attempt in zip(found.items, attempts, strict=True)]
        return replace(found, items=explained)

    async def run_now(
        self,
        caller: Caller,
        job_id: int,
        *,
        at: Moment | None = None,
        mode: SyncMode | None = None,
        arguments: Mapping[str, str] | None = None,
        digest: str | None = None,
    ) -> int:
        """The number of the run, which is durable: it begins at once, or not before `at`. `mode` is of this run alone.

        It is the same for every call with this digest, within a quarter of an hour.
        """
        caller.needs(Right.RUN)
        if at is not None and at > clock.wall_us() + FURTHEST_US:
            raise InvalidInput("must be within a year from now, in milliseconds since 1970", field="at_time", value=at)
        if mode is not None:
            check_mode(await self.get(caller, job_id), mode)
            arguments = {**(arguments or {}), MODE_ARGUMENT: mode.value}
        request = RunRequest(job_name=str(job_id), arguments=arguments or {}, due_at=at)
        wire_id = await self._runs.start_one(caller, NAMESPACE, request, digest=digest)
        return (await self._runs.get(caller, wire_id)).run_id

    async def kill(self, caller: Caller, job_id: int) -> bool:
        """Whether there was something to kill; it is dead once it is shown as Killed."""
        caller.needs(Right.RUN)
        return await self._database.write(
            ops.kill_lake_job, org_id=caller.org_id, job_id=job_id, rules=self._fire_rules
        )

    async def create_table(self, caller: Caller, table: LakeTable) -> LakeTable:
        """As it is kept: its name in small letters, which are the same to a query."""
        caller.needs(Right.DEFINE)
        kept = replace(table, name=table_name(table.name))
        check_path(kept.path)
        await self._database.write(tables.create_table, org_id=caller.org_id, creator=caller.owner, table=kept)
        return kept

    async def list_tables(
        self, caller: Caller, *, keyword: str | None = None, offset: int = 0, limit: int = 100
    ) -> Listed[LakeTable]:
        caller.needs(Right.READ)
        return await self._database.read(
            tables.list_tables, org_id=caller.org_id, keyword=keyword, offset=offset, limit=limit
        )

    async def delete_table(self, caller: Caller, name: str) -> None:
        """What lies there is left alone; queries that name it fail from now on."""
        caller.needs(Right.DEFINE)
        if not is_table_name(name):
            raise NotFound("lake table", name)
        kept = table_name(name)
        await self._database.write(
            tables.delete_table,
            org_id=caller.org_id,
            name=kept,
            allow=lambda creator: caller.owns("lake table", kept, creator),
        )


def _owned_by(caller: Caller) -> Callable[[Job], None]:
    return lambda job: caller.owns("job", job.name, job.owner)


def _each_once(sorts: Sequence[Sort[Field]]) -> Sequence[Sort[Field]]:
    """What was sorted by already changes nothing."""
    first: dict[str, Sort[Field]] = {}
    for sort in sorts:
        first.setdefault(sort.field, sort)
    return tuple(first.values())
