"""Runs by hand in every store: admitted, queued or refused under the job's cap, however many ask at once."""

import asyncio
from collections import Counter

import pytest

from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.errors import ConcurrentRunsExceeded, NotFound
from waterclock.domain.run import RunState


async def test_a_run_is_stored_under_the_id_that_was_answered(world: World) -> None:
    await world.job(timeout_seconds=60, fixed_arguments={"--a": "fixed"})
    mine = {"--a": "mine", "--b": "2"}
    (answered,) = await world.start(arguments=mine, settings={"x": [1]}, previous_wire_id="jr_before")
    attempt = await world.attempt(answered.wire_id)
    assert (attempt.id, attempt.run_id) == (answered.attempt_id, answered.run_id)
    assert attempt.wire_id.startswith("jr_")
    assert len(attempt.wire_id) == 67
    assert attempt.arguments == {"--a": "fixed", "--b": "2"}
    assert (attempt.settings, attempt.previous_wire_id, attempt.timeout_seconds) == ({"x": [1]}, "jr_before", 60)
    assert (attempt.trigger_id, attempt.trigger_name, attempt.requested_by) == (None, None, "ann")


async def test_a_run_of_another_organisation_is_not_found(world: World) -> None:
    from waterclock.stores.ops.reading import get_attempt

    await world.job()
    (answered,) = await world.start()
    assert await world.database.read(get_attempt, org_id=2, wire_id=answered.wire_id) is None


async def test_a_job_that_is_not_there_cannot_be_run(world: World) -> None:
    with pytest.raises(NotFound, match="'job'"):
        await world.start()


async def test_over_the_cap_a_run_is_refused(world: World) -> None:
    await world.job(max_concurrent=2)
    await world.start(count=2)
    with pytest.raises(ConcurrentRunsExceeded):
        await world.start()
    assert len(await world.attempts()) == 2


async def test_a_batch_that_goes_over_the_cap_leaves_nothing(world: World) -> None:
    await world.job(max_concurrent=2)
    with pytest.raises(ConcurrentRunsExceeded):
        await world.start(count=3)
    assert await world.attempts() == []


async def test_over_the_cap_a_run_waits_where_the_job_queues(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True)
    assert [each.state for each in await world.start(count=3)] == ["STARTING", "WAITING", "WAITING"]
    assert "concurrent" in str((await world.attempts())[-1].wait_reason)


async def test_twenty_callers_at_once_get_no_more_than_the_cap(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(4)]
    await worlds[0].job(max_concurrent=3)
    answers = await asyncio.gather(*(worlds[n % 4].start() for n in range(20)), return_exceptions=True)
    assert Counter(type(answer) for answer in answers) == {list: 3, ConcurrentRunsExceeded: 17}
    assert await worlds[0].states() == ["STARTING"] * 3


async def test_twenty_callers_at_once_fill_the_slots_and_the_queue(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(4)]
    await worlds[0].job(max_concurrent=3, queueing=True)
    await asyncio.gather(*(worlds[n % 4].start() for n in range(20)))
    assert Counter(await worlds[0].states()) == {"STARTING": 3, "WAITING": 17}


async def test_many_runs_are_written_in_one_go(world: World) -> None:
    await world.job()
    answered = await world.start(count=2_500)
    assert len({each.wire_id for each in answered}) == 2_500
    assert len(await world.attempts()) == 2_500


async def test_runs_are_listed_newest_first_a_page_at_a_time(world: World) -> None:
    from waterclock.stores.ops.reading import FROM_THE_NEWEST, attempts_of_job

    job = await world.job()
    for _ in range(5):
        world.pass_time(1)
        await world.start()
    page = await world.database.read(attempts_of_job, job_id=job.id, before=FROM_THE_NEWEST, limit=3)
    last = page[-1]
    rest = await world.database.read(attempts_of_job, job_id=job.id, before=(last.run_at, last.id), limit=3)
    ids = [each.id for each in [*page, *rest]]
    assert ids == sorted(ids, reverse=True)
    assert len(set(ids)) == 5


async def test_runs_are_listed_by_their_state(world: World) -> None:
    await world.job(max_concurrent=1, queueing=True)
    await world.start(count=2)
    (waiting,) = await world.attempts([RunState.WAITING])
    assert waiting.state is RunState.WAITING
