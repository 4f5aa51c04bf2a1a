"""Migrations in every store: taken once, by one process at a time, resumed where a crash left off."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.stores.raw import rows
from tests.stores.schema import tables
from tests.stores.world import World
from waterclock.stores import Database, database_from_url
from waterclock.stores.dialect import MYSQL, POSTGRES, SQLITE
from waterclock.stores.migrations import migrations
from waterclock.stores.mysql import migrating

ALL = [step.name for step in migrations(SQLITE)]


class PowerCut(Exception):
    pass


async def opened(url: str) -> Database:
    database = database_from_url(url)
    await database.open()
    return database


def test_every_dialect_has_the_same_steps() -> None:
    for dialect in (POSTGRES, MYSQL):
        assert [(step.version, step.name) for step in migrations(dialect)] == [
            (step.version, step.name) for step in migrations(SQLITE)
        ]


async def test_migrating_twice_takes_no_step_the_second_time(store_url: str) -> None:
    database = await opened(store_url)
    try:
        assert list(await database.migrate()) == ALL
        before = await tables(store_url)
        assert list(await database.migrate()) == []
        assert await tables(store_url) == before
    finally:
        await database.close()


async def test_a_migration_keeps_what_is_there(store_url: str) -> None:
    database = await opened(store_url)
    try:
        await database.migrate()
        await World(database).job()
        await database.migrate()
        assert [each.state for each in await World(database).start()] == ["STARTING"]
    finally:
        await database.close()


async def test_of_many_processes_that_migrate_at_once_one_takes_the_steps(store_url: str) -> None:
    databases = [await opened(store_url) for _ in range(3)]
    try:
        taken = await asyncio.gather(*(database.migrate() for database in databases))
        assert sorted(map(list, taken)) == [[], [], ALL]
        await World(databases[1]).job()
    finally:
        for database in databases:
            await database.close()


@pytest.fixture
def cut_after(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The power fails before the nth statement of a migration of MySQL, or between a statement and its count."""
    left: list[int] = []
    real_do = migrating._do

    async def do(cursor: Any, statement: str, *, in_doubt: bool) -> None:
        if left and left[0] == 0:
            raise PowerCut
        await real_do(cursor, statement, in_doubt=in_doubt)
        if left:
            left[0] -= 1
            if left[0] == 0 and left[1:]:
                raise PowerCut  # done, but not counted

    monkeypatch.setattr(migrating, "_do", do)
    return left


@pytest.mark.parametrize("uncounted", [False, True])
async def test_a_migration_cut_off_anywhere_is_resumed(mariadb_url: str, cut_after: list[int], uncounted: bool) -> None:
    """MySQL commits every statement of DDL by itself; the others roll the whole step back."""
    database = await opened(mariadb_url)
    statements = sum(len(step.statements) for step in migrations(MYSQL))
    try:
        done = 0
        while done < statements:
            cut_after[:] = [7, 1] if uncounted else [7]
            try:
                await database.migrate()
            except PowerCut:
                done += 7 - uncounted
            else:
                break
        cut_after.clear()
        await database.migrate()
        assert list(await database.migrate()) == []
        await World(database).job()
        await World(database).start()
        resumed = await tables(mariadb_url)
    finally:
        await database.close()
    assert len(resumed) == len(set(resumed))
    assert resumed == await fresh_schema(mariadb_url)


async def fresh_schema(url: str) -> list[str]:
    """Of a database beside it that was migrated in one go."""
    beside = f"{url}_fresh"
    name = beside.rpartition("/")[2]
    await rows(url, f"CREATE DATABASE {name}")
    try:
        database = await opened(beside)
        await database.migrate()
        await database.close()
        return await tables(beside)
    finally:
        await rows(url, f"DROP DATABASE {name}")


async def test_a_migration_that_fails_leaves_nothing_where_ddl_is_transactional(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from waterclock.stores.postgres import migrating as postgres_migrating

    def fail(*_: object) -> tuple[str, ...]:
        raise PowerCut

    database = await opened(postgres_url)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(postgres_migrating, "refresh_views", fail)
            with pytest.raises(PowerCut):
                await database.migrate()
        assert await tables(postgres_url) == []
        assert list(await database.migrate()) == ALL
    finally:
        await database.close()


async def test_a_path_with_folders_that_are_missing_is_made(tmp_path: Path) -> None:
    database = await opened(f"sqlite:///{tmp_path}/a/b/wc.db")
    await database.migrate()
    await database.close()
    assert (tmp_path / "a/b/wc.db").exists()


async def test_views_are_made_anew_only_when_they_have_changed(store_url: str) -> None:
    database = await opened(store_url)
    view, check = "glue_qrtz_locks", "SELECT COUNT(*) AS n FROM meta"
    try:
        await database.migrate()
        await rows(store_url, f"DROP VIEW {view}", check)
        await database.migrate()
        assert not [each for each in await tables(store_url) if each.startswith(f"{view}:")]
        await rows(store_url, "UPDATE meta SET value = 'of an older release' WHERE name = 'views'", check)
        await database.migrate()
        assert [each for each in await tables(store_url) if each.startswith(f"{view}:")]
    finally:
        await database.close()
