"""Deliveries: each message is put once on the way to each channel that wants it, and is tried until it arrived.

Two steps, each one transaction: routing decides who is told, taking hands what is due to one notifier for a while. What
that one does not speak of again, because it was killed, is due anew when its time is over: delivery is at least once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.channel import Channel, Delivery, Place
from waterclock.domain.message import Message, MessageKind, NewMessage, Severity, wants
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.notice import MOST_TRIES, pause_after
from waterclock.stores.base import Tx
from waterclock.stores.ops.channels import GONE, LONGEST_ERROR, channel_of, note_failed, note_sent, rules_of_channels
from waterclock.stores.ops.messages import add_messages, message_of
from waterclock.stores.ops.rows import storable

OFF: Final = "the channel is off"
NEVER_SAID: Final = "it was tried, and whoever did so never said what became of it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What there is to do: messages that nobody has routed, and of each channel when its first delivery is due."""

    unrouted: bool
    due: Mapping[Place, Moment]
    now: Moment


async def look_for_notices(tx: Tx) -> Pending:
    rows = await tx.fetch("queued_channels")
    return Pending(
        unrouted=await tx.fetch_one("message_to_route") is not None,
        due={(row["org_id"], row["channel"]): row["first_due_at"] for row in rows},
        now=await tx.now(),
    )


async def route_messages(tx: Tx, *, limit: int) -> int:
    """Put up to so many messages on the way to whoever wants them; how many there were."""
    messages = [message_of(row) for row in await tx.fetch("messages_to_route", {"limit": limit})]
    if not messages:
        return 0
    muted = await _muted(tx, {message.node for message in messages if message.node})
    await _route(tx, [message for message in messages if message.node not in muted], await tx.now())
    await tx.run("mark_routed", {"ids": [message.id for message in messages], "now": await tx.now()})
    return len(messages)


async def take_deliveries(tx: Tx, *, room: Mapping[Place, int], lease_seconds: float) -> list[Delivery]:
    """Of each channel as many as there is room for; they are the caller's for so long, and count as tried."""
    taken: list[Delivery] = []
    for place in sorted(room):
        taken += await _take(tx, place, room[place], seconds(lease_seconds))
    return taken


async def record_sent(tx: Tx, *, delivery: Delivery) -> None:
    org_id, name = delivery.place
    await note_sent(tx, org_id=org_id, name=name)
    await tx.run("end_delivery", {**_key(delivery), "state": "SENT", "error": None, "now": await tx.now()})


async def record_failed(tx: Tx, *, delivery: Delivery, error: str) -> None:
    """It is tried again later; after the last time operators are told, through the other channels."""
    (org_id, name), now, error = delivery.place, await tx.now(), _fit(error)
    await note_failed(tx, org_id=org_id, name=name, error=error)
    pause = pause_after(delivery.tries)
    if pause is None:
        await _give_up(tx, delivery, error, now)
    else:
        due_at = now + seconds(pause)
        await tx.run("put_off_delivery", {**_key(delivery), "tries": delivery.tries, "due_at": due_at, "error": error})


async def _take(tx: Tx, place: Place, limit: int, lease: int) -> list[Delivery]:
    (org_id, name), now = place, await tx.now()
    row = await tx.fetch_one("channel_by_name", {"org_id": org_id, "name": name})
    if row is None or not row["is_on"]:
        why = OFF if row else GONE
        await tx.run("drop_deliveries", {"org_id": org_id, "channel": name, "error": why, "now": now})
        return []
    due = await tx.fetch("due_deliveries", {"org_id": org_id, "channel": name, "now": now, "limit": limit})
    messages = await _messages(tx, [each["message_id"] for each in due])
    found = [_delivery(messages[each["message_id"]], channel_of(row), each["tries"]) for each in due]
    for delivery in found:
        if delivery.tries >= MOST_TRIES:
            await _give_up(tx, delivery, NEVER_SAID, now)
    again = [_delivery(each.message, each.channel, each.tries + 1) for each in found if each.tries < MOST_TRIES]
    if again:
        ids = [delivery.message.id for delivery in again]
        await tx.run("take_deliveries", {"message_ids": ids, "channel": name, "until": now + lease})
    return again


async def _give_up(tx: Tx, delivery: Delivery, error: str, now: Moment) -> None:
    if await tx.run("fail_delivery", {**_key(delivery), "tries": delivery.tries, "error": error, "now": now}):
        await _report(tx, delivery, error, now)


async def _report(tx: Tx, delivery: Delivery, error: str, now: Moment) -> None:
    """Once until the channel works again: two that fail would report each other for ever."""
    org_id, name = delivery.place
    if not await tx.run("report_channel", {"org_id": org_id, "name": name, "now": now}):
        return
    lost = delivery.message
    report = NewMessage(
        org_id=org_id,
        kind=MessageKind.CHANNEL_FAILED,
        severity=Severity.WARNING,
        subject=f"channel {name!r}",
        body=f"message {lost.id} ({lost.subject}) was not delivered, {delivery.tries} tries: {error}",
    )
    (number,) = await add_messages(tx, [report], now)
    await _route(tx, list((await _messages(tx, [number])).values()), now, besides=name)
    await tx.run("mark_routed", {"ids": [number], "now": now})


async def _route(tx: Tx, messages: Sequence[Message], now: Moment, *, besides: str | None = None) -> None:
    channels = await rules_of_channels(tx, sorted({message.org_id for message in messages}))
    rows = [
        {"message_id": message.id, "channel": name, "org_id": message.org_id, "now": now}
        for message in messages
        for name, rules in channels[message.org_id].items()
        if name != besides and wants(rules, message)
    ]
    if rows:
        await tx.run_many("insert_delivery", rows)


async def _muted(tx: Tx, nodes: set[str]) -> frozenset[str]:
    """Of these nodes, those whose notices stay in the list of messages."""
    rows = await tx.fetch("muted_nodes", {"ids": sorted(nodes)}) if nodes else ()
    return frozenset(row["id"] for row in rows)


async def _messages(tx: Tx, ids: Sequence[int]) -> Mapping[int, Message]:
    rows = await tx.fetch("messages_by_id", {"ids": list(ids)}) if ids else ()
    return {row["id"]: message_of(row) for row in rows}


def _delivery(message: Message, channel: Channel, tries: int) -> Delivery:
    return Delivery(message=message, channel=channel, tries=tries)


def _key(delivery: Delivery) -> dict[str, object]:
    return {"message_id": delivery.message.id, "channel": delivery.channel.name}


def _fit(error: str) -> str:
    return (storable(error) or "")[:LONGEST_ERROR]
