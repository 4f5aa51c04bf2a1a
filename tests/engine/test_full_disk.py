"""A worker whose disk is full takes no run that it could not run, and takes it once there is room."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from waterclock.app.engine_process import WORKER, EngineProcess
from waterclock.engine.dispatcher import Dispatcher
from waterclock.runners.disk_space import DiskSpace
from waterclock.settings import Settings
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


async def test_a_worker_takes_nothing_while_its_disk_is_full(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = EngineProcess(Settings(data_dir=tmp_path), database, frozenset({WORKER}))
    (dispatcher,) = [loop.duty for loop in process._node._claiming]
    assert isinstance(dispatcher, Dispatcher)
    asked: list[int] = []

    async def claim(room: int) -> None:
        asked.append(room)
        raise InterruptedError

    monkeypatch.setattr(dispatcher, "_claim", claim)
    monkeypatch.setattr(DiskSpace, "is_short", lambda _disk: True)
    assert await dispatcher.tick() > 0
    assert not asked
    monkeypatch.setattr(DiskSpace, "is_short", lambda _disk: False)
    with pytest.raises(InterruptedError):
        await dispatcher.tick()
    assert asked == [Settings().worker_slots]
