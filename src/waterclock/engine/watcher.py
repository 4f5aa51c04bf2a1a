"""The watcher: writes a message about each run that takes longer than its job said it would."""

import logging
from typing import Final

from waterclock.stores.base import Database
from waterclock.stores.ops.messages import PAGE, tell_of_late_runs

log: Final = logging.getLogger("waterclock.engine")


class Watcher:
    name = "watcher"

    def __init__(self, database: Database, *, every_seconds: float) -> None:
        self._database = database
        self._every_seconds = every_seconds

    async def tick(self) -> float:
        late = await self._database.write(tell_of_late_runs)
        for wire_id in late:
            log.warning("run %s takes longer than its job said", wire_id)
        return 0.0 if len(late) == PAGE else self._every_seconds
