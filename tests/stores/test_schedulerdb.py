"""The chains' tables as schedulerDB.*: there where nobody else has that name, and never in anybody's way."""

import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import pytest

from tests.services.database import beside_any_loop
from tests.services.mariadb import MariadbServer
from tests.stores.chaining import Chaining
from tests.stores.known_tables import CHAINS
from tests.stores.plain import Plain, plain
from tests.stores.test_views import READ_ONLY
from waterclock.stores import Database, database_from_url
from waterclock.stores.dialect import MYSQL, POSTGRES
from waterclock.stores.views import schedulerdb

OLDER = "UPDATE meta SET value = 'of an older release' WHERE name = 'views'"


@pytest.fixture
def mariadb_alone(mariadb_server: MariadbServer) -> Iterator[MariadbServer]:
    """In MariaDB the name belongs to the whole server: whatever other tests have left there is gone."""
    forget = "DROP DATABASE IF EXISTS schedulerDB"
    beside_any_loop(mariadb_server.execute(forget))
    yield mariadb_server
    beside_any_loop(mariadb_server.execute(forget))


def test_a_view_is_known_as_ours_however_the_database_writes_it() -> None:
    found = [
        ("jobtable", "select `jobtable`.`id` AS `id` from `my ``odd``-wc`.`jobtable`"),
        ("deptable", "select `deptable`.`id` AS `id` from `another`.`deptable`"),
        ("schedulerMessage", "select 1 from `my ``odd``-wc`.`messages`"),
        ("realtime_status", None),
    ]
    neighbour = schedulerdb.seen(MYSQL, "my `odd`-wc", exists=True, found=found)
    assert neighbour
    assert neighbour.ours == ("jobtable",)
    assert neighbour.others == ("deptable", "realtime_status", "schedulerMessage")
    assert neighbour.makes(anew=False) == ()
    (again,) = neighbour.makes(anew=True)
    assert again == "CREATE OR REPLACE VIEW schedulerDB.jobtable AS SELECT * FROM `my ``odd``-wc`.jobtable"
    folded = schedulerdb.seen(POSTGRES, "public", exists=True, found=[("jobtable", " SELECT id\n   FROM jobtable;")])
    assert folded
    assert (folded.ours, folded.others) == (("jobtable",), ())
    assert schedulerdb.seen(MYSQL, "schedulerdb", exists=True, found=found) is None


@pytest.fixture(params=["postgres", "mariadb"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "mariadb":
        request.getfixturevalue("mariadb_alone")
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def sql(url: str) -> AsyncIterator[Plain]:
    async with plain(url) as sql:
        yield sql


@asynccontextmanager
async def migrated(url: str) -> AsyncIterator[Database]:
    database = database_from_url(url)
    await database.open()
    try:
        await database.migrate()
        yield database
    finally:
        await database.close()


async def migrate(url: str) -> None:
    async with migrated(url):
        pass


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    ours = [each for each in caplog.records if each.name == "waterclock.stores" and each.levelno >= logging.WARNING]
    return [each.getMessage() for each in ours]


async def shown(sql: Plain) -> list[str]:
    """Those of the old names that answer in schedulerDB."""
    found = []
    for name in CHAINS:
        if not await sql.refusal(f"select * from schedulerDB.{name}"):
            found.append(name)
    return found


async def test_the_old_names_answer_with_the_same_rows_and_take_none(
    url: str, sql: Plain, caplog: pytest.LogCaptureFixture
) -> None:
    async with migrated(url) as database:
        chaining = Chaining(database)
        await chaining.lives()
        await chaining.start_chain(await chaining.chain(1, 2, gates=1))
        await sql.rows("DROP VIEW schedulerDB.jobtable")
        await database.migrate()  # what is missing is made again
    for name, columns in CHAINS.items():
        asked = f"select * from schedulerDB.{name}"
        assert [each.lower() for each in await sql.columns(asked)] == [each.lower() for each in columns]
        assert await sql.rows(asked) == await sql.rows(f"select * from {name}")
        assert re.search(READ_ONLY, await sql.refusal(f"DELETE FROM schedulerDB.{name}"))
        assert re.search(READ_ONLY, await sql.refusal(f"UPDATE schedulerDB.{name} SET id = 2"))
    assert len(await sql.rows("select * from schedulerDB.jobtable")) == 2
    assert warnings(caplog) == []


async def test_they_are_made_anew_with_the_views_and_what_lies_beside_them_is_kept(
    url: str, sql: Plain, caplog: pytest.LogCaptureFixture
) -> None:
    await migrate(url)
    source = "public" if url.startswith("postgres") else urlsplit(url).path[1:]
    for statement in (
        "DROP VIEW schedulerDB.deptable",
        f"CREATE VIEW schedulerDB.deptable AS SELECT id FROM {source}.deptable",  # as if it had a column then
        "CREATE TABLE schedulerDB.notes (id INTEGER)",
        OLDER,
    ):
        await sql.rows(statement)
    await migrate(url)
    assert await sql.columns("select * from schedulerDB.deptable") == CHAINS["deptable"]
    assert await shown(sql) == list(CHAINS)
    assert await sql.rows("select * from schedulerDB.notes") == []
    assert warnings(caplog) == []


async def test_the_old_schedulers_own_database_is_left_alone_with_one_warning(
    url: str, sql: Plain, caplog: pytest.LogCaptureFixture
) -> None:
    kind = "SCHEMA" if url.startswith("postgres") else "DATABASE"
    await sql.rows(f"CREATE {kind} schedulerDB")
    await sql.rows("CREATE TABLE schedulerDB.jobtable (id BIGINT PRIMARY KEY, command VARCHAR(200))")
    await sql.rows("INSERT INTO schedulerDB.jobtable VALUES (12, 'load.py')")
    await migrate(url)
    await migrate(url)
    assert await sql.rows("select * from schedulerDB.jobtable") == [(12, "load.py")]
    assert await shown(sql) == ["jobtable"]
    (warning,) = warnings(caplog)
    assert "(jobtable" in warning
    await sql.rows("DROP TABLE schedulerDB.jobtable")
    await migrate(url)
    assert await shown(sql) == list(CHAINS)


async def test_whoever_may_not_make_them_is_told_and_migrates_all_the_same(
    url: str, sql: Plain, caplog: pytest.LogCaptureFixture
) -> None:
    parts = urlsplit(url)
    if parts.scheme == "postgresql":
        await sql.rows("CREATE ROLE narrow LOGIN")
        await sql.rows("GRANT CREATE, USAGE ON SCHEMA public TO narrow")
        theirs = parts._replace(netloc=f"narrow@127.0.0.1:{parts.port}")
    else:
        await sql.rows("CREATE USER 'narrow'@'127.0.0.1' IDENTIFIED BY 'clock'")
        await sql.rows(f"GRANT ALL ON {parts.path[1:]}.* TO 'narrow'@'127.0.0.1'")
        theirs = parts._replace(netloc=f"narrow:clock@127.0.0.1:{parts.port}")
    try:
        async with migrated(urlunsplit(theirs)) as database:
            assert await database.migrate() == []
    finally:
        if parts.scheme == "postgresql":
            await sql.rows("DROP OWNED BY narrow")
            await sql.rows("DROP ROLE narrow")
        else:
            await sql.rows("DROP USER 'narrow'@'127.0.0.1'")
    assert await shown(sql) == []
    (warning,) = warnings(caplog)
    assert "denied" in warning


async def test_of_two_databases_on_one_server_the_first_keeps_the_name(
    mariadb_alone: MariadbServer, mariadb_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with migrated(mariadb_url) as first:
        await Chaining(first).chain(1)
        with mariadb_alone.fresh_database() as other:
            async with migrated(other) as second, plain(other) as sql:
                await Chaining(second).chain(1)
                await Chaining(second).chain(1)
                assert len(await sql.rows("select * from jobchain_table")) == 2
                assert len(await sql.rows("select * from schedulerDB.jobchain_table")) == 1
                assert len(warnings(caplog)) == 1
                await sql.rows(OLDER)
                await second.migrate()
                assert len(await sql.rows("select * from schedulerDB.jobchain_table")) == 1
