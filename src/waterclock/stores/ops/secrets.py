"""Secrets: every version stays, sealed, for masking; the last is what programs are given, unless it was deleted."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields

from waterclock.domain.errors import NotFound
from waterclock.domain.moment import Moment
from waterclock.domain.secret import Secret
from waterclock.stores.base import Row, Tx

Rule = Callable[[Secret], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedVersion:
    name: str
    version: int
    sealed: str
    deleted_at: Moment | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedPlace:
    """Where a sealed value stands in the store, and the value that is to be replaced."""

    key: tuple[
        object, ...
    ]  # (organisation, name, version) of a secret, (organisation, name) of a channel, (id,) of a key
    sealed: str


async def next_version(tx: Tx, *, org_id: int, name: str) -> int:
    row = await tx.fetch_one("latest_secret_version", {"org_id": org_id, "name": name})
    return (row["version"] or 0) + 1 if row else 1


async def add_version(
    tx: Tx,
    *,
    org_id: int,
    name: str,
    version: int,
    sealed: str,
    owner: str,
    description: str | None,
    by: str,
    allow: Rule,
) -> Secret | None:
    """A first version is the `owner`'s; a later one stays its owner's, and keeps its description where none is given.

    None where somebody else was quicker: the seal is bound to the number, so it is the caller who tries again.
    """
    if await next_version(tx, org_id=org_id, name=name) != version:
        return None
    present = await get_secret(tx, org_id=org_id, name=name)
    if present:
        allow(present)
    said = present.description if present and description is None else description or ""
    await tx.run(
        "insert_secret",
        {
            "org_id": org_id,
            "name": name,
            "version": version,
            "sealed": sealed,
            "owner": present.owner if present else owner,
            "description": said,
            "created_by": by,
            "created_at": await tx.now(),
        },
    )
    return await get_secret(tx, org_id=org_id, name=name)


async def get_secret(tx: Tx, *, org_id: int, name: str) -> Secret | None:
    row = await tx.fetch_one("secret_by_name", {"org_id": org_id, "name": name})
    return _secret(row) if row else None


async def list_secrets(tx: Tx, *, org_id: int, after: str, limit: int) -> list[Secret]:
    rows = await tx.fetch("secrets_of_org", {"org_id": org_id, "after": after, "limit": limit})
    return [_secret(row) for row in rows]


async def delete_secret(tx: Tx, *, org_id: int, name: str, allow: Rule) -> Secret:
    present = await get_secret(tx, org_id=org_id, name=name)
    if present is None:
        raise NotFound("secret", name)
    allow(present)
    await tx.run("delete_secret", {"org_id": org_id, "name": name, "now": await tx.now()})
    return present


async def secret_versions(tx: Tx, *, org_id: int, names: Collection[str]) -> list[SealedVersion]:
    """Of each name from the first to the last."""
    rows = await tx.fetch("secret_versions", {"org_id": org_id, "names": sorted(names)})
    return [SealedVersion(**{field.name: row[field.name] for field in fields(SealedVersion)}) for row in rows]


async def stale_secrets(tx: Tx, *, current: str) -> list[SealedPlace]:
    """Those whose seal does not begin with `current`, of all organisations."""
    rows = await tx.fetch("stale_secrets", {"current": f"{current}%"})
    return [SealedPlace(key=(row["org_id"], row["name"], row["version"]), sealed=row["sealed"]) for row in rows]


async def stale_access_keys(tx: Tx, *, current: str) -> list[SealedPlace]:
    rows = await tx.fetch("stale_access_keys", {"current": f"{current}%"})
    return [SealedPlace(key=(row["id"],), sealed=row["sealed_secret"]) for row in rows]


async def stale_channels(tx: Tx, *, current: str) -> list[SealedPlace]:
    rows = await tx.fetch("stale_channels", {"current": f"{current}%"})
    return [SealedPlace(key=(row["org_id"], row["name"]), sealed=row["sealed"]) for row in rows]


async def reseal(tx: Tx, *, places: Sequence[tuple[SealedPlace, str]]) -> None:
    """Each with its new seal; what was changed meanwhile stays as it is."""
    for place, sealed in places:
        match place.key:
            case (org_id, name, version):
                values = {"org_id": org_id, "name": name, "version": version, "sealed": sealed, "was": place.sealed}
                await tx.run("reseal_secret", values)
            case (org_id, name):
                values = {"org_id": org_id, "name": name, "sealed": sealed, "was": place.sealed}
                await tx.run("reseal_channel", values)
            case (key_id,):
                await tx.run("reseal_access_key", {"id": key_id, "sealed": sealed, "was": place.sealed})


def _secret(row: Row) -> Secret:
    return Secret(**{field.name: row[field.name] for field in fields(Secret)})
