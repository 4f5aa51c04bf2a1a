"""Huey with Redis, whose tasks run a script: 4 worker threads, exit code and output kept as the task's result."""

import time
from argparse import Namespace
from collections.abc import Mapping

from huey import RedisHuey  # type: ignore[import-not-found,import-untyped,unused-ignore]

from bench.peers import measures, trivial


def scripts(given: Namespace) -> Mapping[str, float]:
    huey = RedisHuey("bench", url=given.url)
    run = huey.task()(trivial.run)
    consumer = huey.create_consumer(workers=trivial.AT_ONCE, worker_type="thread", initial_delay=0.01, max_delay=0.01)
    consumer.start()
    with trivial.script() as script:
        run(str(script))(blocking=True, timeout=measures.PATIENCE_SECONDS)
        began = time.perf_counter()
        sent = [run(str(script)) for _ in range(given.count)]
        ended = [each(blocking=True, timeout=measures.PATIENCE_SECONDS, max_delay=0.01) for each in sent]
        seconds = time.perf_counter() - began
    consumer.stop(graceful=False)
    trivial.check(ended, given.count)
    return {"runs_per_second": given.count / seconds}


if __name__ == "__main__":
    measures.main({"scripts": scripts})
