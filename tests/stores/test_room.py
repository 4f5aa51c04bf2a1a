"""Room under a high cap: known without counting, and never more than there is."""

import asyncio
from collections import Counter

from tests.stores.store import Store
from tests.stores.test_repeats import call, start
from tests.stores.world import PLACE, World
from waterclock.domain.errors import ConcurrentRunsExceeded
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Tx
from waterclock.stores.ops.jobs import update_job
from waterclock.stores.ops.room import LOW_CAP

CAP = LOW_CAP + 1


async def ceiling(world: World, job: Job) -> int | None:
    async def look(tx: Tx) -> int | None:
        (row,) = await tx.fetch("live_ceilings", {"ids": [job.id]})
        found: int | None = row["live_ceiling"]
        return found

    return await world.database.read(look)


async def recap(world: World, cap: int) -> None:
    spec = JobSpec(kind="shell", max_concurrent=cap)
    await world.database.write(
        update_job, **PLACE, name="job", by="ann", revise=lambda job: (spec, {}), allow=lambda facts: None
    )


async def test_the_last_place_is_given_once(world: World) -> None:
    await world.job(max_concurrent=CAP)
    await world.start(count=CAP - 1)
    answers = await start(world, call(), call(), call())
    assert [type(answer) for answer in answers] == [str, ConcurrentRunsExceeded, ConcurrentRunsExceeded]
    assert len(await world.attempts()) == CAP


async def test_a_low_cap_needs_no_ceiling(world: World) -> None:
    job = await world.job(max_concurrent=LOW_CAP)
    await world.start()
    assert await ceiling(world, job) is None


async def test_every_start_raises_the_ceiling_and_only_a_full_house_is_counted(world: World) -> None:
    job = await world.job(max_concurrent=CAP)
    await world.start(count=60)
    assert await ceiling(world, job) == 60
    await world.end(*[claimed.attempt for claimed in await world.claim()])
    await world.start(count=40)
    assert await ceiling(world, job) == 100
    await world.start(count=2)  # only 40 are live, as it turns out
    assert await ceiling(world, job) == 42


async def test_what_a_trigger_starts_raises_the_ceiling_too(world: World) -> None:
    job = await world.job(max_concurrent=CAP)
    await world.trigger()
    await world.start(count=CAP - 1)
    await world.pass_minute()
    await world.fire(rules=FireRules())
    assert await ceiling(world, job) == CAP
    assert isinstance((await start(world, call()))[0], ConcurrentRunsExceeded)


async def test_what_was_started_under_another_cap_counts(world: World) -> None:
    job = await world.job(max_concurrent=CAP)
    await world.start()
    await recap(world, 0)
    await world.start(count=CAP)
    await recap(world, CAP)
    assert await ceiling(world, job) is None
    assert isinstance((await start(world, call()))[0], ConcurrentRunsExceeded)


async def test_callers_on_four_nodes_get_no_more_than_a_high_cap(shared: Store) -> None:
    worlds = [World(database) for database in await shared.open_many(4)]
    await worlds[0].job(max_concurrent=CAP)
    answers = await asyncio.gather(*(start(worlds[n % 4], *[call()] * 10) for n in range(20)))
    kinds = Counter(type(answer) for batch in answers for answer in batch)
    assert kinds == {str: CAP, ConcurrentRunsExceeded: 200 - CAP}
    assert len(await worlds[0].attempts()) == CAP
