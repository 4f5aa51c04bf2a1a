"""The rescuer: decides the runs of lost workers once their leases are over and their processes dead."""

import logging
from collections.abc import Mapping
from typing import Final

from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Database
from waterclock.stores.ops.claiming import rescue
from waterclock.stores.ops.ending import GUARDED_EVERYWHERE

log: Final = logging.getLogger("waterclock.engine")

BATCH: Final = 500


class Rescuer:
    name = "rescuer"

    def __init__(
        self,
        database: Database,
        *,
        margin_seconds: float,
        every_seconds: float,
        rules: Mapping[str, FireRules] = GUARDED_EVERYWHERE,
        namespace: str | None = None,
    ) -> None:
        self._database = database
        self._rules = rules
        self._namespace = namespace  # None: all of them
        self._margin_seconds = margin_seconds
        self._every_seconds = every_seconds

    async def tick(self) -> float:
        rescued = await self._database.write(
            rescue,
            margin_seconds=self._margin_seconds,
            limit=BATCH,
            rules=self._rules,
            namespace=self._namespace,
        )
        if rescued:
            log.warning("%d attempt(s) of lost workers were decided", len(rescued))
        return 0.0 if len(rescued) == BATCH else self._every_seconds
