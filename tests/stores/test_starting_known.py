"""Runs that were decided from what is known of their jobs are written as they are, or not at all, on every store."""

import asyncio

import pytest

from tests.stores.store import Store
from tests.stores.test_repeats import call
from tests.stores.test_room import CAP, ceiling, recap
from tests.stores.world import PLACE, World
from waterclock.domain.errors import AlreadyExists, ConcurrentRunsExceeded, NotFound, WaterclockError
from waterclock.domain.job import Job
from waterclock.services.starting import Starting
from waterclock.stores.base import Topic
from waterclock.stores.ops.jobs import delete_job
from waterclock.stores.ops.room import LOW_CAP
from waterclock.stores.ops.starting import StartCall
from waterclock.stores.ops.starting_known import BEHIND_US, KnownStart, known_start, start_known


async def ready(world: World, job: Job, *calls: StartCall, later_us: int = 0) -> KnownStart:
    start = known_start(calls, [job], await world.now() + later_us)
    assert start is not None
    return start


async def write(world: World, start: KnownStart) -> bool:
    return (await world.database.write(start_known, start=start)).is_done


async def test_they_are_stored_under_the_ids_that_were_answered(world: World) -> None:
    job = await world.job()
    start = await ready(world, job, call(digest="a", arguments={"--day": "1"}), call(digest="b"))
    assert await write(world, start)
    first, second = [await world.attempt(wire_id) for wire_id in start.answers]
    assert (first.state, first.job_name, first.arguments, first.due_at) == (
        "STARTING",
        "job",
        {"--day": "1"},
        start.about,
    )
    assert (second.requested_by, second.job_version) == ("ann", job.version)
    assert [claimed.spec for claimed in await world.claim()] == [job.spec] * 2


async def test_of_a_job_that_was_changed_nothing_is_started(world: World) -> None:
    start = await ready(world, await world.job(), call(digest="d"))
    await recap(world, 0)
    assert not await write(world, start)
    assert await world.attempts() == []


async def test_of_a_job_that_was_made_anew_nothing_is_started(world: World) -> None:
    start = await ready(world, await world.job(), call(digest="d"))
    await world.database.write(delete_job, **PLACE, name="job", allow=lambda facts: None)
    await world.job()
    assert not await write(world, start)
    assert await world.attempts() == []


async def test_one_job_of_several_that_was_changed_is_enough(world: World) -> None:
    jobs = [await world.job(), await world.job("other")]
    start = known_start([call(digest="a"), call("other", digest="b")], jobs, await world.now())
    assert start is not None
    await recap(world, 0)
    assert not await write(world, start)
    assert await world.attempts() == []


async def test_where_nobody_has_counted_since_the_last_change_it_is_not_known_whether_there_is_room(
    world: World,
) -> None:
    start = await ready(world, await world.job(max_concurrent=CAP), call(digest="d"))
    assert not await write(world, start)


async def test_each_takes_its_place_below_the_ceiling_and_the_last_one_is_given_once(world: World) -> None:
    job = await world.job(max_concurrent=CAP)
    await world.start(count=CAP - 2)
    assert await write(world, await ready(world, job, call(digest="a")))
    assert await ceiling(world, job) == CAP - 1
    assert not await write(world, await ready(world, job, call(digest="b"), call(digest="c")))
    assert await write(world, await ready(world, job, call(digest="b")))
    assert not await write(world, await ready(world, job, call(digest="c")))
    assert len(await world.attempts()) == CAP


@pytest.mark.parametrize("later_us", [BEHIND_US, -2 * BEHIND_US])
async def test_at_another_time_than_was_thought_nothing_is_started(world: World, later_us: int) -> None:
    start = await ready(world, await world.job(), call(digest="d"), later_us=later_us)
    assert not await write(world, start)


async def test_a_repetition_leaves_nothing_of_its_batch(world: World) -> None:
    job = await world.job()
    assert await write(world, await ready(world, job, call(digest="a")))
    with pytest.raises(AlreadyExists):
        await write(world, await ready(world, job, call(digest="b"), call(digest="a")))
    assert len(await world.attempts()) == 1


async def test_what_is_to_be_counted_looked_for_or_refused_is_not_decided(world: World) -> None:
    job = await world.job()
    assert known_start([call(digest="a"), call()], [job], 0) is None, "it could not be made once more"
    assert known_start([call(digest="a"), call(digest="a")], [job], 0) is None
    limited = StartCall(
        org_id=1, namespace="glue", requested_by="ann", request=call().request, digest="a", is_limited=True
    )
    assert known_start([limited], [job], 0) is None
    capped = await world.job("capped", max_concurrent=LOW_CAP)
    assert known_start([call("capped", digest="a")], [capped], 0) is None
    many = [call("high", digest=f"{number}") for number in range(CAP + 1)]
    assert known_start(many, [await world.job("high", max_concurrent=CAP)], 0) is None


async def test_another_node_is_woken(shared: Store) -> None:
    one, other = [World(database) for database in await shared.open_many(2)]
    job = await one.job()
    heard = asyncio.Event()
    other.database.listen(Topic.ATTEMPTS, heard.set)
    assert await write(one, await ready(one, job, call(digest="d")))
    async with asyncio.timeout(30):
        await heard.wait()


async def test_callers_on_four_nodes_who_know_the_job_get_no_more_than_its_cap(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(4)]
    starters = [Starting(world.database) for world in worlds]
    job = await worlds[0].job(max_concurrent=CAP)
    answers: list[str | WaterclockError] = []
    for number in range(4):
        some = [[call(digest=f"{number} {n} {k}") for k in range(2)] for n in range(20)]
        found = await asyncio.gather(*(starters[n % 4].start(calls) for n, calls in enumerate(some)))
        answers += [answer for each in found for answer in each]
    taken = [answer for answer in answers if isinstance(answer, str)]
    assert len(set(taken)) == len(await worlds[0].attempts()) == CAP
    assert all(isinstance(answer, str | ConcurrentRunsExceeded) for answer in answers)
    assert await ceiling(worlds[0], job) == CAP


async def test_a_job_that_is_deleted_while_callers_know_it_is_started_until_then_and_never_after(
    shared: Store,
) -> None:
    one, other = [World(database) for database in await shared.open_many(2)]
    starting = Starting(one.database)
    await one.job()
    for number in range(3):
        assert [type(answer) for answer in await starting.start([call(digest=f"{number}")])] == [str]
    await other.database.write(delete_job, **PLACE, name="job", allow=lambda facts: None)
    assert [type(answer) for answer in await starting.start([call(digest="4")])] == [NotFound]
    assert len(await one.attempts()) == 3
