"""What placement is decided from: the workers that live."""

from waterclock.domain.moment import Moment, seconds
from waterclock.domain.placement import Worker
from waterclock.stores.base import Row, Tx


async def live_workers(tx: Tx, *, since: Moment) -> list[Worker]:
    """Those that have beaten since then, and neither stop nor drain."""
    return [_worker(row) for row in await tx.fetch("live_workers", {"since": since})]


async def workers_alive(tx: Tx, *, within_seconds: float) -> list[Worker]:
    """The same, by the store's clock."""
    return await live_workers(tx, since=await tx.now() - seconds(within_seconds))


def _worker(row: Row) -> Worker:
    return Worker(
        **{name: row[name] for name in ("host", "role", "slots", "running", "memory_mb", "org_id")},
        queues=_words(row["queues"]),
        labels=_words(row["labels"]),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
