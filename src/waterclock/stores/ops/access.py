"""Organisations, users, and the keys and tokens that speak for them. Secrets come in sealed or hashed."""

from collections.abc import Sequence
from dataclasses import dataclass

from waterclock.domain.access import Identity, Organisation, Role, User
from waterclock.domain.errors import AlreadyExists, NotFound
from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Row, Tx
from waterclock.stores.ops import groups


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """A live access key: whom it speaks for, and its secret as it is stored."""

    id: str
    sealed_secret: str
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A key or token as it is listed: never with its secret."""

    id: str
    name: str
    group: str | None
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None


async def create_organisation(tx: Tx, *, account: str, name: str) -> Organisation:
    (org_id,) = await tx.numbers(Kind.ORGANISATION, 1)
    values = {"id": org_id, "account": account, "name": name, "created_at": await tx.now()}
    await tx.run("insert_organisation", values)
    return Organisation(id=org_id, account=account, name=name)


async def get_organisation(tx: Tx, *, org_id: int) -> Organisation | None:
    row = await tx.fetch_one("organisation", {"id": org_id})
    return Organisation(id=row["id"], account=row["account"], name=row["name"]) if row else None


async def create_user(tx: Tx, *, org_id: int, name: str, role: Role) -> User:
    await groups.lock_names(tx, org_id)
    if await get_user(tx, org_id=org_id, name=name):
        raise AlreadyExists("user", name)
    if await groups.find_group(tx, org_id=org_id, name=name):
        raise AlreadyExists("group", name)
    (user_id,) = await tx.numbers(Kind.USER, 1)
    now = await tx.now()
    values = {"id": user_id, "org_id": org_id, "name": name, "created_at": now}
    await tx.run("insert_user", values | _stored(role, now))
    return await _must_exist(tx, org_id, name)


async def get_user(tx: Tx, *, org_id: int, name: str) -> User | None:
    row = await tx.fetch_one("user_by_name", {"org_id": org_id, "name": name})
    return _user(row) if row else None


async def list_users(tx: Tx, *, org_id: int) -> list[User]:
    return [_user(row) for row in await tx.fetch("users_of_org", {"org_id": org_id})]


async def count_users(tx: Tx) -> int:
    row = await tx.fetch_one("count_users")
    return int(row["count"]) if row else 0


async def change_role(tx: Tx, *, org_id: int, name: str, role: Role) -> None:
    user_id = (await _must_exist(tx, org_id, name)).id
    await tx.run("update_user_role", {"id": user_id} | _stored(role, await tx.now()))


async def delete_user(tx: Tx, *, org_id: int, name: str) -> None:
    """With all that spoke for it, at once."""
    await groups.lock_names(tx, org_id)
    user, now = await _must_exist(tx, org_id, name), await tx.now()
    await tx.run("revoke_access_keys_of_user", {"user_id": user.id, "now": now})
    await tx.run("revoke_tokens_of_user", {"user_id": user.id, "now": now})
    await tx.run("delete_memberships_of_user", {"user_id": user.id})
    await tx.run("delete_user", {"id": user.id})


async def add_access_key(
    tx: Tx, *, org_id: int, user_name: str, key_id: str, sealed_secret: str, group: str | None = None
) -> None:
    user = await _must_exist(tx, org_id, user_name)
    group_id = await groups.group_for(tx, user=user, name=group)
    values = {"id": key_id, "org_id": org_id, "user_id": user.id, "group_id": group_id, "sealed_secret": sealed_secret}
    await tx.run("insert_access_key", {**values, "created_at": await tx.now()})


async def find_access_key(tx: Tx, *, key_id: str) -> KeyRecord | None:
    row = await tx.fetch_one("live_access_key", {"id": key_id})
    if row is None:
        return None
    return KeyRecord(id=row["key_id"], sealed_secret=row["sealed_secret"], identity=await _identity(tx, row))


async def list_access_keys(tx: Tx, *, org_id: int, user_name: str) -> list[Credential]:
    user = await _must_exist(tx, org_id, user_name)
    rows = await tx.fetch("access_keys_of_user", {"user_id": user.id})
    return [_credential(row, name="", expires_at=None) for row in rows]


async def revoke_access_key(tx: Tx, *, org_id: int, user_name: str, key_id: str) -> None:
    user = await _must_exist(tx, org_id, user_name)
    if not await tx.run("revoke_access_key", {"id": key_id, "user_id": user.id, "now": await tx.now()}):
        raise NotFound("access key", key_id)


async def add_token(
    tx: Tx,
    *,
    org_id: int,
    user_name: str,
    name: str,
    digest: str,
    expires_at: Moment | None,
    group: str | None = None,
) -> int:
    user = await _must_exist(tx, org_id, user_name)
    group_id = await groups.group_for(tx, user=user, name=group)
    (token_id,) = await tx.numbers(Kind.TOKEN, 1)
    values = {"id": token_id, "org_id": org_id, "user_id": user.id, "group_id": group_id, "name": name}
    times = {"created_at": await tx.now(), "expires_at": expires_at}
    await tx.run("insert_token", {**values, **times, "digest": digest})
    return token_id


async def find_token(tx: Tx, *, digest: str) -> Identity | None:
    row = await tx.fetch_one("live_token", {"digest": digest, "now": await tx.now()})
    return await _identity(tx, row) if row else None


async def list_tokens(tx: Tx, *, org_id: int, user_name: str) -> Sequence[Credential]:
    user = await _must_exist(tx, org_id, user_name)
    rows = await tx.fetch("tokens_of_user", {"user_id": user.id})
    return [_credential(row, name=row["name"], expires_at=row["expires_at"]) for row in rows]


async def revoke_token(tx: Tx, *, org_id: int, user_name: str, token_id: int) -> None:
    user = await _must_exist(tx, org_id, user_name)
    if not await tx.run("revoke_token", {"id": token_id, "user_id": user.id, "now": await tx.now()}):
        raise NotFound("token", token_id)


async def _must_exist(tx: Tx, org_id: int, name: str) -> User:
    user = await get_user(tx, org_id=org_id, name=name)
    if user is None:
        raise NotFound("user", name)
    return user


async def _identity(tx: Tx, row: Row) -> Identity:
    user = _user(row)
    return Identity(user=user, groups=await groups.groups_of_user(tx, user_id=user.id), group=row["group_name"])


def _stored(role: Role, now: Moment) -> dict[str, object]:
    """A node of a version that does not know workers takes theirs for disabled users, and lets them do nothing."""
    works = role is Role.WORKER
    return {"role": Role.VIEWER if works else role, "works": int(works), "disabled_at": now if works else None}


def _user(row: Row) -> User:
    return User(id=row["id"], org_id=row["org_id"], account=row["account"], name=row["name"], role=Role(row["role"]))


def _credential(row: Row, *, name: str, expires_at: Moment | None) -> Credential:
    return Credential(
        id=str(row["id"]),
        name=name,
        group=row["group_name"],
        created_at=row["created_at"],
        expires_at=expires_at,
        revoked_at=row["revoked_at"],
    )
