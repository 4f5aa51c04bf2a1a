"""The pruner, round by round: what is old goes with its logs, a page at a time; what is young stays."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stores.chaining import Chaining
from tests.stores.programming import Program
from tests.stores.telling import Telling
from tests.stores.test_audit import CALL
from waterclock import clock
from waterclock.domain.audit import Sought
from waterclock.domain.errors import Unavailable
from waterclock.domain.moment import SECOND
from waterclock.domain.outcome import Beginning
from waterclock.engine.pruner import BREATH_SECONDS, REST_SECONDS, Pruner
from waterclock.runners.log_store import FileLogStore
from waterclock.stores import Database, database_from_url
from waterclock.stores.ops import audit
from waterclock.stores.ops.access import create_organisation
from waterclock.stores.ops.claiming import begin
from waterclock.stores.ops.messages import read_messages
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


async def test_a_programs_pruner_leaves_everything_to_a_server_that_shares_its_store(database: Database) -> None:
    program = await Program.on(database)
    await program.add(program.until_now())
    await program.fire()
    await program.run_all()
    program.pass_time(100 * 86_400)
    await database.write(create_organisation, account="123456789012", name="first")
    assert await Pruner(database, keep_days=90, yields_to_server=True).tick() == REST_SECONDS
    assert await Pruner(database, keep_days=90).tick() == BREATH_SECONDS


async def test_a_programs_pruner_prunes_where_there_is_no_server(database: Database) -> None:
    program = await Program.on(database)
    await program.add(program.until_now())
    await program.fire()
    await program.run_all()
    program.pass_time(100 * 86_400)
    assert await Pruner(database, keep_days=90, yields_to_server=True).tick() == BREATH_SECONDS


async def test_a_chains_logs_go_with_its_runs_when_its_tag_says_so(database: Database, tmp_path: Path) -> None:
    chaining = Chaining(database)
    logs = {}
    for tag in ("noise", "important", "other"):
        await chaining.lives()
        await chaining.start_chain(await chaining.chain(1, tag=tag))
        (claimed,) = await chaining.claim(roles=("", "main"))
        attempt, logs[tag] = claimed.attempt, tmp_path / f"{tag}.log"
        logs[tag].write_text("done\n")
        beginning = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=1, log_path=str(logs[tag]))
        await database.write(begin, [beginning])
        await chaining.end(attempt)
    pruner = Pruner(database, keep_days=90, chains_keep_days={"noise": 7, "important": 400})
    kept = {}
    for days in (1, 8, 91, 401):
        database.offset_us = days * DAY
        while await pruner.tick() != REST_SECONDS:
            pass
        kept[days] = [tag for tag, log in logs.items() if log.exists()]
    assert kept == {1: ["noise", "important", "other"], 8: ["important", "other"], 91: ["important"], 401: []}


class Away(FileLogStore):
    """Does not answer at first."""

    is_away = True

    def remove(self, names: Iterable[str]) -> None:
        if self.is_away:
            raise Unavailable("the log store does not answer")
        super().remove(names)


async def test_logs_in_the_store_go_too_and_nothing_more_is_pruned_before(database: Database, tmp_path: Path) -> None:
    chaining, store = Chaining(database), Away(tmp_path)
    names = [f"2026-11-16/jr_{number}.log" for number in range(2)]
    for name in names:
        await chaining.lives()
        await chaining.start_chain(await chaining.chain(1))
        (claimed,) = await chaining.claim(roles=("", "main"))
        store.append(name, 0, b"done\n")
        attempt = claimed.attempt
        beginning = Beginning(attempt_id=attempt.id, fence=attempt.fence, pid=1, log_path=name)
        await database.write(begin, [beginning])
        await chaining.end(attempt)
    pruner = Pruner(database, keep_days=90, log_store=store)
    database.offset_us = 91 * DAY
    for _ in range(2):
        with pytest.raises(Unavailable):
            await pruner.tick()
    assert [store.size(name) for name in names] == [5, 5]
    store.is_away = False
    while await pruner.tick() != REST_SECONDS:
        pass
    assert [store.size(name) for name in names] == [0, 0]


async def test_messages_are_kept_as_long_as_runs_and_unread_ones_twice_as_long(database: Database) -> None:
    telling = Telling(database)
    read = await telling.tell("read")
    await telling.tell("unread")
    await database.write(read_messages, org_id=1, ids=[read])
    telling.pass_time(11 * DAY / SECOND)
    pruner = Pruner(database, keep_days=10)
    assert [await pruner.tick() for _ in range(2)] == [BREATH_SECONDS, REST_SECONDS]
    assert await telling.subjects() == ["unread"]
