"""Calls that a client repeats count once, on every store and from any node; calls in one batch stand alone."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.world import PLACE, World
from waterclock.domain.errors import AlreadyExists, ConcurrentRunsExceeded, NotFound, WaterclockError
from waterclock.domain.job import JobSpec
from waterclock.engine.pruner import BREATH_SECONDS, REST_SECONDS, Pruner
from waterclock.stores.base import Tx
from waterclock.stores.ops import jobs, repeats
from waterclock.stores.ops.starting import RunRequest, StartCall, start_each, start_new

QUARTER_OF_AN_HOUR = 15 * 60


def call(job: str = "job", *, digest: str | None = None, org_id: int = 1, **request: Any) -> StartCall:
    asked = RunRequest(job_name=job, **request)
    return StartCall(org_id=org_id, namespace="glue", requested_by="ann", request=asked, digest=digest)


async def start(world: World, *calls: StartCall) -> Sequence[str | WaterclockError]:
    """As the service does."""
    try:
        return (await world.database.write(start_new, calls=calls)).answers
    except AlreadyExists:
        return await world.database.write(start_each, calls=calls)


async def test_a_repeated_call_gets_the_first_answer_and_makes_no_second_run(world: World) -> None:
    await world.job()
    (first,) = await start(world, call(digest="d"))
    (again,) = await start(world, call(digest="d"))
    assert first == again
    assert [attempt.wire_id for attempt in await world.attempts()] == [first]


async def test_a_repeated_call_whose_own_run_has_the_last_slot_gets_its_answer(world: World) -> None:
    await world.job(max_concurrent=1)
    (first,) = await start(world, call(digest="d"))
    again, other, unnamed = await start(world, call(digest="d"), call(digest="e"), call())
    assert again == first
    assert isinstance(other, ConcurrentRunsExceeded)
    assert isinstance(unnamed, ConcurrentRunsExceeded)
    assert len(await world.attempts()) == 1


async def test_looked_at_closely_a_repeated_call_gets_the_same_answer(world: World) -> None:
    await world.job()
    (first,) = await world.database.write(start_each, calls=[call(digest="d")])
    with pytest.raises(AlreadyExists):
        await world.database.write(start_new, calls=[call(digest="d"), call(digest="e")])
    again, other = await world.database.write(start_each, calls=[call(digest="d"), call(digest="e")])
    assert again == first != other
    assert len(await world.attempts()) == 2


async def test_the_same_call_twice_in_one_batch_is_one_run(world: World) -> None:
    await world.job()
    first, again, other = await start(world, call(digest="d"), call(digest="d"), call(digest="e"))
    assert first == again != other
    assert len(await world.attempts()) == 2


async def test_calls_that_nobody_named_are_all_different(world: World) -> None:
    await world.job()
    await start(world, call(), call())
    assert len(await world.attempts()) == 2


async def test_copies_of_a_call_on_four_nodes_at_once_make_one_run(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(4)]
    await worlds[0].job()
    copies = [start(worlds[n % 4], call(digest="d"), call(digest=f"own {n}")) for n in range(20)]
    answers = await asyncio.gather(*copies)
    assert len({answer[0] for answer in answers}) == 1
    assert len({answer[1] for answer in answers}) == 20
    assert len(await worlds[0].attempts()) == 21


async def test_batches_that_share_calls_in_another_order_do_not_wait_in_a_circle(shared: Store) -> None:
    one, other = [World(database) for database in await shared.open_many(2)]
    await one.job()
    forth = [call(digest=f"{n}") for n in range(50)]
    for _ in range(5):
        answers = await asyncio.gather(start(one, *forth), start(other, *reversed(forth)))
        assert list(answers[0]) == list(answers[1])[::-1]
    assert len(await one.attempts()) == 50


@pytest.mark.parametrize("shared", ["postgres", "mariadb"], indirect=True)  # SQLite's writer does one after another
async def test_a_copy_waits_for_the_first_that_is_still_at_work(shared: Store) -> None:
    one, other = [World(database) for database in await shared.open_many(2)]
    await one.job()
    at_work, done = asyncio.Event(), asyncio.Event()

    async def slowly(tx: Tx) -> Sequence[str | WaterclockError]:
        answers = await start_each(tx, calls=[call(digest="d")])
        at_work.set()
        await done.wait()
        return answers

    first = asyncio.create_task(one.database.write(slowly))
    await at_work.wait()
    copy = asyncio.create_task(start(other, call(digest="d")))
    looked = await other.database.read(repeats_there)  # the copy has begun before this is answered
    assert (looked, copy.done()) == (0, False)
    done.set()
    assert await copy == await first
    assert len(await one.attempts()) == 1


async def repeats_there(tx: Tx) -> int:
    return len(await tx.fetch("answers_of_calls", {"digests": ["d"]}))


async def test_after_a_quarter_of_an_hour_it_is_a_new_call(world: World) -> None:
    await world.job()
    (first,) = await start(world, call(digest="d"))
    world.pass_time(QUARTER_OF_AN_HOUR - 1)
    assert await start(world, call(digest="d")) == [first]
    world.pass_time(2)
    (second, other) = await start(world, call(digest="d"), call(digest="e"))
    assert first != second != other
    assert await start(world, call(digest="d")) == [second]


async def test_a_refused_call_leaves_nothing_and_its_repetition_is_a_new_try(world: World) -> None:
    await world.job(max_concurrent=1)
    await start(world, call())
    (refusal, same) = await start(world, call(digest="d"), call(digest="d"))
    assert isinstance(refusal, ConcurrentRunsExceeded)
    assert isinstance(same, ConcurrentRunsExceeded)
    await world.run_one()
    (answer,) = await start(world, call(digest="d"))
    assert (await world.attempt(str(answer))).state == "STARTING"


async def test_a_repeated_call_is_answered_though_its_job_is_gone(world: World) -> None:
    await world.job()
    (first,) = await start(world, call(digest="d"))
    await world.run_one()
    await world.database.write(jobs.delete_job, **PLACE, name="job", allow=lambda facts: None)
    again, other = await start(world, call(digest="d"), call(digest="e"))
    assert again == first
    assert isinstance(other, NotFound)


async def test_one_refusal_harms_no_neighbour(world: World) -> None:
    await world.job("narrow", max_concurrent=2)
    await world.job("wide")
    calls = [call("narrow"), call("gone"), call("narrow"), call("wide"), call("narrow")]
    first, gone, second, wide, third = await start(world, *calls)
    assert [(await world.attempt(str(answer))).job_name for answer in (first, second, wide)] == [
        *("narrow", "narrow", "wide")
    ]
    assert isinstance(gone, NotFound)
    assert isinstance(third, ConcurrentRunsExceeded)
    assert len(await world.attempts()) == 3


async def test_over_the_cap_those_who_came_first_start_and_the_others_wait(world: World) -> None:
    await world.job(max_concurrent=2, queueing=True)
    await start(world, call())
    answers = await start(world, call(), call(), call())
    assert [(await world.attempt(str(answer))).state for answer in answers] == ["STARTING", "WAITING", "WAITING"]
    (late,) = await start(world, call())  # what waits counts, too: nobody overtakes the queue
    assert (await world.attempt(str(late))).state == "WAITING"


@pytest.mark.parametrize("shared", ["postgres", "mariadb"], indirect=True)
async def test_a_start_that_waited_for_a_change_of_its_job_runs_the_new_version(shared: Store) -> None:
    one, other = [World(database) for database in await shared.open_many(2)]
    await one.job()
    at_work, done = asyncio.Event(), asyncio.Event()

    async def change(tx: Tx) -> None:
        spec = JobSpec(kind="python", max_concurrent=0)
        await jobs.update_job(
            tx, **PLACE, name="job", by="ann", revise=lambda job: (spec, {}), allow=lambda facts: None
        )
        at_work.set()
        await done.wait()

    changing = asyncio.create_task(one.database.write(change))
    await at_work.wait()
    waiting = asyncio.create_task(start(other, call()))
    await other.now()  # the start has begun before this is answered
    done.set()
    await changing
    (answer,) = await waiting
    assert (await one.attempt(str(answer))).job_version == 2


async def test_each_organisation_starts_its_own_job_of_that_name(world: World) -> None:
    ours = await world.job(max_concurrent=1)
    spec = JobSpec(kind="shell", max_concurrent=1)
    place = {**PLACE, "org_id": 2}
    theirs = await world.database.write(
        jobs.create_job, **place, name="job", owner="bo", spec=spec, definition={}, tags={}
    )
    answers = await start(world, call(), call(org_id=2), call(org_id=3), call(), call(org_id=2))
    assert [type(answer) for answer in answers] == [
        *(str, str, NotFound),
        *(ConcurrentRunsExceeded, ConcurrentRunsExceeded),
    ]
    assert [(claimed.attempt.org_id, claimed.attempt.job_id) for claimed in await world.claim()] == [
        *((1, ours.id), (2, theirs.id))
    ]


async def test_what_has_expired_is_pruned(world: World) -> None:
    await world.job()
    await start(world, *(call(digest=f"{n}") for n in range(3)))
    world.pass_time(QUARTER_OF_AN_HOUR + 1)
    await start(world, call(digest="young"))
    pruner = Pruner(world.database, keep_days=90)
    assert [await pruner.tick() for _ in range(2)] == [BREATH_SECONDS, REST_SECONDS]
    found = await world.database.read(_answers, ["0", "1", "2", "young"])
    assert found == ["young"]
    assert await world.database.write(repeats.prune_calls) == 0


async def _answers(tx: Tx, digests: list[str]) -> list[str]:
    return [row["digest"] for row in await tx.fetch("answers_of_calls", {"digests": digests})]
