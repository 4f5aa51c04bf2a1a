"""The moves of one transaction, written as one row per organisation: what happened, in its order."""

from collections import defaultdict

from waterclock.domain.moment import Moment
from waterclock.stores.base import Tx, Values, When
from waterclock.stores.ops.rows import dumped


class Moves:
    """Gathers (attempt, from, to, reason) while an operation decides; `write` stores them."""

    def __init__(self) -> None:
        self._by_org: defaultdict[int, list[tuple[int, str | None, str, str | None]]] = defaultdict(list)

    def add(self, org_id: int, attempt_id: int, was: str | None, to: str, reason: str | None = None) -> None:
        self._by_org[org_id].append((attempt_id, was, to, reason))

    async def write(self, tx: Tx, now: Moment) -> None:
        await tx.run_together(self.batch(now))

    def batch(self, now: When) -> dict[str, list[Values]]:
        """For `run_together`."""
        return {
            "insert_transitions": [
                {"org_id": org_id, "at": now, "moves": dumped(moves)} for org_id, moves in self._by_org.items()
            ]
        }
