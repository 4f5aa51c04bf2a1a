"""Channels: named within an organisation; their addresses lie here sealed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Final

from waterclock.domain.channel import Channel
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.message import ChannelRules
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.rows import dumped, loaded

LONGEST_ERROR: Final = 1_000
GONE: Final = "the channel was deleted"


async def create_channel(
    tx: Tx, *, org_id: int, name: str, sealed: str, shown: str, rules: ChannelRules, on: bool, owner: str
) -> Channel:
    if await find_channel(tx, org_id=org_id, name=name):
        raise AlreadyExists("channel", name)
    values = {"org_id": org_id, "name": name, "owner": owner, "now": await tx.now()}
    await tx.run("insert_channel", {**values, **_definition(sealed, shown, rules, on)})
    return await get_channel(tx, org_id=org_id, name=name)


async def change_channel(
    tx: Tx,
    *,
    org_id: int,
    name: str,
    address: tuple[str, str] | None = None,
    rules: Mapping[str, tuple[str, ...]],
    on: bool | None = None,
) -> Channel:
    """What is not given stays. `address`: sealed, and as it is shown; with a new one its failures are news again."""
    row = await _locked(tx, org_id, name)
    was = channel_of(row)
    sealed, shown = address or (was.sealed, was.shown)
    definition = _definition(sealed, shown, replace(was.rules, **rules), was.on if on is None else on)
    reported = {"reported_at": None if address else row["reported_at"]}
    place = {"org_id": org_id, "name": name, "now": await tx.now()}
    await tx.run("update_channel", {**place, **definition, **reported})
    return await get_channel(tx, org_id=org_id, name=name)


async def delete_channel(tx: Tx, *, org_id: int, name: str) -> Channel:
    """With what waits to go through it."""
    found = channel_of(await _locked(tx, org_id, name))
    await tx.run("delete_channel", {"org_id": org_id, "name": name})
    await tx.run("drop_deliveries", {"org_id": org_id, "channel": name, "error": GONE, "now": await tx.now()})
    return found


async def find_channel(tx: Tx, *, org_id: int, name: str) -> Channel | None:
    row = await tx.fetch_one("channel_by_name", {"org_id": org_id, "name": name})
    return channel_of(row) if row else None


async def get_channel(tx: Tx, *, org_id: int, name: str) -> Channel:
    found = await find_channel(tx, org_id=org_id, name=name)
    if found is None:
        raise NotFound("channel", name)
    return found


async def list_channels(tx: Tx, *, org_id: int, after: str, limit: int) -> list[Channel]:
    rows = await tx.fetch("channels_of_org", {"org_id": org_id, "after": after, "limit": limit})
    return [channel_of(row) for row in rows]


async def note_sent(tx: Tx, *, org_id: int, name: str) -> None:
    await tx.run("channel_has_sent", {"org_id": org_id, "name": name, "now": await tx.now()})


async def note_failed(tx: Tx, *, org_id: int, name: str, error: str) -> None:
    values = {"org_id": org_id, "name": name, "error": error[:LONGEST_ERROR], "now": await tx.now()}
    await tx.run("channel_has_failed", values)


async def rules_of_channels(tx: Tx, org_ids: Sequence[int]) -> Mapping[int, Mapping[str, ChannelRules]]:
    """By organisation and name, of those that are on."""
    found: dict[int, dict[str, ChannelRules]] = {org_id: {} for org_id in org_ids}
    if org_ids:
        for row in await tx.fetch("channels_on", {"org_ids": list(org_ids)}):
            found[row["org_id"]][row["name"]] = rules_of(row["rules"])
    return found


def channel_of(row: Row) -> Channel:
    return Channel(
        org_id=row["org_id"],
        name=row["name"],
        sealed=row["sealed"],
        shown=row["shown"],
        rules=rules_of(row["rules"]),
        on=bool(row["is_on"]),
        owner=row["owner"],
        last_sent_at=row["last_sent_at"],
        last_failed_at=row["last_failed_at"],
        last_error=row["last_error"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


@lru_cache(maxsize=1024)
def rules_of(text: str) -> ChannelRules:
    return ChannelRules(**{name: tuple(values) for name, values in loaded(text).items()})


async def _locked(tx: Tx, org_id: int, name: str) -> Row:
    row = await tx.fetch_one("lock_channel", {"org_id": org_id, "name": name})
    if row is None:
        raise NotFound("channel", name)
    return row


def _definition(sealed: str, shown: str, rules: ChannelRules, on: bool) -> dict[str, object]:
    return {"sealed": sealed, "shown": shown, "rules": dumped(asdict(rules)), "is_on": int(on)}
