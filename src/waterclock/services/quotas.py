"""Quotas: set and removed by admins, seen by everyone, kept by the store."""

from collections.abc import Sequence
from typing import Final

from waterclock import clock
from waterclock.domain.access import Caller, Right
from waterclock.domain.errors import InvalidInput
from waterclock.domain.quota import LARGEST, Quota, QuotaKind
from waterclock.stores.base import Database
from waterclock.stores.ops import quotas as ops

REMEMBER_SECONDS: Final = 5.0  # so long starts may not know of the first quota of their organisation


class Quotas:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._limited: frozenset[int] = frozenset()
        self._known_until = 0.0

    async def set(self, caller: Caller, user: str, kind: QuotaKind, most: int) -> Quota:
        """An empty name is everybody who has no line of their own. What there is already stays."""
        caller.needs(Right.ADMINISTER)
        if not 0 <= most <= LARGEST:
            raise InvalidInput(f"must be 0 to {LARGEST}", field="most", value=most)
        made = await self._database.write(ops.set_quota, org_id=caller.org_id, user=user, kind=kind, most=most)
        self._known_until = 0.0
        return made

    async def remove(self, caller: Caller, user: str, kind: QuotaKind) -> None:
        caller.needs(Right.ADMINISTER)
        await self._database.write(ops.remove_quota, org_id=caller.org_id, user=user, kind=kind)

    async def list(self, caller: Caller) -> Sequence[Quota]:
        caller.needs(Right.READ)
        return await self._database.read(ops.list_quotas, org_id=caller.org_id)

    async def limit_runs_of(self, org_id: int) -> bool:
        """Whether a start must ask: where nobody has set a quota it costs nothing."""
        if clock.monotonic() >= self._known_until:
            until = clock.monotonic() + REMEMBER_SECONDS
            self._limited = await self._database.read(ops.limited_organisations)
            self._known_until = until
        return org_id in self._limited
