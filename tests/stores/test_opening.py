"""From a URL to a database; and what is said where that cannot be."""

import sys
from pathlib import Path

import pytest

from tests.services.mariadb import MariadbServer
from tests.services.postgres import PostgresServer
from waterclock import clock
from waterclock.domain.errors import InvalidInput, Unavailable
from waterclock.stores import database_from_url
from waterclock.stores.mysql import MysqlDatabase
from waterclock.stores.mysql.connecting import MARIADB, MYSQL, Place, flavour_of
from waterclock.stores.postgres import PostgresDatabase
from waterclock.stores.sqlite import SqliteDatabase


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite://", ":memory:"),
        ("sqlite:///:memory:", ":memory:"),
        ("sqlite:///wc.db", "wc.db"),
        ("sqlite:////var/lib/wc.db", "/var/lib/wc.db"),
        ("sqlite:////with%20space/%EB%AC%BC.db", "/with space/물.db"),
    ],
)
def test_an_sqlite_url_names_a_path(url: str, path: str) -> None:
    database = database_from_url(url)
    assert isinstance(database, SqliteDatabase)
    assert database.path == path


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("postgresql://ann@db/wc", PostgresDatabase),
        ("postgres://ann@one,two/wc", PostgresDatabase),
        ("mysql://ann:pw@db/wc", MysqlDatabase),
        ("mariadb://ann:pw@db/wc", MysqlDatabase),
    ],
)
def test_the_scheme_chooses_the_database(url: str, kind: type) -> None:
    assert isinstance(database_from_url(url), kind)


@pytest.mark.parametrize("url", ["oracle://db/wc", "wc.db", "", "/var/lib/wc.db"])
def test_an_unknown_scheme_is_refused_with_the_known_ones(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"sqlite.*postgresql.*mysql.*mariadb"):
        database_from_url(url)


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("waterclock.stores.postgres")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(InvalidInput, match="asyncpg"):
        database_from_url("postgresql://db/wc")


def test_a_mysql_url_is_taken_apart() -> None:
    place = Place.from_url("mysql://an%40n:p%2Fw@db:3307/wc?unix_socket=/run/my.sock")
    assert (place.user, place.password, place.host, place.port) == ("an@n", "p/w", "db", 3307)
    assert (place.database, place.unix_socket) == ("wc", "/run/my.sock")


@pytest.mark.parametrize("url", ["mysql://db", "mysql://db:port/wc", "mysql://db/"])
def test_a_mysql_url_that_says_too_little_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        database_from_url(url)


@pytest.mark.parametrize(
    ("version", "flavour"),
    [("10.6.0-MariaDB", MARIADB), ("11.8.2-MariaDB-ubu2404", MARIADB), ("8.0.16", MYSQL), ("8.4.3-commercial", MYSQL)],
)
def test_servers_that_are_new_enough_are_told_apart(version: str, flavour: object) -> None:
    assert flavour_of(version) is flavour


@pytest.mark.parametrize(
    ("version", "words"), [("10.5.9-MariaDB", "10.6.0"), ("5.7.44", "8.0.16"), ("8.0.15", "8.0.16"), ("?", "8.0.16")]
)
def test_a_server_that_is_too_old_is_refused_with_what_is_needed(version: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        flavour_of(version)


@pytest.mark.parametrize("url", ["postgresql://ann@127.0.0.1:1/wc", "mysql://ann@127.0.0.1:1/wc"])
async def test_a_server_that_is_not_there_is_unavailable_soon(url: str) -> None:
    since = clock.monotonic()
    with pytest.raises(Unavailable):
        await database_from_url(url).open()
    assert clock.monotonic() < since + 5  # the contract, not a measurement


async def test_an_sqlite_file_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "wc.db").mkdir()
    with pytest.raises(Unavailable, match=r"wc\.db"):
        await database_from_url(f"sqlite:///{tmp_path}/wc.db").open()


async def test_of_several_servers_the_first_that_answers_is_used(postgres_url: str, mariadb_url: str) -> None:
    where = postgres_url.partition("@")[2].partition("/")[0]
    several = postgres_url.replace(where, f"127.0.0.1:1,{where}")
    dead = "mysql://ann:a,b@127.0.0.1:1/" + mariadb_url.rpartition("/")[2]
    for url in (several, f"{dead},{mariadb_url}"):
        database = database_from_url(url)
        await database.open()
        assert await database.migrate()
        await database.close()


async def test_a_postgres_server_that_takes_no_writes_is_passed_over(postgres_server: PostgresServer) -> None:
    with postgres_server.fresh_database() as url:
        where = url.partition("@")[2].partition("/")[0]
        twice = database_from_url(url.replace(where, f"{where},{where}"))
        await postgres_server.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET default_transaction_read_only = on")
        with pytest.raises(Unavailable):
            await twice.open()


async def test_a_mariadb_server_that_takes_no_writes_is_passed_over(mariadb_server: MariadbServer) -> None:
    with mariadb_server.fresh_database() as url:
        twice = database_from_url(f"{url},{url}")
        await mariadb_server.execute("SET GLOBAL read_only = 1")
        try:
            with pytest.raises(Unavailable, match="read-only"):
                await twice.open()
        finally:
            await mariadb_server.execute("SET GLOBAL read_only = 0")
        await twice.open()
        await twice.close()


def test_several_urls_of_mysql_must_name_one_database() -> None:
    with pytest.raises(InvalidInput, match="different databases: one, two"):
        database_from_url("mysql://a@db1/one,mariadb://a@db2/two")
