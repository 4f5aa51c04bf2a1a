"""What a worker asks of the cluster: claim, record, renew. Behind it a database, or (later) a server over HTTP."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.errors import CommitUnknown
from waterclock.domain.outcome import Beginning, Lone, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops import claiming, lake_locks, progressing, recording, unbundling
from waterclock.stores.ops.bundle import call_of
from waterclock.stores.ops.bundle_ends import written
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE
from waterclock.stores.ops.lone_ends import Contested, end_bundled, is_bundled


class Work(Protocol):
    async def claim(self, claimant: Claimant, *, limit: int, ttl_seconds: float) -> Claims: ...

    async def release(self, node: str, attempt_ids: Sequence[int]) -> None: ...

    async def give_back(self, claimant: Claimant, besides: Collection[int]) -> None:
        """After a claim whose answer was lost: let go of what we do not know of."""
        ...

    async def record(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
        """Beginnings and ends in one go; those of the beginnings that are no longer ours."""
        ...

    async def report(self, reports: Sequence[Report]) -> frozenset[int]:
        """How far they have come; those that need not be said again."""
        ...

    async def unbundle(self, runs: Collection[Lone]) -> None:
        """Rows for those that have none of their own yet: before anything but a success becomes of them."""
        ...

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]: ...

    async def lock(self, attempt_id: int, fence: int, destinations: Collection[str]) -> str | None:
        """None once all of them are the attempt's, for as long as it lives; else what it has to wait for."""
        ...

    async def adopt(self, claimant: Claimant, *, ttl_seconds: float) -> Sequence[Claimed]: ...

    async def stopping(self, node: str) -> Sequence[int]: ...

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]: ...


class StoreWork:
    """`Work` straight from the database; also the supervisor's `Leases`."""

    def __init__(
        self, database: Database, rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE, *, alone: bool = False
    ) -> None:
        self._database = database
        self._alone = alone  # nothing follows the end of a run: neither flow nor trigger
        self._rules = rules  # for the triggers that fire when a run ends

    async def claim(self, claimant: Claimant, *, limit: int, ttl_seconds: float) -> Claims:
        return await self._database.write(claiming.claim, claimant=claimant, limit=limit, ttl_seconds=ttl_seconds)

    async def release(self, node: str, attempt_ids: Sequence[int]) -> None:
        await self._database.write(claiming.release, node=node, attempt_ids=attempt_ids)

    async def give_back(self, claimant: Claimant, besides: Collection[int]) -> None:
        await self._database.write(claiming.give_back, claimant=claimant, besides=besides)

    async def record(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
        """One statement whose answer was lost is not asked again: what it has done meets the careful one."""
        try:
            lost = await self._record_lightly(beginnings, outcomes)
        except (Contested, CommitUnknown):
            lost = await self._record(beginnings, outcomes, carefully=True)
        written(outcome.lone for outcome in outcomes)
        return lost

    async def _record_lightly(self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> frozenset[int]:
        if beginnings or not outcomes or not self._alone or not all(map(is_bundled, outcomes)):
            return await self._record(beginnings, outcomes)
        await self._database.write(end_bundled, outcomes=outcomes)
        return frozenset()

    async def _record(
        self, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome], *, carefully: bool = False
    ) -> frozenset[int]:
        return await self._database.write(
            recording.record,
            beginnings=beginnings,
            outcomes=outcomes,
            rules=self._rules,
            alone=self._alone,
            carefully=carefully,
        )

    async def unbundle(self, runs: Collection[Lone]) -> None:
        if calls := [call for run in runs if (call := call_of(run))]:
            await self._database.write(unbundling.unbundle, calls=calls)
        written(runs)

    async def report(self, reports: Sequence[Report]) -> frozenset[int]:
        return await self._database.write(progressing.report, reports=reports)

    async def renew(self, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
        return await self._database.write(claiming.renew, held=held, ttl_seconds=ttl_seconds)

    async def lock(self, attempt_id: int, fence: int, destinations: Collection[str]) -> str | None:
        return await self._database.write(
            lake_locks.take, attempt_id=attempt_id, fence=fence, destinations=destinations
        )

    async def adopt(self, claimant: Claimant, *, ttl_seconds: float) -> Sequence[Claimed]:
        return await self._database.write(claiming.adopt, claimant=claimant, ttl_seconds=ttl_seconds)

    async def stopping(self, node: str) -> Sequence[int]:
        return await self._database.read(claiming.stopping, node=node)

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        return self._database.listen(topic, heard)
