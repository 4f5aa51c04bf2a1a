"""The stopper: has what is STOPPING on this node killed. Time-outs are the keepers' own: they need no worker."""

from typing import Final

from waterclock.engine.attempt import Attempts
from waterclock.engine.work import Work

POLL_SECONDS: Final = 2.0


class Stopper:
    name = "stopper"

    def __init__(self, work: Work, attempts: Attempts, node: str) -> None:
        self._work = work
        self._attempts = attempts
        self._node = node

    async def tick(self) -> float:
        """Asking twice does no harm: a stop under way goes on."""
        attempt_ids = await self._work.stopping(self._node)
        if attempt_ids:
            await self._attempts.stop(attempt_ids)
        return POLL_SECONDS
