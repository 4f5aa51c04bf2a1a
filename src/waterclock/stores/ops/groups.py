"""Groups: users who own things together. A key made for a group speaks for it no longer than its user is a member."""

from collections.abc import Mapping

from waterclock.domain.access import Group, User
from waterclock.domain.errors import AlreadyExists, NotAllowed, NotFound
from waterclock.stores.base import Kind, Row, Tx


async def lock_names(tx: Tx, org_id: int) -> None:
    """Until the end of the transaction nobody else gives or takes a name or a membership in the organisation."""
    if await tx.fetch_one("lock_organisation", {"id": org_id}) is None:
        raise NotFound("organisation", org_id)


async def create_group(tx: Tx, *, org_id: int, name: str) -> Group:
    await lock_names(tx, org_id)
    if await tx.fetch_one("user_by_name", {"org_id": org_id, "name": name}):
        raise AlreadyExists("user", name)
    if await find_group(tx, org_id=org_id, name=name):
        raise AlreadyExists("group", name)
    (group_id,) = await tx.numbers(Kind.GROUP, 1)
    values = {"id": group_id, "org_id": org_id, "name": name, "created_at": await tx.now()}
    await tx.run("insert_group", values)
    return Group(id=group_id, org_id=org_id, name=name)


async def delete_group(tx: Tx, *, org_id: int, name: str) -> None:
    """With all that spoke for it, at once; refused while it owns anything, which would have no owner then."""
    await lock_names(tx, org_id)
    group = await must_exist(tx, org_id, name)
    owned = {row["kind"]: row["count"] for row in await tx.fetch("count_owned", {"org_id": org_id, "owner": name})}
    if any(owned.values()):
        raise NotAllowed(f"group {name!r} still owns {_counted(owned)}: delete that first")
    revoked = {"group_id": group.id, "now": await tx.now()}
    await tx.run("revoke_access_keys_of_group", revoked)
    await tx.run("revoke_tokens_of_group", revoked)
    await tx.run("delete_members_of_group", {"group_id": group.id})
    await tx.run("delete_group", {"id": group.id})


async def list_groups(tx: Tx, *, org_id: int) -> list[Group]:
    rows = await tx.fetch("groups_of_org", {"org_id": org_id})
    members: dict[int, list[str]] = {row["id"]: [] for row in rows}
    if members:
        for row in await tx.fetch("members_of_groups", {"group_ids": list(members)}):
            members[row["group_id"]].append(row["name"])
    return [_group(row, tuple(members[row["id"]])) for row in rows]


async def find_group(tx: Tx, *, org_id: int, name: str) -> Group | None:
    """Without its members."""
    row = await tx.fetch_one("group_by_name", {"org_id": org_id, "name": name})
    return _group(row) if row else None


async def must_exist(tx: Tx, org_id: int, name: str) -> Group:
    group = await find_group(tx, org_id=org_id, name=name)
    if group is None:
        raise NotFound("group", name)
    return group


async def groups_of_user(tx: Tx, *, user_id: int) -> frozenset[str]:
    return frozenset(row["name"] for row in await tx.fetch("groups_of_user", {"user_id": user_id}))


async def add_member(tx: Tx, *, org_id: int, name: str, user_name: str) -> None:
    """Who is a member already stays one."""
    member = await _place(tx, org_id, name, user_name)
    if not await tx.fetch_one("membership", member):
        await tx.run("insert_group_member", member)


async def remove_member(tx: Tx, *, org_id: int, name: str, user_name: str) -> None:
    """With the keys and tokens of theirs that spoke for the group."""
    member = await _place(tx, org_id, name, user_name)
    if not await tx.run("delete_group_member", member):
        raise NotFound(f"in group {name!r} user", user_name)
    revoked = {**member, "now": await tx.now()}
    await tx.run("revoke_access_keys_of_member", revoked)
    await tx.run("revoke_tokens_of_member", revoked)


async def group_for(tx: Tx, *, user: User, name: str | None) -> int | None:
    """The group that a new key or token of this user is to speak for; they must be in it."""
    if name is None:
        return None
    await lock_names(tx, user.org_id)
    group = await must_exist(tx, user.org_id, name)
    if not await tx.fetch_one("membership", {"group_id": group.id, "user_id": user.id}):
        raise NotAllowed(f"user {user.name!r} is not in group {name!r}: add them to it first")
    return group.id


async def _place(tx: Tx, org_id: int, name: str, user_name: str) -> dict[str, int]:
    await lock_names(tx, org_id)
    group = await must_exist(tx, org_id, name)
    user = await tx.fetch_one("user_by_name", {"org_id": org_id, "name": user_name})
    if user is None:
        raise NotFound("user", user_name)
    return {"group_id": group.id, "user_id": user["id"]}


def _group(row: Row, members: tuple[str, ...] = ()) -> Group:
    return Group(id=row["id"], org_id=row["org_id"], name=row["name"], members=members)


def _counted(owned: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in owned.items() if count)
