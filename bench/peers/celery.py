"""Celery with Redis as its broker and result backend: one worker of two processes, as many as the machine has cores.

Without gossip, mingle and heartbeat, and with a prefetch of 64 for each process, since the tasks are short. A later
time is an `eta`, which the worker keeps in its memory after it has taken the message. It has no batches: a `group` is
sent message by message, and was no faster than its tasks by themselves when it was tried once. A job is done when its
result is in Redis; results are left out where nobody looks for them. Redis syncs its file once a second, so that a
second of what was acknowledged may be lost: PostgreSQL's peers wait for the disk.
"""

import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from bench.peers import measures
from bench.peers.marks import FileMarks
from bench.peers.workers import warm_up, worker

URL, RESULTS = "BENCH_CELERY_URL", "BENCH_CELERY_RESULTS"  # of bench.peers.celery_app
TRIAL = 200
PROCESSES = str(os.cpu_count())
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--prefetch-multiplier", "64", "-l", "error"]
WORKER = [sys.executable, "-m", "celery", "-A", "bench.peers.celery_app", "worker", "-c", PROCESSES, *QUIET]


def burst(given: Namespace) -> Mapping[str, float]:
    with _working(given.url) as (marks, noop):
        at = measures.instant(given.count, _seconds_each(marks, noop))
        eta = datetime.fromtimestamp(at, UTC)
        for _ in range(given.count):
            noop.apply_async(eta=eta)
        measures.check_lead(at)
        measures.wait_for(marks.count, given.count, 0.02)
        return measures.burst_figures(marks.all(), at)


def _seconds_each(marks: FileMarks, noop: Any) -> float:
    began = time.perf_counter()
    for _ in range(TRIAL):
        noop.delay()
    seconds = time.perf_counter() - began
    measures.wait_for(marks.count, TRIAL)
    marks.clear()
    return seconds / TRIAL


def latency(given: Namespace) -> Mapping[str, float]:
    with _working(given.url) as (marks, noop):
        return measures.one_at_a_time(given.count, noop.delay, marks.nth)


def submit(given: Namespace) -> Mapping[str, float]:
    with _working(given.url, RESULTS) as (marks, noop):
        kept = noop.app.backend.client
        kept.flushdb()
        began = time.perf_counter()
        for _ in range(given.count):
            noop.delay()
        measures.wait_for(marks.count, given.count, 0.02)
        measures.wait_for(lambda: sum(1 for _ in kept.scan_iter("celery-task-meta-*", count=10_000)), given.count, 0.02)
        return {"jobs_per_second": given.count / (time.perf_counter() - began)}


@contextmanager
def _working(url: str, *settings: str) -> Iterator[tuple[FileMarks, Any]]:
    """The marks of a worker that is up, and the task to submit."""
    os.environ.update({URL: url, **dict.fromkeys(settings, "yes")})
    from bench.peers.celery_app import noop  # not before the environment is there

    with worker("", "", WORKER) as marks:
        warm_up(noop.delay, marks)
        yield marks, noop


if __name__ == "__main__":
    measures.main({"burst": burst, "latency": latency, "submit": submit})
