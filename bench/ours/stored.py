"""Our side of the stored workload (W4), in a process of its own: the library's scheduler on a database."""

import asyncio
import logging
import time
from datetime import UTC, datetime

from bench.peers.stored_window import Work, asked, measured, tell
from waterclock.domain.library import LibraryJob
from waterclock.faces.library.keeping import Declared, TextKeeper
from waterclock.faces.library.serializers import JsonSerializer
from waterclock.jobstores.sql import TABLE, namespace_of
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.library import add_library_jobs
from waterclock.triggers.interval import IntervalTrigger

AT_ONCE = 2_000  # jobs in a transaction
KEEPER = TextKeeper(JsonSerializer())


def recurring(work: Work, number: int) -> LibraryJob:
    """As `add_job` would keep it."""
    first = datetime.fromtimestamp(work.base + work.slot(number), UTC)
    return KEEPER.kept(
        Declared(
            id=f"stored-{number}",
            name="note",
            func=None,
            func_ref="bench.peers.stored_window:note",
            args=(work.slot(number),),
            trigger=IntervalTrigger(seconds=work.period, start_date=first, timezone=UTC),
            misfire_grace_time=3_600,
            next_run_time=first,
        ),
        namespace_of(TABLE),
    )


async def fill(work: Work) -> None:
    database = database_from_url(work.url)
    await database.open()
    try:
        await database.migrate()
        for first in range(0, work.count, AT_ONCE):
            jobs = [recurring(work, number) for number in range(first, min(first + AT_ONCE, work.count))]
            await database.write(add_library_jobs, namespace=namespace_of(TABLE), jobs=jobs)
    finally:
        await database.close()


def main() -> None:
    work = asked()
    if work.step == "fill":
        began = time.perf_counter()
        asyncio.run(fill(work))
        tell({"fill_seconds": time.perf_counter() - began})
        return
    logging.disable(logging.CRITICAL)
    scheduler = BackgroundScheduler(jobstores={"default": {"type": "sql", "url": work.url}}, timezone="UTC")
    scheduler.start()
    tell(measured(work))
    scheduler.shutdown()


if __name__ == "__main__":
    main()
