"""Runs: asked for by operators, seen by everyone in the organisation, stopped until nothing of them lives."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from waterclock import clock
from waterclock.domain.access import RIGHTS, Caller, Right
from waterclock.domain.arguments import check_arguments
from waterclock.domain.errors import Forbidden, NotFound, WaterclockError
from waterclock.domain.moment import SECOND, Moment
from waterclock.domain.placement import Worker, why_waiting
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.secret import refers_to_secrets
from waterclock.domain.trigger import FireRules
from waterclock.services.gathering import Gathered
from waterclock.services.jobs import Jobs
from waterclock.services.live_workers import LiveWorkers
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.services.quotas import Quotas
from waterclock.services.starting import Starting
from waterclock.stores.base import Database
from waterclock.stores.ops import reading
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE
from waterclock.stores.ops.newruns import Inserted
from waterclock.stores.ops.starting import RunRequest, StartCall, start_runs
from waterclock.stores.ops.stopping import StopAnswer, stop_attempts

NEW_US: Final = 2 * SECOND  # so long nobody wonders why a run has not begun


class Runs:
    def __init__(
        self,
        database: Database,
        jobs: Jobs,
        fire_rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
        quotas: Quotas | None = None,
    ) -> None:
        self._database = database
        self._jobs = jobs
        self._fire_rules = fire_rules  # for the triggers that fire when a run is stopped
        self._quotas = quotas or Quotas(database)
        self._workers = LiveWorkers(database)
        self._starting = Gathered(Starting(database).start)
        self._looking_up = Gathered(self._look_up)

    async def start_one(self, caller: Caller, namespace: str, request: RunRequest, *, digest: str | None = None) -> str:
        """The id of the run; the same for every call with this digest, within a quarter of an hour."""
        _check(caller, request)
        return await self._starting(
            StartCall(
                org_id=caller.org_id,
                namespace=namespace,
                requested_by=caller.user,
                request=request,
                digest=digest,
                is_limited=await self._quotas.limit_runs_of(caller.org_id),
            )
        )

    async def start(self, caller: Caller, namespace: str, requests: Sequence[RunRequest]) -> Sequence[Inserted]:
        """All of them in one transaction, or none."""
        caller.needs(Right.RUN)
        for request in requests:
            _check(caller, request)
        return await self._database.write(
            start_runs,
            org_id=caller.org_id,
            namespace=namespace,
            requested_by=caller.user,
            requests=requests,
            is_limited=await self._quotas.limit_runs_of(caller.org_id),
        )

    async def get(
        self, caller: Caller, wire_id: str, *, namespace: str | None = None, job_name: str | None = None
    ) -> Attempt:
        """Of the organisation; where they are given, of that namespace and that job."""
        caller.needs(Right.READ)
        found = await self._looking_up((caller.org_id, wire_id))
        if namespace not in (None, found.namespace) or job_name not in (None, found.job_name):
            raise NotFound("run", wire_id)
        (explained,) = await self.explained([found])
        return explained

    async def of_job(self, caller: Caller, namespace: str, job_name: str, page: PageRequest) -> Page[Attempt]:
        """Newest first; the job must exist."""
        job = await self._jobs.get(caller, namespace, job_name)
        found = await self._database.read(
            reading.attempts_of_job, job_id=job.id, before=_before("runs of job", page.token), limit=page.size + 1
        )
        return page_of("runs of job", await self.explained(found), page.size, _place)

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
        return page_of("runs", await self.explained(found), page.size, _place)

    async def stop(
        self, caller: Caller, wire_ids: Sequence[str], *, namespace: str | None = None, job_name: str | None = None
    ) -> Sequence[StopAnswer]:
        """One answer per id, in their order; the proof that a run is dead is its state STOPPED."""
        caller.needs(Right.RUN)
        return await self._database.write(
            stop_attempts,
            org_id=caller.org_id,
            namespace=namespace,
            job_name=job_name,
            wire_ids=wire_ids,
            rules=self._fire_rules,
        )

    async def explained(self, found: Sequence[Attempt]) -> Sequence[Attempt]:
        """Those that nobody has claimed for a while say what they wait for, where there is something to say."""
        before = clock.wall_us() - NEW_US
        if not any(_is_unclaimed(each, before) for each in found):
            return found
        workers = await self._workers.alive()
        return [_explained(each, workers) if _is_unclaimed(each, before) else each for each in found]

    async def _look_up(self, wanted: Sequence[tuple[int, str]]) -> Sequence[Attempt | WaterclockError]:
        found = await self._database.look_up(reading.get_attempts, wanted=wanted)
        return [each or NotFound("run", wire_id) for each, (_, wire_id) in zip(found, wanted, strict=True)]


def _is_unclaimed(attempt: Attempt, before: Moment) -> bool:
    return attempt.state is RunState.STARTING and attempt.node is None and attempt.due_at < before


def _explained(attempt: Attempt, workers: Sequence[Worker]) -> Attempt:
    """It was just read, and is nobody else's yet: a copy would cost more than to read it."""
    attempt.wait_reason = why_waiting(attempt, workers) or attempt.wait_reason
    return attempt


def _check(caller: Caller, request: RunRequest) -> None:
    """Whoever chooses which secret goes into which argument could as well define the job."""
    caller.needs(Right.RUN)
    check_arguments(request.arguments)
    if refers_to_secrets(request.arguments) and Right.DEFINE not in RIGHTS[caller.role]:
        raise Forbidden(f"user {caller.user!r} ({caller.role}) may not give secrets to a run: that takes an author")


def _before(of: str, given: str | None) -> tuple[int, int]:
    found = position(of, given, (int, int))
    return (int(str(found[0])), int(str(found[1]))) if found else reading.FROM_THE_NEWEST


def _place(attempt: Attempt) -> tuple[int, int]:
    return attempt.run_at, attempt.id
