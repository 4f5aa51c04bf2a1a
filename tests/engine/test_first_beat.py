"""A node is heard before it does anything, and often enough for the failover time."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from waterclock.app.engine_process import SCHEDULER, EngineProcess
from waterclock.engine.loop import Duty, Loop
from waterclock.settings import Settings
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.nodes import list_nodes


@pytest.fixture
async def database(sqlite_url: str) -> AsyncIterator[Database]:
    database = database_from_url(sqlite_url)
    await database.open()
    await database.migrate()
    yield database
    await database.close()


@pytest.fixture
def duties(monkeypatch: pytest.MonkeyPatch) -> dict[str, Duty]:
    """Those that would begin now, by their names: none does."""
    found: dict[str, Duty] = {}

    def note(loop: Loop) -> None:
        found[loop.duty.name] = loop.duty

    monkeypatch.setattr(Loop, "start", note)
    return found


def scheduler(database: Database, folder: Path, **settings: Any) -> EngineProcess:
    return EngineProcess(Settings(data_dir=folder, **settings), database, frozenset({SCHEDULER}))


async def test_a_node_says_that_it_lives_before_its_duties_begin(
    database: Database, duties: dict[str, Duty], tmp_path: Path
) -> None:
    await scheduler(database, tmp_path, node_role="bkp").start()
    assert [node.role for node in await database.read(list_nodes, within_seconds=60)] == ["bkp"]
    assert {"ticker", "failover"} <= duties.keys()


async def test_a_short_failover_time_makes_heartbeats_as_short(
    database: Database, duties: dict[str, Duty], tmp_path: Path
) -> None:
    await scheduler(database, tmp_path, heartbeat_seconds=60, chains_failover_seconds=3).start()
    assert await duties["heartbeat"].tick() == 1.0
