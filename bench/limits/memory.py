"""A heap, a condition and a thread that waits for what is due: the least that a scheduler in memory does."""

import heapq
import threading
import time
from argparse import Namespace
from collections.abc import Mapping

from bench.peers import marks, measures


class Heap:
    """Calls the no-op for each due instant, in a thread of its own."""

    def __init__(self) -> None:
        self._due: list[float] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._serve, daemon=True).start()

    def add(self, at: float) -> None:
        with self._changed:
            heapq.heappush(self._due, at)
            self._changed.notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                while not self._due or self._due[0] > time.time():
                    self._changed.wait(self._due[0] - time.time() if self._due else None)
                heapq.heappop(self._due)
            marks.mark()


def burst(given: Namespace) -> Mapping[str, float]:
    heap, at = Heap(), measures.instant(given.count, 0.00001)
    for _ in range(given.count):
        heap.add(at)
    measures.check_lead(at)
    measures.wait_for(lambda: len(marks.begins), given.count)
    return measures.burst_figures(marks.begins, at)


def latency(given: Namespace) -> Mapping[str, float]:
    heap = Heap()
    return measures.one_at_a_time(given.count, lambda: heap.add(time.time()), marks.nth)


if __name__ == "__main__":
    measures.main({"burst": burst, "latency": latency})
