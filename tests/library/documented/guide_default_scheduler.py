"""A scheduler as it comes has a store in memory and ten threads, both named `default`.

Prints:
    executor default
    job store default
    ten jobs at once
"""

from threading import Barrier

from waterclock.events import EVENT_EXECUTOR_ADDED, EVENT_JOBSTORE_ADDED, SchedulerEvent
from waterclock.schedulers.background import BackgroundScheduler

together = Barrier(11)


def meet_the_others() -> None:
    together.wait(10)


def show(event: SchedulerEvent) -> None:
    print("executor" if event.code == EVENT_EXECUTOR_ADDED else "job store", event.alias)


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.add_listener(show, EVENT_EXECUTOR_ADDED | EVENT_JOBSTORE_ADDED)
    for _ in range(10):
        scheduler.add_job(meet_the_others, misfire_grace_time=None)
    scheduler.start()
    together.wait(10)
    print("ten jobs at once")
    scheduler.shutdown()
