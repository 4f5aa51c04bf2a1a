"""Celery with Redis, whose tasks run a script: 4 worker processes, exit code and output kept as the task's result.

By themselves, and as chains of 3 groups of 3.
"""

import contextlib
import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping

from celery import Celery, chain, group  # type: ignore[import-not-found,import-untyped,unused-ignore]

from bench.peers import measures, trivial

URL = "BENCH_CELERY_URL"
LEVELS, STEPS = 3, 3
WORKER = [sys.executable, "-m", "celery", "-A", "bench.peers.celery_scripts", "worker", "-c", str(trivial.AT_ONCE)]
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "error"]

app = Celery("bench", broker=os.environ.get(URL), backend=os.environ.get(URL))


@app.task(name="run")  # type: ignore[untyped-decorator,unused-ignore]
def run(path: str) -> list[object]:
    return trivial.run(path)


def scripts(given: Namespace) -> Mapping[str, float]:
    with _working(given.url) as script:
        began = time.perf_counter()
        sent = [run.delay(script) for _ in range(given.count)]
        ended = [each.get(timeout=measures.PATIENCE_SECONDS) for each in sent]
        seconds = time.perf_counter() - began
    trivial.check(ended, given.count)
    return {"runs_per_second": given.count / seconds}


def chains(given: Namespace) -> Mapping[str, float]:
    """Levels of steps: the groups of a chain, each of which begins when the one before it has ended."""
    with _working(given.url) as script:
        level = [run.si(script)] * STEPS
        began = time.perf_counter()
        sent = [chain(*[group(level)] * LEVELS).apply_async() for _ in range(given.count)]
        ended = [step for each in sent for step in each.get(timeout=measures.PATIENCE_SECONDS)]
        seconds = time.perf_counter() - began
    trivial.check(ended, given.count * STEPS)  # those of the last level, which none would have without the others
    rate = given.count / seconds
    return {"chains_per_second": rate, "steps_per_second": rate * LEVELS * STEPS}


@contextlib.contextmanager
def _working(url: str) -> Iterator[str]:
    """The path of the script, once a worker is up and has run it in each of its processes."""
    app.conf.update(broker_url=url, result_backend=url)
    worker = subprocess.Popen([*WORKER, *QUIET], env={**os.environ, URL: url}, stdout=subprocess.DEVNULL)
    try:
        with trivial.script() as script:
            for warming in [run.delay(str(script)) for _ in range(trivial.AT_ONCE)]:
                warming.get(timeout=measures.PATIENCE_SECONDS)
            yield str(script)
    finally:
        worker.terminate()
        worker.wait(30)


if __name__ == "__main__":
    measures.main({"scripts": scripts, "chains": chains})
