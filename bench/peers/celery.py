"""Celery with Redis as its broker and result backend: one worker of two processes, as many as the machine has cores.

Without gossip, mingle and heartbeat, and a prefetch of 64 for each process, since the tasks are short. A later time is
an `eta`, which the worker keeps in its memory after it has taken the message. It has no batches: a `group` is sent
message by message, and took twice as long as its tasks by themselves when it was tried. A job is done when its result is in Redis; results are left out where nobody looks for them. Redis
syncs its file once a second, so that a second of what was acknowledged may be lost: PostgreSQL's peers wait for the disk.
"""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

import celery
from celery.signals import worker_process_init

from bench.peers import measures
from bench.peers.marks import MARKS_FILE, FileMarks
from bench.peers.workers import warm_up, worker

URL, RESULTS = "BENCH_CELERY_URL", "BENCH_CELERY_RESULTS"  # in the environment of the worker
PROCESSES = str(os.cpu_count())
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--prefetch-multiplier", "64", "-l", "error"]

app = celery.Celery("bench", broker=os.environ.get(URL), backend=os.environ.get(URL) if os.environ.get(RESULTS) else None)
app.conf.update(task_ignore_result=not os.environ.get(RESULTS), broker_connection_retry_on_startup=True)
seen: list[FileMarks] = []


@worker_process_init.connect
def open_marks(**_: object) -> None:
    if MARKS_FILE in os.environ:
        seen.append(FileMarks.of_environment())


@app.task
def noop() -> None:
    seen[0].mark()


def burst(given: Namespace) -> Mapping[str, float]:
    with _worker() as marks:
        warm_up(noop.delay, marks)
        at = measures.instant(given.count, 0.0012)
        eta = datetime.fromtimestamp(at, UTC)
        for _ in range(given.count):
            noop.apply_async(eta=eta)
        measures.check_lead(at)
        measures.wait_for(marks.count, given.count, 0.02)
        return measures.burst_figures(marks.all(), at)


def latency(given: Namespace) -> Mapping[str, float]:
    with _worker() as marks:
        warm_up(noop.delay, marks)
        return measures.one_at_a_time(given.count, noop.delay, marks.nth)


def submit(given: Namespace) -> Mapping[str, float]:
    with _worker() as marks:
        warm_up(noop.delay, marks)
        kept: Any = app.backend.client
        kept.flushdb()
        began = time.perf_counter()
        for _ in range(given.count):
            noop.delay()
        measures.wait_for(marks.count, given.count, 0.02)
        measures.wait_for(lambda: sum(1 for _ in kept.scan_iter("celery-task-meta-*", count=10_000)), given.count, 0.02)
        return {"jobs_per_second": given.count / (time.perf_counter() - began)}


def _worker() -> AbstractContextManager[FileMarks]:
    command = [sys.executable, "-m", "celery", "-A", "bench.peers.celery", "worker", "-c", PROCESSES, *QUIET]
    return worker("", "", command)


if __name__ == "__main__":
    # The application is made from the environment, here as in the worker: once more, with what the order says.
    order = sys.argv[1:]
    if URL not in os.environ:
        results = {RESULTS: "yes"} if order[0] == "submit" else {}
        os.environ.update({URL: order[order.index("--url") + 1], **results})
        os.execv(sys.executable, [sys.executable, "-m", "bench.peers.celery", *order])
    import bench.peers.celery as mine  # the module that the tasks are named after

    measures.main({"burst": mine.burst, "latency": mine.latency, "submit": mine.submit})
