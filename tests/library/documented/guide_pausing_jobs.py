"""A paused job has no next run; a resumed one has, reckoned from now. Both by the job and by the scheduler.

Prints:
    True paused
    True scheduled
    True paused
    True scheduled
    added as paused: True
    its end has passed: removed
"""

from waterclock.job import Job
from waterclock.schedulers.background import BackgroundScheduler


def work() -> None:
    pass


def show(job: Job | None) -> None:
    assert job
    stored = scheduler.get_job("my_job_id")
    assert stored
    print(stored.next_run_time == job.next_run_time, "scheduled" if job.next_run_time else "paused")


if __name__ == "__main__":
    scheduler = BackgroundScheduler()
    scheduler.start()
    job = scheduler.add_job(work, "interval", minutes=2, id="my_job_id")
    show(job.pause())
    show(job.resume())
    show(scheduler.pause_job("my_job_id"))
    show(scheduler.resume_job("my_job_id"))

    paused = scheduler.add_job(work, "interval", minutes=2, next_run_time=None)
    print("added as paused:", paused.next_run_time is None)
    scheduler.add_job(work, "interval", minutes=2, end_date="2014-06-15 11:00:00", next_run_time=None, id="ended")
    resumed = scheduler.resume_job("ended")
    print("its end has passed:", "removed" if resumed is None and scheduler.get_job("ended") is None else "kept")
    scheduler.shutdown()
