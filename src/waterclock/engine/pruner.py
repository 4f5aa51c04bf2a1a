"""The pruner: throws away what ended long ago, with its logs, and old rows of the audit; a page at a time.

Chains' runs are kept as long as the tag of their chain says.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from waterclock.stores.base import Database
from waterclock.stores.ops.audit import prune_audit
from waterclock.stores.ops.chain_pruning import prune_chain_runs
from waterclock.stores.ops.library_reading import has_server
from waterclock.stores.ops.messages import prune_messages
from waterclock.stores.ops.nodes import prune_flow_runs, prune_ledger, prune_runs
from waterclock.stores.ops.repeats import prune_calls

DAY_SECONDS: Final = 86_400.0
KEEP_MOVES_DAYS: Final = 7.0
REST_SECONDS: Final = 600.0
BREATH_SECONDS: Final = 0.05  # between two pages: others want to write, too
NO_TAGS: Final[Mapping[str, float]] = {}


class Pruner:
    name = "pruner"

    def __init__(
        self,
        database: Database,
        *,
        keep_days: float,
        audit_keep_days: float = 400,
        chains_keep_days: Mapping[str, float] = NO_TAGS,
        yields_to_server: bool = False,
    ) -> None:
        self._database = database
        self._yields_to_server = yields_to_server  # where there is one, it decides how long things are kept
        self._keep_seconds = keep_days * DAY_SECONDS
        self._keep_seconds_by_tag = {tag: days * DAY_SECONDS for tag, days in chains_keep_days.items()}
        self._audit_keep_seconds = audit_keep_days * DAY_SECONDS

    async def tick(self) -> float:
        if self._yields_to_server and await self._database.read(has_server):
            return REST_SECONDS
        pruned = await self._database.write(prune_runs, keep_seconds=self._keep_seconds)
        await asyncio.to_thread(_unlink, pruned.log_paths)
        flow_runs = await self._database.write(prune_flow_runs, keep_seconds=self._keep_seconds)
        chain_runs = await self._database.write(
            prune_chain_runs, keep_seconds=self._keep_seconds, by_tag=self._keep_seconds_by_tag
        )
        await asyncio.to_thread(_unlink, chain_runs.log_paths)
        calls = await self._database.write(prune_audit, keep_seconds=self._audit_keep_seconds)
        repeats = await self._database.write(prune_calls)
        messages = await self._database.write(prune_messages, keep_seconds=self._keep_seconds)
        if pruned.runs or flow_runs or chain_runs.runs or calls or repeats or messages:
            return BREATH_SECONDS
        await self._database.write(
            prune_ledger, keep_seconds=self._keep_seconds, keep_moves_seconds=KEEP_MOVES_DAYS * DAY_SECONDS
        )
        return REST_SECONDS


def _unlink(paths: Sequence[str]) -> None:
    for path in paths:
        Path(path).unlink(missing_ok=True)
