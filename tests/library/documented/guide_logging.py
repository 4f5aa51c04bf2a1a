"""What the scheduler does is told to the logger of the package, at the level DEBUG in full.

Prints:
    scheduler: Scheduler started
    scheduler: Scheduler has been shut down
    and its jobs are named
"""

import logging
from threading import Event

from waterclock.events import EVENT_JOB_EXECUTED
from waterclock.schedulers.background import BackgroundScheduler


class Kept(logging.Handler):
    """Keeps the records, to be shown in an order that does not depend on the threads."""

    def __init__(self) -> None:
        super().__init__()
        self.lines = list[tuple[str, str]]()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.name.partition(".")[2], record.getMessage()))


if __name__ == "__main__":
    kept = Kept()
    logging.basicConfig(handlers=[kept])
    logging.getLogger("waterclock").setLevel(logging.DEBUG)
    scheduler = BackgroundScheduler()
    ended = Event()
    scheduler.add_listener(lambda event: ended.set(), EVENT_JOB_EXECUTED)
    scheduler.add_job("os:getpid", "interval", seconds=0.05, name="my job")
    scheduler.start()
    assert ended.wait(10)
    scheduler.shutdown()
    for name, line in kept.lines:
        if line in ("Scheduler started", "Scheduler has been shut down"):
            print(f"{name}: {line}")
    if any("my job" in line for _, line in kept.lines):
        print("and its jobs are named")
