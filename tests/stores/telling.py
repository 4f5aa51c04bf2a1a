"""Short words for what the tests do with messages, channels and deliveries."""

from typing import Any

from tests.stores.world import World
from waterclock.domain.channel import Channel, Delivery, Place
from waterclock.domain.message import ChannelRules, Message, MessageKind, NewMessage, Severity, SoughtMessages
from waterclock.domain.moment import Moment
from waterclock.stores.base import Tx
from waterclock.stores.ops import channels, deliveries, messages

ANYTHING = ChannelRules(tags=("*",))
LEASE = 60.0


class Telling(World):
    async def tell(self, subject: str = "nightly", **more: Any) -> int:
        given = {"org_id": 1, "kind": MessageKind.FAILED, "severity": Severity.ERROR, "body": "물 💧", **more}
        (number,) = await self.database.write(_add, NewMessage(subject=subject, **given))
        return number

    async def messages(self, org_id: int = 1, before: int = 2**62, limit: int = 100, **sought: Any) -> list[Message]:
        return await self.database.read(
            messages.list_messages, org_id=org_id, before=before, limit=limit, sought=SoughtMessages(**sought)
        )

    async def subjects(self, **sought: Any) -> list[str]:
        return [each.subject for each in await self.messages(**sought)]

    async def channel(self, name: str = "ops", *, org_id: int = 1, on: bool = True, **rules: Any) -> Channel:
        parts: dict[str, Any] = {"sealed": f"sealed {name}", "shown": f"json://{name}", "owner": "ann"}
        given = ChannelRules(**rules) if rules else ANYTHING
        return await self.database.write(channels.create_channel, org_id=org_id, name=name, rules=given, on=on, **parts)

    async def shown(self, name: str = "ops") -> Channel:
        return await self.database.read(channels.get_channel, org_id=1, name=name)

    async def route(self, limit: int = 100) -> int:
        return await self.database.write(deliveries.route_messages, limit=limit)

    async def queued(self) -> set[Place]:
        return set((await self.database.read(deliveries.look_for_notices)).due)

    async def take(self, *names: str, limit: int = 10) -> list[Delivery]:
        """What is due, of all channels unless some are named."""
        places = {(1, name) for name in names} if names else await self.queued()
        room = dict.fromkeys(places, limit)
        return await self.database.write(deliveries.take_deliveries, room=room, lease_seconds=LEASE)

    async def sent(self, *names: str) -> list[tuple[str, str]]:
        """Take all that is due and say that it was sent: through which channels, and what."""
        taken = await self.take(*names)
        for delivery in taken:
            await self.database.write(deliveries.record_sent, delivery=delivery)
        return sorted((delivery.channel.name, delivery.message.subject) for delivery in taken)

    async def fail(self, delivery: Delivery, error: str = "error=500") -> None:
        await self.database.write(deliveries.record_failed, delivery=delivery, error=error)


async def _add(tx: Tx, message: NewMessage) -> list[int]:
    now: Moment = await tx.now()
    return await messages.add_messages(tx, [message], now)
