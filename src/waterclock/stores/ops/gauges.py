"""How much there is to do, by queue, and who holds what: the numbers that `status` and monitors show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import Moment
from waterclock.stores.base import Row, Tx

OTHERS: Final = "(others)"
MOST_QUEUES: Final = 100  # that are told by name; what else there is counts as OTHERS


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLoad:
    """Live attempts of one queue."""

    queue: str
    waiting: int = 0  # held back by a cap or an earlier action
    starting: int = 0  # for a worker to take, or just taken
    running: int = 0
    oldest_due_at: Moment | None = None  # of what nobody has taken

    @property
    def total(self) -> int:
        return self.waiting + self.starting + self.running

    def oldest_us(self, now: Moment) -> int:
        """How long the oldest that nobody has taken is due; 0 where there is none."""
        return max(0, now - self.oldest_due_at) if self.oldest_due_at is not None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Leases:
    held: int = 0
    overdue: int = 0  # their worker is lost; a scheduler decides them once the margin is over


async def queue_loads(tx: Tx) -> Sequence[QueueLoad]:
    by_queue: dict[str, list[Row]] = {}
    for row in await tx.fetch("queue_loads"):
        by_queue.setdefault(row["queue"], []).append(row)
    return the_fullest(_load(queue, rows) for queue, rows in by_queue.items())


async def leases(tx: Tx) -> Leases:
    row = await tx.fetch_one("leases", {"now": await tx.now()})
    return Leases(held=row["held"], overdue=row["overdue"]) if row else Leases()


def the_fullest(loads: Iterable[QueueLoad]) -> Sequence[QueueLoad]:
    """By name; the others in one."""
    ordered = sorted(loads, key=lambda load: (-load.total, load.queue))
    kept, rest = ordered[:MOST_QUEUES], ordered[MOST_QUEUES:]
    return [*kept, together(OTHERS, rest)] if rest else kept


def together(name: str, loads: Sequence[QueueLoad]) -> QueueLoad:
    return QueueLoad(
        queue=name,
        waiting=sum(load.waiting for load in loads),
        starting=sum(load.starting for load in loads),
        running=sum(load.running for load in loads),
        oldest_due_at=min((load.oldest_due_at for load in loads if load.oldest_due_at is not None), default=None),
    )


def _load(queue: str, rows: Sequence[Row]) -> QueueLoad:
    def count(*states: str) -> int:
        return sum(row["count"] for row in rows if row["state"] in states)

    return QueueLoad(
        queue=queue,
        waiting=count("WAITING"),
        starting=count("STARTING"),
        running=count("RUNNING", "STOPPING"),
        oldest_due_at=min((row["oldest"] for row in rows if row["oldest"] is not None), default=None),
    )
