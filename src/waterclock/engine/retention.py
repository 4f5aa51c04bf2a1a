"""Partitions of a store that has some: made ahead of time, and dropped when all in them is older than is kept."""

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from waterclock.domain.moment import Moment, seconds
from waterclock.stores.base import Database, Partition, Partitions, Tx
from waterclock.stores.ops.pruning import prune_versions
from waterclock.stores.ops.span import LAST

DAY_SECONDS: Final = 86_400.0
PARTS: Final = 6  # of what is kept: a statement that does not know its rows' times looks into each
WIDEST_DAYS: Final = 365


def width_days(keep_days: float) -> int:
    """How wide partitions are for what is kept so long."""
    return max(1, min(WIDEST_DAYS, math.ceil(keep_days / PARTS)))


class Retention:
    """Where the database has no partitions, there is nothing to do."""

    def __init__(
        self, database: Database, *, keep_days: float, remove_logs: Callable[[Sequence[str]], Awaitable[None]]
    ) -> None:
        self._database = database
        self._keep_days = keep_days
        self._remove_logs = remove_logs

    async def drop_old(self) -> Moment:
        """From which time on nothing is to be deleted row by row: it goes with its partition, once that is old."""
        partitions = self._database.partitions
        if partitions is None:
            return LAST
        await partitions.make(days=width_days(self._keep_days))
        before = await self._database.read(_now) - seconds(self._keep_days * DAY_SECONDS)
        old, until = await partitions.old(before=before)
        dropped = [each for each in old if await self._drop_one(partitions, each, before)]
        if dropped:
            await self._forget_versions()
        return until

    async def _drop_one(self, partitions: Partitions, partition: Partition, before: Moment) -> bool:
        """Logs go first: whoever is killed in between finds the partition again."""
        if not await partitions.may_go(partition, before=before):
            return False
        page = await partitions.logs(partition, before=before, after=0)
        while page.paths:
            await self._remove_logs(page.paths)
            page = await partitions.logs(partition, before=before, after=page.after)
        return await partitions.drop(partition, before=before)

    async def _forget_versions(self) -> None:
        after: int | None = 0
        while after is not None:
            after = await self._database.write(prune_versions, after=after)


async def _now(tx: Tx) -> Moment:
    return await tx.now()
