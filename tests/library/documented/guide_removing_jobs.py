"""A job is removed by itself or by its id, is gone when its trigger has ended, and cannot be removed twice.

Prints:
    ['my_job_id', 'other']
    ['my_job_id']
    []
    'No job by the id of my_job_id was found'
    ran once: None
    after all were removed: []
"""

from threading import Event

from waterclock.events import EVENT_JOB_REMOVED
from waterclock.jobstores.base import JobLookupError
from waterclock.schedulers.background import BackgroundScheduler


def work() -> None:
    pass


def ids(scheduler: BackgroundScheduler) -> list[str]:
    return sorted(job.id for job in scheduler.get_jobs())


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.start()
    job = scheduler.add_job(work, "interval", minutes=2, id="other")
    scheduler.add_job(work, "interval", minutes=2, id="my_job_id")
    print(ids(scheduler))
    job.remove()
    print(ids(scheduler))
    scheduler.remove_job("my_job_id")
    print(ids(scheduler))
    try:
        scheduler.remove_job("my_job_id")
    except JobLookupError as error:
        print(error)

    removed = Event()
    scheduler.add_listener(lambda event: removed.set(), EVENT_JOB_REMOVED)
    scheduler.add_job(work, id="once")
    assert removed.wait(10)
    print("ran once:", scheduler.get_job("once"))

    scheduler.add_job(work, "interval", minutes=2)
    scheduler.add_job(work, "interval", minutes=2)
    scheduler.remove_all_jobs()
    print("after all were removed:", scheduler.get_jobs())
    scheduler.shutdown()
