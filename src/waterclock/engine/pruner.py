"""The pruner: throws away what ended long ago, with its logs, and old rows of the audit.

Whole partitions, where the database has some; what is left, and everything elsewhere, a page at a time. Chains' runs
are kept as long as the tag of their chain says.
"""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from waterclock.domain.moment import Moment
from waterclock.engine.retention import Retention
from waterclock.runners.log_store import LogStore
from waterclock.stores.base import Database
from waterclock.stores.ops import lake_locks
from waterclock.stores.ops.audit import prune_audit
from waterclock.stores.ops.chain_pruning import prune_chain_runs
from waterclock.stores.ops.library_reading import has_server
from waterclock.stores.ops.messages import prune_messages
from waterclock.stores.ops.pruning import prune_flow_runs, prune_ledger, prune_runs
from waterclock.stores.ops.repeats import prune_calls

DAY_SECONDS: Final = 86_400.0
KEEP_MOVES_DAYS: Final = 7.0
KEEP_LOCKS_DAYS: Final = 7.0
FIRST_SECONDS: Final = 5.0  # after a start, when the first calls and fires want the database
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
        log_store: LogStore | None = None,
    ) -> None:
        self._database = database
        self._yields_to_server = yields_to_server  # where there is one, it decides how long things are kept
        self._keep_seconds = keep_days * DAY_SECONDS
        self._keep_seconds_by_tag = {tag: days * DAY_SECONDS for tag, days in chains_keep_days.items()}
        self._audit_keep_seconds = audit_keep_days * DAY_SECONDS
        self._log_store = log_store
        self._until: Moment | None = None  # what partitions take with them; None: a new round begins
        self._retention = Retention(database, keep_days=keep_days, remove_logs=self._remove_some)
        self._logs: list[str] = []  # of runs that are pruned: until the store has removed them, no more are

    async def tick(self) -> float:
        if self._yields_to_server and await self._database.read(has_server):
            return REST_SECONDS
        await self._remove_logs()
        if self._until is None:
            self._until = await self._retention.drop_old()
        pruned = await self._database.write(prune_runs, keep_seconds=self._keep_seconds, until=self._until)
        self._logs += pruned.log_paths
        await self._remove_logs()
        flow_runs = await self._database.write(prune_flow_runs, keep_seconds=self._keep_seconds)
        chain_runs = await self._database.write(
            prune_chain_runs, keep_seconds=self._keep_seconds, by_tag=self._keep_seconds_by_tag
        )
        self._logs += chain_runs.log_paths
        await self._remove_logs()
        calls = await self._database.write(prune_audit, keep_seconds=self._audit_keep_seconds)
        repeats = await self._database.write(prune_calls)
        messages = await self._database.write(prune_messages, keep_seconds=self._keep_seconds)
        locks = await self._database.write(lake_locks.prune, keep_seconds=KEEP_LOCKS_DAYS * DAY_SECONDS)
        if pruned.runs or flow_runs or chain_runs.runs or calls or repeats or messages or locks:
            return BREATH_SECONDS
        ledger = await self._database.write(
            prune_ledger,
            keep_seconds=self._keep_seconds,
            keep_moves_seconds=KEEP_MOVES_DAYS * DAY_SECONDS,
            until=self._until,
        )
        if ledger:
            return BREATH_SECONDS
        self._until = None
        return REST_SECONDS

    async def _remove_logs(self) -> None:
        if self._logs:
            await self._remove_some(self._logs)
            self._logs = []

    async def _remove_some(self, paths: Sequence[str]) -> None:
        await asyncio.to_thread(self._remove, paths)

    def _remove(self, paths: Sequence[str]) -> None:
        """An absolute path is a file of this host, or of one that we cannot reach; a relative one is in the store."""
        for path in paths:
            if path.startswith("/"):
                Path(path).unlink(missing_ok=True)
        if self._log_store:
            self._log_store.remove([path for path in paths if not path.startswith("/")])
