"""Two versions on one store: a step only adds, a store one step ahead is worked with, one further ahead refused."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.stores.additive import objections
from tests.stores.raw import rows
from tests.stores.schema import tables
from tests.stores.store import Store
from tests.stores.world import World
from waterclock.domain.errors import NotAllowed
from waterclock.stores.dialect import MYSQL, POSTGRES, SQLITE, Dialect
from waterclock.stores.migrations import migrations
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import nodes
from waterclock.stores.pending import pending_steps

FIRST_OF_TWO_VERSIONS = 5  # from this step on two versions work side by side
ALL = [step.name for step in migrations(SQLITE)]
VIEWS = "SELECT value FROM meta WHERE name = 'views'"


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRES, MYSQL], ids=lambda dialect: dialect.name)
def test_a_step_only_adds_so_that_the_version_before_goes_on(dialect: Dialect) -> None:
    steps = [step for step in migrations(dialect) if step.version >= FIRST_OF_TWO_VERSIONS]
    assert steps
    assert [each for step in steps for statement in step.statements for each in objections(statement)] == []


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE runs DROP COLUMN state",
        "DROP TABLE runs",
        "alter table runs rename column state to status",
        "ALTER TABLE runs ALTER COLUMN state SET NOT NULL",
        "ALTER TABLE runs MODIFY state TEXT",
        "ALTER TABLE runs ADD COLUMN more INTEGER NOT NULL",
        "ALTER TABLE runs ADD COLUMN fine INTEGER DEFAULT 0 NOT NULL, ADD COLUMN more INTEGER NOT NULL",
        "ALTER TABLE runs ADD more INTEGER",
        "ALTER TABLE runs ADD CONSTRAINT one CHECK (id > 0)",
        "CREATE UNIQUE INDEX one ON runs (job_id)",
        "UPDATE runs SET state = 'GONE'",
    ],
)
def test_a_step_that_does_more_than_add_is_objected_to(statement: str) -> None:
    assert objections(statement)


@pytest.fixture
async def newer(shared: Store) -> AsyncIterator[Store]:
    """Given back as it was: other tests are to use it."""
    ((views,),) = [tuple(row.values()) for row in await shared.rows(VIEWS)]
    yield shared
    await shared.rows("DELETE FROM schema_migrations WHERE name = 'later'", VIEWS)
    await shared.rows(f"UPDATE meta SET value = '{views}' WHERE name = 'views'", VIEWS)


async def migrated_by_a_newer_version(store: Store, *, steps: int) -> None:
    for step in range(1, steps + 1):
        await store.rows(f"INSERT INTO schema_migrations VALUES ({len(ALL) + step}, 'later', 1)", VIEWS)
    await store.rows("UPDATE meta SET value = 'newer' WHERE name = 'views'", VIEWS)


async def test_a_store_one_step_ahead_is_worked_with_and_keeps_its_views(
    newer: Store, caplog: pytest.LogCaptureFixture
) -> None:
    await migrated_by_a_newer_version(newer, steps=1)
    database = await newer.open()
    assert list(await database.migrate()) == []
    assert [row["value"] for row in await newer.rows(VIEWS)] == ["newer"]
    assert f"step {len(ALL) + 1:04}_later" in caplog.text
    assert await pending_steps(newer.url) == []
    await World(database).job()
    assert [each.state for each in await World(database).start()] == ["STARTING"]


async def test_a_store_two_steps_ahead_is_refused_with_what_to_do(newer: Store) -> None:
    await migrated_by_a_newer_version(newer, steps=2)
    unknown = ", ".join(f"{len(ALL) + step:04}_later" for step in (1, 2))
    for refused in ((await newer.open()).migrate(), pending_steps(newer.url)):
        with pytest.raises(NotAllowed) as told:
            await refused
        assert f"steps {unknown}" in str(told.value)
        assert f"knows steps up to {len(ALL):04}" in str(told.value)
        assert str(told.value).endswith("install the newer version here")


async def test_what_a_migration_would_do_is_told_without_doing_it(
    shared: Store, postgres_url: str, tmp_path: Path
) -> None:
    assert await pending_steps(shared.url) == []
    for url in (postgres_url, f"sqlite:///{tmp_path}/none.db"):
        assert list(await pending_steps(url)) == ALL
    assert not (tmp_path / "none.db").exists()
    assert await tables(postgres_url) == []


async def test_a_column_that_a_newer_version_adds_disturbs_nobody_who_is_connected(postgres_url: str) -> None:
    """PostgreSQL refuses a prepared `SELECT *` whose answer would have another shape, once, and in a transaction."""
    database = database_from_url(postgres_url)
    await database.open()
    try:
        await database.migrate()
        for _ in range(3):
            await database.read(nodes.list_nodes, within_seconds=30)
            await rows(postgres_url, "ALTER TABLE nodes ADD COLUMN later INTEGER DEFAULT 0 NOT NULL", VIEWS)
            assert await database.read(nodes.list_nodes, within_seconds=30) == []
            await rows(postgres_url, "ALTER TABLE nodes DROP COLUMN later", VIEWS)
    finally:
        await database.close()
