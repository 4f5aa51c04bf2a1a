"""A server that dies, hangs or loses an answer: callers hear of it in time, nothing is done twice, it comes back."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest

from tests.services.database import DatabaseServer
from tests.stores.programming import Program
from tests.stores.proxy import Proxy
from tests.stores.store import Store
from tests.stores.world import World
from waterclock import clock
from waterclock.domain.errors import CommitUnknown, Unavailable
from waterclock.domain.library import NAMESPACE
from waterclock.stores import Database
from waterclock.stores.base import Kind, Topic, Tx
from waterclock.stores.ops import library
from waterclock.stores.ops.jobs import list_jobs
from waterclock.stores.ops.reading import get_attempts


@pytest.fixture(params=["postgres", "mariadb"])
async def proxied(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Store, Proxy]]:
    """A store behind a proxy."""
    url = str(request.getfixturevalue(f"migrated_{request.param}"))
    from tests.stores.raw import wipe

    await wipe(url)
    parts = urlsplit(url)
    assert parts.port is not None
    proxy = Proxy(parts.port)
    await proxy.open()
    store = Store(request.param, url.replace(f":{parts.port}/", f":{proxy.port}/"))
    yield store, proxy
    await store.close()
    await proxy.close()


async def names(database: Database) -> list[str]:
    return [job.name for job in await database.read(list_jobs, org_id=1, namespaces=["glue"], after="", limit=1_000)]


async def come_back(database: Database) -> None:
    """Within 5 s of the outage's end."""
    async with asyncio.timeout(5):
        while True:
            try:
                await names(database)
            except Unavailable:
                await asyncio.sleep(0.05)
            else:
                return


async def test_connections_that_died_while_idle_are_not_noticed_by_callers(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    world = World(await store.open())
    for round_ in range(3):
        await asyncio.gather(*(world.job(f"{round_} {n}") for n in range(5)))
        proxy.cut()
    assert len(await names(world.database)) == 15


async def test_a_look_up_is_tried_again_on_a_fresh_connection(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    world = World(await store.open())
    await world.job()
    (started,) = await world.start()
    for _ in range(3):
        proxy.cut()
        (found,) = await world.database.look_up(get_attempts, wanted=[(1, started.wire_id)])
        assert found
        assert found.wire_id == started.wire_id


async def test_a_connection_lost_before_the_commit_is_tried_again_once(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    database = await store.open()
    tries: list[int] = []

    async def unlucky(tx: Tx) -> int:
        await tx.now()
        tries.append(1)
        if len(tries) == 1:
            proxy.cut()
        await tx.now()
        return len(tries)

    assert await database.write(unlucky) == 2


async def test_a_lost_answer_to_a_commit_is_unknown_and_never_repeated(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    world = World(await store.open())
    await world.job("before")
    proxy.losing = lambda data: data.rstrip(b"\0").endswith(b"COMMIT")
    with pytest.raises(CommitUnknown, match="unknown"):
        await world.job("unknown")
    assert proxy.lost.is_set()
    proxy.losing = None
    assert await names(world.database) == ["before", "unknown"]


async def test_a_lost_answer_to_what_was_sent_alone_is_unknown_and_never_repeated(
    proxied: tuple[Store, Proxy],
) -> None:
    store, proxy = proxied
    program = await Program.on(await store.open())
    await program.database.send(library.add_free_job, namespace=NAMESPACE, job=program.job("before"))
    last = b"unknown" if store.kind == "postgres" else b"COMMIT"  # of what goes to the server
    proxy.losing = lambda data: last in data
    with pytest.raises(CommitUnknown, match="unknown"):
        await program.database.send(library.add_free_job, namespace=NAMESPACE, job=program.job("unknown"))
    assert proxy.lost.is_set()
    proxy.losing = None
    assert sorted(await program.names()) == ["before", "unknown"]


async def test_a_silent_server_is_unavailable_within_five_seconds_and_comes_back(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    world = World(await store.open())
    await asyncio.gather(*(world.job(f"job {n}") for n in range(5)))
    proxy.silent = True
    since = clock.monotonic()
    asked = [*(world.job(f"lost {n}") for n in range(15)), names(world.database)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(answer) for answer in answers} == {Unavailable}
    assert clock.monotonic() < since + 5  # the contract, not a measurement
    proxy.silent = False
    await come_back(world.database)
    assert await names(world.database) == [f"job {n}" for n in range(5)]


async def test_a_server_that_refuses_is_unavailable_and_comes_back(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    world = World(await store.open())
    proxy.refusing = True
    proxy.cut()
    with pytest.raises(Unavailable):
        await world.job("lost")
    proxy.refusing = False
    await come_back(world.database)
    await world.job("found")
    assert await names(world.database) == ["found"]


async def test_after_an_outage_everybody_is_woken(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    database = await store.open()
    await database.read(list_jobs, org_id=1, namespaces=["glue"], after="", limit=1)
    heard: set[Topic] = set()
    for topic in Topic:
        database.listen(topic, lambda topic=topic: heard.add(topic))  # type: ignore[misc]
    proxy.cut()
    async with asyncio.timeout(10):
        while heard != set(Topic):
            await asyncio.sleep(0.01)


async def test_numbers_go_on_after_an_outage(proxied: tuple[Store, Proxy]) -> None:
    store, proxy = proxied
    database = await store.open()

    async def draw(tx: Tx) -> list[int]:
        return list(await tx.numbers(Kind.TOKEN, 1))

    first = await database.write(draw)
    proxy.cut()
    assert (await database.write(draw))[0] > first[0]


async def test_a_deadlock_is_tried_again(proxied: tuple[Store, Proxy]) -> None:
    store, _ = proxied
    one, other = await store.open_many(2)
    ids = [(await World(one).job(name)).id for name in ("a", "b")]
    met = asyncio.Barrier(2)
    tries: list[int] = []

    async def lock(tx: Tx, order: list[int]) -> str:
        tries.append(1)
        await tx.fetch("lock_jobs", {"ids": order[:1]})
        if len(tries) <= 2:
            await met.wait()
        await tx.fetch("lock_jobs", {"ids": order[1:]})
        return "done"

    answers = await asyncio.gather(one.write(lock, ids), other.write(lock, ids[::-1]))
    assert list(answers) == ["done", "done"]
    assert len(tries) == 3


async def test_a_row_that_somebody_holds_is_waited_for_in_bounded_time(proxied: tuple[Store, Proxy]) -> None:
    store, _ = proxied
    one, other = await store.open_many(2)
    job = await World(one).job()
    held, enough = asyncio.Event(), asyncio.Event()

    async def hold(tx: Tx) -> None:
        while not enough.is_set():  # never idle for so long that the server ends it
            await tx.fetch("lock_jobs", {"ids": [job.id]})
            held.set()
            await asyncio.sleep(0.5)

    async def want(tx: Tx) -> None:
        await tx.fetch("lock_jobs", {"ids": [job.id]})

    holding = asyncio.ensure_future(one.write(hold))
    await held.wait()
    since = clock.monotonic()
    with pytest.raises(Unavailable):
        await other.write(want)
    assert clock.monotonic() < since + 5  # the contract, not a measurement
    enough.set()
    await holding
    await other.write(want)


async def test_a_paused_process_does_not_hold_its_rows_for_long(proxied: tuple[Store, Proxy]) -> None:
    store, _ = proxied
    one, other = await store.open_many(2)
    job = await World(one).job()
    held, woken = asyncio.Event(), asyncio.Event()

    async def doze(tx: Tx) -> None:
        await tx.fetch("lock_jobs", {"ids": [job.id]})
        held.set()
        await woken.wait()
        await tx.now()

    dozing = asyncio.ensure_future(one.write(doze))
    await held.wait()
    async with asyncio.timeout(12):
        while True:
            try:
                await other.write(lambda tx: tx.fetch("lock_jobs", {"ids": [job.id]}))
                break
            except Unavailable:
                pass
    woken.set()
    assert isinstance((await asyncio.gather(dozing, return_exceptions=True))[0], Unavailable)


@pytest.mark.parametrize("kind", ["own_postgres", "own_mariadb"])
async def test_what_was_acknowledged_survives_kill_9_of_the_server(request: pytest.FixtureRequest, kind: str) -> None:
    server = request.getfixturevalue(kind)
    assert isinstance(server, DatabaseServer)
    store = Store(kind, server.url)
    database = await store.open()
    world = World(database)
    await database.migrate()
    acknowledged: list[str] = []

    async def create_until_it_dies() -> None:
        for number in range(10_000):
            try:
                await world.job(f"job {number:05}")
            except Unavailable:
                return
            acknowledged.append(f"job {number:05}")

    working = asyncio.ensure_future(create_until_it_dies())
    while len(acknowledged) < 30:
        await asyncio.sleep(0.001)
    await asyncio.to_thread(server.kill)
    await working
    await asyncio.to_thread(server.restart)
    await come_back(database)
    found = await names(database)
    assert found[: len(acknowledged)] == acknowledged
    assert len(found) <= len(acknowledged) + 1
    await store.close()
