"""The ticker: fires what is due, in batches, and sleeps until the next due instant."""

from collections.abc import Callable, Mapping
from typing import Final

from waterclock.domain.moment import SECOND
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Database
from waterclock.stores.ops.firing import Fired, fire_due

BATCH: Final = 1_000
LONGEST_REST_SECONDS: Final = 5.0  # the safety net, should a wake-up be lost


class Ticker:
    """Needs no leader: any number of schedulers may tick, each due trigger is fired by one of them."""

    name = "ticker"

    def __init__(
        self, database: Database, rules: Mapping[str, FireRules], *, fired: Callable[[Fired], None] | None = None
    ) -> None:
        self._database = database
        self._rules = rules
        self._fired = fired

    async def tick(self) -> float:
        fired = await self._database.write(fire_due, limit=BATCH, rules=self._rules)
        if self._fired and fired.triggers:
            self._fired(fired)
        return rest_until_due(fired)


def rest_until_due(fired: Fired) -> float:
    """Until the next instant by the database's clock; none at all while more is due."""
    if fired.next_due_at is None:
        return LONGEST_REST_SECONDS
    return min(max(0.0, (fired.next_due_at - fired.now) / SECOND), LONGEST_REST_SECONDS)
