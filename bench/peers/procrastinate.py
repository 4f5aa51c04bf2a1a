"""Procrastinate: an asynchronous task, its worker in a process of its own with concurrency 30 and LISTEN/NOTIFY.

`batch_defer_async` for batches. A job for a later time is found by polling alone, every 5 s by default: here every
50 ms. A job is done when its row says `succeeded`; none are deleted. The schedules of a burst come in batches.
"""

import asyncio
import time
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import procrastinate

from bench.peers import measures
from bench.peers.marks import FileMarks
from bench.peers.workers import warm_up, worker

MODULE = "bench.peers.procrastinate"
CONCURRENCY = 30
POLL_SECONDS = 0.05


def app_of(url: str, marks: FileMarks | None = None) -> Any:
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, max_size=CONCURRENCY + 2))

    @app.task(name="noop")
    async def noop() -> None:
        if marks:
            marks.mark()

    return app


def work(given: Namespace) -> Mapping[str, float]:
    asyncio.run(_work(app_of(given.url, FileMarks.of_environment())))
    return {}


async def _work(app: Any) -> None:
    async with app.open_async():
        await app.run_worker_async(concurrency=CONCURRENCY, fetch_job_polling_interval=POLL_SECONDS)


def burst(given: Namespace) -> Mapping[str, float]:
    with asyncio.Runner() as runner, _Client(given.url, runner) as client, worker(MODULE, given.url) as marks:
        warm_up(client.submit, marks)
        at = measures.instant(given.count, 0.0005)
        client.submit_many(given.count, 1000, schedule_at=datetime.fromtimestamp(at, UTC))
        measures.check_lead(at)
        measures.wait_for(marks.count, given.count, 0.05)
        return measures.burst_figures(marks.all(), at)


def latency(given: Namespace) -> Mapping[str, float]:
    with asyncio.Runner() as runner, _Client(given.url, runner) as client, worker(MODULE, given.url) as marks:
        warm_up(client.submit, marks)
        return measures.one_at_a_time(given.count, client.submit, marks.nth)


def submit(given: Namespace) -> Mapping[str, float]:
    with asyncio.Runner() as runner, _Client(given.url, runner) as client, worker(MODULE, given.url) as marks:
        warm_up(client.submit, marks)
        began = time.perf_counter()
        if given.batch:
            client.submit_many(given.count, given.batch)
        else:
            for _ in range(given.count):
                client.submit()
        measures.wait_for(marks.count, given.count, 0.02)
        measures.wait_for(client.done, given.count + 1, 0.02)  # with the one that warmed it up
        return {"jobs_per_second": given.count / (time.perf_counter() - began)}


class _Client:
    """Who submits, in an event loop of its own."""

    def __init__(self, url: str, runner: asyncio.Runner) -> None:
        self._app, self._runner = app_of(url), runner

    def __enter__(self) -> "_Client":
        self._runner.run(self._app.open_async().__aenter__())
        self._runner.run(self._app.schema_manager.apply_schema_async())
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._app.close_async())

    def submit(self) -> None:
        self._runner.run(self._app.configure_task("noop").defer_async())

    def submit_many(self, count: int, size: int, **options: Any) -> None:
        for part in measures.batches(count, size):
            self._runner.run(self._app.configure_task("noop", **options).batch_defer_async(*[{}] * part))

    def done(self) -> int:
        asked = "SELECT count(*) FROM procrastinate_jobs WHERE status = 'succeeded'"
        return int(self._runner.run(self._app.connector.execute_query_one_async(asked))["count"])


if __name__ == "__main__":
    measures.main({"burst": burst, "latency": latency, "submit": submit, "work": work})
