"""Which roles live: the database's clock against the last heartbeat of their workers."""

from waterclock.domain.moment import seconds
from waterclock.domain.role import Role
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Tx


async def living_roles(tx: Tx, rules: FireRules) -> frozenset[Role]:
    """Those that take work: a role all of whose workers have drained for the failover time is as good as down."""
    return await _heard(tx, rules, "taken_at")


async def beating_roles(tx: Tx, rules: FireRules) -> frozenset[Role]:
    """Those too that drain, and may be resumed."""
    return await _heard(tx, rules, "heartbeat_at")


async def _heard(tx: Tx, rules: FireRules, when: str) -> frozenset[Role]:
    horizon = await tx.now() - seconds(rules.failover_seconds)
    return frozenset(Role(row["role"]) for row in await tx.fetch("role_heartbeats") if row[when] > horizon)
