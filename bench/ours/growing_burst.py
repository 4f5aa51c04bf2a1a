"""Our side of the growth of W1, in a process of its own: jobs due at one instant, others stored beside them."""

import argparse
import asyncio
import logging
import time
from datetime import UTC, datetime

from bench.ours.stored import KEEPER, recurring
from bench.peers.stored_window import Work, begun, tell, tree_cpu_seconds
from waterclock.domain.library import LibraryJob
from waterclock.faces.library.keeping import Declared
from waterclock.jobstores.sql import TABLE, namespace_of
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.library import add_library_jobs
from waterclock.triggers.date import DateTrigger

AT_ONCE = 2_000
FAR_SECONDS = 86_400  # until the first of those that are only stored is due
LEAD_SECONDS = 25  # from the end of the filling to the instant, at least
PATIENCE_SECONDS = 120


def one_shot(number: int, at: int) -> LibraryJob:
    due = datetime.fromtimestamp(at, UTC)
    return KEEPER.kept(
        Declared(
            id=f"once-{number}",
            name="note",
            func=None,
            func_ref="bench.peers.stored_window:note",
            args=(0,),
            trigger=DateTrigger(run_date=due, timezone=UTC),
            misfire_grace_time=3_600,
            next_run_time=due,
        ),
        namespace_of(TABLE),
    )


async def fill(url: str, due: int, beside: int) -> int:
    """What is only stored first; how long that takes tells how far away the instant of the others must be."""
    database = database_from_url(url)
    await database.open()
    try:
        await database.migrate()
        far = int(time.time()) + FAR_SECONDS
        stored = Work(step="fill", url=url, count=max(beside, 50), due=50, seconds=1, base=far, postmaster=0)
        for first in range(0, beside, AT_ONCE):
            await _add(database, [recurring(stored, n) for n in range(first, min(first + AT_ONCE, beside))])
        began, trial = time.time(), min(due, AT_ONCE) // 2
        await _add(database, [recurring(stored, beside + n) for n in range(trial)])
        at = int(time.time() + LEAD_SECONDS + 3 * (time.time() - began) / trial * due)
        for first in range(0, due, AT_ONCE):
            await _add(database, [one_shot(n, at) for n in range(first, min(first + AT_ONCE, due))])
        return at
    finally:
        await database.close()


async def _add(database: Database, jobs: list[LibraryJob]) -> None:
    await database.write(add_library_jobs, namespace=namespace_of(TABLE), jobs=jobs)


def burst(url: str, due: int, at: int, postmaster: int) -> dict[str, float]:
    logging.disable(logging.CRITICAL)
    scheduler = BackgroundScheduler(jobstores={"default": {"type": "sql", "url": url}}, timezone="UTC")
    scheduler.start()
    if time.time() > at - 1:
        raise SystemExit("filling took longer than it was given")
    time.sleep(at - 1 - time.time())
    before = time.process_time(), tree_cpu_seconds(postmaster)
    while len(begun) < due:
        if time.time() > at + PATIENCE_SECONDS:
            raise SystemExit(f"only {len(begun)} of {due} began within {PATIENCE_SECONDS} s")
        time.sleep(0.05)
    scheduler.shutdown()  # all ends are recorded then
    python, database = time.process_time() - before[0], tree_cpu_seconds(postmaster) - before[1]
    late = sorted(when - at for when, _ in begun)
    return {
        "fires_per_second": due / late[-1],
        "lateness_p50_ms": 1_000 * late[due // 2],
        "lateness_p99_ms": 1_000 * late[int(due * 0.99)],
        "python_us_per_fire": 1e6 * python / due,
        "database_us_per_fire": 1e6 * database / due,
        "cpu_us_per_fire": 1e6 * (python + database) / due,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["fill", "run"])
    parser.add_argument("--url", required=True)
    for name in ("due", "beside", "at", "postmaster"):
        parser.add_argument(f"--{name}", type=int, default=0)
    given = parser.parse_args()
    if given.step == "fill":
        tell({"at": asyncio.run(fill(given.url, given.due, given.beside))})
        return
    tell(burst(given.url, given.due, given.at, given.postmaster))


if __name__ == "__main__":
    main()
