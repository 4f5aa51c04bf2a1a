"""Short words for programs with a scheduler: what their jobs do, what they hear of, and how they wait for it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from waterclock import clock
from waterclock.domain.schedule.moment import from_us
from waterclock.events import EVENT_ALL, SchedulerEvent
from waterclock.job import Job, JobRun
from waterclock.schedulers import SchedulerNotRunningError
from waterclock.schedulers.background import BackgroundScheduler
from waterclock.schedulers.base import BaseScheduler

T = TypeVar("T")
LONG: Final = 20.0  # a deadline, not a wait
LIVE: Final = ("WAITING", "STARTING", "RUNNING")
FAR: Final = datetime(2099, 1, 1, tzinfo=UTC)


def now() -> datetime:
    return from_us(clock.wall_us())


def ago(seconds: float) -> datetime:
    return now() - timedelta(seconds=seconds)


@contextmanager
def running(scheduler: BaseScheduler | None = None, **options: Any) -> Iterator[BaseScheduler]:
    """One in the background, unless another is given; shut down at the end, unless it was before."""
    scheduler = scheduler or BackgroundScheduler(**options)
    if not scheduler.running:
        scheduler.start()
    try:
        yield scheduler
    finally:
        with suppress(SchedulerNotRunningError):
            scheduler.shutdown()


class Work:
    """A callable that says when it has begun, and goes on until it may end."""

    def __init__(self, *, held: bool = True) -> None:
        self.begun = threading.Semaphore(0)
        self.times = 0  # it has ended
        self._may_end = threading.Event()
        if not held:
            self.release()

    def __call__(self) -> str:
        self.begun.release()
        assert self._may_end.wait(LONG)
        self.times += 1
        return "done"

    def release(self) -> None:
        self._may_end.set()

    def wait(self, times: int = 1) -> None:
        """Until it has begun so often."""
        for _ in range(times):
            assert self.begun.acquire(timeout=LONG)


class Ear:
    """A listener: `next` waits for an event."""

    def __init__(self, scheduler: BaseScheduler, mask: int = EVENT_ALL) -> None:
        self._heard: SimpleQueue[Any] = SimpleQueue()
        self._mask = mask
        scheduler.add_listener(self._heard.put, mask)

    def next(self, mask: int | None = None) -> Any:
        while True:
            event: SchedulerEvent = self._heard.get(timeout=LONG)
            if event.code & (self._mask if mask is None else mask):
                return event

    def all(self) -> list[Any]:
        """What has come so far."""
        return [self._heard.get() for _ in range(self._heard.qsize())]


def wait_until(found: Callable[[], T | None], *, why: str = "it never came") -> T:
    """Ask again and again; for what nobody tells."""
    until = clock.monotonic() + LONG
    rest = threading.Event()
    while not (answer := found()):
        assert clock.monotonic() < until, why
        rest.wait(0.005)
    return answer


def ended(job: Job, count: int = 1) -> list[JobRun]:
    """Its history, oldest first, once so many lines of it are final."""

    def lines() -> list[JobRun] | None:
        past = job.runs(limit=1_000)
        final = [line for line in past if line.state not in LIVE]
        return past[::-1] if len(final) >= count else None

    return wait_until(lines, why=f"{count} runs of {job} have not ended: {job.runs()}")


def wait_for_all(job: Job) -> None:
    """Until nothing of it runs, or waits to."""
    wait_until(lambda: not [line for line in job.runs(limit=1_000) if line.state in LIVE], why=f"{job} still runs")


def in_thread(do: Callable[[], T]) -> Callable[[], T]:
    """Begin it beside this thread; call what is returned to wait for it."""
    results: list[T] = []
    problems: list[BaseException] = []

    def work() -> None:
        try:
            results.append(do())
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def result() -> T:
        thread.join(LONG)
        assert not thread.is_alive(), "it does not come back"
        if problems:
            raise problems[0]
        return results[0]

    return result
