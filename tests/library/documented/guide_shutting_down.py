"""A shutdown waits for the jobs that are running, or does not; either way nothing starts after it.

Prints:
    waited: finished True
    did not wait: finished False
    jobs that are still to come: 1
"""

from threading import Event

from waterclock.schedulers.background import BackgroundScheduler

begun, released, finished = Event(), Event(), Event()


def work() -> None:
    begun.set()
    released.wait(0.2 if waits else 10)
    finished.set()


def running_scheduler() -> BackgroundScheduler:
    begun.clear()
    finished.clear()
    scheduler = BackgroundScheduler()
    scheduler.add_job(work, misfire_grace_time=None)
    scheduler.start()
    assert begun.wait(10)
    return scheduler


if __name__ == "__main__":
    waits = True
    running_scheduler().shutdown()
    print("waited: finished", finished.is_set())
    waits = False
    running_scheduler().shutdown(wait=False)
    print("did not wait: finished", finished.is_set())
    released.set()

    scheduler = BackgroundScheduler()
    scheduler.add_jobstore("sqlalchemy", url="sqlite:///jobs.sqlite")
    scheduler.add_job("os:getpid", "interval", hours=1)
    scheduler.start()
    scheduler.shutdown()
    scheduler.start()
    print("jobs that are still to come:", len(scheduler.get_jobs()))
    scheduler.shutdown()
