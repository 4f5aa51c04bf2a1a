"""Who lives is asked for once a second, however many want to know."""

from collections.abc import AsyncIterator

import pytest

from waterclock import clock
from waterclock.services.live_workers import REMEMBER_SECONDS, LiveWorkers
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.nodes import Node, beat

PLAIN = Node(id="n", host="n", name="n", duties=("worker",), slots=1, queues=("default",), version="1", pid=1)


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield database
    await database.close()


async def test_who_came_is_seen_a_second_later(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(clock, "monotonic", lambda: now)
    workers = LiveWorkers(database)
    assert not await workers.alive()
    await database.write(beat, node=PLAIN, wall_us=0)
    assert not await workers.alive()
    now += REMEMBER_SECONDS
    assert [each.host for each in await workers.alive()] == ["n"]
