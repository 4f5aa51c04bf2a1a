"""Every kind of store, migrated once and emptied for each test."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.services.database import beside_any_loop
from tests.services.mariadb import MariadbServer
from tests.services.postgres import PostgresServer
from tests.stores.astray import instants_astray
from tests.stores.raw import wipe
from tests.stores.store import Store
from tests.stores.world import World
from waterclock.stores import Database, database_from_url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    beside_any_loop(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres_server: PostgresServer) -> Iterator[str]:
    with postgres_server.fresh_database() as url:
        beside_any_loop(migrate(url))
        yield url


@pytest.fixture(scope="session")
def migrated_mariadb(mariadb_server: MariadbServer) -> Iterator[str]:
    with mariadb_server.fresh_database() as url:
        beside_any_loop(migrate(url))
        yield url


@pytest.fixture(params=["sqlite", "memory", "postgres", "mariadb"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Each kind, empty."""
    store = Store(request.param, await empty_url(request, request.param, tmp_path))
    yield store
    await closed(store)


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
async def shared(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """Each kind that several processes can share, empty."""
    store = Store(request.param, await empty_url(request, request.param, tmp_path))
    yield store
    await closed(store)


@pytest.fixture
async def database(store: Store) -> Database:
    database = await store.open()
    if store.kind == "memory":
        await database.migrate()
    return database


@pytest.fixture
async def world(database: Database) -> World:
    """Its clock stands at ten seconds past a minute."""
    world = World(database)
    await world.pass_minute()
    return world


async def empty_url(request: pytest.FixtureRequest, kind: str, folder: Path) -> str:
    if kind == "memory":
        return "sqlite://"
    if kind == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_sqlite"), folder / "wc.db")
        return f"sqlite:///{folder}/wc.db"
    url = str(request.getfixturevalue(f"migrated_{kind}"))
    await wipe(url)
    return url


async def closed(store: Store) -> None:
    """Whatever the test did to triggers, the database has noted it."""
    await store.close()
    if store.kind == "postgres":
        assert await instants_astray(store.url) == []


async def migrate(url: str) -> None:
    database = database_from_url(url)
    await database.open()
    try:
        await database.migrate()
    finally:
        await database.close()
