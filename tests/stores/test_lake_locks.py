"""Locks of destinations in every store: an attempt's, for as long as it lives, and then whoever's that comes next."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.stores.store import Store
from tests.stores.test_stations import RACK, Station
from tests.stores.world import World
from waterclock.domain.errors import NotAllowed
from waterclock.domain.lake_sync import SyncKind
from waterclock.domain.run import Attempt, RunState
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.work import WorkService
from waterclock.stores.ops import lake_locks

ORDERS, PEOPLE = "clickhouse http://ch:8123 shop.orders", "hdfs://lake:9000/shop/people"


async def claimed(world: World, name: str) -> Attempt:
    await world.job(name, kind=SyncKind.DB, call={"destinations": []})
    await world.start(name)
    return await world.claim_one()


async def take(world: World, attempt: Attempt, *destinations: str, fence: int = 0) -> str | None:
    key: dict[str, Any] = {"attempt_id": attempt.id, "fence": attempt.fence + fence}
    return await world.database.write(lake_locks.take, **key, destinations=destinations)


async def reason(world: World, attempt: Attempt) -> str | None:
    return (await world.attempt(attempt.wire_id)).wait_reason


async def test_the_second_waits_for_the_first_and_its_run_says_so(world: World) -> None:
    first, second = await claimed(world, "first"), await claimed(world, "second")
    assert await take(world, first, ORDERS) is None
    why = f"job first is writing to {ORDERS}"
    assert await take(world, second, ORDERS) == why
    assert (await reason(world, first), await reason(world, second)) == (None, why)
    await world.begin(first)
    assert await take(world, second, ORDERS) == why
    await world.end(first)
    assert await take(world, second, ORDERS) is None
    assert await reason(world, second) is None


async def test_it_gets_all_or_none(world: World) -> None:
    first, second, third = [await claimed(world, name) for name in ("first", "second", "third")]
    assert await take(world, first, PEOPLE) is None
    assert await take(world, second, ORDERS, PEOPLE) is not None
    assert await take(world, third, ORDERS) is None


async def test_whoever_has_it_has_it_when_it_asks_again(world: World) -> None:
    first = await claimed(world, "first")
    assert [await take(world, first, ORDERS), await take(world, first, ORDERS, PEOPLE)] == [None, None]


async def test_what_a_lost_worker_held_is_held_until_its_end_is_decided(world: World) -> None:
    first, second = await claimed(world, "first"), await claimed(world, "second")
    await take(world, first, ORDERS)
    await world.begin(first)
    world.pass_time(62)  # its lease is over; its processes have a moment more
    await world.renew(second)
    assert await take(world, second, ORDERS) is not None
    world.pass_time(5)
    assert first.id in await world.rescue()
    assert await take(world, second, ORDERS) is None


async def test_what_was_pruned_holds_nothing(world: World) -> None:
    first, second = await claimed(world, "first"), await claimed(world, "second")
    gone = lake_locks.name_of(1, ORDERS)
    await take(world, first, ORDERS)

    async def prune(tx: Any) -> None:
        await tx.run("take_lake_locks", {"attempt_id": 10**12, "run_at": 1, "now": 1, "names": [gone]})

    await world.database.write(prune)
    assert await take(world, second, ORDERS) is None


async def test_locks_that_nobody_has_asked_for_in_a_long_while_are_pruned(world: World) -> None:
    first, second = await claimed(world, "first"), await claimed(world, "second")
    await take(world, first, ORDERS)
    await take(world, second, PEOPLE)
    await world.begin(first)
    await world.end(first)
    assert await world.database.write(lake_locks.prune, keep_seconds=60) == 0
    world.pass_time(61)
    assert await world.database.write(lake_locks.prune, keep_seconds=60) == 1
    third = await claimed(world, "third")
    assert await take(world, third, PEOPLE) == f"job second is writing to {PEOPLE}"
    assert await take(world, third, ORDERS) is None
    assert await world.database.write(lake_locks.prune, keep_seconds=60) == 0


async def test_only_who_holds_its_attempt_takes_a_lock(world: World) -> None:
    first = await claimed(world, "first")
    with pytest.raises(NotAllowed, match="not held"):
        await take(world, first, ORDERS, fence=-1)
    await world.begin(first)
    await world.end(first, state=RunState.FAILED)
    with pytest.raises(NotAllowed, match="not held"):
        await take(world, first, ORDERS)
    assert await take(world, await claimed(world, "second"), ORDERS) is None


async def test_of_many_at_once_one_has_it(shared: Store) -> None:
    """From connections of their own, and in other orders: nobody waits in a circle."""
    worlds = [World(await shared.open(), node=f"node {number}") for number in range(4)]
    attempts = [await claimed(worlds[0], f"job {number}") for number in range(4)]
    asked = [(ORDERS, PEOPLE), (PEOPLE, ORDERS), (ORDERS,), (PEOPLE, ORDERS)]
    answers = await asyncio.gather(
        *(take(world, attempt, *each) for world, attempt, each in zip(worlds, attempts, asked, strict=True))
    )
    (winner,) = [number for number, answer in enumerate(answers) if answer is None]
    assert {answer for answer in answers if answer} <= {
        f"job job {winner} is writing to {where}" for where in (ORDERS, PEOPLE)
    }


async def test_a_worker_over_http_takes_locks_for_what_it_has_claimed(world: World, tmp_path: Path) -> None:
    service = WorkService(world.database, {}, Secrets(world.database, SecretBox(tmp_path / "secret.keys")))
    far, near = await Station(service, RACK).join(), await Station(service, RACK, "near").join()
    await world.job("first", kind=SyncKind.DB)
    await world.start("first")
    (held,) = await far.claim()
    key = (held.attempt.id, held.attempt.fence, [ORDERS])
    with pytest.raises(NotAllowed):
        await service.lock(RACK, near.host, *key)
    assert await service.lock(RACK, far.host, *key) is None
    second = await claimed(world, "second")
    assert await take(world, second, ORDERS) == f"job first is writing to {ORDERS}"
