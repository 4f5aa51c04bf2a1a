"""Messages in every store: listed, read and pruned; each late run is told of once."""

import pytest

from tests.stores.telling import Telling
from waterclock.domain.message import MessageKind
from waterclock.stores.base import Database
from waterclock.stores.ops import messages

DAY = 86_400.0


@pytest.fixture
async def telling(database: Database) -> Telling:
    return Telling(database)


async def test_messages_are_listed_newest_first(telling: Telling) -> None:
    for number in range(3):
        await telling.tell(f"s{number}", run_id=number)
    found = await telling.messages(limit=2)
    assert [(each.subject, each.body, each.run_id) for each in found] == [("s2", "물 💧", 2), ("s1", "물 💧", 1)]
    assert [each.subject for each in await telling.messages(before=found[-1].id, limit=2)] == ["s0"]
    assert await telling.messages(org_id=2) == []


async def test_messages_are_found_by_kind_tag_and_chain(telling: Telling) -> None:
    await telling.tell("failed", chain_id=7, flow_run_id=70, tag="important")
    await telling.tell("skipped", kind=MessageKind.SKIPPED, chain_id=8, tag="daily", subtag="important")
    await telling.tell("late", kind=MessageKind.LATE)
    assert await telling.subjects() == ["late", "skipped", "failed"]
    assert await telling.subjects(kind=MessageKind.SKIPPED) == ["skipped"]
    assert await telling.subjects(tag="important") == ["skipped", "failed"]
    assert await telling.subjects(chain_id=7) == ["failed"]
    assert await telling.subjects(chain_id=7, kind=MessageKind.LATE) == []
    (failed,) = await telling.messages(chain_id=7)
    assert (failed.flow_run_id, failed.tag, failed.read_at) == (70, "important", None)


async def test_what_was_read_is_not_unread_any_more(telling: Telling) -> None:
    first, second = [await telling.tell(subject) for subject in ("first", "second")]
    elsewhere = await telling.tell("elsewhere", org_id=2)
    mark = messages.read_messages
    assert await telling.database.write(mark, org_id=1, ids=[first, elsewhere, 10_000]) == 1
    assert await telling.subjects(unread=True) == ["second"]
    (read,) = [each for each in await telling.messages() if each.id == first]
    telling.pass_time(60)
    assert await telling.database.write(mark, org_id=1, ids=[first, second]) == 1
    assert [each.read_at for each in await telling.messages() if each.id == first] == [read.read_at]
    assert await telling.database.write(mark, org_id=1, ids=[]) == 0


async def test_all_means_all_that_were_there(telling: Telling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "PAGE", 2)
    for number in range(5):
        await telling.tell(f"s{number}")
    last = await telling.database.read(messages.newest_message, org_id=1)
    await telling.tell("new")
    pages = [await telling.database.write(messages.read_all_messages, org_id=1, last=last) for _ in range(4)]
    assert pages == [2, 2, 1, 0]
    assert await telling.subjects(unread=True) == ["new"]
    assert await telling.database.read(messages.newest_message, org_id=3) == 0


async def test_old_messages_are_pruned_and_unread_ones_later(telling: Telling) -> None:
    read = await telling.tell("read")
    await telling.tell("unread")
    await telling.channel()
    await telling.route()
    await telling.database.write(messages.read_messages, org_id=1, ids=[read])
    prune = messages.prune_messages
    assert await telling.database.write(prune, keep_seconds=DAY) == 0
    telling.pass_time(DAY + 60)
    assert await telling.database.write(prune, keep_seconds=DAY) == 1
    assert await telling.subjects() == ["unread"]
    assert [delivery.message.subject for delivery in await telling.take()] == ["unread"]
    telling.pass_time(DAY)
    assert await telling.database.write(prune, keep_seconds=DAY) == 1
    assert (await telling.subjects(), await telling.queued()) == ([], set())


async def test_a_run_that_takes_longer_than_its_job_said_is_told_of_once(telling: Telling) -> None:
    await telling.job(notify_after_seconds=60)
    late, quick = await telling.start(count=2)
    attempts = {each.attempt.wire_id: each.attempt for each in await telling.claim()}
    await telling.begin(*attempts.values())
    await telling.end(attempts[quick.wire_id])
    assert list(await telling.database.write(messages.tell_of_late_runs)) == []
    telling.pass_time(61)
    assert list(await telling.database.write(messages.tell_of_late_runs)) == [late.wire_id]
    assert list(await telling.database.write(messages.tell_of_late_runs)) == []
    (told,) = await telling.messages()
    assert (told.run_id, late.wire_id in told.body, told.node) == (late.run_id, True, telling.me.node)
