"""The pruner, round by round: old rows of the audit go, a page at a time; what is young stays."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from tests.stores.test_audit import CALL
from waterclock import clock
from waterclock.domain.audit import Sought
from waterclock.domain.moment import SECOND
from waterclock.engine.pruner import BREATH_SECONDS, REST_SECONDS, Pruner
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops import audit
from waterclock.stores.ops.reading import FROM_THE_NEWEST

DAY = 86_400 * SECOND


@pytest.fixture
async def database() -> AsyncIterator[Database]:
    database = database_from_url("sqlite://")
    await database.open()
    await database.migrate()
    yield database
    await database.close()


async def test_the_audit_is_kept_as_long_as_was_said(database: Database) -> None:
    now = clock.wall_us()
    entries = [replace(CALL, at=now - days * DAY, request_id=str(days)) for days in (1, 9, 11, 500)]
    await database.write(audit.store, journal="j", begin=0, end=1, entries=entries)
    pruner = Pruner(database, keep_days=90, audit_keep_days=10)
    assert [await pruner.tick() for _ in range(2)] == [BREATH_SECONDS, REST_SECONDS]
    kept = await database.read(audit.list_audit, org_id=1, sought=Sought(), before=FROM_THE_NEWEST, limit=9)
    assert [each.entry.request_id for each in kept] == ["1", "9"]
