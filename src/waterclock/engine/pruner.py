"""The pruner: throws away what ended long ago, a page at a time, with its logs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from waterclock.stores.base import Database
from waterclock.stores.ops.nodes import prune_ledger, prune_runs

DAY_SECONDS: Final = 86_400.0
KEEP_MOVES_DAYS: Final = 7.0
REST_SECONDS: Final = 600.0
BREATH_SECONDS: Final = 0.05  # between two pages: others want to write, too


class Pruner:
    name = "pruner"

    def __init__(self, database: Database, *, keep_days: float) -> None:
        self._database = database
        self._keep_seconds = keep_days * DAY_SECONDS

    async def tick(self) -> float:
        pruned = await self._database.write(prune_runs, keep_seconds=self._keep_seconds)
        await asyncio.to_thread(_unlink, pruned.log_paths)
        if pruned.runs:
            return BREATH_SECONDS
        await self._database.write(
            prune_ledger, keep_seconds=self._keep_seconds, keep_moves_seconds=KEEP_MOVES_DAYS * DAY_SECONDS
        )
        return REST_SECONDS


def _unlink(paths: Sequence[str]) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)
