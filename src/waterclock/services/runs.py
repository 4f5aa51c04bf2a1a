"""Runs: asked for by operators, seen by everyone in the organisation, stopped until nothing of them lives."""

from collections.abc import Collection, Sequence

from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import NotFound
from waterclock.domain.run import Attempt, RunState
from waterclock.services.jobs import Jobs
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.stores.base import Database
from waterclock.stores.ops import reading
from waterclock.stores.ops.newruns import Inserted
from waterclock.stores.ops.starting import RunRequest, start_runs
from waterclock.stores.ops.stopping import StopAnswer, stop_attempts


class Runs:
    def __init__(self, database: Database, jobs: Jobs) -> None:
        self._database = database
        self._jobs = jobs

    async def start(self, caller: Caller, namespace: str, requests: Sequence[RunRequest]) -> Sequence[Inserted]:
        """All of them in one transaction, or none."""
        caller.needs(Right.RUN)
        return await self._database.write(
            start_runs, org_id=caller.org_id, namespace=namespace, requested_by=caller.user, requests=requests
        )

    async def get(
        self, caller: Caller, wire_id: str, *, namespace: str | None = None, job_name: str | None = None
    ) -> Attempt:
        """Of the organisation; where they are given, of that namespace and that job."""
        caller.needs(Right.READ)
        found = await self._database.read(reading.get_attempt, org_id=caller.org_id, wire_id=wire_id)
        if found is None or namespace not in (None, found.namespace) or job_name not in (None, found.job_name):
            raise NotFound("run", wire_id)
        return found

    async def of_job(self, caller: Caller, namespace: str, job_name: str, page: PageRequest) -> Page[Attempt]:
        """Newest first; the job must exist."""
        job = await self._jobs.get(caller, namespace, job_name)
        found = await self._database.read(
            reading.attempts_of_job, job_id=job.id, before=_before("runs of job", page.token), limit=page.size + 1
        )
        return page_of("runs of job", found, page.size, _place)

    async def list(
        self, caller: Caller, namespaces: Sequence[str], states: Collection[RunState], page: PageRequest
    ) -> Page[Attempt]:
        caller.needs(Right.READ)
        found = await self._database.read(
            reading.list_attempts,
            org_id=caller.org_id,
            namespaces=namespaces,
            states=states,
            before=_before("runs", page.token),
            limit=page.size + 1,
        )
        return page_of("runs", found, page.size, _place)

    async def stop(
        self, caller: Caller, wire_ids: Sequence[str], *, namespace: str | None = None, job_name: str | None = None
    ) -> Sequence[StopAnswer]:
        """One answer per id, in their order; the proof that a run is dead is its state STOPPED."""
        caller.needs(Right.RUN)
        return await self._database.write(
            stop_attempts, org_id=caller.org_id, namespace=namespace, job_name=job_name, wire_ids=wire_ids
        )


def _before(of: str, given: str | None) -> tuple[int, int]:
    found = position(of, given, (int, int))
    return (int(str(found[0])), int(str(found[1]))) if found else reading.FROM_THE_NEWEST


def _place(attempt: Attempt) -> tuple[int, int]:
    return attempt.run_at, attempt.id
