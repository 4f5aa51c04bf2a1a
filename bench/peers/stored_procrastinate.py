"""Procrastinate on the stored workload (W4): jobs deferred with `schedule_at`, each of which defers its next one.

Its periodic tasks are no stored schedules: they are declared in the worker's code, one cron expression each, and kept
in its memory. So a recurring schedule is a stored job with `scheduled_at` that defers itself anew when it runs. Nobody
is notified of a job whose time has come: the worker polls, here ten times a second (its default is every 5 s).
"""

import asyncio
import logging
import time
from datetime import UTC, datetime

import procrastinate

from bench.peers.stored_window import Work, asked, measured, note, tell

CONCURRENCY = 10
POLL_SECONDS = 0.1
FILL = """
INSERT INTO procrastinate_jobs (queue_name, task_name, args, scheduled_at)
SELECT 'default', 'stored', jsonb_build_object('slot', n / {due}), to_timestamp({base} + n / {due})
FROM generate_series(0, {count} - 1) n
"""


def app_of(work: Work) -> procrastinate.App:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=work.url))

    @app.task(name="stored", queue="default")
    async def stored(slot: int) -> None:
        note(slot)
        at = datetime.fromtimestamp(work.base + slot + work.period, UTC)
        await stored.configure(schedule_at=at).defer_async(slot=slot + work.period)

    return app


async def fill(work: Work, app: procrastinate.App) -> None:
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        statement = FILL.format(due=work.due, base=work.base, count=work.count)
        await app.connector.execute_query_async(statement)


async def run(work: Work, app: procrastinate.App) -> None:
    async with app.open_async():
        worker = asyncio.create_task(
            app.run_worker_async(
                concurrency=CONCURRENCY, fetch_job_polling_interval=POLL_SECONDS, install_signal_handlers=False
            )
        )
        tell(await asyncio.to_thread(measured, work))
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


def main() -> None:
    work, began = asked(), time.perf_counter()
    logging.disable(logging.CRITICAL)
    app = app_of(work)
    asyncio.run(fill(work, app) if work.step == "fill" else run(work, app))
    if work.step == "fill":
        tell({"fill_seconds": time.perf_counter() - began})


if __name__ == "__main__":
    main()
