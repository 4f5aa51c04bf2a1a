"""Channels and deliveries in every store: routed once, tried with pauses, given up with a word to the others."""

import asyncio
from dataclasses import replace

import pytest

from tests.stores.store import Store
from tests.stores.telling import LEASE, Telling
from tests.stores.test_nodes import ONE
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.message import MessageKind, Severity
from waterclock.domain.notice import MOST_TRIES, PAUSES_SECONDS
from waterclock.stores.base import Database
from waterclock.stores.ops import channels, deliveries, nodes


@pytest.fixture
async def telling(database: Database) -> Telling:
    return Telling(database)


# Channels


async def test_a_channel_is_made_changed_and_deleted(telling: Telling) -> None:
    made = await telling.channel("물", tags=("important", "daily"), kinds=("late",))
    assert (made.sealed, made.on, made.rules.tags, made.rules.kinds) == (
        "sealed 물",
        True,
        ("important", "daily"),
        ("late",),
    )
    with pytest.raises(AlreadyExists):
        await telling.channel("물")
    change = channels.change_channel
    off = await telling.database.write(change, org_id=1, name="물", rules={}, on=False)
    assert (off.on, off.rules, off.sealed) == (False, made.rules, made.sealed)
    await telling.database.write(change, org_id=1, name="물", address=("new", "shown"), rules={"kinds": ()})
    changed = await telling.shown("물")
    assert (changed.sealed, changed.shown, changed.on) == ("new", "shown", False)
    assert (changed.rules.tags, changed.rules.kinds) == (("important", "daily"), ())
    await telling.database.write(channels.delete_channel, org_id=1, name="물")
    for operation in (channels.get_channel, channels.delete_channel):
        with pytest.raises(NotFound, match="channel '물' not found"):
            await telling.database.write(operation, org_id=1, name="물")


async def test_channels_are_listed_by_name_and_belong_to_an_organisation(telling: Telling) -> None:
    for name in ("c", "a", "b"):
        await telling.channel(name)
    await telling.channel("a", org_id=2)
    listed = await telling.database.read(channels.list_channels, org_id=1, after="a", limit=9)
    assert [channel.name for channel in listed] == ["b", "c"]
    with pytest.raises(NotFound):
        await telling.database.write(channels.change_channel, org_id=2, name="b", rules={}, on=False)


# Routing


async def test_a_message_goes_once_to_every_channel_that_wants_it(telling: Telling) -> None:
    await telling.channel("all")
    await telling.channel("usual", kinds=())
    await telling.channel("daily", tags=("daily",))
    await telling.channel("gates", tags=("*",), kinds=(MessageKind.GATE_FAILED,))
    await telling.channel("grave", tags=("*",), severities=(Severity.ERROR,))
    await telling.channel("off", on=False)
    await telling.channel("elsewhere", org_id=2)
    await telling.tell("important", chain_id=1, tag="important")
    await telling.tell("daily", chain_id=2, tag="daily", severity=Severity.WARNING)
    await telling.tell("untagged", chain_id=3)
    assert (await telling.route(), await telling.route()) == (3, 0)
    assert await telling.sent() == [
        *(("all", "daily"), ("all", "important"), ("all", "untagged")),
        *(("daily", "daily"), ("grave", "important"), ("grave", "untagged"), ("usual", "important")),
    ]
    assert await telling.sent() == []


async def test_what_a_muted_node_did_is_told_to_nobody(telling: Telling) -> None:
    await telling.channel()
    await telling.database.write(nodes.beat, node=replace(ONE, debugmode="debug"), wall_us=0)
    await telling.database.write(nodes.beat, node=replace(ONE, id="two"), wall_us=0)
    for node in ("one", "two", None, "gone"):
        await telling.tell(f"of {node}", node=node)
    assert await telling.route() == 4
    assert await telling.sent() == [("ops", "of None"), ("ops", "of gone"), ("ops", "of two")]
    assert len(await telling.messages()) == 4


async def test_several_notifiers_route_and_take_each_message_once(shared: Store) -> None:
    several = [Telling(database) for database in await shared.open_many(3)]
    await several[0].channel()
    for number in range(30):
        await several[0].tell(f"s{number}")
    routed, subjects = 0, list[str]()
    async with asyncio.timeout(60):
        while routed < 30:
            routed += sum(await asyncio.gather(*(each.route(limit=7) for each in several * 3)))
        while len(subjects) < 30:
            taken = await asyncio.gather(*(each.take("ops", limit=9) for each in several * 3))
            subjects += [delivery.message.subject for deliveries in taken for delivery in deliveries]
    assert routed == 30
    assert sorted(subjects) == sorted(f"s{number}" for number in range(30))


# Taking


async def test_of_each_channel_no_more_is_taken_than_there_is_room_for(telling: Telling) -> None:
    for name in ("busy", "quiet"):
        await telling.channel(name)
    for number in range(4):
        await telling.tell(f"s{number}")
    await telling.route()
    room = {(1, "busy"): 2, (1, "quiet"): 1}
    taken = await telling.database.write(deliveries.take_deliveries, room=room, lease_seconds=LEASE)
    assert [(each.channel.name, each.message.subject, each.tries) for each in taken] == [
        ("busy", "s0", 1),
        ("busy", "s1", 1),
        ("quiet", "s0", 1),
    ]


async def test_what_a_killed_notifier_had_taken_is_due_again_after_its_lease(telling: Telling) -> None:
    await telling.channel()
    await telling.tell()
    await telling.route()
    assert [delivery.tries for delivery in await telling.take()] == [1]
    telling.pass_time(LEASE - 5)
    assert await telling.take() == []
    telling.pass_time(10)
    (again,) = await telling.take()
    assert again.tries == 2
    await telling.database.write(deliveries.record_sent, delivery=replace(again, tries=1))
    assert await telling.queued() == set()


async def test_a_failure_that_comes_late_changes_nothing_of_the_next_try(telling: Telling) -> None:
    await telling.channel()
    await telling.tell()
    await telling.route()
    (first,) = await telling.take()
    telling.pass_time(LEASE + 5)
    (second,) = await telling.take()
    await telling.fail(first)
    telling.pass_time(PAUSES_SECONDS[0] + 5)
    assert await telling.take() == []
    await telling.database.write(deliveries.record_sent, delivery=second)
    assert await telling.queued() == set()


async def test_a_notice_that_nobody_ever_reports_on_is_given_up(telling: Telling) -> None:
    await telling.channel()
    await telling.tell()
    await telling.route()
    for number in range(MOST_TRIES):
        assert [delivery.tries for delivery in await telling.take()] == [number + 1]
        telling.pass_time(LEASE + 5)
    assert await telling.take() == []
    (report, _) = await telling.messages()
    assert (report.kind, "never said what became of it" in report.body) == (MessageKind.CHANNEL_FAILED, True)


async def test_nothing_is_sent_through_a_channel_that_was_switched_off_or_deleted(telling: Telling) -> None:
    for name in ("off", "gone"):
        await telling.channel(name)
    await telling.tell()
    await telling.route()
    await telling.database.write(channels.change_channel, org_id=1, name="off", rules={}, on=False)
    await telling.database.write(channels.delete_channel, org_id=1, name="gone")
    await telling.channel("gone")
    assert (await telling.take("off", "gone"), await telling.queued()) == ([], set())
    await telling.database.write(channels.change_channel, org_id=1, name="off", rules={}, on=True)
    assert await telling.take("off") == []
    assert len(await telling.messages()) == 1


# Failing


async def give_up(telling: Telling, name: str, error: str = "error=500") -> list[float]:
    """Fail all that the channel has until it is given up; after which pauses it was tried again."""
    pauses = []
    for pause in (0.0, *PAUSES_SECONDS):
        telling.pass_time(max(pause - 5, 0))
        assert pause == 0 or await telling.take(name) == []
        telling.pass_time(10)
        taken = await telling.take(name)
        for delivery in taken:
            await telling.fail(delivery, error)
        pauses += [pause] * bool(taken)
    return pauses


async def test_a_failing_channel_is_tried_five_times_and_reported_through_the_others(telling: Telling) -> None:
    for name in ("bad", "good"):
        await telling.channel(name)
    lost = await telling.tell("nightly", chain_id=1, tag="x")
    await telling.route()
    await telling.sent("good")
    assert await give_up(telling, "bad") == [0, 10, 60, 300, 1800]
    (report, _) = await telling.messages()
    assert (report.kind, report.severity, report.subject) == ("channel_failed", "warning", "channel 'bad'")
    assert report.body == f"message {lost} (nightly) was not delivered, 5 tries: error=500"
    assert (await telling.route(), await telling.queued()) == (0, {(1, "good")})
    assert await telling.sent() == [("good", "channel 'bad'")]
    bad, good = await telling.shown("bad"), await telling.shown("good")
    assert (bad.last_sent_at, bad.last_error, good.last_error) == (None, "error=500", None)
    assert bad.last_failed_at is not None
    assert good.last_sent_at is not None


async def test_two_failing_channels_do_not_report_each_other_for_ever(telling: Telling) -> None:
    for name in ("one", "two"):
        await telling.channel(name)
    await telling.tell()
    await telling.route()
    for name in ("one", "two", "one", "two"):
        await give_up(telling, name)
    assert await telling.subjects() == ["channel 'two'", "channel 'one'", "nightly"]
    assert await telling.queued() == set()


async def test_a_channel_is_reported_once_until_it_works_again(telling: Telling) -> None:
    await telling.channel()
    for subject in ("first", "second"):
        await telling.tell(subject)
    await telling.route()
    await give_up(telling, "ops")
    assert await telling.subjects() == ["channel 'ops'", "second", "first"]
    await telling.tell("third")
    await telling.route()
    assert await telling.sent() == [("ops", "third")]
    await telling.tell("fourth")
    await telling.route()
    await give_up(telling, "ops")
    assert await telling.subjects() == ["channel 'ops'", "fourth", "third", "channel 'ops'", "second", "first"]


async def test_an_error_of_any_length_and_any_characters_is_kept(telling: Telling) -> None:
    await telling.channel()
    await telling.tell()
    await telling.route()
    (delivery,) = await telling.take()
    await telling.fail(delivery, "물\0\ud800" + "x" * 2_000)
    kept = (await telling.shown()).last_error
    assert kept is not None
    assert (kept[0], len(kept)) == ("물", 1_000)
