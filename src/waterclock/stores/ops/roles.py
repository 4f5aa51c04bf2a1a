"""Which roles live: the database's clock against the last heartbeat of their workers."""

from waterclock.domain.moment import seconds
from waterclock.domain.role import Role
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Tx


async def living_roles(tx: Tx, rules: FireRules) -> frozenset[Role]:
    horizon = await tx.now() - seconds(rules.failover_seconds)
    return frozenset(Role(row["role"]) for row in await tx.fetch("role_heartbeats") if row["heartbeat_at"] > horizon)
