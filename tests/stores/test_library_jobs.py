"""Jobs of the library in every store: kept as they were given, fired, changed, and gone when nothing is left to do."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.stores.conftest import empty_url
from tests.stores.programming import EVERY_MINUTE, IMPATIENT, Program
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.firing import SkippedFor
from waterclock.domain.library import NAMESPACE
from waterclock.domain.moment import MINUTE, SECOND
from waterclock.domain.planning import Misfire
from waterclock.domain.run import RunState
from waterclock.stores import Database, database_from_url
from waterclock.stores.base import Topic
from waterclock.stores.memory import MemoryDatabase
from waterclock.stores.ops import library

COALESCED = Misfire(grace=timedelta(hours=1), coalesce=True)


@pytest.fixture(params=["memory", "sqlite", "postgres", "mariadb"])
async def program(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Program]:
    database = await _empty(request, tmp_path)
    await database.open()
    yield await Program.on(database)
    await database.close()


async def _empty(request: pytest.FixtureRequest, folder: Path) -> Database:
    if request.param == "memory":
        return MemoryDatabase()
    return database_from_url(await empty_url(request, request.param, folder))


# Kept


async def test_a_job_is_read_back_as_it_was_given(program: Program) -> None:
    given = program.job(timeout_seconds=5, retries=2, retry_delay_seconds=0.5, retry_doubles=True, max_concurrent=3)
    (added,) = await program.add(given)
    (found,) = await program.jobs("job")
    assert (found, found.job, found.version) == (added, given, 1)


async def test_a_name_that_is_taken_is_refused_and_nothing_is_written(program: Program) -> None:
    await program.add(program.job("b"))
    with pytest.raises(AlreadyExists, match="job 'b' already exists"):
        await program.add(program.job("a"), program.job("b"))
    with pytest.raises(AlreadyExists, match="job 'c' already exists"):
        await program.add(program.job("c"), program.job("c"), replace=("c",))
    assert await program.names() == ["b"]


async def test_a_job_that_is_replaced_stays_the_same_job(program: Program) -> None:
    (first,) = await program.add(program.job())
    again, other = await program.add(program.job(since=1, retries=1), program.job("other"), replace=("job", "other"))
    assert (again.id, again.trigger_id, again.version, again.job.spec.retries) == (first.id, first.trigger_id, 2, 1)
    assert await program.jobs() == [again, other]


async def test_jobs_are_listed_by_their_next_instant_and_paused_ones_last(program: Program) -> None:
    given = (program.job("b"), program.job("d", paused=True), program.job("a"), program.job("c", since=1))
    await program.add(*given)
    assert await program.names() == ["c", "a", "b", "d"]
    assert [stored.job.name for stored in await program.jobs("b", "c", "unknown")] == ["c", "b"]


async def test_a_great_many_jobs_are_added_fired_and_removed_together(program: Program) -> None:
    jobs = [program.job(f"job {number:04}") for number in range(2_500)]
    added = await program.add(*jobs)
    assert [stored.job.name for stored in added] == [job.name for job in jobs]
    assert await program.jobs() == added
    rounds = [await program.fire() for _ in range(3)]
    assert [fired.runs for fired in rounds] == [1_000, 1_000, 500]
    assert await program.remove() == [job.name for job in jobs]
    assert await program.names() == []


# Changed


async def test_what_a_job_runs_has_a_new_version_and_when_it_runs_has_none(program: Program) -> None:
    await program.add(program.job())
    assert (await program.change(next_fire_at=program.due + MINUTE)).version == 1
    assert (await program.change_spec(retries=3)).version == 2
    assert (await program.change(definition={"id": "job", "args": []})).version == 3
    (found,) = await program.jobs()
    assert (found.version, found.job.spec.retries, found.job.definition["args"]) == (3, 3, [])
    assert found.job.next_fire_at == program.due + MINUTE


async def test_a_job_that_was_given_another_time_may_fire_the_same_instant_again(program: Program) -> None:
    (stored,) = await program.add(program.job())
    assert (await program.fire()).runs == 1
    assert (await program.fire()).runs == 0
    await program.run_all()
    await program.change(next_fire_at=program.due)
    assert (await program.fire()).runs == 1
    assert await program.run_all() == [program.due]
    assert await program.states(stored) == ["SUCCEEDED", "SUCCEEDED"]


async def test_a_paused_job_does_not_fire_until_it_has_a_next_instant_again(program: Program) -> None:
    await program.add(program.job())
    await program.change(next_fire_at=None)
    fired = await program.fire()
    assert (fired.triggers, fired.next_due_at) == (0, None)
    await program.change(next_fire_at=program.due)
    assert (await program.fire()).runs == 1


async def test_a_job_that_is_not_there_cannot_be_changed(program: Program) -> None:
    with pytest.raises(NotFound, match="job 'job' not found"):
        await program.change(next_fire_at=None)


async def test_a_higher_cap_starts_what_waits(program: Program) -> None:
    await program.add(program.job(since=2, queueing=True))
    await program.fire()
    assert len(await program.claim()) == 1
    await program.change_spec(max_concurrent=2)
    assert len(await program.claim()) == 1
    await program.change_spec(max_concurrent=3)
    assert len(await program.claim()) == 1


# Fired


async def test_several_due_instants_are_one_run_where_they_are_coalesced(program: Program) -> None:
    (stored,) = await program.add(program.job(since=3, misfire=COALESCED))
    fired = await program.fire()
    (skipped,) = fired.skipped
    assert (fired.runs, skipped.name, skipped.why, skipped.count) == (1, "job", SkippedFor.COALESCED, 3)
    assert (skipped.first_at, skipped.last_at) == (program.due - 3 * MINUTE, program.due - MINUTE)
    assert await program.run_all() == [program.due]
    assert await program.states(stored) == ["SUCCEEDED", "SKIPPED"]
    assert fired.next_due_at == program.due + MINUTE


async def test_a_missed_instant_is_told_and_kept(program: Program) -> None:
    (stored,) = await program.add(program.job(since=1, misfire=IMPATIENT))
    fired = await program.fire()
    (skipped,) = fired.skipped
    assert (fired.runs, skipped.why, skipped.count, skipped.last_at) == (0, SkippedFor.MISSED, 2, program.due)
    (line,) = await program.past(stored)
    assert (line.state, line.scheduled_at, line.first_at, line.count) == (
        *("MISSED", program.due),
        *(program.due - MINUTE, 2),
    )
    assert line.message == skipped.reason
    assert (line.wire_id, line.attempts) == (None, 0)


async def test_a_run_too_many_is_skipped_told_and_kept(program: Program) -> None:
    (stored,) = await program.add(program.job())
    await program.fire()
    program.pass_time(60)
    (skipped,) = (await program.fire()).skipped
    next_due = program.due + MINUTE
    assert (skipped.why, skipped.first_at, skipped.last_at) == (SkippedFor.OVER_CAP, next_due, next_due)
    assert skipped.reason == "job 'job' already has its 1 concurrent run(s)"
    assert await program.run_all() == [program.due]
    assert await program.states(stored) == ["SKIPPED", "SUCCEEDED"]


async def test_instants_of_one_round_run_one_after_another(program: Program) -> None:
    (stored,) = await program.add(program.job(since=2))
    assert (await program.fire()).skipped == ()
    assert [await program.run_all() for _ in range(3)] == [[program.due - n * MINUTE] for n in (2, 1, 0)]
    assert await program.states(stored) == ["SUCCEEDED"] * 3


async def test_a_job_without_a_next_instant_is_removed_and_its_last_run_runs(program: Program) -> None:
    stored, _, _ = await program.add(
        program.until_now(name="last"), program.job("other"), program.job("paused", paused=True)
    )
    fired = await program.fire()
    assert (fired.runs, fired.exhausted) == (2, ("last",))
    assert await program.names() == ["other", "paused"]
    claimed = {each.attempt.job_name: each for each in await program.claim()}
    assert claimed["last"].spec == stored.job.spec
    await program.end(*claimed.values())
    assert await program.states(stored) == ["SUCCEEDED"]
    (again,) = await program.add(program.job("last"))
    assert again.id != stored.id


async def test_a_job_whose_last_instant_was_missed_is_removed_too(program: Program) -> None:
    (stored,) = await program.add(program.until_now(misfire=IMPATIENT))
    assert (await program.fire()).exhausted == ("job",)
    assert await program.names() == []
    assert await program.states(stored) == ["MISSED"]


async def test_what_waits_for_a_slot_of_a_job_that_is_gone_starts_one_by_one(program: Program) -> None:
    stored, *_ = await program.add(
        program.until_now(since=2, queueing=True), program.until_now(name="b", since=1, queueing=True)
    )
    fired = await program.fire()
    assert (fired.runs, sorted(fired.exhausted), fired.skipped) == (5, ["b", "job"], ())
    assert await program.states(stored) == ["WAITING", "WAITING", "STARTING"]
    first, second, third = [await program.run_all() for _ in range(3)]
    assert sorted(first) == [program.due - 2 * MINUTE, program.due - MINUTE]
    assert (second, third) == ([program.due - MINUTE, program.due], [program.due])
    assert await program.states(stored) == ["SUCCEEDED"] * 3


# Removed


async def test_a_removed_job_does_not_fire_and_what_it_runs_goes_on(program: Program) -> None:
    stored, _ = await program.add(program.job(since=1, queueing=True), program.job("other"))
    await program.fire()
    assert await program.remove("unknown", "job", "job") == ["job"]
    assert await program.names() == ["other"]
    program.pass_time(60)
    assert (await program.fire()).triggers == 1
    while await program.run_all():
        pass
    assert await program.states(stored) == ["SUCCEEDED", "SUCCEEDED"]
    assert await program.remove("job") == []


# Run


async def test_each_retry_waits_twice_as_long_as_the_one_before_up_to_an_hour(program: Program) -> None:
    (stored,) = await program.add(program.until_now(retries=3, retry_delay_seconds=1_500, retry_doubles=True))
    await program.fire()
    waits = []
    for _ in range(3):
        await program.end(*await program.claim(), state=RunState.FAILED, message="no")
        claims = await program.claims()
        assert claims.next_due_at is not None
        waits.append(round((claims.next_due_at - claims.now) / SECOND, -2))
        program.pass_time(waits[-1] + 1)
    assert waits == [1_500, 3_000, 3_600]
    await program.end(*await program.claim(), state=RunState.FAILED, message="still no")
    (line,) = await program.past(stored)
    assert (line.state, line.attempts, line.message) == ("FAILED", 4, "still no")


async def test_the_history_has_the_newest_first_with_what_each_run_returned(program: Program) -> None:
    (stored,) = await program.add(program.job())
    for number in range(3):
        await program.fire()
        await program.end(*await program.claim(), output=f"[{number}]")
        program.pass_time(60)
    await program.add(program.job("other"))
    lines = await program.past(stored, limit=2)
    assert [(line.scheduled_at, line.result) for line in lines] == [
        (program.due + 2 * MINUTE, "[2]"),
        (program.due + MINUTE, "[1]"),
    ]
    for line in lines:
        assert line.wire_id is not None
        assert line.started_at is not None
        assert line.ended_at is not None
        assert line.attempts == 1


# Quarantined


async def test_a_job_that_cannot_be_loaded_is_kept_and_paused_until_it_is_changed(program: Program) -> None:
    (stored,) = await program.add(program.job())
    assert await program.quarantine("job", stored.version)
    (kept,) = await program.jobs()
    assert (kept.job.problem, kept.job.next_fire_at) == ("no module named 'gone'", None)
    assert (await program.fire()).triggers == 0
    healed = await program.change(problem=None, next_fire_at=program.due)
    assert (healed, healed.job.problem) == (*(await program.jobs()), None)
    assert (await program.fire()).runs == 1


async def test_a_job_that_was_changed_in_the_meantime_is_not_quarantined(program: Program) -> None:
    (stored,) = await program.add(program.job())
    changed = await program.change_spec(retries=1)
    assert not await program.quarantine("job", stored.version)
    assert not await program.quarantine("unknown", 1)
    assert await program.jobs() == [changed]


async def test_one_whose_name_is_free_is_added_in_one_go_and_another_leaves_nothing(program: Program) -> None:
    given = program.job("free", retries=2)
    stored = await program.database.send(library.add_free_job, namespace=NAMESPACE, job=given)
    other = program.job("free", schedule=EVERY_MINUTE, since=1)
    assert await program.database.send(library.add_free_job, namespace=NAMESPACE, job=other) is None
    assert stored is not None
    assert (await program.jobs(), stored.job, stored.version) == ([stored], given, 1)
    await program.fire()
    assert await program.run_all() == [program.due]


async def test_whoever_listens_hears_of_one_that_is_added_in_one_go(program: Program) -> None:
    heard = asyncio.Event()
    program.database.listen(Topic.TRIGGERS, heard.set)
    await program.database.send(library.add_free_job, namespace=NAMESPACE, job=program.job())
    async with asyncio.timeout(10):
        await heard.wait()
