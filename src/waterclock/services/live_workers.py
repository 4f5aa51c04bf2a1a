"""The workers that live: read once a second, however many ask."""

from collections.abc import Sequence
from typing import Final

from waterclock import clock
from waterclock.domain.placement import Worker
from waterclock.stores.base import Database
from waterclock.stores.ops.placing import workers_alive

ALIVE_SECONDS: Final = 30.0  # a worker that was silent for longer is not counted on
REMEMBER_SECONDS: Final = 1.0


class LiveWorkers:
    """Good enough to say what a run waits for; nothing is decided by them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: Sequence[Worker] = ()
        self._known_until = 0.0

    async def alive(self) -> Sequence[Worker]:
        if clock.monotonic() >= self._known_until:
            until = clock.monotonic() + REMEMBER_SECONDS
            self._found = await self._database.read(workers_alive, within_seconds=ALIVE_SECONDS)
            self._known_until = until
        return self._found
