"""One side of `bench library`, in a process of its own: PACKAGE JOBS URL generous|default."""

import importlib
import itertools
import json
import logging
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

PATIENCE_SECONDS = 300.0

ended = threading.Event()
numbers = itertools.count(1)
expected: list[int] = []


def one() -> None:
    if next(numbers) == expected[0]:
        ended.set()


def main(package: str, jobs: int, url: str, grace: str) -> None:
    expected.append(jobs)
    logging.disable(logging.CRITICAL)  # APScheduler tells every missed run
    options: dict[str, Any] = {"timezone": "UTC"}
    if url:
        options["jobstores"] = {"default": {"type": "sqlalchemy", "url": url}}
    if grace == "generous":
        options["job_defaults"] = {"misfire_grace_time": 3600}
    scheduler = importlib.import_module(f"{package}.schedulers.background").BackgroundScheduler(**options)
    missed = 0

    def miss(_: object) -> None:
        nonlocal missed
        missed += 1
        one()

    scheduler.add_listener(miss, importlib.import_module(f"{package}.events").EVENT_JOB_MISSED)
    scheduler.start(paused=True)
    due = datetime.now(UTC) + (timedelta(seconds=0) if grace == "generous" else timedelta(minutes=10))
    begun = time.perf_counter()
    for number in range(jobs):
        scheduler.add_job("library_burst:one", "date", run_date=due, id=f"job-{number}")
    added = time.perf_counter()
    if grace == "default":  # due now, not when the first of them was added
        now = datetime.now(UTC)
        for job in scheduler.get_jobs():
            job.modify(next_run_time=now)
    resumed = time.perf_counter()
    scheduler.resume()
    if not ended.wait(PATIENCE_SECONDS):
        raise SystemExit(f"only {next(numbers) - 1} of {jobs} ran in {PATIENCE_SECONDS:g} s")
    done = time.perf_counter()
    scheduler.shutdown()
    print(
        json.dumps(
            {"adds_per_second": jobs / (added - begun), "fires_per_second": jobs / (done - resumed), "missed": missed}
        )
    )


if __name__ == "__main__":
    import library_burst  # the module that the jobs name: its counters, not those of __main__

    library_burst.main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
