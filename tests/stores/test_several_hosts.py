"""A store whose URL names several servers: everybody is at the one that takes writes, also when that is another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from tests.services.mariadb import MariadbUnavailable
from tests.stores.pair import MariadbPair, Pair, PostgresPair, mariadb_pair, postgres_pair
from tests.stores.proxy import Proxy
from tests.stores.raw import wipe
from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.errors import InvalidInput, Unavailable
from waterclock.settings import Settings, load
from waterclock.stores import Database, database_from_url, places
from waterclock.stores.base import Kind, Topic, Tx
from waterclock.stores.mysql.connecting import takes_writes
from waterclock.stores.numbers import Numbers
from waterclock.stores.ops.jobs import list_jobs
from waterclock.stores.postgres import listener


class Two:
    """Two ways to one server, as if they were two servers; `url` names both."""

    def __init__(self, kind: str, url: str, first: Proxy, second: Proxy) -> None:
        port = int(url.rpartition(":")[2].partition("/")[0])
        one, other = (url.replace(f":{port}/", f":{proxy.port}/") for proxy in (first, second))
        self.first, self.second = first, second
        self.url = url.replace(f":{port}/", f":{first.port},127.0.0.1:{second.port}/")
        if kind == "mariadb":
            self.url = f"{one},{other}"
        self.store = Store(kind, self.url)


@pytest.fixture(params=["postgres", "mariadb"])
async def two(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Two]:
    monkeypatch.setattr(places, "CONNECT_SECONDS", 4.0)  # on a busy machine a first one that lives may be slow
    url = str(request.getfixturevalue(f"migrated_{request.param}"))
    await wipe(url)
    port = int(url.rpartition(":")[2].partition("/")[0])
    first, second = Proxy(port), Proxy(port)
    await first.open()
    await second.open()
    two = Two(request.param, url, first, second)
    yield two
    await two.store.close()
    await first.close()
    await second.close()


@pytest.fixture
def of_postgres() -> Iterator[PostgresPair]:
    with postgres_pair() as pair:
        yield pair


@pytest.fixture
def of_mariadb() -> Iterator[MariadbPair]:
    try:
        with mariadb_pair() as pair:
            yield pair
    except MariadbUnavailable as why:
        pytest.skip(str(why))


@pytest.fixture(params=["of_postgres", "of_mariadb"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Store, Pair]]:
    """Migrated, on a pair of servers of its own."""
    pair = request.getfixturevalue(request.param)
    store = Store(request.param, pair.url)
    await (await store.open()).migrate()
    yield store, pair
    await store.close()


async def names(database: Database) -> list[str]:
    return [job.name for job in await database.read(list_jobs, org_id=1, namespaces=["glue"], after="", limit=1_000)]


async def until_it_works(world: World, name: str) -> None:
    """As callers do: Unavailable is a reason to ask again."""
    async with asyncio.timeout(10):
        while True:
            try:
                await world.job(name)
            except Unavailable:
                await asyncio.sleep(0.05)
            else:
                return


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "waterclock.stores"]


async def test_a_first_server_that_is_silent_leaves_time_for_the_second(
    two: Two, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "CONNECT_SECONDS", 1.2)
    two.first.silent = True
    database = await two.store.open()
    assert await database.migrate() == []
    await World(database).job("there")
    (told,) = warnings(caplog)
    assert f":{two.second.port} now" in told
    assert f":{two.first.port}: did not answer in time" in told


async def test_work_goes_on_at_the_second_when_the_first_dies(two: Two, caplog: pytest.LogCaptureFixture) -> None:
    world = World(await two.store.open())
    await asyncio.gather(*(world.job(f"before {n}") for n in range(5)))
    assert warnings(caplog) == []
    two.first.refusing = True
    two.first.cut()
    await asyncio.gather(*(until_it_works(world, f"after {n}") for n in range(5)))
    assert len(await names(world.database)) == 10
    assert f"now, it was at 127.0.0.1:{two.first.port}" in warnings(caplog)[0]


async def test_numbers_drawn_at_one_server_are_not_used_at_another(two: Two) -> None:
    async def draw(tx: Tx) -> int:
        await tx.now()
        return next(iter(await tx.numbers(Kind.RUN, 1)))

    database, other = await two.store.open_many(2)
    drawn = await database.write(draw)
    assert await database.write(draw) == drawn + 1
    two.first.refusing = True
    two.first.cut()
    last = await other.write(draw)
    assert await database.write(draw) > last


async def test_numbers_that_are_forgotten_while_more_are_drawn_are_not_handed_out() -> None:
    drawn_after = iter([1_500, 500])

    async def draw(_kind: Kind, count: int) -> int:
        numbers.forget()  # this draw is another server's
        return next(drawn_after) + count

    numbers = Numbers(draw)
    assert list(await numbers.take(Kind.RUN, 999)) == list(range(1_501, 2_500))
    assert list(await numbers.take(Kind.RUN, 20_000)) == list(range(501, 20_501))  # some of the first were left


async def test_where_none_will_do_each_is_named_with_its_reason(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "CONNECT_SECONDS", 0.4)
    two.first.refusing = two.second.silent = True
    with pytest.raises(Unavailable, match="cannot connect") as refused:
        await database_from_url(two.url).open()
    assert f":{two.first.port}: " in str(refused.value)
    assert f":{two.second.port}: did not answer in time" in str(refused.value)
    assert "clock@" not in str(refused.value)


async def test_everybody_is_at_the_server_that_takes_writes_also_when_that_changes(
    store: tuple[Store, Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "CHECK_SECONDS", 0.1)
    (shop, pair), heard = store, set[Topic]()
    writer, reader, hearer = await shop.open_many(3)
    world = World(writer)
    await world.job("before")
    assert await names(reader) == ["before"]
    await pair.hand_over()
    await until_it_works(world, "since")
    async with asyncio.timeout(10):
        while await names(reader) != ["before", "since"]:
            await asyncio.sleep(0.05)
    hearer.listen(Topic.STOPS, lambda: heard.add(Topic.STOPS))
    async with asyncio.timeout(10):
        while not heard:
            await writer.write(wake)
            await asyncio.sleep(0.05)
    await pair.leader.execute("SELECT 1")  # it lives


async def wake(tx: Tx) -> None:
    await tx.now()
    tx.wake(Topic.STOPS)


async def test_a_leader_that_is_killed_is_replaced_and_what_was_acknowledged_is_there(
    of_postgres: PostgresPair,
) -> None:
    store = Store("postgres", of_postgres.url)
    database = await store.open()
    await database.migrate()
    world, acknowledged = World(database), list[str]()

    async def create_until_it_dies() -> None:
        for number in range(10_000):
            try:
                await world.job(f"job {number:05}")
            except Unavailable:
                return
            acknowledged.append(f"job {number:05}")

    working = asyncio.ensure_future(create_until_it_dies())
    await until(lambda: len(acknowledged) > 20)
    await asyncio.to_thread(of_postgres.leader.kill)
    await working
    with pytest.raises(Unavailable, match="is read-only; "):
        await world.job("lost")
    await of_postgres.promote()
    await until_it_works(world, "since")
    found = await names(database)
    assert set(acknowledged) | {"since"} <= set(found)
    assert len(found) <= len(acknowledged) + 2
    await store.close()


async def test_one_who_may_write_to_a_read_only_server_leaves_it_nevertheless(of_mariadb: MariadbPair) -> None:
    store = Store("mariadb", of_mariadb.administrators_url)
    database = await store.open()
    await database.migrate()
    await World(database).job("before")
    await of_mariadb.hand_over()
    port = 0
    async with asyncio.timeout(10):
        while port != of_mariadb.follower.port:
            port = await database.write(port_of)
    await store.close()


async def port_of(tx: Tx) -> int:
    from waterclock.stores.mysql.compiling import Bound
    from waterclock.stores.mysql.session import MysqlSession

    assert isinstance(tx, MysqlSession)
    rows, _ = await tx._execute("port", Bound("SELECT @@port AS port", ()))
    return int(rows[0]["port"])


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://u:secret@db1/wc,postgresql://u:secret@db2/wc", "host1:5432,host2:5432"),
        ("postgresql://u:secret@/wc?host=db1,db2", "host1:5432,host2:5432"),
        ("postgresql://u:secret@db1,,db2/wc", "cannot be read"),
        ("postgresql://u:secret/part@db1,db2/wc", "%2F"),
        ("postgresql://u:secret@db1,db2/wc?target_session_attrs=standby", "read-write or primary"),
        ("mysql://u:secret@db1,db2/wc", "a URL of its own"),
        ("mysql://u:secret/part@db1/wc", "%2F"),
        ("mysql://u:secret@db1/wc,mysql://u:secret@db2/other", "different databases: other, wc"),
        ("mysql://u:[secret@db1/wc", "cannot be read"),
        ("postgresq://u:secret@db1/wc", "unknown scheme 'postgresq'"),
    ],
)
def test_a_url_that_cannot_be_meant_is_refused_without_its_password(url: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        database_from_url(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql://u:a%2Cb@db1:5432,db2/wc", "mysql://u:a,b@a/wc,mariadb://b/wc"])
def test_a_url_of_several_servers_is_handed_to_child_processes_as_it_is(url: str) -> None:
    assert load({}, Settings(db=url).to_environ()).database_url == url
    database_from_url(url)


@pytest.mark.parametrize(
    ("read_only", "takes"),
    [(0, True), ("OFF", True), (1, False), ("ON", False), ("NO_LOCK", False), ("NO_LOCK_NO_ADMIN", False)],
)
def test_read_only_has_degrees_in_newer_versions(read_only: object, takes: bool) -> None:
    assert takes_writes(read_only) is takes
