"""What placement is decided from: the workers that live, and what attempts that nobody has claimed ask for."""

from collections.abc import Sequence

from waterclock.domain.moment import Moment, seconds
from waterclock.domain.placement import Asked, Worker, why_waiting
from waterclock.stores.base import Row, Tx


async def live_workers(tx: Tx, *, since: Moment) -> list[Worker]:
    """Those that have beaten since then, and neither stop nor drain."""
    return [_worker(row) for row in await tx.fetch("live_workers", {"since": since})]


async def why_unclaimed(tx: Tx, *, attempt_ids: Sequence[int], within_seconds: float) -> dict[int, str]:
    """Why nobody has claimed them, where there is more to say than that they are new."""
    now = await tx.now()
    rows = await tx.fetch("asked_of_attempts", {"ids": list(attempt_ids), "now": now})
    if not rows:
        return {}
    workers = await live_workers(tx, since=now - seconds(within_seconds))
    found = {row["id"]: why_waiting(_asked(row), workers) for row in rows}
    return {attempt_id: why for attempt_id, why in found.items() if why}


def _worker(row: Row) -> Worker:
    return Worker(
        **{name: row[name] for name in ("host", "role", "slots", "running", "memory_mb", "org_id")},
        queues=_words(row["queues"]),
        labels=_words(row["labels"]),
    )


def _asked(row: Row) -> Asked:
    return Asked(**{name: row[name] for name in ("org_id", "queue", "labels", "role", "memory_mb")})


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
