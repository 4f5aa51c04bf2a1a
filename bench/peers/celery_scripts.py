"""Celery with Redis, whose tasks run a script: 4 worker processes, exit code and output kept as the task's result."""

import os
import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Mapping

from celery import Celery  # type: ignore[import-not-found,import-untyped,unused-ignore]

from bench.peers import measures, trivial

URL = "BENCH_CELERY_URL"
WORKER = [sys.executable, "-m", "celery", "-A", "bench.peers.celery_scripts", "worker", "-c", str(trivial.AT_ONCE)]
QUIET = ["--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "error"]

app = Celery("bench", broker=os.environ.get(URL), backend=os.environ.get(URL))


@app.task(name="run")  # type: ignore[untyped-decorator,unused-ignore]
def run(path: str) -> list[object]:
    return trivial.run(path)


def scripts(given: Namespace) -> Mapping[str, float]:
    app.conf.update(broker_url=given.url, result_backend=given.url)
    worker = subprocess.Popen([*WORKER, *QUIET], env={**os.environ, URL: given.url}, stdout=subprocess.DEVNULL)
    try:
        with trivial.script() as script:
            for warming in [run.delay(str(script)) for _ in range(trivial.AT_ONCE)]:
                warming.get(timeout=measures.PATIENCE_SECONDS)
            began = time.perf_counter()
            sent = [run.delay(str(script)) for _ in range(given.count)]
            ended = [each.get(timeout=measures.PATIENCE_SECONDS) for each in sent]
            seconds = time.perf_counter() - began
    finally:
        worker.terminate()
        worker.wait(30)
    trivial.check(ended, given.count)
    return {"runs_per_second": given.count / seconds}


if __name__ == "__main__":
    measures.main({"scripts": scripts})
