"""Clients that ask for runs while a fault goes on: each call is for a work of its own, and its answer is kept."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.chaos.cluster import Cluster
from waterclock.chaos.checker import Answer

PAUSE_SECONDS = 0.1  # between two calls of one client


class Callers:
    def __init__(self, cluster: Cluster, job: str, glue: Any) -> None:
        self._cluster = cluster
        self._job = job
        self._glue = glue
        self._enough = threading.Event()

    @property
    def answers(self) -> Counter[Answer]:
        return Counter(dict(self._cluster.calls).values())

    def call_on(self, client: int) -> None:
        number = 0
        while not self._enough.is_set():
            self._cluster.call(f"{self._job}-{client}-{number}", self._job, glue=self._glue)
            number += 1
            self._enough.wait(PAUSE_SECONDS)

    def stop(self) -> None:
        self._enough.set()


@contextmanager
def calling(cluster: Cluster, job: str = "called", *, clients: int = 2, glue: Any = None) -> Iterator[Callers]:
    """StartJobRun of a job that is made here, again and again; one client's retries are the SDK's own."""
    cluster.job(job)
    callers = Callers(cluster, job, glue or cluster.glue())
    threads = [threading.Thread(target=callers.call_on, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield callers
    finally:
        callers.stop()
        for thread in threads:
            thread.join()
