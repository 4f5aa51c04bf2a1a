"""The failover: what was given to a role that is down goes on at the other, or ends with the reason."""

import logging
from collections.abc import Mapping
from typing import Final

from waterclock import clock
from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Database
from waterclock.stores.ops.failing_over import fail_over, stranded_roles

log: Final = logging.getLogger("waterclock.engine")

BATCH: Final = 200
LONGEST_REST_SECONDS: Final = 1.0
LEAST_GAP_SECONDS: Final = 5.0  # a scheduler may be that busy, and still hear who lives


class Failover:
    """Needs no leader: any number of schedulers may look, each run is decided by one of them."""

    name = "failover"

    def __init__(self, database: Database, rules: Mapping[str, FireRules]) -> None:
        self._database = database
        self._rules = rules
        self._failover_seconds = rules.get(CHAINS, FireRules()).failover_seconds
        self._watch = Watch(longest_gap_seconds=max(LEAST_GAP_SECONDS, self._failover_seconds / 2))

    async def tick(self) -> float:
        stranded = await self._database.read(stranded_roles, rules=self._rules)
        watched_seconds = self._watch.look(clock.monotonic())
        if stranded and watched_seconds >= self._failover_seconds:
            await self._fail_over()
        return min(LONGEST_REST_SECONDS, self._failover_seconds / 3)

    async def _fail_over(self) -> None:
        """Page by page, with those passed over that a worker or somebody else holds just now."""
        after: int | None = 0
        while after is not None:
            done = await self._database.write(fail_over, rules=self._rules, after=after, limit=BATCH)
            after = done.next_after
            for run_id in done.moved:
                log.warning("run %d of a chain goes on elsewhere: its role is down", run_id)
            for run_id in done.ended:
                log.warning("run %d of a chain has failed: its role is down", run_id)


class Watch:
    """For how long somebody has looked on end: silence in a gap proves nothing, the store may have been away."""

    def __init__(self, *, longest_gap_seconds: float) -> None:
        self._longest_gap_seconds = longest_gap_seconds
        self._since: float | None = None
        self._last = 0.0

    def look(self, at: float) -> float:
        if self._since is None or at - self._last > self._longest_gap_seconds:
            self._since = at
        self._last = at
        return at - self._since
