"""Workers of others in every store: what they are offered, what their reports do, and what is kept for them."""

import asyncio
from typing import Any

import pytest

from tests.stores.laking import Laking, draft
from tests.stores.store import Store
from waterclock.domain.access import Caller, Role
from waterclock.domain.errors import Forbidden, InvalidInput, NotFound
from waterclock.domain.lake import LakeJob, LakeStatus
from waterclock.domain.lake_work import Heard, Told
from waterclock.domain.run import Attempt, RunState
from waterclock.services.lake_work import LakeWork, Offered
from waterclock.stores.base import Database
from waterclock.stores.ops.lake_offers import AGAIN_SECONDS
from waterclock.stores.ops.nodes import drain_node, list_nodes, resume_node

LEASE = 60.0
S = LakeStatus


def caller(user: str, *, org_id: int = 1, role: Role = Role.WORKER) -> Caller:
    return Caller(user=user, org_id=org_id, account="", role=role, address="", request_id="")


class Far:
    """A worker that knows two calls."""

    def __init__(self, database: Database, user: str = "far", *, org_id: int = 1) -> None:
        self.service = LakeWork(database, {}, lease_seconds=LEASE)
        self.caller = caller(user, org_id=org_id)

    async def next(self, *, seconds: float = 0) -> Offered | None:
        return await self.service.next(self.caller, seconds=seconds, stopping=None)

    async def take(self) -> Attempt:
        """Offered, and accepted."""
        found = await self.next()
        assert found is not None
        await self.report(found.attempt.run_id, S.RUNNING)
        return found.attempt

    async def report(self, run_id: int, status: LakeStatus, **more: Any) -> Heard:
        return await self.service.report(self.caller, Told(run_id=run_id, status=status, **more))


@pytest.fixture
async def lake(database: Database) -> Laking:
    laking = Laking(database)
    await laking.pass_minute()
    return laking


@pytest.fixture
def far(lake: Laking) -> Far:
    return Far(lake.database)


async def waiting(lake: Laking, name: str = "job", *, org_id: int = 1, **more: Any) -> tuple[LakeJob, int]:
    job = await lake.lake_job(draft(name, queue="lake", **more), org_id=org_id)
    return job, await lake.run(job)


async def test_a_run_is_offered_taken_and_ended_by_reports(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake, "totals")
    offered = await far.next()
    assert offered is not None
    assert (offered.attempt.run_id, offered.attempt.number, offered.job.display_name) == (run_id, 0, "totals")
    for status in (S.QUEUED, S.COMPILING, S.RUNNING):
        assert await far.report(run_id, status, job_id=job.id) == Heard(taken=True, status=status)
        assert await lake.status(job) == status
    counted = {"rows_written": 7}
    await far.report(run_id, S.RUNNING, progress=counted, message="half of it")
    assert (await lake.get(job)).progress == {**counted, "message": "half of it"}
    await far.report(run_id, S.RUNNING)  # says nothing of it: it stays
    assert [(run.attempt.run_id, run.progress) for run in (await far.service.live(far.caller)).items] == [
        (run_id, counted)
    ]
    assert (await far.report(run_id, S.FINISHED, progress={"execution_ms": 5})).taken
    found = await lake.get(job)
    assert found.last_ended is not None
    assert (await lake.status(job), found.progress) == (S.FINISHED, {"rows_written": 7, "execution_ms": 5})
    assert found.last_ended.started_at is not None
    assert (await far.service.live(far.caller)).total == 0
    assert await far.next() is None


async def test_an_end_may_be_the_first_that_is_said(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake)
    await far.next()
    assert (await far.report(run_id, S.ERROR)).taken
    found = (await lake.get(job)).last_ended
    assert found is not None
    assert (found.state, found.message) == (RunState.FAILED, "the worker reported Error, without a message")


async def test_it_takes_lake_runs_of_its_queue_and_organisation_and_nothing_else(lake: Laking, far: Far) -> None:
    await lake.job(queue="lake")
    await lake.start()  # one of Glue's
    await lake.run(await lake.lake_job("another queue"))
    await waiting(lake, "labelled", labels=("gpu",))
    _, ours = await waiting(lake, "ours")
    eve = Far(lake.database, "eve", org_id=2)
    assert await eve.next() is None
    found = await far.next()
    assert found is not None
    assert found.attempt.run_id == ours
    assert await Far(lake.database, "another").next() is None
    assert [attempt.state for attempt in await lake.attempts()] == [RunState.STARTING]
    for stranger in (eve, Far(lake.database, "another")):
        with pytest.raises(NotFound):
            await stranger.report(ours, S.RUNNING)


async def test_an_offer_whose_answer_was_lost_is_made_again_and_no_other_before(lake: Laking, far: Far) -> None:
    _, first = await waiting(lake, "first")
    _, second = await waiting(lake, "second")
    lost = await far.next()
    assert lost is not None
    assert await far.next() is None  # it may be about to report, or another of its threads asks
    lake.pass_time(AGAIN_SECONDS)
    again = await far.next()
    assert again is not None
    assert (again.attempt.id, again.attempt.fence) == (lost.attempt.id, lost.attempt.fence)
    assert await far.next() is None
    await far.report(first, S.QUEUED)
    other = await far.next()
    assert other is not None
    assert (lost.attempt.run_id, other.attempt.run_id) == (first, second)


async def test_an_offer_is_not_made_again_for_ever(lake: Laking, far: Far) -> None:
    job, _ = await waiting(lake)
    while await far.next():
        lake.pass_time(AGAIN_SECONDS)
    assert await lake.status(job) == S.UNKNOWN
    lake.pass_time(5)
    assert len(await lake.rescue()) == 1
    assert await lake.status(job) == S.ERROR


async def test_only_a_report_renews_the_lease_of_what_was_taken(lake: Laking, far: Far) -> None:
    job, _ = await waiting(lake)
    taken = await far.take()
    for _ in range(3):
        lake.pass_time(LEASE - 10)
        assert (await far.report(taken.run_id, S.RUNNING)).taken
        assert await lake.rescue() == frozenset()
    lake.pass_time(LEASE - 10)
    assert await far.next() is None  # it lives, but that says nothing of the run: it may have been restarted
    lake.pass_time(20)
    assert await lake.rescue() == {taken.id}
    assert await lake.status(job) == S.ERROR


async def test_a_late_report_never_changes_a_finished_run(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake)
    taken = await far.take()
    lake.pass_time(LEASE + 10)
    assert await lake.rescue() == {taken.id}
    before = (await lake.get(job)).last_ended
    assert await far.report(run_id, S.RUNNING) == Heard(taken=False, status=S.ERROR, kill=True)
    for end in (S.FINISHED, S.KILLED):
        assert await far.report(run_id, end, progress={"rows_written": 1}) == Heard(taken=False, status=S.ERROR)
    assert (await lake.get(job)).last_ended == before
    assert (await lake.get(job)).progress == {}


async def test_an_end_that_is_said_twice_is_taken_twice_and_done_once(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake)
    await far.take()
    assert await far.report(run_id, S.FINISHED, message="done") == Heard(taken=True, status=S.FINISHED)
    before = (await lake.get(job)).last_ended
    assert await far.report(run_id, S.FINISHED, message="again") == Heard(taken=True, status=S.FINISHED)
    assert (await lake.get(job)).last_ended == before


async def test_a_kill_is_told_with_the_next_report_and_proven_by_killed(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake)
    await far.take()
    assert await lake.kill(job)
    assert await lake.status(job) == S.RUNNING
    assert await far.report(run_id, S.RUNNING) == Heard(taken=True, status=S.RUNNING, kill=True)
    assert await far.report(run_id, S.KILLED) == Heard(taken=True, status=S.KILLED)
    assert await lake.status(job) == S.KILLED


async def test_what_was_killed_before_it_was_taken_never_begins(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake)
    await far.next()
    assert await lake.kill(job)
    assert await far.next() is None
    assert await lake.status(job) == S.KILLED
    assert await far.report(run_id, S.RUNNING) == Heard(taken=False, status=S.KILLED, kill=True)


async def test_what_was_killed_over_there_is_killed(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake, retries=1)
    await far.take()
    assert (await far.report(run_id, S.KILLED, message="by hand")).taken
    assert await lake.status(job) == S.KILLED
    assert await far.next() is None


async def test_a_run_over_its_time_is_to_die_and_ends_as_a_time_out(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake, timeout_seconds=30)
    await far.take()
    assert not (await far.report(run_id, S.RUNNING)).kill
    lake.pass_time(31)
    assert (await far.report(run_id, S.RUNNING)).kill
    await far.report(run_id, S.KILLED)
    found = (await lake.get(job)).last_ended
    assert found is not None
    assert (found.state, found.message) == (RunState.TIMEOUT, "timed out after 30 s")


async def test_a_retry_is_offered_under_the_same_number_as_another_attempt(lake: Laking, far: Far) -> None:
    _, run_id = await waiting(lake, retries=1)
    await far.take()
    assert (await far.report(run_id, S.ERROR, message="once")).taken
    again = await far.next()
    assert again is not None
    assert (again.attempt.run_id, again.attempt.number) == (run_id, 1)
    # The answer to the first end was lost: said again it is no end of what nothing was said of yet.
    assert await far.report(run_id, S.ERROR) == Heard(taken=True, status=S.ERROR)
    assert await far.report(run_id, S.FINISHED) == Heard(taken=False, status=S.ERROR)
    assert await far.report(run_id, S.RUNNING, attempt=0) == Heard(taken=False, status=S.ERROR, kill=True)
    assert (await far.report(run_id, S.RUNNING)).taken
    assert (await far.report(run_id, S.FINISHED)).taken


async def test_what_does_not_fit_is_refused(lake: Laking, far: Far) -> None:
    job, run_id = await waiting(lake)
    await far.take()
    with pytest.raises(InvalidInput, match=f"run {run_id} is one of job {job.id}"):
        await far.report(run_id, S.FINISHED, job_id=job.id + 1)
    with pytest.raises(NotFound):
        await far.report(run_id, S.FINISHED, attempt=1)
    with pytest.raises(NotFound):
        await far.report(run_id + 1_000, S.FINISHED)
    for role in set(Role) - {Role.WORKER}:
        with pytest.raises(Forbidden):
            await far.service.next(caller("far", role=role), seconds=0, stopping=None)
        with pytest.raises(Forbidden):
            await far.service.report(caller("far", role=role), Told(run_id=run_id, status=S.FINISHED))
    assert await lake.status(job) == S.RUNNING


async def test_it_is_a_node_that_can_be_drained(lake: Laking, far: Far) -> None:
    await waiting(lake)
    taken = await far.take()
    await waiting(lake, "next")
    (node,) = await lake.database.read(list_nodes, within_seconds=60)
    assert (node.name, node.queues, node.org_id, node.running) == ("far", ("lake",), 1, 1)
    await far.report(taken.run_id, S.FINISHED)
    (node,) = await lake.database.read(list_nodes, within_seconds=60)
    assert node.running == 0
    await lake.database.write(drain_node, node_id=node.id)
    assert await far.next() is None
    await lake.database.write(resume_node, node_id=node.id)
    assert await far.next() is not None


async def test_whoever_asks_at_once_is_offered_runs_of_their_own(shared: Store) -> None:
    """Two servers, two workers, and two threads of each that ask for the first time."""
    one, other = await shared.open_many(2)
    lake = Laking(one)
    runs = {(await waiting(lake, f"job {number}"))[1] for number in range(4)}
    workers = [Far(database, user) for database in (one, other) for user in ("ann's", "bob's")]
    seen: list[int] = []
    while len(seen) < len(runs):
        found = await asyncio.gather(*(worker.next() for worker in workers))
        for worker, offered in zip(workers, found, strict=True):
            if offered:
                seen.append(offered.attempt.run_id)
                await worker.report(offered.attempt.run_id, S.RUNNING)
    assert sorted(seen) == sorted(runs)


async def test_an_end_a_rescue_and_a_kill_at_once_leave_one_end_which_the_worker_knows(shared: Store) -> None:
    one, other = await shared.open_many(2)
    here, there = Laking(one), Laking(other)
    far, thread = Far(one), Far(other)
    for number in range(4):
        job, run_id = await waiting(here, f"job {number}")
        await far.take()
        here.pass_time(LEASE + 10)
        there.pass_time(LEASE + 10)
        heard, *_ = await asyncio.gather(
            far.report(run_id, S.FINISHED), there.rescue(), there.kill(job), thread.next(), here.kill(job)
        )
        assert await there.status(job) == heard.status
        assert heard.taken is (heard.status is S.FINISHED)
