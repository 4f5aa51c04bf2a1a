"""Channels: where operators are told of messages. Admins define them; their addresses are sealed, and shown masked."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.access import Caller, Right
from waterclock.domain.channel import Channel, seal_context
from waterclock.domain.errors import InvalidInput, WaterclockError
from waterclock.domain.message import ChannelRules, MessageKind, Severity
from waterclock.domain.notice import Notice
from waterclock.notices.base import Sender
from waterclock.services.access import check_name
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.services.secretbox import SecretBox
from waterclock.stores.base import Database
from waterclock.stores.ops import channels as ops

LONGEST_TAG: Final = 45


class Channels:
    def __init__(self, database: Database, box: SecretBox, sender: Sender) -> None:
        self._database = database
        self._box = box
        self._sender = sender

    async def create(
        self, caller: Caller, name: str, address: str, rules: ChannelRules | None = None, *, on: bool = True
    ) -> Channel:
        caller.needs(Right.ADMINISTER)
        check_name("channel", name)
        sealed, shown = await self._sealed(caller, name, address)
        return await self._database.write(
            ops.create_channel,
            org_id=caller.org_id,
            name=name,
            sealed=sealed,
            shown=shown,
            rules=_checked(rules or ChannelRules()),
            on=on,
            owner=caller.owner,
        )

    async def change(
        self,
        caller: Caller,
        name: str,
        *,
        address: str | None = None,
        rules: Mapping[str, tuple[str, ...]],
        on: bool | None = None,
    ) -> Channel:
        """What is not given stays as it is: nobody can read an address back to give it again."""
        caller.needs(Right.ADMINISTER)
        await self.get(caller, name)
        _checked(ChannelRules(**rules))
        return await self._database.write(
            ops.change_channel,
            org_id=caller.org_id,
            name=name,
            address=await self._sealed(caller, name, address) if address is not None else None,
            rules=rules,
            on=on,
        )

    async def get(self, caller: Caller, name: str) -> Channel:
        caller.needs(Right.READ)
        return await self._database.read(ops.get_channel, org_id=caller.org_id, name=name)

    async def list(self, caller: Caller, page: PageRequest) -> Page[Channel]:
        caller.needs(Right.READ)
        after = position("channels", page.token, (str,))
        found = await self._database.read(
            ops.list_channels, org_id=caller.org_id, after=str(after[0]) if after else "", limit=page.size + 1
        )
        return page_of("channels", found, page.size, lambda channel: (channel.name,))

    async def delete(self, caller: Caller, name: str) -> Channel:
        """What was on its way through it is not sent any more."""
        caller.needs(Right.ADMINISTER)
        return await self._database.write(ops.delete_channel, org_id=caller.org_id, name=name)

    async def test(self, caller: Caller, name: str) -> str | None:
        """Sends a notice now, also through one that is off; None when it was taken on, else why not."""
        caller.needs(Right.ADMINISTER)
        channel = await self.get(caller, name)
        try:
            address = self._box.open(channel.sealed, context=seal_context(caller.org_id, name))
            await self._sender.send(address, _trial(channel, caller))
        except WaterclockError as problem:
            await self._database.write(ops.note_failed, org_id=caller.org_id, name=name, error=str(problem))
            return str(problem)
        await self._database.write(ops.note_sent, org_id=caller.org_id, name=name)
        return None

    async def _sealed(self, caller: Caller, name: str, address: str) -> tuple[str, str]:
        shown = await self._sender.check(address)
        return self._box.seal(address, context=seal_context(caller.org_id, name)), shown


def _trial(channel: Channel, caller: Caller) -> Notice:
    body = f"This is a trial of the channel {channel.name!r}, asked for by {caller.user!r}. Nothing has happened."
    return Notice(severity=Severity.INFO, subject=f"[waterclock] {Severity.INFO} trial of a channel", body=body)


def _checked(rules: ChannelRules) -> ChannelRules:
    _known("kinds", rules.kinds, tuple(MessageKind))
    _known("severities", rules.severities, tuple(Severity))
    for place, tag in enumerate(rules.tags):
        if not 1 <= len(tag) <= LONGEST_TAG:
            raise InvalidInput(f"must have 1 to {LONGEST_TAG} characters", field=f"tags[{place}]", value=tag)
    return rules


def _known(field: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for place, value in enumerate(given):
        if value not in known:
            raise InvalidInput(f"must be one of {', '.join(known)}", field=f"{field}[{place}]", value=value)
