"""Quotas: set by admins, and kept in the transaction that makes what they count.

They are locked before anything else: whoever takes the last place holds the line until the commit.
"""

from collections.abc import Collection
from dataclasses import replace

from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.errors import NotFound, QuotaExceeded
from waterclock.domain.lake_probe import NAMESPACE as PROBES
from waterclock.domain.quota import EVERYBODY, Quota, QuotaKind
from waterclock.stores.base import Tx
from waterclock.stores.ops.groups import find_group, lock_names

Who = tuple[int, str]  # organisation and name


async def keep_quota(tx: Tx, *, org_id: int, user: str, kind: QuotaKind, more: int = 1) -> None:
    """Nothing happens where there is room for so many more, or no quota."""
    quota = await _locked(tx, org_id, user, kind)
    if quota is not None and quota.used + more > quota.most:
        raise exceeded(quota)


async def keep_owners_quota(tx: Tx, *, org_id: int, namespace: str, owner: str, kind: QuotaKind) -> None:
    """Of what is defined by itself; the parts of a chain are counted with it, and the job of probes is nobody's."""
    if namespace not in (CHAINS, PROBES):
        await keep_quota(tx, org_id=org_id, user=owner, kind=kind)


async def run_quotas(tx: Tx, callers: Collection[Who]) -> dict[Who, Quota]:
    """Of those who have one for live runs, locked in one order, so that nobody waits in a circle."""
    found = {who: await _locked(tx, *who, QuotaKind.LIVE_RUNS) for who in sorted(set(callers))}
    return {who: quota for who, quota in found.items() if quota is not None}


def exceeded(quota: Quota) -> QuotaExceeded:
    return QuotaExceeded(quota.user, quota.kind, used=quota.used, most=quota.most)


async def set_quota(tx: Tx, *, org_id: int, user: str, kind: QuotaKind, most: int) -> Quota:
    await lock_names(tx, org_id)
    if user != EVERYBODY and not await _is_known(tx, org_id, user):
        raise NotFound("user or group", user)
    key = {"org_id": org_id, "user_name": user, "kind": kind}
    await tx.run("delete_quota", key)
    await tx.run("insert_quota", {**key, "most": most})
    return await _counted(tx, org_id, Quota(user=user, kind=kind, most=most))


async def remove_quota(tx: Tx, *, org_id: int, user: str, kind: QuotaKind) -> None:
    await lock_names(tx, org_id)
    if not await tx.run("delete_quota", {"org_id": org_id, "user_name": user, "kind": kind}):
        raise NotFound("quota", f"{kind} of {user or 'everybody'}")


async def list_quotas(tx: Tx, *, org_id: int) -> list[Quota]:
    """With how many there are now."""
    rows = await tx.fetch("quotas_of_org", {"org_id": org_id})
    lines = [Quota(user=row["user_name"], kind=QuotaKind(row["kind"]), most=row["most"]) for row in rows]
    return [await _counted(tx, org_id, line) for line in lines]


async def limited_organisations(tx: Tx) -> frozenset[int]:
    """Where starts must ask for a quota."""
    return frozenset(row["org_id"] for row in await tx.fetch("orgs_with_quota", {"kind": QuotaKind.LIVE_RUNS}))


async def _locked(tx: Tx, org_id: int, user: str, kind: QuotaKind) -> Quota | None:
    """The user's own line, or else everybody's."""
    rows = await tx.fetch("lock_quotas", {"org_id": org_id, "kind": kind, "names": [EVERYBODY, user]})
    lines = {row["user_name"]: row["most"] for row in rows}
    most = lines.get(user, lines.get(EVERYBODY))
    return None if most is None else await _counted(tx, org_id, Quota(user=user, kind=kind, most=most))


async def _counted(tx: Tx, org_id: int, quota: Quota) -> Quota:
    if quota.user == EVERYBODY:
        return quota
    row = await tx.fetch_one(f"used_{quota.kind}", {"org_id": org_id, "user_name": quota.user})
    return replace(quota, used=row["used"] if row else 0)


async def _is_known(tx: Tx, org_id: int, name: str) -> bool:
    user = await tx.fetch_one("user_by_name", {"org_id": org_id, "name": name})
    return user is not None or await find_group(tx, org_id=org_id, name=name) is not None
